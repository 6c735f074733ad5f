"""A report of a real table: `python examples/report.py` writes demo/report.html; open it in any browser."""

from __future__ import annotations

from pathlib import Path

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from hideseek import HideSeekClassifier

OUT = Path("demo")


def main() -> None:
    """Fit on some tumours, report on the others."""
    data = load_breast_cancer(as_frame=True)
    labels = data.target_names[data.target]
    X_train, X_test, y_train, y_test = train_test_split(data.data, labels, test_size=0.5, random_state=0)
    model = HideSeekClassifier(random_state=0).fit(X_train, y_train)
    OUT.mkdir(exist_ok=True)
    path = OUT / "report.html"
    model.explain(X_test).report(path, y=y_test, title="Breast cancer: what decided")
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB, {len(X_test)} tumours that the model had not seen")


if __name__ == "__main__":
    main()
