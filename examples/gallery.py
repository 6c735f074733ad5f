"""Every picture, on light and on dark ground, and a page that shows them: ``python examples/gallery.py [FOLDER]``.

Beside tables as one has them stand odd ones: a single row, a single feature, nothing selected, missing numbers, many
features. The page is FOLDER/index.html; the folder is gallery/ if none is given.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from html import escape
from pathlib import Path
from types import SimpleNamespace

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import train_test_split

from hideseek import Explanation, HideSeekClassifier
from hideseek.baselines import ForestImportance, LassoImportance
from hideseek.datasets import make_syn
from hideseek.report import plot_history, plot_path, plot_screening

GROUNDS = {"light": "default", "dark": "dark_background"}

Pictures = dict[str, Callable[[], Axes]]


def syn4() -> Pictures:
    """A problem whose truth is known, explained by this method and by another."""
    train, test = (make_syn("Syn4", random_state=seed) for seed in (0, 1))
    model = HideSeekClassifier("fast", n_members=5, validation_fraction=0.1, random_state=0).fit(train.X, train.y)
    explanation = model.explain(test.X)
    lasso = LassoImportance(k=4).fit(train.X, train.y).explain(test.X)
    return {
        "heatmap": explanation.plot,
        "bar": explanation.plot.bar,
        "beeswarm": explanation.plot.beeswarm,
        "histograms": explanation.plot.histograms,
        "histograms, truth known": lambda: explanation.plot.histograms(relevant=test.relevant, order="table"),
        "row": lambda: explanation.plot.row(1),
        "path of a row": lambda: explanation.plot.path(1),
        "number selected": explanation.plot.n_selected,
        "comparison": lambda: explanation.plot.compare(lasso, labels=("Hide&Seek", "LASSO")),
        "history": lambda: plot_history(model),
    }


def breast_cancer() -> Pictures:
    """Long names, and a forest whose importances are no masks."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X_train, X_new, y_train, _ = train_test_split(X, y, random_state=0)
    explanation = HideSeekClassifier("fast", random_state=0).fit(X_train, y_train).explain(X_new)
    forest = ForestImportance(k=5, random_state=0).fit(X_train, y_train).explain(X_new)
    return {
        "heatmap": explanation.plot.heatmap,
        "bar": explanation.plot.bar,
        "beeswarm": lambda: explanation.plot.beeswarm(max_features=10),
        "row": lambda: explanation.plot.row(0),
        "comparison": lambda: explanation.plot.compare(forest, max_features=12),
        "bar of a forest": lambda: forest.plot.bar(max_features=8),
    }


def digits() -> Pictures:
    """Handwritten threes and eights of 8 by 8 pixels."""
    X, y = load_digits(return_X_y=True)
    X, y = X[np.isin(y, (3, 8))], y[np.isin(y, (3, 8))]
    varies = X.std(axis=0) > 0
    model = HideSeekClassifier("fast", penalty=0.3, steps=2000, random_state=0).fit(X[:, varies], y)
    masks = np.zeros(X.shape)
    masks[:, varies] = model.explain(X[:, varies]).importance
    explanation = Explanation(masks, masks > 0.5, data=X)
    return {
        "image": lambda: explanation.plot.image(0, shape=(8, 8), n_patches=2),
        "image, patches alone": lambda: explanation.plot.image(1, shape=(8, 8), n_patches=2, overlay=False),
        "image, pixels alone": lambda: explanation.plot.image(2, shape=(8, 8), n_patches=0),
    }


def fits() -> Pictures:
    """The choice of a penalty and a screening, with numbers made up for the purpose."""
    penalty = np.geomspace(0.02, 1.4, 11)
    loss = 0.45 + 0.02 * np.log(penalty / 0.2) ** 2 / (1 + (penalty < 0.2))
    path = SimpleNamespace(
        penalty=penalty, loss=loss, standard_error=np.full(11, 0.008), score=0.9 - loss / 5, score_name="AUROC",
        n_selected=11 / (1 + 6 * penalty), chosen=6,
    )  # fmt: skip
    score = np.abs(np.random.default_rng(0).normal(size=1000))
    score[[3, 10, 500, 77]] = 12.3, 9.1, 7.7, 5.0
    screening = SimpleNamespace(score=score, kept=score > 4.5, threshold=4.5)
    return {
        "penalty path": lambda: plot_path(path),
        "screening": lambda: plot_screening(screening, max_features=12),
    }


def odd() -> Pictures:
    """What pictures have to bear."""
    draw = np.random.default_rng(0)
    cells = draw.normal(size=(400, 6)).astype(object)
    cells[:, 5], cells[::3, 4] = draw.choice(["red", "green"], 400), None
    signed = Explanation(
        draw.normal(size=(400, 6)) * [3, 2, 1, 0.5, 0.2, 0],
        draw.random((400, 6)) < 0.3,
        data=cells,
        importance_kind="SHAP value",
    )
    many = draw.random((2000, 150)) ** 8
    wide = Explanation(many, many > 0.5, data=draw.normal(size=many.shape))
    one_row = Explanation([[0.9, 0.2, 0.7]], [[True, False, True]], data=[[1.5, np.nan, 120000.0]])
    one_feature = Explanation(draw.random((50, 1)), np.ones((50, 1)), feature_names=["price in $ (of $100)"])
    nothing = Explanation(np.full((200, 4), 0.01), np.zeros((200, 4)), data=np.full((200, 4), np.nan))
    equal = Explanation(np.full((30, 5), 0.5), np.zeros((30, 5)), data=np.ones((30, 5)))
    kinds = {
        "negative numbers": signed,
        "150 features": wide,
        "one row": one_row,
        "one feature": one_feature,
        "nothing selected, all missing": nothing,
        "all equal": equal,
    }
    pictures = ("heatmap", "bar", "beeswarm", "histograms", "n_selected")
    shown: Pictures = {
        f"{kind}: {name}": getattr(explanation.plot, name) for kind, explanation in kinds.items() for name in pictures
    }
    for kind, explanation in kinds.items():
        shown[f"{kind}: row"] = lambda explanation=explanation: explanation.plot.row(0)
    shown["negative numbers: comparison"] = lambda: signed.plot.compare(signed[::-1])
    return shown


def page(sections: dict[str, list[str]]) -> str:
    """The pictures of each section, light and dark beside each other."""
    parts = []
    for title, names in sections.items():
        parts.append(f"<h2>{escape(title)}</h2><div class='all'>")
        for name in names:
            files = "".join(
                f"<img src='{ground}/{file_name(title, name)}' loading='lazy' alt='{escape(name)}, {ground}'>"
                for ground in GROUNDS
            )
            parts.append(f"<figure>{files}<figcaption>{escape(name)}</figcaption></figure>")
        parts.append("</div>")
    style = "body{font-family:sans-serif;margin:2em}.all{display:flex;flex-wrap:wrap;gap:1em}img{max-width:330px}"
    head = f"<meta charset='utf-8'><title>Pictures of hideseek</title><style>{style}figure{{margin:0}}</style>"
    return f"<!doctype html><html lang='en'>{head}<h1>Pictures of hideseek</h1>{''.join(parts)}</html>"


def file_name(section: str, name: str) -> str:
    """Letters and digits only."""
    return "".join(c if c.isalnum() else "_" for c in f"{section}_{name}".lower()) + ".png"


def main(folder: Path) -> None:
    """Draw everything and write the page."""
    sections = {
        "Syn4": syn4(),
        "Breast cancer": breast_cancer(),
        "Digits": digits(),
        "Fits": fits(),
        "Odd tables": odd(),
    }
    for ground, style in GROUNDS.items():
        (folder / ground).mkdir(parents=True, exist_ok=True)
        with plt.style.context(style):
            for section, pictures in sections.items():
                for name, draw in pictures.items():
                    figure = draw().figure
                    figure.savefig(folder / ground / file_name(section, name), dpi=200)
                    plt.close(figure)
    (folder / "index.html").write_text(page({title: list(pictures) for title, pictures in sections.items()}))
    print(f"{sum(map(len, sections.values()))} pictures, each on light and on dark ground: {folder / 'index.html'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "gallery"))
