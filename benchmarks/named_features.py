"""What it costs to predict from the selected features alone: `python -m benchmarks.named_features`.

AUROC (R squared for house prices) on rows that were not fitted, of the prediction from masks and of the one from the
selected features, and their difference; beside what the true probabilities reach, where they are known.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

import numpy as np
from sklearn.metrics import r2_score

from hideseek import HideSeekClassifier, HideSeekRegressor
from hideseek.datasets import Dataset, california_switch, load_california, load_credit, make_syn
from hideseek.metrics import auroc

Data = Callable[[int], tuple[Dataset, Dataset]]


def syn(name: str, seed: int) -> tuple[Dataset, Dataset]:
    return make_syn(name, random_state=2 * seed), make_syn(name, random_state=2 * seed + 1)


def credit(_: int) -> tuple[Dataset, Dataset]:
    split = load_credit()
    return split.train, split.test


def switch(seed: int) -> tuple[Dataset, Dataset]:
    split = california_switch("released", seed)
    return split.train, split.test


def prices(_: int) -> tuple[Dataset, Dataset]:
    split = load_california()
    return split.train, split.test


DATA: dict[str, Data] = {
    **{f"Syn{i}": partial(syn, f"Syn{i}") for i in range(1, 7)},
    "credit": credit,
    "California switch": switch,
    "California prices": prices,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--presets", nargs="+", default=["balanced"])
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA), metavar="DATA")
    parser.add_argument("--seeds", type=int, default=2)
    arguments = parser.parse_args()
    print(f"{'':20}{'preset':>10}{'selected':>10}{'mask':>9}{'selected':>10}{'difference':>12}{'possible':>10}")
    for name in arguments.data:
        for preset in arguments.presets:
            n_selected, soft, named, best = np.mean(
                [measured(*DATA[name](seed), preset, seed) for seed in range(arguments.seeds)], axis=0
            )
            print(
                f"{name:20}{preset:>10}{n_selected:10.2f}{soft:9.4f}{named:10.4f}{named - soft:+12.4f}{best:10.4f}",
                flush=True,
            )


def measured(train: Dataset, test: Dataset, preset: str, seed: int) -> tuple[float, float, float, float]:
    """Return features selected per row, the score from masks, from the selected features, and the best possible."""
    is_value = np.asarray(train.y).dtype.kind == "f" and len(np.unique(train.y)) > 20
    if is_value:
        model = HideSeekRegressor(preset, random_state=seed).fit(train.X, train.y)
        scores = [r2_score(test.y, model.predict(test.X, shown=shown)) for shown in ("mask", "selected")]
    else:
        model = HideSeekClassifier(preset, random_state=seed).fit(train.X, train.y)
        scores = [auroc(test.y, model.predict_proba(test.X, shown=shown)) for shown in ("mask", "selected")]
    best = float("nan") if test.probability is None else auroc(test.y, test.probability)
    return float(model.select(test.X).sum(axis=1).mean()), *scores, best


if __name__ == "__main__":
    main()
