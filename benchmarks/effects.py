"""How near effects are to the truth, and what they cost: `python -m benchmarks.effects`.

On Syn1-6 the probability is known: the true effect of a relevant feature is p(y | relevant features) minus the mean of
p over draws of that feature, and of whatever it then depends on, from their distribution. Counted are the relevant
cells whose true effect is over 0.05: how many have the right sign (those not selected count as wrong), and the median
distance of those selected. The cost is the time of the effects over that of the explanation with its predictions.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from numpy.typing import NDArray

from hideseek import HideSeekClassifier
from hideseek.datasets import Dataset, make_syn
from hideseek.datasets.truth import syn_truth

ROWS = 2000
DRAWS = 2000
WORTH_COUNTING = 0.05


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--presets", nargs="+", default=["fast", "balanced"])
    parser.add_argument("--data", nargs="+", default=[f"Syn{i}" for i in range(1, 7)], metavar="DATA")
    parser.add_argument("--seeds", type=int, default=2)
    arguments = parser.parse_args()
    print(f"{'':8}{'preset':>10}{'per row':>9}{'sign right':>12}{'if selected':>13}{'distance':>10}{'cost':>7}")
    for name in arguments.data:
        for preset in arguments.presets:
            figures = np.mean([measured(name, preset, seed) for seed in range(arguments.seeds)], axis=0)
            n_selected, right, among_selected, distance, cost = figures
            print(
                f"{name:8}{preset:>10}{n_selected:9.2f}{right:12.1%}{among_selected:13.1%}{distance:10.3f}{cost:7.2f}",
                flush=True,
            )


def measured(name: str, preset: str, seed: int) -> tuple[float, float, float, float, float]:
    """Return features per row, the share of right signs, that among selected cells, median distance, and cost."""
    train, test = make_syn(name, random_state=2 * seed), make_syn(name, random_state=2 * seed + 1)
    model = HideSeekClassifier(preset, random_state=seed).fit(train.X, train.y)
    model.explain(test.X[:100]).effect_of(1)
    start = time.perf_counter()
    explanation = model.explain(test.X)
    _ = explanation.prediction
    between = time.perf_counter()
    effect = explanation.effect_of(1)
    cost = (time.perf_counter() - between) / (between - start)
    true = true_effects(name, test)
    found = np.asarray(effect)[:ROWS]
    large, selected = np.abs(true) > WORTH_COUNTING, explanation.selected[:ROWS]
    right = np.sign(found) == np.sign(true)
    both = large & selected
    distance = float(np.median(np.abs(found - true)[both]))
    return float(selected.sum(axis=1).mean()), right[large].mean(), right[both].mean(), distance, cost


def true_effects(name: str, data: Dataset) -> NDArray[np.float64]:
    """Return the effect of every relevant feature on P(y = 1) in the first rows; 0 elsewhere."""
    drawn = np.random.default_rng(0).standard_normal((DRAWS, data.X.shape[1]))
    effects = np.zeros((ROWS, data.X.shape[1]))
    for i, j in zip(*np.nonzero(data.relevant[:ROWS]), strict=True):
        known = data.relevant[i].copy()
        known[j] = False
        U, _ = syn_truth(name, np.where(known, data.X[i], drawn))
        effects[i, j] = data.probability[i] - (1 / (1 + np.exp(U))).mean()
    return effects


if __name__ == "__main__":
    main()
