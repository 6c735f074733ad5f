"""The main job from end to end, on data that need no download: `make demo`.

First a problem whose truth is known, to see how well it is found; then a real table. A picture and a saved model are
written to the folder demo/.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import hideseek
from hideseek import Explanation, HideSeekClassifier
from hideseek.datasets import make_syn
from hideseek.metrics import selection_scores

OUT = Path("demo")


def find_a_known_truth() -> tuple[Explanation, np.ndarray]:
    """Syn4: where x11 is negative, x1 and x2 decide; elsewhere x3 to x6 do. x7 to x10 are noise."""
    train, test = (make_syn("Syn4", random_state=seed) for seed in (0, 1))
    model = HideSeekClassifier(random_state=0, verbose=True).fit(train.X, train.y)
    explanation = model.explain(test.X)
    scores = selection_scores(explanation.selected, test.relevant)
    exact = (explanation.selected == test.relevant).all(axis=1).mean()
    print("Syn4: 10,000 rows to learn from, 10,000 new rows explained; the truth of each is known.")
    print(f"  of the features that matter, found        {scores.tpr:5.1f} %")
    print(f"  of the features selected, beside the point {scores.fdr:4.1f} %")
    print(f"  rows whose set is exactly right           {exact:7.1%}")
    for row in range(4):
        truth = ", ".join(
            name for name, real in zip(explanation.feature_names, test.relevant[row], strict=True) if real
        )
        print(f"  {explanation.describe(row)}\n    truth: {truth}")
    return explanation, test.relevant


def explain_a_real_table() -> Explanation:
    """Breast cancer: 30 measurements of 569 tumours, malignant or benign."""
    data = load_breast_cancer(as_frame=True)
    labels = data.target_names[data.target]
    X_train, X_test, y_train, y_test = train_test_split(
        data.data, labels, test_size=0.3, random_state=0, stratify=labels
    )
    model = HideSeekClassifier(random_state=0, verbose=True).fit(X_train, y_train)
    explanation = model.explain(X_test)
    print(f"\nBreast cancer: {len(X_train)} rows to learn from, {len(X_test)} explained.")
    print(f"  accuracy on the new rows {model.score(X_test, y_test):.3f}, ", end="")
    print(f"{explanation.n_selected.mean():.1f} of {len(explanation.feature_names)} features per row")
    for row in range(4):
        print(f"  {explanation.describe(row)}")

    path = OUT / "breast_cancer.safetensors"
    model.save(path)
    again = hideseek.load(path).explain(X_test)
    same = np.array_equal(again.importance, explanation.importance)
    print(f"  saved to {path} and loaded again: {'the same masks' if same else 'DIFFERENT masks'}")
    return explanation


def main() -> None:
    """Run both, and draw them."""
    OUT.mkdir(exist_ok=True)
    known, relevant = find_a_known_truth()
    real = explain_a_real_table()
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5.5), layout="constrained")
    known.plot.histograms(relevant=relevant, order="table", ax=left).set_title("Syn4: the masks, and the truth")
    real.plot.bar(max_features=10, ax=right).set_title("Breast cancer: what decides, over all rows")
    figure.savefig(OUT / "masks.png", dpi=150)
    print(f"\nPicture: {OUT / 'masks.png'}")


if __name__ == "__main__":
    main()
