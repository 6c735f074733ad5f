"""The picture of the README and of the site: ``python examples/answer.py`` writes docs/_static/answer.png."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from hideseek import HideSeekClassifier
from hideseek.datasets import make_cafe

TARGET = Path(__file__).parents[1] / "docs/_static/answer.png"


def main() -> None:
    """Fit the cafe, and draw the masks of some days beside the effects of one day."""
    days, new = (make_cafe(random_state=seed, as_frame=True) for seed in (0, 1))
    explanation = HideSeekClassifier(random_state=0).fit(days.X, days.y).explain(new.X[:2000])
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", width_ratios=(1.15, 1))
    explanation.plot.heatmap(ax=left).set_title("which features decided, on 300 days")
    explanation.plot.row(2, ax=right).set_title("one day, predicted without profit")
    figure.savefig(TARGET, dpi=100)


if __name__ == "__main__":
    main()
