"""The result of every method: the importance of each feature for each row, and the selected features."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hideseek.answers import Answers, EffectsOf, OfCells, Predictor
from hideseek.cells import format_value
from hideseek.errors import InputError, PositionError
from hideseek.explanation_file import read_explanation, write_explanation
from hideseek.explanation_html import html_table
from hideseek.frames import FrameLibrary, make_frame
from hideseek.interop import to_shap
from hideseek.picking import are_names, by_name, positions
from hideseek.ranking import ranking
from hideseek.sentences import sentence
from hideseek.stand_ins import StandIns, best_stand_ins, from_arrays, stand_in_columns, to_arrays
from hideseek.validation import Rule, as_array, check_parameters, choice, row_number
from hideseek.wording import column_names

if TYPE_CHECKING:
    from hideseek.report import ExplanationPlots

__all__ = ["Explanation"]

_RULES = {
    "feature_names": Rule("a list of names", lambda value: isinstance(value, Iterable)).or_none(),
    "importance_kind": Rule("text", lambda value: isinstance(value, str)),
    "predictor": Rule("a function of rows", lambda value: callable(value) and not isinstance(value, type)).or_none(),
    "frame_library": choice("pandas", "polars"),
    "target_name": Rule("text", lambda value: isinstance(value, str)).or_none(),
}


class Explanation:
    """The importance of every feature for each row, and the few features that were selected.

    Args:
        importance: Importance of the kind ``importance_kind``. Shape: ``(rows, features)``.
        selected: Shape: ``(rows, features)``, bool.
        feature_names: One per column; ``x1``, ``x2``, ... if not given.
        data: The values that were explained, numbers or any objects. Shape: ``(rows, features)``.
        row_labels: One per row; 0, 1, ... if not given.
        importance_kind: "mask": the share of the feature that was shown, from 0 to 1; other methods have their own.
        predictor: Computes ``prediction`` and ``probability`` at first access.
        model: The fitted model that made the explanation.
        inputs: Inputs of the predictor; ``data`` if not given. Shape: ``(rows, any)``.
        relevance: Computes ``selection_probability`` at first access.
        entry: Computes ``entry_price`` at first access.
        effects: Computes ``effect`` at first access.
        stand_ins: Columns that could replace features; None: not known.
        frame_library: "pandas" or "polars": the library of returned frames.
        target_name: The name of the target, for sentences and figures.

    Example:
        >>> from hideseek import Explanation
        >>> explanation = Explanation([[0.9, 0.1]], [[True, False]], feature_names=["age", "sex"])
        >>> print(explanation.describe(0))
        Row 0: 1 of 2 features decided: age (0.90).
    """

    def __init__(
        self,
        importance: ArrayLike,
        selected: ArrayLike,
        *,
        feature_names: Sequence[str] | None = None,
        data: ArrayLike | None = None,
        row_labels: ArrayLike | None = None,
        importance_kind: str = "mask",
        predictor: Predictor | None = None,
        model: Any = None,
        inputs: ArrayLike | None = None,
        relevance: OfCells | None = None,
        entry: OfCells | None = None,
        effects: EffectsOf | None = None,
        stand_ins: StandIns | None = None,
        frame_library: FrameLibrary = "pandas",
        target_name: str | None = None,
    ) -> None:
        given = {
            "feature_names": feature_names,
            "importance_kind": importance_kind,
            "predictor": predictor,
            "frame_library": frame_library,
            "target_name": target_name,
        }
        check_parameters("Explanation", given, _RULES)
        self.importance = as_array("importance", importance)
        if self.importance.dtype.kind in "biu":  # booleans and unsigned integers cannot be negated for sorting
            self.importance = self.importance.astype(np.float64)
        self.selected = as_array("selected", selected, bool)
        if self.importance.ndim != 2 or self.importance.shape != self.selected.shape:
            raise InputError(
                "importance and selected must both be (rows, features); "
                f"they are {self.importance.shape} and {self.selected.shape}"
            )
        n_rows, n_features = self.importance.shape
        self.feature_names = tuple(column_names(feature_names, n_features))
        self.data = None if data is None else as_array("data", data)
        self.row_labels = np.arange(n_rows) if row_labels is None else np.atleast_1d(as_array("row_labels", row_labels))
        self.importance_kind = importance_kind
        self.model = model
        self.target_name = target_name
        self._frame_library = frame_library
        self.stand_ins_by_feature = stand_ins
        # All columns stay when features are picked, so that predictions can still be made.
        rows = self.data if inputs is None else as_array("inputs", inputs)
        self.answers = Answers(n_features, rows, predictor=predictor, relevance=relevance, entry=entry, effects=effects)
        self._check_shapes(n_rows if inputs is None else len(np.atleast_1d(np.asarray(rows))))

    def _check_shapes(self, n_inputs: int) -> None:
        n_rows, n_features = self.importance.shape
        for name, size, expected in (
            ("feature_names", len(self.feature_names), n_features),
            ("row_labels", len(self.row_labels), n_rows),
            ("inputs", n_inputs, n_rows),
        ):
            if size != expected:
                raise InputError(f"{name} has {size} entries; importance is {n_rows} rows by {n_features} features")
        if self.data is not None and self.data.shape != self.importance.shape:
            raise InputError(f"data has the shape {self.data.shape}; importance has {self.importance.shape}")

    # -- results ------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.importance)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and features."""
        return len(self.importance), len(self.feature_names)

    @property
    def n_selected(self) -> NDArray[np.int64]:
        """Number of selected features in each row. Shape: ``(rows,)``."""
        return np.asarray(self.selected.sum(axis=1))

    @property
    def prediction(self) -> NDArray[Any] | None:
        """The model's prediction for each row, or None if the method has no predictor. Shape: ``(rows,)``."""
        predicted = self.answers.predicted
        return None if predicted is None else predicted.label

    @property
    def probability(self) -> NDArray[Any] | None:
        """The probability of that prediction, or None for regression. Shape: ``(rows,)``."""
        predicted = self.answers.predicted
        return None if predicted is None else predicted.probability

    @property
    def selection_probability(self) -> NDArray[Any] | None:
        """Probability that each feature is relevant for its row.

        Computed from the mask at the penalty that the fit chose, also if this explanation is at another penalty. The
        same calibration is used for all tables; it was fitted for the default preset on seven kinds of classification
        tables with known relevant features. Values between 0.05 and 0.95 are a rough guide: of features with a
        probability of 0.6 to 0.8, calibrated on the other kinds, 68 to 88 % were relevant on five kinds, and 30 and
        38 % on two (California, switches); 49 % in regression. Not calibrated for preset "fast". None if the model
        was trained at one penalty, as with preset "paper". Shape: ``(rows, features)``.
        """
        return self.answers.selection_probability

    @property
    def entry_price(self) -> NDArray[Any] | None:
        """The highest price at which each feature of each row is still selected.

        In nats of log-likelihood for classes, in shares of the target's variance for values; at most the highest price
        of training. It ranks the features of a row independently of the penalty; 0 for features that were screened
        away. None if the model was trained at one penalty. Shape: ``(rows, features)``.
        """
        return self.answers.entry_price

    @property
    def effect(self) -> NDArray[np.float64] | None:
        """How much each selected feature raises (or, if negative, lowers) the prediction of its row.

        The prediction from the selected features minus the prediction from the selected features without this one,
        which is then replaced by the same draws as all hidden features. In units of the prediction: the probability
        of the predicted class (see :meth:`effect_of` for other classes), or the value. 0 for features that are not
        selected. Effects do not add up: if two features carry the same information, hiding either one changes little.
        None if the method has no such model. Shape: ``(rows, features)``.
        """
        effects, prediction = self.answers.effects, self.prediction
        return None if effects is None or prediction is None else effects.of_prediction(prediction)

    def effect_of(self, label: Any) -> NDArray[np.float64] | None:
        """Return the effects on the probability of one class in every row. Shape: ``(rows, features)``."""
        effects = self.answers.effects
        return None if effects is None else effects.of_class(label)

    def stand_ins(self) -> Any:
        """Return, for each selected feature of each row, the columns that could replace it.

        One line per row, feature and stand-in, the best stand-in first. Columns: ``loss``, the increase of the
        prediction loss when the feature is replaced by values drawn given the stand-in; its ``standard_error``;
        ``loss_hidden``, the increase when the feature is hidden. All are means over held-out rows of the fit that
        select the feature at the penalty of the fit, in nats for classes, in shares of the target's variance for
        values. Listed are copies, which were dropped before the fit, and columns with at most half of
        ``loss_hidden``. Networks trained on the stand-in could lose less.

        None if the model has no stand-ins: it was trained at one penalty, or has no networks.

        Example:
            >>> import numpy as np
            >>> from hideseek import HideSeekClassifier
            >>> X = np.random.default_rng(0).normal(size=(1000, 3))
            >>> y = X[:, 0] * X[:, 1] > 0
            >>> twice = np.hstack((X, X[:, :1]))
            >>> explanation = HideSeekClassifier("fast", random_state=0).fit(twice, y).explain(twice)
            >>> explanation.stand_ins()["stand_in"].unique().tolist()
            ['x4']
        """
        known = self.stand_ins_by_feature
        if known is None:
            return None
        return self._frame(stand_in_columns(known, self.feature_names, self.selected, self.row_labels))

    # -- indexing -----------------------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Explanation:
        """Return a part: ``explanation[rows]``, ``explanation["AGE"]`` or ``explanation[rows, features]``.

        Rows are positions, slices, lists or boolean arrays; features likewise, or names.
        """
        if isinstance(key, tuple) and not are_names(key):
            if len(key) != 2:
                raise PositionError(f"an explanation has two axes, rows and features; got {len(key)} indices")
            rows, features = key
        else:
            rows, features = (slice(None), key) if are_names(key) else (key, slice(None))
        i = positions(rows, len(self), "row")
        j = positions(by_name(features, self.feature_names), len(self.feature_names), "feature")
        names = self.feature_names
        part = Explanation(
            self.importance[i][:, j],
            self.selected[i][:, j],
            feature_names=names[j] if isinstance(j, slice) else [names[k] for k in np.arange(len(names))[j]],
            data=None if self.data is None else self.data[i][:, j],
            row_labels=self.row_labels[i],
            importance_kind=self.importance_kind,
            model=self.model,
            stand_ins=self.stand_ins_by_feature,
            frame_library=self._frame_library,
            target_name=self.target_name,
        )
        part.answers = self.answers.part(i, j)
        return part

    # -- display ------------------------------------------------------------------------------------------------

    def describe(self, row: int) -> str:
        """Return a sentence on the row at this position: its prediction and the effects of the selected features.

        "Decided" means that the prediction was made from the selected features, and nothing more. Features are listed
        with their effects, largest first, or with their importance if effects are not known.
        """
        return sentence(self[row_number(row)])

    @property
    def plot(self) -> ExplanationPlots:
        """Figures: ``plot()`` is the heatmap, ``plot.bar()`` the ranking; more are in ``hideseek.report``."""
        from hideseek.report import ExplanationPlots  # a higher layer, imported only when used

        return ExplanationPlots(self)

    def to_frame(self) -> Any:
        """Return a frame with one line per row and feature.

        Columns: row, feature, value, importance, selected and, if known, effect, and ``stand_in``, a column that would
        have done as well (see :meth:`stand_ins`).
        """
        n_rows, n_features = self.shape
        columns: dict[str, NDArray[Any]] = {
            "row": np.repeat(self.row_labels, n_features),
            "feature": np.tile(np.array(self.feature_names), n_rows),
        }
        if self.data is not None:
            columns["value"] = self._one_type(self.data.reshape(-1))
        columns |= {"importance": self.importance.reshape(-1), "selected": self.selected.reshape(-1)}
        if (effect := self.effect) is not None:
            columns["effect"] = effect.reshape(-1)
        if (stand_in := best_stand_ins(self.stand_ins_by_feature, self.feature_names, self.selected)) is not None:
            columns["stand_in"] = stand_in.reshape(-1)
        return self._frame(columns)

    def mean_importance(self) -> Any:
        """Return the ranking over all rows: mean importance, its standard error, and the share of rows selecting it."""
        _, columns = ranking(self.importance, self.selected, self.feature_names)
        return self._frame(columns)

    def _one_type(self, values: NDArray[Any]) -> Any:
        """Return the values as text for polars, which has no columns of mixed types."""
        if values.dtype != object or self._frame_library == "pandas":
            return values
        return [None if value is None else format_value(value) for value in values]

    def to_shap(self, values: str = "importance", of: Any = None) -> Any:
        """Return importances or effects as a ``shap.Explanation``, for ``shap.plots``.

        Args:
            values: "importance": for bar, beeswarm, violin, scatter and heatmap plots. Masks do not add up from a base
                value to the prediction, so waterfall, force and decision plots raise an error; the line f(x) above a
                heatmap is the number of shown features. "effect": for those plots too. They end at the prediction, and
                each bar is the effect of one feature. But effects do not add up, so the start of such a plot is only
                the remainder, and not the mean prediction E[f(X)] that SHAP labels it.
            of: The class whose probability the effects are on; if not given, the predicted one of each row.
        """
        return to_shap(self, values, of)

    def _frame(self, columns: dict[str, NDArray[Any]]) -> Any:
        return make_frame(columns, self._frame_library)

    def __repr__(self) -> str:
        n_rows, n_features = self.shape
        rate = self.selected.mean(axis=0) if n_rows else np.zeros(n_features)
        top = [
            f"{self.feature_names[j]} ({rate[j]:.0%} of rows)" for j in np.argsort(-rate, kind="stable")[:5] if rate[j]
        ]
        mean = f"{self.n_selected.mean():.2f} selected per row" if n_rows else "empty"
        tail = f"\n  most often: {', '.join(top)}" if top else ""
        return f"Explanation of {n_rows:,} rows x {n_features:,} features ({self.importance_kind}), {mean}{tail}"

    def _repr_html_(self) -> str:
        return html_table(self)

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        y: ArrayLike | None = None,
        quality: Mapping[str, float | str] | None = None,
        categories: Mapping[str, Mapping[Any, str]] | None = None,
        protected: Sequence[str] | None = None,
        other: Explanation | None = None,
    ) -> None:
        """Write one self-contained HTML file with the explanations; see ``hideseek.report.write_report``."""
        from hideseek.report import write_report  # a higher layer, imported only when used

        write_report(
            self,
            path,
            title=title,
            y=y,
            quality=quality,
            categories=categories,
            protected=protected,
            other=other,
        )

    # -- on disk ------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything, predictions and effects included, to one ``.npz`` file, atomically and without pickle."""
        arrays: dict[str, Any] = {
            "importance": self.importance,
            "selected": self.selected,
            "feature_names": np.array(self.feature_names, dtype=str),
            "row_labels": self.row_labels,
            "importance_kind": np.array(self.importance_kind),
            "frame_library": np.array(self._frame_library),
            "data": self.data,
        }
        if self.target_name is not None:
            arrays["target_name"] = np.array(self.target_name)
        if self.stand_ins_by_feature is not None:
            arrays |= to_arrays(self.stand_ins_by_feature)
        arrays |= self.answers.to_arrays()
        write_explanation(path, {name: value for name, value in arrays.items() if value is not None})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Explanation:
        """Return the explanation that ``save`` wrote.

        Raises:
            FileFormatError: The file is truncated, foreign, or written by a newer format.
        """
        arrays = read_explanation(path)
        explanation = cls(
            arrays["importance"],
            arrays["selected"],
            feature_names=arrays["feature_names"].tolist(),
            data=arrays.get("data"),
            row_labels=arrays["row_labels"],
            importance_kind=str(arrays["importance_kind"]),
            frame_library=cast(Literal["pandas", "polars"], str(arrays["frame_library"])),
            target_name=str(arrays["target_name"]) if "target_name" in arrays else None,
            stand_ins=from_arrays(arrays),
        )
        explanation.answers = Answers.from_arrays(arrays, explanation.shape, os.fspath(path))
        return explanation
