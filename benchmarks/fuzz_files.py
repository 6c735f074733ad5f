"""Load damaged models and explanations, and count what comes of it: `python -m benchmarks.fuzz_files --count 100000`.

Some mutations leave the digest of the file as it was: such a file must be refused, or give the same answers. Others
put the right digest to what they changed, as someone who forges a file would, or change a file of format 1, which has
none: it must be refused, or give a model whose answers are finite. No other exception than FileFormatError may leave
`load`, and none but the library's own may leave a model that was loaded.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import load

import hideseek
from benchmarks import mutations
from hideseek import BlackBoxExplainer, Explanation, HideSeekClassifier, HideSeekRegressor
from hideseek.baselines import L2X, Invase, RealX
from hideseek.errors import FileFormatError, HideSeekError

FORMAT_1 = Path(__file__).parent.parent / "tests" / "data"
ROWS = 5
LONGEST_MESSAGE = 1000
OUTCOMES = ("refused", "same answers", "other, digest is right", "silently different", "unclean")
BAD = OUTCOMES[3:]

Answers = list[NDArray[Any]]


@dataclass
class Target:
    """A file to damage.

    Attributes:
        name: What kind of file it is.
        content: Its bytes.
        answers: From the path of a file to what the loaded object says.
    """

    name: str
    content: bytes
    answers: Callable[[Path], Answers]

    def __post_init__(self) -> None:
        self.is_model = not self.name.startswith("explanation")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "file"
            path.write_bytes(self.content)
            self.expected = self.answers(path)
            if self.is_model:
                with safe_open(str(path), framework="numpy") as file:
                    self.text, self.digest = file.metadata()["hideseek"], file.metadata().get("digest", "")
                self.arrays = load(self.content)
            else:
                with np.load(path) as file:
                    self.arrays = dict(file)
                self.digest = str(self.arrays.pop("digest", ""))

    def damaged(self, rng: Random) -> tuple[str, bytes, bool]:
        """Return the name of a mutation, its result, and whether no digest can tell that the file was changed."""
        way, corrected = rng.random(), not self.digest
        if way < 0.4:
            return "bytes", rng.choice(mutations.BYTES)(self.content, rng), corrected
        if way < 0.5:
            change = mutations.change_safetensors_header if self.is_model else mutations.change_archive
            return change.__name__, change(self.content, rng), corrected
        corrected = corrected or rng.random() < 0.75
        digest = None if corrected and self.digest else self.digest
        if not self.is_model:
            changed = mutations.change_array(self.arrays, rng)
            return "array", mutations.explanation_bytes(changed, digest), corrected
        if way < 0.75:
            text = mutations.change_json(self.text, rng)
            return "description", mutations.model_bytes(text, self.arrays, digest), corrected
        return "array", mutations.model_bytes(self.text, mutations.change_array(self.arrays, rng), digest), corrected


# -- files --------------------------------------------------------------------------------------------------------


def make_targets(folder: Path) -> Iterator[Target]:
    """Yield one file of each kind there is, as small as it can be."""
    draws = np.random.default_rng(0)
    X = draws.normal(size=(60, 3))
    X[:, 2] = np.exp(2 * X[:, 2])  # seen in pieces as well
    y = (X[:, 0] > 0).astype(int)
    quick: dict[str, Any] = {"preset": "fast", "steps": 3, "hidden_layers": (3,), "random_state": 0, "device": "cpu"}
    names = pd.DataFrame(X, columns=["age", "sex", "limit"])
    wide = draws.normal(size=(60, 40))
    mixed = _mixed_table(draws)
    tiny: dict[str, Any] = {"random_state": 0, "device": "cpu"}
    models = {
        "classifier": (HideSeekClassifier(**quick, n_members=2).fit(names, np.array(["no", "yes"])[y]), names),
        "regressor": (HideSeekRegressor(**quick).fit(X, X[:, 0]), X),
        "gaussian knockoffs": (HideSeekRegressor(**quick, replacement="gaussian_knockoff").fit(X, X[:, 0]), X),
        "conditional": (
            HideSeekRegressor(**{**quick, "preset": "paper"}, replacement="conditional").fit(X, X[:, 0]),
            X,
        ),
        "deep knockoffs": (HideSeekClassifier(**quick, replacement="deep_knockoff").fit(X, y), X),
        "black box, classes": (BlackBoxExplainer(_probabilities, **quick).fit(X), X),
        "black box, values": (BlackBoxExplainer(lambda rows: rows[:, 0] * 2, **quick).fit(X), X),
        "mixed table": (HideSeekClassifier(**quick, groups={"place": ["city", "zip"]}).fit(mixed, y), mixed),
        "screened": (HideSeekClassifier(**quick, screening=3).fit(wide, (wide[:, 0] > 0).astype(int)), wide),
        "path": (HideSeekClassifier(**quick, penalty="auto").fit(X, y), X),
        "invase": (Invase(iterations=2, **tiny).fit(X, y), X),
        "realx": (RealX(epochs=1, **tiny).fit(names, y), names),
        "l2x": (L2X(2, steps=2, **tiny).fit(X, y), X),
    }
    for name, (model, table) in models.items():
        model.save(folder / "model")
        yield Target(name, (folder / "model").read_bytes(), _asking(table[:ROWS]))
    for name in ("classifier", "mixed table", "regressor"):
        model, table = models[name]
        model.explain(table[:ROWS]).save(folder / "explanation")
        yield Target(f"explanation, {name}", (folder / "explanation").read_bytes(), _explanation_answers)
    older = {"classifier": names, "regressor": X, "black_box": names}
    for name, table in older.items():
        content = (FORMAT_1 / f"format_1_{name}.safetensors").read_bytes()
        yield Target(f"format 1, {name}", content, _asking(table[:ROWS]))
    content = (FORMAT_1 / "format_1_explanation.npz").read_bytes()
    yield Target("explanation of format 1", content, _explanation_answers)


def _mixed_table(draws: np.random.Generator) -> pd.DataFrame:
    n = 60
    return pd.DataFrame(
        {
            "colour": draws.choice(["red", "green", "blue", None], n),
            "size": pd.Categorical(draws.choice(["s", "m", "l"], n), ["s", "m", "l"], ordered=True),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(draws.integers(0, 99, n), unit="D"),
            "member": draws.random(n) < 0.5,
            "amount": np.where(draws.random(n) < 0.1, np.nan, draws.normal(size=n)),
            "city": draws.choice(["Bern", "Basel"], n),
            "zip": draws.integers(3000, 4060, n),
        }
    )


def _probabilities(rows: NDArray[Any]) -> NDArray[Any]:
    second = 1 / (1 + np.exp(-rows[:, 0]))
    return np.column_stack((1 - second, second))


def _asking(rows: Any) -> Callable[[Path], Answers]:
    def answers(path: Path) -> Answers:
        model = hideseek.load(path)
        models = [model, model.at(loss_within=0.5).at(penalty=0.1)] if hasattr(model, "path_") else [model]
        explanations = [one.explain(rows) for one in models]
        parts = [part for each in explanations for part in (each.importance, each.prediction, each.probability)]
        return [np.asarray(part) for part in parts if part is not None]

    return answers


def _explanation_answers(path: Path) -> Answers:
    explanation = Explanation.load(path)
    texts = [repr(explanation), explanation._repr_html_()]
    if len(explanation):
        texts.append(explanation.describe(0))
    found = [explanation.importance, explanation.selected, explanation.mean_importance()["importance"].to_numpy()]
    return [*(found if len(explanation) else found[:2]), np.array(texts), np.array(explanation.prediction)]


# -- the loop -----------------------------------------------------------------------------------------------------


def outcome_of(target: Target, path: Path, corrected: bool) -> tuple[str, str]:
    """Return what comes of a damaged file, and the message or the exception."""
    try:
        found = target.answers(path)
    except FileFormatError as error:
        message = str(error)
        tidy = len(message) < LONGEST_MESSAGE and message.isprintable() and path.name in message
        return ("refused" if tidy else "unclean"), message
    except HideSeekError as error:  # of the loaded model, which may have other columns now
        return ("refused" if corrected else "silently different"), str(error)
    except Exception as error:
        return "unclean", repr(error)
    pairs = zip(found, target.expected, strict=False)
    if len(found) == len(target.expected) and all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in pairs):
        return "same answers", ""
    if not corrected:
        return "silently different", ""
    finite = all(np.isfinite(one).all() for one in found if one.dtype.kind == "f" and target.is_model)
    return (OUTCOMES[2] if finite else "unclean"), "answers that are not finite"


def fuzz(targets: list[Target], count: int, seed: int, first: int = 0) -> tuple[Counter[tuple[str, str]], list[str]]:
    """Try so many damaged files; every number gives the same one in every run.

    Returns:
        How often each outcome came, by kind of file, and the first bad ones in words.
    """
    counts: Counter[tuple[str, str]] = Counter()
    bad: list[str] = []
    folder = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=folder) as place, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(place) / "damaged"
        for i in range(first, first + count):
            rng, target = Random(f"{seed} {i}"), targets[i % len(targets)]
            how, content, corrected = target.damaged(rng)
            path.write_bytes(content)
            outcome, message = outcome_of(target, path, corrected)
            counts[target.name, outcome] += 1
            if outcome in BAD and len(bad) < 100:
                bad.append(f"{i} {target.name}, {how}, digest corrected: {corrected}: {outcome}: {message[:500]}")
    return counts, bad


def peak_memory() -> float:
    """Return the most memory that this process had so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first damaged file, to repeat one")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        targets = list(make_targets(Path(folder)))
    before, start = peak_memory(), time.perf_counter()
    counts, bad = fuzz(targets, arguments.count, arguments.seed, arguments.first)
    seconds = time.perf_counter() - start
    totals = {outcome: sum(n for (_, name), n in counts.items() if name == outcome) for outcome in OUTCOMES}
    if arguments.json:
        memory = {"peak_mib_before": before, "peak_mib": peak_memory()}
        print(json.dumps({"count": arguments.count, "seconds": seconds, **memory, "outcomes": totals, "bad": bad}))
        return
    print(f"{'file':28}" + "".join(f"{outcome:>27}" for outcome in OUTCOMES))
    for target in targets:
        print(f"{target.name:28}" + "".join(f"{counts[target.name, outcome]:27,}" for outcome in OUTCOMES))
    print(f"{'all':28}" + "".join(f"{totals[outcome]:27,}" for outcome in OUTCOMES))
    print(f"{seconds:,.0f} s; peak memory {before:,.0f} MiB before the first file, {peak_memory():,.0f} MiB at the end")
    for line in bad:
        print(line)


if __name__ == "__main__":
    main()
