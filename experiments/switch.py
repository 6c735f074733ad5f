"""How often the switch of Syn4-6 is found, INVASE's TPR if it always were, and the leak of the paper's proof, built.

Test rows whose x11 is not selected are what a leaking selector produces. The runs are those of ``synthetic``. Beside
the trained methods stands ``experiments.leakage``: the pair of the appendix's proof, whose misses are those that the
theory allows.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from experiments.experiment import Experiment
from experiments.figures import boxplots
from experiments.leakage import leakage_table
from experiments.leakage_exact import exact_table
from experiments.synthetic import BESIDE, LABELS, REASONS, SEEDS, datasets, keep, methods
from hideseek.benchmark import Config, Results
from hideseek.benchmark.layout import Table

PROBLEMS = {name: name for name in ("Syn4", "Syn5", "Syn6")}
METHODS = ("paper", "balanced", "realx", "realx-unbiased", "invase", "l2x", "l2x-one-epoch", "shap", "lime")
PUBLISHED = METHODS[:-2]

EXPLANATION = """
The paper's 51 and 58 are read off a sentence that gives one number for all three problems. L2X is told k = 5 and was
published after one epoch; `l2x` is trained for 2,000 updates. SHAP and LIME have no published switch accuracy here.

Settings that might give L2X its 58 were tried with a second L2X (`python -m experiments.l2x_settings --seeds 4`, or the
number of seeds named here). Switch accuracy on Syn4, Syn5 and Syn6 is 41, 43 and 42 as published (six seeds); 40 to 45
after 20 and 30 updates (six); 42 to 47 with the true probabilities as labels, which the data have that L2X was released
with (six, 10 to 30 updates); 40 to 46 with a learning rate of 0.01; 40 to 45 with batches of 100 and 43 to 49 with
batches of 32, one epoch each; 44 without batch normalisation; 43 to 45 at a temperature of 0.5, with one noise for all
draws, without squared matrices in the loss, or with features ranked by k draws; 34 with features drawn; 51 to 53 with k
= 6. ReLU on all problems gives 46, 40 and 40, the default start of PyTorch 60, 47 and 46 (20 seeds each): near 58 on
Syn4 alone. The paper's TPR and FDR add up to 100 on Syn1-3 and Syn6, as they do if exactly k features are selected in
each row; k = 6 and features drawn would not give that. No setting has the paper's TPR of 30 on Syn1 either.

The table "leakage exact" tries every selector on tables of two and three bits (`leakage_exact.py`). Hidden values that
are marked reward a selector that hides what matters in all three problems, both of those that Jethani et al. proved
among them: a label in the mask, and a tree whose decisions are not named. Draws from the columns and draws given the
named values reward it in none, with independent and with dependent columns. For a fixed set, rows with conditional
draws have the distribution of the table (appendix A.3); those with draws from the columns do not, if columns depend.
"""


def config(quick: bool = False) -> Config:
    chosen = methods(PROBLEMS, METHODS, quick=quick)
    return Config(
        chosen,
        datasets(PROBLEMS, quick=quick),
        name="synthetic-quick" if quick else "synthetic",
        seeds=2 if quick else SEEDS,
        scores=("switch", "tpr", "fdr", "f1"),
    )


def tables(results: Results) -> Mapping[str, Table]:
    every = results.summary("switch", "tpr", "tpr_switch_corrected")
    return {"summary": every, "leakage": leakage_table(), "leakage_exact": exact_table()}


def figures(results: Results, path: Path) -> list[Path]:
    titles = {"switch": "rows with x11 selected, %; the dashed line is what the proof's leak leaves"}
    file = path / "accuracy.png"
    return [boxplots(results, ["switch"], file, titles=titles, line=50, xlim=(-4, 104))]


EXPERIMENT = Experiment(
    about="Switch accuracy on Syn4-6, INVASE's TPR with x11 corrected, and the leaking pair of the appendix's proof",
    paper="Switch accuracy, text and boxplots",
    reasons={
        **REASONS,
        "l2x-one-epoch": "Open; the paper gives one approximate number for Syn4, Syn5 and Syn6 together. Labels, "
        "start, activation, temperature, noise, batches, rates, k and the selection at test time were changed one at "
        "a time; no change gives 58 on all three (`python -m experiments.l2x_settings`).",
    },
    config=config,
    published="switch_accuracy_median.csv",
    labels={label: LABELS[label] for label in PUBLISHED},
    beside=BESIDE,
    figures=figures,
    keep=keep,
    name="switch",
    tables=tables,
    explanation=EXPLANATION,
)
