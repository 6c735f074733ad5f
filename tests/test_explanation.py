import numpy as np
import pandas as pd
import polars as pl
import pytest

from hideseek import Explanation, FileFormatError, InputError


@pytest.fixture
def explanation():
    return Explanation(
        [[0.9, 0.2, 0.6], [0.1, 0.7, 0.4]],
        [[True, False, True], [False, True, False]],
        feature_names=["age", "pay", "sex"],
        data=[[31.0, 2.5, 1.0], [64.0, 0.125, 0.0]],
        row_labels=["anna", "ben"],
        predictor=lambda X: (np.where(X[:, 0] > 40, "yes", "no"), np.full(len(X), 0.75)),
    )


def test_describe_puts_the_row_in_words(explanation):
    expected = (
        "Row anna: predicted 'no' (probability 0.75); 2 of 3 features decided: age = 31 (0.90) and sex = 1 (0.60)."
    )
    assert explanation.describe(0) == expected
    assert explanation.describe(-1).startswith("Row ben: predicted 'yes'")
    nothing = Explanation([[0.1]], [[False]])
    assert nothing.describe(0) == "Row 0: no feature stood out."


def test_the_ranking_has_mean_and_standard_error(explanation):
    frame = explanation.mean_importance()
    assert frame["feature"].tolist() == ["age", "sex", "pay"]
    np.testing.assert_allclose(frame["importance"], [0.5, 0.5, 0.45])
    np.testing.assert_allclose(frame["standard_error"], [0.4, 0.1, 0.25])
    np.testing.assert_allclose(frame["selected"], [0.5, 0.5, 0.5])


def test_long_form(explanation):
    frame = explanation.to_frame()
    assert frame.columns.tolist() == ["row", "feature", "value", "importance", "selected"]
    assert frame.iloc[4].tolist() == ["ben", "pay", 0.125, 0.7, True]
    assert len(frame) == 6
    polars = Explanation([[1.0]], [[True]], frame_library="polars").to_frame()
    assert isinstance(polars, pl.DataFrame)
    assert isinstance(frame, pd.DataFrame)


def test_indexing_by_row_and_by_feature(explanation):
    assert explanation.shape == (2, 3)
    assert len(explanation[0]) == 1
    assert explanation[-1].row_labels.tolist() == ["ben"]
    assert explanation[np.array([False, True])].data.tolist() == [[64.0, 0.125, 0.0]]
    assert explanation["pay"].importance.tolist() == [[0.2], [0.7]]
    part = explanation[1, ["sex", "age"]]
    assert part.feature_names == ("sex", "age")
    assert part.importance.tolist() == [[0.4, 0.1]]
    assert part.prediction.tolist() == ["yes"], "predictions come from the whole row"
    assert explanation[:, 1:].feature_names == ("pay", "sex")
    assert explanation[[1, 0]].row_labels.tolist() == ["ben", "anna"]
    assert explanation["age", "sex"].feature_names == ("age", "sex")
    assert explanation[:, np.array(["sex"])].feature_names == ("sex",)
    assert explanation[[]].shape == (0, 3)
    for key in (1.7, True, (0, 1, 2)):
        with pytest.raises(IndexError, match=r"selected by|two axes"):
            explanation[key]
    with pytest.raises(TypeError):
        explanation.describe("age")
    with pytest.raises(KeyError, match="'wage'"):
        explanation["wage"]
    with pytest.raises(IndexError, match="row 2"):
        explanation[2]


def test_predictions_are_made_when_asked_for_and_once():
    calls = []
    explanation = Explanation(
        np.ones((5, 2)),
        np.ones((5, 2)),
        data=np.zeros((5, 2)),
        predictor=lambda X: (calls.append(len(X)) or X[:, 0], None),
    )
    assert calls == []
    explanation.describe(3)
    assert calls == [1], "one row is described without predicting the others"
    assert explanation.prediction is explanation.prediction
    assert calls == [1, 5]
    assert explanation.probability is None
    assert Explanation([[1.0]], [[True]]).prediction is None


def test_values_are_written_as_by_hand():
    explanation = Explanation([[1.0, 0.9, 0.8]], [[True] * 3], data=[[120000.0, -1.23456789, 1e20]])
    assert "x1 = 120,000 (1.00), x2 = -1.235 (0.90) and x3 = 1e+20 (0.80)" in explanation.describe(0)


@pytest.mark.parametrize("labels", [[7, 8], ["a", "b"], [7, "b"], np.array([7, 8], dtype=object)])
def test_row_labels_come_back_as_they_were(labels, tmp_path):
    labels = np.array(labels, dtype=object)
    Explanation([[1.0], [1.0]], [[True], [True]], row_labels=labels).save(tmp_path / "e.npz")
    expected = labels.tolist() if len({type(label) for label in labels}) == 1 else [str(label) for label in labels]
    assert Explanation.load(tmp_path / "e.npz").row_labels.tolist() == expected


def test_a_round_trip_keeps_everything(explanation, tmp_path):
    path = tmp_path / "explanation.npz"
    explanation.save(path)
    again = Explanation.load(path)
    np.testing.assert_array_equal(again.importance, explanation.importance)
    np.testing.assert_array_equal(again.selected, explanation.selected)
    np.testing.assert_array_equal(again.data, explanation.data)
    assert again.describe(1) == explanation.describe(1)
    assert again.importance_kind == "mask"
    assert [p.name for p in tmp_path.iterdir()] == ["explanation.npz"]


def test_broken_and_foreign_files_are_refused(explanation, tmp_path):
    path = tmp_path / "explanation.npz"
    explanation.save(path)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(FileFormatError, match="not a whole"):
        Explanation.load(path)
    np.savez(path, importance=np.ones(3))
    with pytest.raises(FileFormatError, match="lacks 'format'"):
        Explanation.load(path)
    np.savez(path, format=1)
    with pytest.raises(FileFormatError, match="lacks 'importance', 'selected', 'feature_names'"):
        Explanation.load(path)
    np.savez(path, importance=np.array([object()]))
    with pytest.raises(FileFormatError):
        Explanation.load(path)
    with pytest.raises(FileNotFoundError):
        Explanation.load(tmp_path / "none.npz")


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match=r"\(1, 2\) and \(1, 1\)"):
        Explanation([[1.0, 2.0]], [[True]])
    with pytest.raises(InputError, match="feature_names has 1 entries"):
        Explanation([[1.0, 2.0]], [[True, False]], feature_names=["a"])
    with pytest.raises(InputError, match=r"data has the shape \(3, 1\)"):
        Explanation([[1.0]], [[True]], data=np.ones((3, 1)))


def test_representations(explanation):
    text = repr(explanation)
    assert text.splitlines()[0] == "Explanation of 2 rows x 3 features (mask), 1.50 selected per row"
    assert "age (50% of rows)" in text
    page = Explanation(np.ones((20, 1)), np.ones((20, 1)), feature_names=["<b>"])._repr_html_()
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert "12 more rows" in page
    assert "font-weight:bold" in page
    assert "empty" in repr(Explanation(np.ones((0, 2)), np.ones((0, 2))))


def test_selected_cells_are_bold_in_a_notebook():
    page = Explanation([[0.9, 0.4]], [[True, False]])._repr_html_()
    assert page.count("font-weight:bold") == page.count("font-weight:normal") == 1
