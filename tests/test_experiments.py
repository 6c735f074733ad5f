"""The command of the experiments, on small versions of them."""

import csv
import re
import shutil
import sys
import tarfile
from collections import Counter
from dataclasses import replace
from math import isnan
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

# the fits here are too short for masks to settle
pytestmark = pytest.mark.filterwarnings("ignore::hideseek.errors.MaskWarning")

ROOT = Path(__file__).parent.parent


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    """Runs `python -m experiments ...` here, in a folder of its own, and gives what it prints."""
    monkeypatch.syspath_prepend(str(ROOT))
    from experiments import __main__, experiment

    monkeypatch.setattr(experiment, "RUNS", tmp_path / "runs")
    monkeypatch.setattr(experiment, "RESULTS", tmp_path / "results")

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["experiments", *arguments])
        __main__.main()
        return capsys.readouterr().out

    return run


OURS = ("credit", "california", "hundred", "million", "mnist", "brca", "runtime")
"""The experiments of this file's second half."""


def test_every_experiment_is_listed(command):
    listed = command("list")
    assert re.match(r"synthetic +8 methods on Syn1-6", listed)
    assert re.search(r"^fewer-k +SHAP, LIME and L2X told k = 3, 4 and 5", listed, re.MULTILINE)
    assert {line.split()[0] for line in listed.splitlines()} >= set(OURS)


def test_a_quick_run_is_compared_and_drawn(command, tmp_path):
    said = command("run", "synthetic", "--quick", "--seeds", "1", "--methods", "lasso", "forest")
    assert said == "synthetic: Results(12 jobs: 12 finished, 0 failed, 0 missing)\n"
    printed = command("compare", "synthetic", "--quick")
    assert printed.splitlines()[0].split()[:6] == ["method", "dataset", "score", "published", "ours", "difference"]
    assert "missing)" in printed
    with open(tmp_path / "runs" / "quick" / "synthetic-quick" / "table.csv", newline="") as file:
        lines = {(line["method"], line["dataset"], line["score"]): line for line in csv.DictReader(file)}
    lasso, waiting = lines["lasso", "Syn1", "tpr"], lines["lime", "Syn1", "tpr"]
    assert float(lasso["difference"]) == pytest.approx(float(lasso["ours"]) - float(lasso["published"]))
    assert (waiting["published"], waiting["ours"], waiting["n_seeds"]) == ("19", "", "0")
    pictures = [Path(path) for path in command("figures", "synthetic", "--quick").split()]
    assert [picture.name for picture in pictures] == ["boxplots.png", "auroc.png"]
    assert all(picture.read_bytes().startswith(b"\x89PNG") for picture in pictures)
    assert not (tmp_path / "results").exists()  # a quick run is no result


def test_every_published_number_of_the_table_has_a_method_and_a_dataset(command):
    from experiments.experiment import PUBLISHED
    from experiments.synthetic import EXPERIMENT, KERNEL, SHORT

    config, quick = EXPERIMENT.config(False), EXPERIMENT.config(True)
    assert len(config.seeds) == 21
    assert [*EXPERIMENT.labels, KERNEL] == list(config.methods) == list(quick.methods)
    assert SHORT.keys() <= config.methods.keys()
    with open(PUBLISHED / EXPERIMENT.published, newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["method"] for row in rows} == set(EXPERIMENT.labels.values())
    assert {row["dataset"] for row in rows} == set(config.datasets)


def test_settings_are_those_published(command):
    from experiments.synthetic import EXPERIMENT

    methods = EXPERIMENT.config(False).methods
    assert methods["shap"].parameters_on("Syn1") == {"k": 2}
    assert methods["l2x-one-epoch"].parameters_on("Syn4") == {"steps": 10, "activation": "selu", "k": 5}
    assert methods["invase"].parameters_on("Syn2") == {"activation": "relu"}
    assert methods["realx"].parameters_on("Syn6") == {}, "as released, with ReLU"
    assert methods["realx-unbiased"].parameters_on("Syn6") == {"form": "unbiased", "activation": "selu"}
    assert methods["lime"].rows == 100


def published_of(one):
    from experiments.experiment import PUBLISHED

    with open(PUBLISHED / one.published, newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", ["switch", "knockoff", "fewer-k"])
def test_published_numbers_are_of_methods_and_datasets_that_are_run(command, name):
    from experiments.__main__ import experiment

    one = experiment(name)
    config, rows = one.config(False), published_of(one)
    assert len(config.seeds) == 21
    assert one.labels.keys() <= config.methods.keys()
    assert {row["method"] for row in rows} == set(one.labels.values())
    assert {row["dataset"] for row in rows} == set(config.datasets)


def test_published_numbers_of_means_are_of_groups_that_are_run(command):
    from experiments import annealing, correlated

    rhos = published_of(correlated.EXPERIMENT)
    assert {row["dataset"] for row in rhos} == {correlated.group(rho) for rho in correlated.RHOS}
    assert {row["method"] for row in rhos} == set(correlated.EXPERIMENT.labels.values())
    labels = [row["method"] for row in published_of(annealing.EXPERIMENT)]
    assert labels == list(annealing.config().methods)
    assert (annealing.EXPERIMENT.average, len(annealing.config().seeds)) == ("mean", 21)


def test_settings_of_the_other_experiments(command):
    from experiments import annealing, correlated, fewer_k, knockoff, penalty

    assert fewer_k.config().methods["lime, k = 4"].parameters_on("Syn4") == {"k": 4}
    assert fewer_k.config().methods["l2x-one-epoch, k = 3"].parameters_on("Syn5") == {
        "steps": 10,
        "activation": "selu",
        "k": 3,
    }
    far = correlated.config()
    assert far.datasets["Syn2, rho 0.9"].parameters == {"name": "Syn2", "rho": 0.9}
    assert far.methods["invase"].parameters_on("Syn2, rho 0.9") == {"activation": "relu"}
    reference = knockoff.config().methods["reference_knockoff"].parameters
    assert reference == {"preset": "paper", "replacement": "reference_knockoff"}
    curve = annealing.config_of_curves().methods["q = 0, lambda = 0.3"].parameters
    assert curve == {"preset": "paper", "anneal_power": 0, "penalty": 0.3, "validation_fraction": 0.1}
    assert penalty.config().methods["realx, lambda = 0.15"].parameters_on("Syn1") == {
        "penalty": 0.15,
    }
    assert {method: usual in penalty.PENALTIES for method, (_, usual) in penalty.METHODS.items()} == dict.fromkeys(
        penalty.METHODS, True
    )


def test_both_replacements_are_compared_at_every_penalty_on_dependent_bits(command):
    from experiments import conditional

    settings = [method.parameters for method in conditional.config().methods.values()]
    pairs = [(each["replacement"], each["penalty"]) for each in settings]
    assert sorted(pairs) == sorted((kind, p) for kind in ("marginal", "conditional") for p in conditional.PENALTIES)
    data = conditional.bit_tree(20_000, dependence=0.5)
    decides = np.where(data.X[:, 0] == 1, data.X[:, 2], data.X[:, 1])
    assert (data.relevant.sum(axis=1) == 2).all()
    assert data.y[decides == 1].mean() == pytest.approx(0.9, abs=0.02)
    assert np.corrcoef(data.X.T)[0, 5] == pytest.approx(0.25, abs=0.03), "each repeats the common bit at 0.5"


def test_an_experiment_with_parts_runs_compares_draws_and_reports(command, tmp_path):
    said = command("run", "annealing", "--quick", "--methods", "q = 1", "q = 2, lambda = 0.3")
    assert said.splitlines() == [
        "annealing: Results(6 jobs: 6 finished, 0 failed, 0 missing)",
        "annealing-curves: Results(1 jobs: 1 finished, 0 failed, 0 missing)",
    ]
    command("compare", "annealing", "--quick")
    with open(tmp_path / "runs" / "quick" / "annealing-quick" / "table.csv", newline="") as file:
        line = next(line for line in csv.DictReader(file) if line["method"] == "q = 1")
    assert (line["dataset"], line["score"], line["n_seeds"]) == ("Syn1-6", "tpr", "1")
    for path in command("figures", "annealing", "--quick").split():
        assert Path(path).read_bytes().startswith(b"\x89PNG")
    front = Path(command("report", "--quick").strip())
    assert re.search(
        r"\(\[annealing\]\(annealing-quick/README.md\)\) \| \d of 4, 20 not run \| - \|", front.read_text()
    )
    assert "([lambda](lambda-quick/README.md))" in front.read_text()
    details = (front.parent / "annealing-quick" / "README.md").read_text()
    assert "of 4 numbers; 20 are not run yet." in details
    assert "6 runs finished, 0 failed; seeds 0; hideseek" in details
    assert "![annealing-curves-quick: losses](../annealing-curves-quick/losses.png)" in details
    assert "[table](../annealing-quick/table.csv)" in details
    assert not (tmp_path / "results").exists()


def test_masks_are_kept_and_drawn(command):
    command("run", "masks", "--quick")
    assert Path(command("figures", "masks", "--quick").strip()).read_bytes().startswith(b"\x89PNG")


def test_stored_runs_take_the_place_of_those_that_are_not_here(command, tmp_path):
    from experiments.synthetic import EXPERIMENT

    command("run", "synthetic", "--quick", "--seeds", "1", "--methods", "lasso", "paper", "--datasets", "Syn4")
    command("compare", "synthetic", "--quick")
    before = {record["method"]: record["scores"] for record in EXPERIMENT.results(quick=True)}
    assert 0.4 < before["paper"]["auroc_one_draw"] < 1
    shutil.rmtree(tmp_path / "runs" / "synthetic-quick")
    after = {record["method"]: record["scores"] for record in EXPERIMENT.results(quick=True)}
    assert list(after) == list(before)
    for method, scores in before.items():
        kept = {name: value for name, value in scores.items() if value is not None}
        assert after[method] == pytest.approx(kept, rel=1e-4)


def test_runs_from_a_changed_tree_are_refused(command, monkeypatch):
    from hideseek import InputError

    monkeypatch.setenv("HIDESEEK_COMMIT", "0123456789ab+")
    with pytest.raises(InputError, match="has changes since commit 0123456789ab; commit first"):
        command("run", "masks")


def test_the_queue_runs_what_there_is_time_for_and_goes_on(command, monkeypatch, tmp_path, capsys):
    from experiments import queue

    monkeypatch.setenv("OUT", str(tmp_path))
    short, long = queue.Entry("masks", ("paper",), 5, None, ("Syn1",)), queue.Entry("masks", ("paper",), 500)
    monkeypatch.setattr(queue, "QUEUE", (long, short))
    for expected in (["not started: 6 jobs", "1 jobs, "], ["not started: 5 jobs, 417 s expected", "done before"]):
        monkeypatch.setattr(sys, "argv", ["queue", "--quick", "--seconds", "300"])
        queue.main()
        for line, part in zip(capsys.readouterr().out.splitlines(), expected, strict=True):
            assert part in line
    with tarfile.open(tmp_path / "runs.tar.gz") as file:
        assert sum(name.endswith(".json") for name in file.getnames()) == 2, "the plan and one run"


def test_no_method_of_that_name(command):
    from hideseek import InputError

    with pytest.raises(InputError, match="masks has no method lasso; it has paper"):
        command("run", "masks", "--quick", "--methods", "lasso", "paper")
    with pytest.raises(InputError, match="beyond has no dataset Syn7, 11; it has Syn1, 11; Syn2, 11"):
        command("run", "beyond", "--quick", "--datasets", "Syn7, 11")


def test_a_dataset_of_one_part_is_run_there_alone(command):
    said = command("run", "beyond", "--quick", "--methods", "fast", "--datasets", "Syn1, 1000")
    assert said.strip() == "beyond-wide: Results(1 jobs: 1 finished, 0 failed, 0 missing)"


def test_quality_is_shown_against_the_number_of_rows(command):
    command("run", "rows", "--quick", "--datasets", "Syn4, 10,000 rows", "Syn4, 30,000 rows")
    lines = command("compare", "rows", "--quick").splitlines()
    assert [line.split()[:3] for line in lines[1:5]] == [
        ["Syn4", method, rows] for method in ("default", "longer") for rows in ("10000", "30000")
    ]
    assert Path(command("figures", "rows", "--quick").strip()).read_bytes().startswith(b"\x89PNG")


def test_seeds_beyond_the_configuration_are_seen_too(command):
    from experiments.masks import EXPERIMENT

    command("run", "masks", "--quick", "--seeds", "2")
    assert {record["seed"] for record in EXPERIMENT.results(quick=True)} == {0, 1}


def test_mixed_tables_are_scored_where_nothing_is_missing(command):
    from experiments.mixed import mixed_table

    table = str(mixed_table(1, n_samples=300, preset="fast", steps=5))
    assert table.count("10%") == 3
    assert "worst F1" in table


def compared(*lines):
    """Return lines of a table that sets published numbers beside ours."""
    columns = ("method", "dataset", "score", "published", "ours", "difference")
    return [dict(zip(columns, line, strict=True)) for line in lines]


def test_the_verdict_counts_shares_in_points(command):
    from experiments.report import ranges, verdict

    lines = compared(
        ("a", "Syn1", "tpr", "90", "92.9", "2.9"),
        ("a", "Syn1", "auroc", "0.8", "0.76", "-0.04"),
        ("b", "Syn1", "tpr", "90", "", ""),
    )
    said = verdict(lines)
    assert "methods as published: 1 of 2 numbers; 1 are not run yet." in said
    assert "- a: Syn1 auroc 0.76 (paper 0.8)\n" in said
    assert "- a: Syn1 auroc 0.76 (paper 0.8). Too few rows.\n" in verdict(lines, {"a": "Too few rows."})
    assert ranges([5, 0, 1, 2, 7, 8]) == "0-2, 5, 7-8"


def test_the_front_page_counts_repeated_methods_and_names_the_largest_difference(command):
    from experiments.front_page import front_page, line_of

    lines = compared(
        ("paper", "Syn1", "tpr", "90", "91", "1"),
        ("paper", "Syn2", "auroc", "0.8", "0.7", "-0.1"),
        ("balanced", "Syn1", "tpr", "90", "10", "-80"),  # a recipe of ours is not counted
        ("l2x", "Syn1", "tpr", "90", "10", "-80"),  # nor is L2X trained longer, beside L2X as published
        ("l2x-one-epoch", "Syn1", "tpr", "90", "80", "-10"),
        ("lime", "Syn1", "tpr", "90", "", ""),
    )
    one = replace(experiment("synthetic"), paper="Table 1", reasons={"paper": "Few rows."})
    line = line_of("synthetic", one, lines, "page.md")
    assert line.counts == ((1, 2, 0), (0, 1, 1))
    assert line.largest == "Hide&Seek, Syn2: AUROC 0.7 (paper 0.8); L2X, Syn1: TPR 80 (paper 90)"
    assert line.reason == "Hide&Seek: Few rows. L2X: not settled."
    page = front_page([line], "Written today.", "A note.")
    assert (
        "Reproduced numbers of Hide&Seek: 1 of 2. Of the methods that it is compared with: 0 of 1, 1 not run. Of the 2 "
        "numbers that differ, 1 have a reason that was tried, 1 are open.\n" in page
    )
    assert "| Table 1 ([synthetic](page.md)) | 1 of 2 | 0 of 1, 1 not run | Hide&Seek, Syn2" in page


def test_numbers_in_explanations_come_from_stored_tables(command, tmp_path):
    from experiments.report import with_numbers

    (tmp_path / "table.csv").write_text("method,dataset,score,ours\npaper,Syn1,tpr,91.234\n")
    assert with_numbers("TPR {table|paper|Syn1|tpr|ours}.", tmp_path) == "TPR 91.2."
    assert with_numbers("{table|paper|Syn2|tpr|ours}", tmp_path) == "(not stored)"


def test_the_stored_front_page_is_short_and_complete(command):
    pages = ROOT / "experiments" / "results"
    front = (ROOT / "experiments" / "RESULTS.md").read_text()
    assert len(front.splitlines()) <= 150
    from experiments.__main__ import NAMES

    for page in (pages / name / "README.md" for name in NAMES):
        assert f"(results/{page.parent.name}/README.md)" in front
        assert "(not stored)" not in page.read_text()


def test_a_claim_holds_in_part_if_some_of_its_checks_are_met(command):
    from experiments.claims import Finding

    verdicts = [Finding(checks, "", "", []).verdict for checks in ([True, True], [True, False], [False], [])]
    assert verdicts == ["holds", "holds in part (1 of 2)", "does not hold here", "not tested"]


def test_claims_are_judged_by_stored_runs(command, tmp_path):
    from experiments.claims import Stored

    (tmp_path / "synthetic").mkdir()
    (tmp_path / "synthetic" / "runs.csv").write_text(
        "method,dataset,status,f1\npaper,Syn1,finished,90\npaper,Syn1,finished,94\npaper,Syn1,failed,\n"
    )
    stored = Stored(tmp_path)
    assert stored.median("synthetic", "paper", "Syn1", "f1") == 92
    assert stored.n_seeds("synthetic", "paper", "Syn1") == 2
    assert isnan(stored.median("synthetic", "invase", "Syn1", "f1"))


def test_claims_on_lambda_wait_for_runs_and_look_at_those_stored(command, tmp_path):
    from experiments.claims import Stored
    from experiments.claims_lambda import CLAIMS

    def verdicts(*lines):
        (tmp_path / "lambda").mkdir(exist_ok=True)
        text = "\n".join(f'"{method}, lambda = {penalty}",{score},{value}' for method, penalty, score, value in lines)
        (tmp_path / "lambda" / "table.csv").write_text(f"method,score,median\n{text}\n")
        return [claim.look(Stored(tmp_path)).verdict for claim in CLAIMS]

    def course(method, penalty, auroc, share, f1):
        return [(method, penalty, score, value) for score, value in
                (("auroc", auroc), ("auprc", auroc), ("share_selected", share), ("f1", f1))]  # fmt: skip

    own = [*course("paper", 0, 0.85, 90, 50), *course("paper", 0.3, 0.9, 40, 90), *course("paper", 1.5, 0.7, 10, 20)]
    assert verdicts(*own) == ["holds", *["not tested"] * 4]
    realx = [*course("realx", 0, 0.8, 80, 50), *course("realx", 0.3, 0.6, 15, 40)]
    assert verdicts(*own, *realx) == ["holds", "not tested", "holds", "holds", "not tested"]
    realx += course("realx", 0.45, 0.9, 10, 30)
    assert verdicts(*own, *realx)[3] == "does not hold here"


def test_the_stored_page_of_claims_is_that_of_the_stored_results(command):
    from experiments.claims import Stored, claims_page
    from experiments.claims_appendix import CLAIMS as APPENDIX
    from experiments.claims_text import CLAIMS as TEXT
    from experiments.claims_text import own_penalties

    stored, claims = Stored(ROOT / "experiments" / "results"), (*TEXT, *APPENDIX)
    page = claims_page(claims, stored, own_penalties(stored))
    assert page == (ROOT / "experiments" / "CLAIMS.md").read_text()
    assert len(claims) >= 20
    assert "nan" not in page
    verdicts = {claim.text: claim.look(stored).verdict for claim in claims}
    assert "holds in part (8 of 10)" in verdicts.values()
    for place in re.findall(r"\(results/([^)]*)\)", page):
        assert (ROOT / "experiments" / "results" / place).exists(), place


def test_a_stored_cell_is_run_again(command):
    from experiments.again import again
    from experiments.experiment import read

    runs = read(ROOT / "experiments" / "results" / "synthetic" / "runs.csv")
    stored = next(line for line in runs if line["method"] == "lasso" and line["dataset"] == "Syn4")
    assert again("synthetic", dict(stored))["largest difference"] < 0.01


RESULTS = ROOT / "experiments" / "results"
STORED_RUNS = sorted(RESULTS.glob("*/runs.csv"))


def repeated(path, columns):
    """Return what the given columns of a stored table have more than once; a column that it lacks is left out."""
    with open(path, newline="", encoding="utf-8") as file:
        lines = Counter(tuple(line[name] for name in columns if name in line) for line in csv.DictReader(file))
    return [labels for labels, n_lines in lines.items() if n_lines > 1]


@pytest.mark.parametrize("path", STORED_RUNS, ids=lambda path: path.parent.name)
def test_a_method_has_one_stored_run_for_each_dataset_and_seed(path):
    assert repeated(path, ("method", "model", "dataset", "seed")) == []


@pytest.mark.parametrize("name", ["lambda", "synthetic", "correlated", "credit", "hundred", "million"])
def test_a_stored_table_has_one_line_for_each_number(name):
    assert repeated(RESULTS / name / "table.csv", ("method", "dataset", "score")) == []


def record(method, dataset, seed, **scores):
    return {"method": method, "dataset": dataset, "seed": seed, "status": "finished", "scores": scores}


def test_a_run_on_the_problems_with_a_switch_alone_counts_for_switch_accuracy(command):
    from experiments import correlated
    from hideseek.benchmark import Results

    names = list(correlated.problems([0.5])[0.5])
    whole = [record("lime", name, 0, f1=60.0, **({"switch": 30.0} if name > "Syn4" else {})) for name in names]
    part = [record("lime", name, 1, f1=90.0, switch=50.0) for name in names[3:]]
    means = correlated.by_rho(Results([*whole, *part]))
    assert means.values("lime", "rho 0.5", "switch") == {0: 30, 1: 50}
    assert means.values("lime", "rho 0.5", "f1") == {0: 60}


def test_invase_has_the_published_penalty_with_the_real_label(command):
    from experiments import credit
    from hideseek.benchmark import Results

    runs = [record("invase", "CDY", 0, auroc=0.5), record("invase-0.1", "CDY", 0, auroc=0.7)]
    seen = credit.as_published(Results([*runs, record("invase", "Syn1", 0, auroc=0.6)]))
    assert [seen.values("invase", name, "auroc") for name in ("CDY", "Syn1")] == [{0: 0.7}, {0: 0.6}]
    assert seen.values("invase-0.1", "CDY", "auroc") == {0: 0.7}


def test_unseen_families_name_what_their_labels_need(command):
    """Where the relevant features are the same, so is the chance of the label, whatever the others are."""
    from experiments import unseen

    for make in (unseen.sum_of_two, unseen.multiplexer, unseen.skewed_tree):
        data = make(400)
        assert data.relevant.sum(axis=1).max() == unseen.K[data.name]
        assert abs(data.y.mean() - data.probability.mean()) < 0.1
    bits = unseen.multiplexer(400)
    shown = {}
    for x, relevant, chance in zip(bits.X, bits.relevant, bits.probability, strict=True):
        assert shown.setdefault((*x[relevant], *relevant), chance) == chance


def test_unseen_tables_are_judged_on_the_explained_rows(command, monkeypatch):
    """LIME explains the first rows only; where these miss a class there is no AUROC."""
    from experiments import unseen
    from hideseek import Explanation

    test = unseen.iris().test
    order = np.argsort(test.y, kind="stable")
    judge = SimpleNamespace(predict_proba=lambda shown: np.eye(3)[test.y[: len(shown)]])
    monkeypatch.setattr(unseen, "judge", lambda name: judge)
    explained = Explanation(np.ones((40, 4)), np.ones((40, 4), dtype=bool))
    assert unseen.keep(None, test, explained) == {"judged_auroc": 1.0}
    of_one_class = replace(test, X=test.X[order], y=test.y[order])
    assert unseen.keep(None, of_one_class, explained[:5]) == {}


def test_numbers_without_a_settled_reason_count_as_open(command):
    from experiments.experiment import Experiment
    from experiments.front_page import line_of

    whole = Experiment("", None, published="x.csv", paper="t", reasons={"paper": "Seeds.", "invase": "Open; no idea."})
    line = {"dataset": "Syn1", "score": "f1", "published": "90", "ours": "80", "difference": "-10"}
    compared = [{**line, "method": method} for method in ("paper", "invase", "shap")]
    assert line_of("x", whole, compared, "").n_open == 2
    settled = replace(whole, reasons={**whole.reasons, "invase, Syn1": "Epochs."})
    assert line_of("x", settled, compared, "").n_open == 1, "a reason for one number counts for that number"


def experiment(name):
    from experiments.__main__ import experiment as found

    return found(name)


def parameters(name, method, dataset):
    return experiment(name).config(False).methods[method].parameters_on(dataset)


@pytest.mark.parametrize("name", OURS)
def test_a_quick_version_has_the_same_methods_and_datasets_and_a_place_of_its_own(command, name):
    config, quick = experiment(name).config(False), experiment(name).config(True)
    assert (config.name, quick.name) == (name, f"{name}-quick")
    assert list(config.methods) == list(quick.methods)
    assert list(config.datasets) == list(quick.datasets)


@pytest.mark.parametrize("name", ["credit", "california", "hundred", "million", "mnist"])
def test_every_published_number_has_a_method_and_a_dataset(command, name):
    from experiments.experiment import published_lines

    one = experiment(name)
    config, rows = one.config(False), published_lines(one.published)
    assert set(one.labels) == set(config.methods)
    assert {row["method"] for row in rows} <= set(one.labels.values())
    assert {row["dataset"] for row in rows} <= set(config.datasets)


@pytest.mark.parametrize(
    ("name", "n_seeds"),
    [("credit", 20), ("california", 10), ("hundred", 20), ("million", 5), ("mnist", 1), ("brca", 1), ("runtime", 1)],
)
def test_there_are_as_many_runs_as_published(command, name, n_seeds):
    assert len(experiment(name).config(False).seeds) == n_seeds


def test_settings_of_the_other_experiments_are_those_published(command):
    assert parameters("credit", "paper", "Syn4") == {"preset": "paper", "penalty": 0.1}
    assert parameters("credit", "invase", "Syn1") == {"activation": "relu"}
    assert parameters("credit", "invase-0.1", "CDY") == {"penalty": 0.05}
    assert parameters("credit", "realx", "Syn2") == {"penalty": 0.05}
    assert parameters("hundred", "paper", "Syn1")["penalty"] == 1.8
    ensemble = parameters("hundred", "ensemble", "Syn1")
    assert (ensemble["penalty"], ensemble["n_members"], ensemble["column_fraction"]) == (1.8, 10, 0.9)
    assert [parameters("hundred", label, "Syn3")["penalty"] for label in ("invase", "invase-ideal")] == [1.2, 0.6]
    assert parameters("hundred", "realx", "Syn1") == {"penalty": 1.0}
    assert parameters("mnist", "paper", "MNIST 3 and 8")["penalty"] == 0.05
    assert parameters("brca", "paper", "published")["penalty"] == 1.5
    assert parameters("brca", "shap", "published")["rounds"] == 200
    assert parameters("million", "l2x", "Syn4")["steps"] == 1000
    assert experiment("credit").config(False).datasets["Syn1"].test == "validation"
    california = experiment("california").config(False).methods
    searched = {label: method.penalties for label, method in california.items() if method.penalties}
    assert list(searched) == ["paper", "paper-accuracy", "invase", "realx", "realx-unbiased"]
    assert set(searched.values()) == {(0, 0.05, 0.1, 0.25, 0.5, 0.75, 1, 1.25, 1.5)}


def test_some_datasets_can_be_run_alone(command):
    said = command("run", "hundred", "--quick", "--methods", "paper", "--datasets", "Syn1", "Syn3")
    assert said == "hundred: Results(2 jobs: 2 finished, 0 failed, 0 missing)\n"


def test_a_million_rows_are_in_single_precision_and_in_three_parts(command):
    from experiments.million import many_rows

    split = many_rows("Syn1", 50, 20, random_state=3)
    assert [part.X.dtype for part in split] == ["float32"] * 3
    assert [len(part.y) for part in split] == [50, 20, 20]
    assert len({float(part.X[0, 0]) for part in split}) == 3
    assert experiment("million").stack == 1


def test_run_times_have_a_ratio_to_hide_and_seek(command, tmp_path):
    command("run", "runtime", "--quick", "--methods", "paper", "l2x")
    table = {line["method"]: line for line in experiment("runtime").table(experiment("runtime").results(quick=True))}
    assert table["paper"]["ratio"] == 1
    assert table["l2x"]["ratio"] == pytest.approx(table["l2x"]["ours"] / table["paper"]["ours"])
    assert table["invase"]["ours"] is None
    assert table["invase"]["published_ratio"] == pytest.approx(4732 / 5)
    parts = ("seconds_fit", "seconds_explain", "seconds_predict")
    assert table["l2x"]["ours"] == pytest.approx(sum(table["l2x"][part] for part in parts))
    assert Path(command("figures", "runtime", "--quick").strip()).read_bytes().startswith(b"\x89PNG")


def test_genes_are_ranked_beside_the_papers(command, published_data, tmp_path):
    command("run", "brca", "--quick", "--methods", "shap", "l2x-one-epoch")
    assert "gene_by_patient" in command("compare", "brca", "--quick")
    with open(tmp_path / "runs" / "quick" / "brca-quick" / "table.csv", newline="") as file:
        lines = [line for line in csv.DictReader(file) if line["method"] == "shap"]
    first = lines[0]
    assert (first["paper_gene"], first["published"], first["gene"], first["our_rank"]) == ("ESR1", "0.695", "ESR1", "1")
    assert float(first["difference"]) == pytest.approx(float(first["ours"]) - 0.695, abs=1e-5)
    importances = [float(line["importance"]) for line in lines]
    assert importances == sorted(importances, reverse=True)
    assert Path(command("figures", "brca", "--quick").strip()).read_bytes().startswith(b"\x89PNG")


def test_genes_of_a_method_without_arrays_stay_as_stored(command, published_data, tmp_path):
    """As after a run of another method on another machine, where the arrays of the first are not at hand."""
    from hideseek import InputError

    stored = tmp_path / "runs" / "quick" / "brca-quick" / "table.csv"
    command("run", "brca", "--quick", "--methods", "shap", "l2x-one-epoch")
    command("compare", "brca", "--quick")
    before = stored.read_text().splitlines()
    shutil.rmtree(tmp_path / "runs" / "brca-quick")
    command("run", "brca", "--quick", "--methods", "l2x-one-epoch")
    command("compare", "brca", "--quick")
    assert sorted(stored.read_text().splitlines()) == sorted(before)
    with pytest.raises(InputError, match="has no arrays of shap; run these methods again"):
        command("figures", "brca", "--quick")


def test_stored_lines_stay_where_a_table_cannot_be_made(command):
    from experiments.experiment import with_stored
    from hideseek.benchmark import Results
    from hideseek.benchmark.layout import Table

    results = Results([record("shap", "digits", 0, accuracy=0.9), record("paper", "digits", 0, accuracy=0.9)])
    stored = [{"method": "gone", "shared": "10"}, {"method": "paper", "shared": "100"}]
    lines = with_stored(Table(("method", "shared"), [{"method": "lime", "shared": 3.0}]), stored, results)
    assert [tuple(line.values()) for line in lines] == [("paper", "100"), ("lime", 3.0)]


def test_selections_are_counted_where_importance_is_no_share(command):
    from experiments.brca import keep

    explained = {"importance": np.array([[0.2, -3.0], [0.4, 9.0]]), "selected": np.array([[True, False], [True, True]])}
    test = SimpleNamespace(feature_names=("a", "b"))
    masks = keep(None, test, SimpleNamespace(**explained, importance_kind="mask"))
    assert masks["importance"] == pytest.approx([0.3, 3.0])
    assert masks["sem"][0] == pytest.approx(0.1)
    counts = keep(None, test, SimpleNamespace(**explained, importance_kind="selection weight"))
    assert counts["importance"] == pytest.approx([1.0, 0.5])


def test_the_pictured_digits_come_first_and_alternate(command, published_data):
    from experiments.mnist import pictured_first

    assert pictured_first(6).validation.y.tolist() == [8, 3, 8, 3, 8, 3]


def test_digits_with_pixels_from_0_to_1_are_not_standardised(command, published_data):
    from experiments.mnist import UNIT, UnitPixels, pictured_first
    from experiments.queue import QUEUE
    from hideseek.errors import HideSeekWarning

    assert [one.experiment() for one in QUEUE if one.part == "mnist-unit"] == [UNIT]
    digits = pictured_first(60, standardize=False).train
    with pytest.warns(HideSeekWarning, match="constant columns"):
        model = UnitPixels("paper", steps=2, random_state=0).fit(digits.X, digits.y)
    grey = model.learned_.ensemble.scaler.transform(digits.X)
    varies = np.ptp(digits.X, axis=0) > 0
    assert grey[:, varies] == pytest.approx(digits.X[:, varies] / 255)
    assert not grey[:, ~varies].any()


def test_every_setting_of_l2x_selects_k_features_or_draws_at_most_k(command):
    from experiments.l2x_settings import SETTINGS, selected
    from hideseek.datasets import make_syn

    data = make_syn("Syn4", n_samples=60)
    for label, setting in SETTINGS.items():
        chosen = selected(replace(setting, steps=2, batch_size=30), 5, "Syn4", data, data).sum(axis=1)
        assert (chosen <= 5).all(), label
        assert (chosen == 5).all() == (setting.selection != "draws"), label


def test_columns_are_correlated_as_named(command):
    from experiments.differences import COLUMNS

    expected = {"constant rho, as described": (0.6, 0.6), "rho to the power of the distance": (0.6, 0.36)}
    expected |= {"rho z + sqrt(1 - rho) x": (0.474, 0.474), "rho z + (1 - rho) x": (0.692, 0.692)}
    for kind, draw in COLUMNS.items():
        found = np.corrcoef(draw(np.random.default_rng(0), 0.6).T)
        assert (found[0, 1], found[0, 2]) == pytest.approx(expected[kind], abs=0.03), kind


def test_invase_is_judged_on_all_features_too(command, published_data):
    command("run", "credit", "--quick", "--methods", "invase", "lasso", "--datasets", "CDY")
    lines = [line.split() for line in command("compare", "credit", "--quick").splitlines()]
    compared = lines[: lines.index([])]
    found = {(line[0], line[2]): line[3] for line in compared if len(line) > 4 and line[1] == "CDY"}
    assert found["invase", "auroc_all_features"] == "0.771"
    assert ("lasso", "auroc") in found  # not published, and shown
    pictures = command("figures", "credit", "--quick").split()
    assert [Path(picture).name for picture in pictures] == [
        "scores.png",
        "correlation.png",
    ]


def test_black_boxes_are_compared_at_equal_size(command, tmp_path, monkeypatch):
    from experiments import black_box

    def small(seed, n_rows):
        problem = black_box.syn4(seed, n_rows)
        return replace(problem, train=problem.train[:1000], y=problem.y[:1000], test=problem.test[:20])

    monkeypatch.setattr(black_box, "RESULTS", tmp_path)
    monkeypatch.setattr(black_box, "LIME_SAMPLES", 50)
    monkeypatch.setattr(black_box, "PROBLEMS", {"Syn4": small})
    every = black_box.models  # the quickest of them: what SHAP asks the pipeline with has to be compiled
    monkeypatch.setattr(black_box, "models", lambda *given: (one for one in every(*given) if one[0] == "xgboost"))
    monkeypatch.setattr(sys, "argv", ["black_box", "--seeds", "1", "--rows", "3", "--preset", "fast"])
    black_box.main()
    with open(tmp_path / "black_box" / "runs.csv", newline="") as file:
        lines = {line["method"]: line for line in csv.DictReader(file)}
    assert list(lines) == ["hideseek", "shap", "lime", "seek", "random"]
    assert lines["hideseek"]["rows_asked"] == "1000"
    assert int(lines["lime"]["rows_asked"]) == round(20 / 3 * 3 * 50)
    assert lines["shap"]["n_selected"] == lines["lime"]["n_selected"] == lines["hideseek"]["n_selected"]
    assert all(line["r2"] for line in lines.values())


def test_reliability_compares_stated_with_actual_and_draws_it(command, tmp_path):
    command("run", "reliability", "--quick", "--datasets", "Syn1, 11", "three cells", "Syn2, values")
    printed = command("compare", "reliability", "--quick")
    assert printed.splitlines()[0].split() == ["kind", "from", "to", "cells", "stated", "actual"]
    with open(tmp_path / "runs" / "quick" / "reliability-quick" / "table.csv", newline="") as file:
        lines = list(csv.DictReader(file))
    assert {line["kind"] for line in lines} == {"11 columns", "switches"}
    assert sum(int(line["cells"]) for line in lines) <= 2 * 500 * 11
    assert all(float(line["from"]) <= float(line["stated"]) <= float(line["to"]) for line in lines)
    with open(tmp_path / "runs" / "quick" / "reliability-quick" / "rule.csv", newline="") as file:
        assert [line["factor"] for line in csv.DictReader(file)] == ["intercept", "of mask", "of price"]
    assert Path(command("figures", "reliability", "--quick").strip()).read_bytes().startswith(b"\x89PNG")


@pytest.mark.filterwarnings("ignore::hideseek.errors.HideSeekWarning")
def test_selections_are_audited_beside_published_figures(command, tmp_path, monkeypatch):
    monkeypatch.setattr("hideseek.metrics._audit._estimation._STEPS", 12)
    command("run", "audit", "--quick", "--methods", "l2x", "lasso", "lime", "--datasets", "Syn4", "ten bits")
    printed = command("compare", "audit", "--quick")
    assert "0 failed" in printed
    with open(tmp_path / "runs" / "quick" / "audit-quick" / "table.csv", newline="") as file:
        lines = {(line["dataset"], line["method"]): line for line in csv.DictReader(file)}
    assert lines["Syn4", "lasso"]["selected"] == "5"
    assert re.fullmatch(r"-?0\.\d{4} ± 0\.\d{4}", lines["Syn4", "lasso"]["ENCODE"])
    assert lines["Syn4", "lasso"]["leaks"] == "-"
    with open(tmp_path / "runs" / "quick" / "audit-quick" / "published.csv", newline="") as file:
        beside = {(line["paper"], line["method"], line["score"]): line for line in csv.DictReader(file)}
    assert beside["REAL-X", "L2X", "eauroc"]["published"] == "0.742"
    assert float(beside["REAL-X", "L2X", "eauroc"]["ours"]) > 0
    assert beside["SUWR", "SUWR", "tpr"]["ours"] == ""
    (picture,) = command("figures", "audit", "--quick").split()
    assert Path(picture).read_bytes().startswith(b"\x89PNG")


def test_an_audit_has_every_method_and_a_number_of_features_for_every_problem(command):
    from experiments.audit import LABELS, PUBLISHED, K, config, config_of_tables
    from experiments.experiment import published_lines
    from hideseek import baselines

    one, other = config(), config_of_tables()
    assert {*one.datasets, *other.datasets} == set(K)
    assert {method.name for method in one.methods.values()} == {"hideseek", *baselines.available()}
    assert list(one.methods) == list(other.methods)
    assert other.methods["shap"].parameters_on("credit") == {"k": 2}
    lines = published_lines(PUBLISHED)
    assert {line["dataset"] for line in lines} <= set(K)
    assert {line["method"] for line in lines} - set(LABELS.values()) == {"BASE-X", "SUWR"}


def test_label_leakage_of_bits_is_enumerated(command):
    from experiments.audit import exact_encode, ten_bits

    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
    y = X.sum(axis=1).astype(int)
    tells = np.column_stack([y == 2, y == 1])  # nothing at 00, x2 at 01 and 10, x1 at 11
    assert exact_encode(X, y, tells) == pytest.approx(-0.25 * np.log(0.25) - 0.75 * np.log(0.5))
    assert exact_encode(X, y, np.ones_like(tells)) == 0
    cube = ten_bits(None)
    assert cube.X.shape == (4096, 10)
    assert len(np.unique(cube.X, axis=0)) == 1024


def test_digits_are_pooled_by_patch(command, published_data):
    from experiments.audit import patches
    from hideseek.datasets import load_mnist_3_8

    pixels, pooled = load_mnist_3_8(standardize=False).validation, patches(5).validation
    assert pooled.X.shape == (5, 49)
    assert pooled.X[2, 24] == pytest.approx(pixels.X[2].reshape(28, 28)[12:16, 12:16].mean())
