"""The result of an audit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hideseek.frames import FrameLibrary, make_frame
from hideseek.metrics._audit._errors import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Audit", "Estimate"]

_CERTAIN = 5.0
"""Standard errors above 0 from which leakage is reported as found."""
_MOST_FEATURES = 5


@dataclass(frozen=True, repr=False)
class Audit:
    """What a selection reveals about the target, and what the choice itself reveals; made by :func:`audit`.

    Scores are means over rows, the higher the better: the log-likelihood in nats for classes, minus the squared error
    for values. Every row is scored by networks that have not learned from it. Networks learn from a limited number of
    rows, so scores are somewhat below what is possible with the same features; the more features, the further.
    ENCODE is a difference of two such scores, in which that cancels.

    Attributes:
        task: "classification" or "regression".
        n_rows: Rows of the table.
        feature_names: One for each column of the selection.
        n_selected: Selected features, mean over rows.
        nothing: Score with no feature shown: the frequencies of the classes, or the mean value.
        random: EVAL-X of random features, in each row as many as are selected.
        evalx: EVAL-X: score of the selected values, p(y given x_S).
        roar: ROAR: score of the selected values and of the fact that they were selected, p(y given x_S and S).
        everything: Score with all features shown.
        encode: ENCODE, roar - evalx: what the choice of the features reveals about the target beyond their values. 0
            for a selector without label leakage.
        eauroc: AUROC of EVAL-X's predictions; None for values.
        eaccuracy: Share of the rows whose class EVAL-X predicts (eACC); None for values.
        r2: Share of the variance that EVAL-X's predictions explain; None for classes.
        own: AUROC or R2 of the method's own predictions, if they were given.
        own_gain: ``own`` minus ``eauroc`` or ``r2``. Above 0: the method uses more than the selected values, or has
            learned from more rows than the networks of the audit.
        feature_leak: What the choice of the features reveals about each hidden feature beyond the selected values, in
            nats, mean over all rows. Shape: ``(features,)``.
        feature_leak_error: Its standard error. Shape: ``(features,)``.
        total_feature_leak: The sum of ``feature_leak``.
        sufficiency: For each row, the score of its selected features minus that of all features. Near 0: they suffice.
            Shape: ``(rows,)``.

    Example:
        >>> import numpy as np
        >>> from hideseek.metrics import Audit, Estimate
        >>> some = Estimate(-0.44, 0.01)
        >>> found = Audit("classification", 500, ("age", "sex"), 1.0, nothing=Estimate(-0.69, 0.001), random=some,
        ...               evalx=some, roar=Estimate(-0.33, 0.01), everything=Estimate(-0.32, 0.01),
        ...               encode=Estimate(0.11, 0.01), eauroc=Estimate(0.8, 0.01), eaccuracy=Estimate(0.8, 0.01),
        ...               r2=None, own=None, own_gain=None, feature_leak=np.zeros(2), feature_leak_error=np.ones(2),
        ...               total_feature_leak=Estimate(0.0, 0.01), sufficiency=np.zeros(500))
        >>> found.encodes_label, found.leaks_features
        (True, False)
    """

    task: str
    n_rows: int
    feature_names: tuple[str, ...]
    n_selected: float
    nothing: Estimate
    random: Estimate
    evalx: Estimate
    roar: Estimate
    everything: Estimate
    encode: Estimate
    eauroc: Estimate | None
    eaccuracy: Estimate | None
    r2: Estimate | None
    own: Estimate | None
    own_gain: Estimate | None
    feature_leak: NDArray[np.float64]
    feature_leak_error: NDArray[np.float64]
    total_feature_leak: Estimate
    sufficiency: NDArray[np.float64]
    frame_library: FrameLibrary = "pandas"

    @property
    def encodes_label(self) -> bool:
        """Whether label leakage was found: ENCODE is at least five standard errors above 0."""
        return self.encode.ratio >= _CERTAIN

    @property
    def leaks_features(self) -> bool:
        """Whether feature leakage was found: in total, or for some feature, at least five standard errors above 0."""
        leaks = zip(self.feature_leak, self.feature_leak_error, strict=True)
        return self.total_feature_leak.ratio >= _CERTAIN or any(Estimate(*leak).ratio >= _CERTAIN for leak in leaks)

    def _lines(self) -> list[tuple[str, Estimate]]:
        """Return all estimates by name, in the order of the table."""
        short = "AUROC" if self.task == "classification" else "R2"
        lines = [
            ("nothing", self.nothing),
            ("random", self.random),
            ("EVAL-X", self.evalx),
            ("ROAR", self.roar),
            ("everything", self.everything),
            ("ENCODE", self.encode),
            ("eAUROC" if self.task == "classification" else "R2", self.eauroc or self.r2),
            ("eACC", self.eaccuracy),
            (f"own {short}", self.own),
            (f"own {short} - {'eAUROC' if self.task == 'classification' else 'R2'}", self.own_gain),
            ("feature leak", self.total_feature_leak),
        ]
        return [(name, estimate) for name, estimate in lines if estimate is not None]

    def to_frame(self) -> Any:
        """Return a frame with the columns quantity, value and error; the leaks of single features come last."""
        lines = self._lines()
        for j, name in enumerate(self.feature_names):
            leak = Estimate(float(self.feature_leak[j]), float(self.feature_leak_error[j]))
            lines.append((f"feature leak: {name}", leak))
        columns: dict[str, list[Any]] = {
            "quantity": [name for name, _ in lines],
            "value": [estimate.value for _, estimate in lines],
            "error": [estimate.error for _, estimate in lines],
        }
        return make_frame(columns, self.frame_library)

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the scores of nothing, random features, EVAL-X, ROAR and everything, with ENCODE between two of them.

        Args:
            ax: The matplotlib Axes to draw on; those of a new figure if not given.

        Returns:
            The Axes.
        """
        from hideseek.report.figures.audit import audit  # a higher layer, imported only when used

        return audit(self, ax=ax)

    def __repr__(self) -> str:
        unit = "log-likelihood, nats" if self.task == "classification" else "minus squared error"
        n_features = len(self.feature_names)
        head = f"Audit of {self.n_rows:,} rows, {self.n_selected:.2f} of {n_features:,} features selected per row"
        lines = [f"{head} (scores: {unit})"]
        width = max(len(name) for name, _ in self._lines())
        lines += [f"  {name:{width}}  {estimate.value:9.4f} ± {estimate.error:.4f}" for name, estimate in self._lines()]
        return "\n".join([*lines, f"  {self._label_verdict()}", f"  {self._feature_verdict()}"])

    def _label_verdict(self) -> str:
        ratio = f"ENCODE is {self.encode.ratio:.1f} errors above 0"
        if self.encodes_label:
            return f"Label leakage found: {ratio}, so the choice of features reveals the label."
        return f"No label leakage found: {ratio}; {_CERTAIN:.0f} or more would count."

    def _feature_verdict(self) -> str:
        if not self.leaks_features:
            return "No feature leakage found."
        order = np.argsort(-self.feature_leak, kind="stable")[:_MOST_FEATURES]
        most = [f"{self.feature_names[j]} ({self.feature_leak[j]:.3f})" for j in order if self.feature_leak[j] > 0]
        return f"Feature leakage found, in nats per row: {', '.join(most)}."
