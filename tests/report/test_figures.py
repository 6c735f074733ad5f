"""Pictures: each on a table of odd cases, and what each of them says."""

import sys
import warnings
from datetime import date, timedelta
from types import SimpleNamespace

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from scipy.integrate import trapezoid

from hideseek import Explanation, HideSeekClassifier, InputError
from hideseek.answers import Predicted
from hideseek.effects import Effects
from hideseek.metrics import best_patches
from hideseek.report import ExplanationPlots, plot_history, plot_path, plot_screening
from hideseek.report.figures.colours import OKABE_ITO
from hideseek.report.figures.density import density
from hideseek.report.figures.features import as_numbers, legible
from hideseek.report.figures.heatmap import alike_together

BLUE, ORANGE, GREY = OKABE_ITO[0].lower(), OKABE_ITO[1].lower(), OKABE_ITO[7].lower()


@pytest.fixture(autouse=True)
def no_figures_left():
    yield
    plt.close("all")


def explained(importance, **more):
    importance = np.asarray(importance, dtype=float)
    return Explanation(importance, importance > 0.5, **more)


def odd_explanations():
    draw = np.random.default_rng(0)
    mixed = draw.normal(size=(40, 6)).astype(object)
    mixed[:, 2], mixed[:, 3] = draw.choice(["red", "green"], 40), draw.random(40) < 0.5
    mixed[:, 4] = [date(2024, 1, 1) + timedelta(day) for day in range(40)]
    mixed[::5] = None
    mixed[:, 5] = np.fromiter(((number, "a longer text") for number in mixed[:, 0]), dtype=object, count=40)
    some_missing = draw.random((50, 4))
    some_missing[::2, 1] = np.nan
    long_names = [f"the average balance of account {i} in $ per month" for i in range(6)]
    return {
        "ordinary": explained(draw.random((60, 5)), data=draw.normal(size=(60, 5))),
        "one row": explained([[0.9, 0.2, 0.7]], data=[[1.5, np.nan, 120000.0]]),
        "one feature": explained(draw.random((30, 1)), feature_names=["price in $"]),
        "one cell": explained([[0.3]]),
        "nothing selected": explained(np.zeros((20, 4)), data=np.full((20, 4), np.nan)),
        "all equal": explained(np.full((30, 5), 0.5), data=np.ones((30, 5))),
        "missing importance": explained(some_missing, data=some_missing),
        "many features": explained(draw.random((400, 150)) ** 8, data=draw.normal(size=(400, 150))),
        "mixed values": explained(draw.random((40, 6)), data=mixed),
        "long names": explained(draw.random((30, 6)), feature_names=long_names, data=draw.normal(size=(30, 6))),
        "negative": explained(draw.normal(size=(80, 4)), importance_kind="SHAP value", data=np.ones((80, 4))),
        "long row labels": explained(
            draw.random((3, 2)), row_labels=[f"customer number {i} of the bank" for i in range(3)]
        ),
    }


def image_of(explanation, ax):
    mixed = explanation.data is not None and explanation.data.dtype == object
    pixels = explanation.importance[0] if mixed else None
    shape = (1, explanation.shape[1])
    return explanation.plot.image(0, shape=shape, patch_size=1, n_patches=1, pixels=pixels, ax=ax)


def path_of(explanation, ax):
    priced = explanation[:]
    priced.answers.give(entry_price=1e-4 + np.abs(np.nan_to_num(explanation.importance)) / 10)
    return priced.plot.path(-1, ax=ax)


def waterfall_of(explanation, ax):
    told = explanation[:]
    effects = np.nan_to_num(explanation.importance[explanation.selected]) - 0.7
    told.answers.give(
        predicted=Predicted(np.full(len(told), "yes"), np.full(len(told), 0.75)),
        effects=Effects(explanation.selected, effects[:, None], np.array(["yes"])),
    )
    return told.plot.waterfall(-1, ax=ax)


ODD = odd_explanations()
PICTURES = {
    "call": lambda e, ax=None: e.plot(ax=ax),
    "bar": lambda e, ax=None: e.plot.bar(ax=ax),
    "beeswarm": lambda e, ax=None: e.plot.beeswarm(ax=ax),
    "histograms": lambda e, ax=None: e.plot.histograms(ax=ax),
    "histograms of a known truth": lambda e, ax=None: e.plot.histograms(ax=ax, relevant=e.selected),
    "row": lambda e, ax=None: e.plot.row(-1, ax=ax),
    "waterfall": lambda e, ax=None: waterfall_of(e, ax),
    "path": lambda e, ax=None: path_of(e, ax),
    "n_selected": lambda e, ax=None: e.plot.n_selected(ax=ax),
    "image": lambda e, ax=None: image_of(e, ax),
    "compare": lambda e, ax=None: e.plot.compare(e[::-1], ax=ax),
}


def test_every_picture_of_an_explanation_is_drawn_here():
    methods = {name for name in vars(ExplanationPlots) if not name.startswith("_")}
    assert methods - set(PICTURES) == {"heatmap"}  # which the call draws


def texts_of(figure):
    return [t for t in figure.findobj(Text) if t.get_visible() and t.get_text().strip()]


def problems_of_layout(figure):
    """Letters too small, cut by the edge or over others. Tick labels beyond the limits of an axis are not drawn."""
    figure.canvas.draw()
    beyond = set()
    for axis in (axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)):
        low, high = sorted(axis.get_view_interval())
        for label in axis.get_ticklabels():
            place = label.get_position()[0 if axis.axis_name == "x" else 1]
            beyond |= set() if axis.get_visible() and low <= place <= high else {label}
    boxes = [(text, text.get_window_extent()) for text in texts_of(figure) if text not in beyond]
    width, height = figure.canvas.get_width_height()
    problems = [f"{t.get_text()!r} is small" for t, _ in boxes if t.get_fontsize() < 7]
    problems += [
        f"{t.get_text()!r} is cut" for t, b in boxes if min(b.x0, b.y0) < -1 or b.x1 > width + 1 or b.y1 > height + 1
    ]
    for i, (one, a) in enumerate(boxes):
        for other, b in boxes[i + 1 :]:
            if min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 2:
                problems.append(f"{one.get_text()!r} is over {other.get_text()!r}")
    return problems


@pytest.mark.parametrize("case", ODD)
@pytest.mark.parametrize("picture", PICTURES)
def test_odd_tables_are_drawn_without_warning_and_without_overlap(picture, case):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax = PICTURES[picture](ODD[case])
        assert problems_of_layout(ax.figure) == []
    assert ax.figure.get_figwidth() <= 3.3


@pytest.mark.parametrize("picture", PICTURES)
def test_every_picture_has_a_title_that_says_how_many_rows_it_is_about(picture):
    for case, explanation in ODD.items():
        heading = PICTURES[picture](explanation).get_title().replace("\n", " ")
        expected = "row" if picture in ("row", "waterfall", "path", "image") else f"{len(explanation):,} row"
        assert expected in heading, (case, heading)
        plt.close("all")


def test_every_public_picture_is_among_those_tested():
    public = {name for name in dir(ExplanationPlots) if not name.startswith("_")}
    assert public - {"heatmap"} == set(PICTURES) - {"call", "histograms of a known truth"}


@pytest.mark.parametrize("picture", PICTURES)
def test_given_axes_are_drawn_on_and_no_figure_is_made(picture):
    figure, ax = plt.subplots(figsize=(3.3, 2.5), layout="constrained")
    before = plt.get_fignums()
    assert PICTURES[picture](ODD["many features"], ax) is ax
    assert plt.get_fignums() == before
    assert problems_of_layout(figure) == []


@pytest.mark.parametrize("picture", PICTURES)
def test_letters_are_light_on_dark_ground(picture):
    with plt.style.context("dark_background"):
        ax = PICTURES[picture](ODD["mixed values"])
        colours = {to_hex(text.get_color()) for text in texts_of(ax.figure)}
    assert colours <= {"#ffffff"}
    drawn = {to_hex(patch.get_facecolor()) for patch in ax.patches}
    assert BLUE not in drawn, "blue is too dark for black"


def names_on(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def test_bars_are_means_with_standard_errors_in_their_order():
    ax = explained([[0.1, 0.9, 0.4], [0.3, 0.7, 0.4]], feature_names=["a", "b", "c"]).plot.bar()
    assert names_on(ax) == ["b", "c", "a"]
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([0.8, 0.4, 0.2])
    (whiskers,) = ax.collections
    assert [np.ptp(segment[:, 0]) for segment in whiskers.get_segments()] == pytest.approx([0.2, 0.0, 0.2])
    assert ax.get_xlabel() == "mean mask, with standard error"
    assert explained([[0.1, 0.9]]).plot.bar().get_xlabel() == "mean mask", "one row has no standard error"


def test_numbers_that_are_no_masks_are_called_what_they_are():
    shap = ODD["negative"]
    assert shap.plot.bar().get_xlabel() == "mean absolute SHAP value,\nwith standard error"
    assert shap.plot.beeswarm().get_xlabel() == "SHAP value"
    low, high = shap.plot.row(0).get_xlim()
    assert low == -high < 0
    image = shap.plot.heatmap().images[0]
    assert image.norm.vmin == -image.norm.vmax
    assert explained([[2.0, 5.0]], importance_kind="absolute LIME weight").plot.row(0).get_xlim() == (0, 5)


def test_features_left_out_are_counted_in_the_title():
    for name in ("bar", "beeswarm", "heatmap", "histograms"):
        assert "20 of 150 features" in getattr(ODD["many features"].plot, name)().get_title().replace("\n", " ")
    assert len(ODD["many features"].plot.bar(max_features=7).patches) == 7
    with pytest.raises(InputError, match="max_features=0: expected a whole number of at least 1"):
        ODD["ordinary"].plot.bar(max_features=0)


def test_given_axes_hold_as_many_features_as_they_have_room_for():
    _, ax = plt.subplots(figsize=(3.3, 1.5))
    shown = len(ODD["many features"].plot.bar(ax=ax).patches)
    assert 3 < shown < 12
    assert f"{shown} of 150 features" in ax.get_title()


def test_equal_selections_are_neighbours_in_the_heatmap():
    selected = np.array([[1, 0, 0], [0, 1, 1], [1, 0, 0], [0, 1, 0], [0, 1, 1]], dtype=bool)
    order = alike_together(selected)
    assert sorted(order) == [0, 1, 2, 3, 4]
    places = np.argsort(order).tolist()
    assert abs(places[0] - places[2]) == abs(places[1] - places[4]) == 1
    assert min(abs(places[3] - places[1]), abs(places[3] - places[4])) == 1, "next to the most similar"
    masks = np.where(selected, 0.9, [0.3, 0.2, 0.1])
    ax = explained(masks).plot()
    by_weight = [int(name[1:]) - 1 for name in names_on(ax)]
    np.testing.assert_allclose(ax.images[0].get_array(), masks[order][:, by_weight].T)
    assert [int(label.get_text()) for label in ax.get_xticklabels()] == order.tolist()


def test_of_many_rows_the_same_few_are_drawn_and_it_is_said():
    explanation = explained(np.random.default_rng(0).random((3000, 3)))
    first, again = (explanation.plot.heatmap(max_rows=50) for _ in range(2))
    assert first.get_title() == "shown: 50 of 3,000 rows,\n3 features"
    assert first.images[0].get_array().shape == (3, 50)
    np.testing.assert_array_equal(first.images[0].get_array(), again.images[0].get_array())


def test_dots_stand_at_their_importance_and_have_the_colour_of_their_value():
    data = np.array([[-9.0, "red"], [0.0, "blue"], [9.0, "red"], [None, "red"]], dtype=object)
    ax = explained([[0.9, 0.1], [0.8, 0.1], [0.7, 0.1], [0.6, 0.1]], data=data).plot.beeswarm()
    numbers, missing, categories = ax.collections
    np.testing.assert_allclose(numbers.get_offsets()[:, 0], [0.9, 0.8, 0.7])
    assert [to_hex(colour) for colour in numbers.get_facecolors()][::2] == [BLUE, ORANGE]
    np.testing.assert_allclose(missing.get_offsets()[:, 0], [0.6])
    assert len(missing.get_facecolors()) == 0
    assert {to_hex(colour) for colour in categories.get_facecolors()} == {GREY}
    assert np.ptp(categories.get_offsets()[:, 1]) > 0, "dots of one place are spread"
    assert np.abs(categories.get_offsets()[:, 1] - 1).max() < 0.5, "and stay on the line of their feature"
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["low value", "high value", "missing", "category"]


def test_text_that_looks_like_numbers_is_a_category():
    assert as_numbers(np.array(["1", "2"], dtype=object)) is None
    np.testing.assert_array_equal(as_numbers(np.array([1, None, 2.5], dtype=object)), [1, np.nan, 2.5])
    np.testing.assert_array_equal(as_numbers(np.array([True, False])), [1, 0])
    np.testing.assert_array_equal(as_numbers(np.array([date(1970, 1, 3), None], dtype=object)), [2, np.nan])


def test_missing_categories_are_hollow_too():
    masks = [[0.9], [0.8], [0.7]]
    ax = explained(masks, data=np.array([["red"], [None], ["blue"]], dtype=object)).plot.beeswarm()
    there, missing = ax.collections
    np.testing.assert_allclose(there.get_offsets()[:, 0], [0.9, 0.7])
    np.testing.assert_allclose(missing.get_offsets()[:, 0], [0.8])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["missing", "category"]


def test_rows_where_a_feature_is_relevant_are_drawn_above_its_line():
    masks = np.tile([[0.9], [0.1]], (20, 1))
    ax = explained(masks).plot.histograms(relevant=masks > 0.5)
    (above, below) = ax.patches
    for steps, colour, mask, sign in ((above, BLUE, 0.9, -1), (below, ORANGE, 0.1, 1)):  # the axis points down
        assert to_hex(steps.get_facecolor()) == colour
        heights, edges, base = steps.get_data()
        (high,) = np.flatnonzero(heights != base)
        assert np.sign(heights[high]) == sign
        assert edges[high] <= mask <= edges[high + 1]
    assert ax.get_xlabel() == "mask; high peaks are cut"
    assert explained(np.linspace(0, 1, 99)[:, None]).plot.histograms().get_xlabel() == "mask"
    with pytest.raises(InputError, match=r"relevant has the shape \(3, 1\)"):
        explained(masks).plot.histograms(relevant=np.ones((3, 1)))


def test_histograms_can_keep_the_order_of_the_table():
    explanation = explained([[0.1, 0.9], [0.2, 0.8]])
    assert names_on(explanation.plot.histograms()) == ["x2", "x1"]
    assert names_on(explanation.plot.histograms(order="table")) == ["x1", "x2"]
    with pytest.raises(InputError, match="order='size'"):
        explanation.plot.histograms(order="size")


@pytest.mark.parametrize("ends", [(0.0, 1.0), (-3.0, 5.0)])
def test_a_density_is_one_in_all_and_does_not_leave_the_ends(ends):
    low, high = ends
    grid = np.linspace(low, high, 401)
    for numbers in ([low] * 50, [high, low + 0.5, low + 0.2], np.linspace(low, high, 999)):
        assert trapezoid(density(numbers, grid, ends), grid) == pytest.approx(1, abs=0.01)
    flat = density(np.linspace(low, high, 9999), grid, ends)
    assert flat == pytest.approx(1 / (high - low), rel=0.02), "flat up to the ends"


def test_one_rows_answer_has_values_selection_and_prediction():
    explanation = explained(
        [[0.2, 0.9, 0.6], [0.1, 0.2, 0.3]],
        feature_names=["age", "pay", "sex"],
        data=np.array([[31.0, 120000.0, None], [1.0, 2.0, 3.0]], dtype=object),
        row_labels=["anna", "ben"],
        predictor=lambda X: (np.full(len(X), "$yes$"), np.full(len(X), 0.75)),
    )
    ax = explanation.plot.row(0)
    assert names_on(ax) == ["pay", "sex", "age"]
    assert [bar.get_width() for bar in ax.patches] == [0.9, 0.6, 0.2]
    assert [to_hex(bar.get_facecolor()) for bar in ax.patches] == [BLUE, BLUE, GREY]
    assert [text.get_text() for text in ax.texts] == ["= 120,000", "= missing", "= 31"]
    assert ax.get_title().split("\n") == [r"row anna: predicted '\$yes\$'", "(0.75)"]
    with pytest.raises(IndexError, match="row 2"):
        explanation.plot.row(2)


def test_the_features_of_a_row_enter_in_the_order_of_their_prices(switch, model):
    explanation = model.explain(switch[0][:3])
    ax = explanation.plot.path(1)
    entry = explanation.entry_price[1]
    names = [label.get_text() for label in ax.get_yticklabels()]
    drawn = [entry[explanation.feature_names.index(name)] for name in names]
    assert drawn == sorted(drawn, reverse=True)
    ends = [bar.get_x() + bar.get_width() for bar in ax.patches]
    np.testing.assert_allclose(ends, drawn, rtol=1e-5)
    left, right = ax.get_xlim()
    assert left > right, "prices fall from left to right"
    (chosen,) = [line.get_xdata()[0] for line in ax.get_lines()]
    np.testing.assert_allclose(chosen, model._ensemble.price)
    for bar, name in zip(ax.patches, names, strict=True):
        selected = explanation.selected[1, explanation.feature_names.index(name)]
        assert to_hex(bar.get_facecolor()) == (BLUE if selected else GREY)
        assert selected == (bar.get_x() + bar.get_width() > chosen)


def test_beside_each_feature_stands_the_prediction_once_it_has_entered(switch, model):
    explanation = model.explain(switch[0][:3])
    ax = explanation.plot.path(1)
    said = [float(text.get_text()) for text in ax.texts]
    names = [label.get_text() for label in ax.get_yticklabels()]
    last = explanation.entry_price[1, explanation.feature_names.index(names[-1])]
    fuller = model.at(penalty=0.999 * float(last) * 4)
    expected = fuller.predict_proba(switch[0][1:2])[0][int(explanation.prediction[1])]
    assert abs(said[-1] - expected) < 0.006


def test_a_path_without_a_range_of_prices_is_refused_with_what_to_do(switch):
    explanation = HideSeekClassifier("paper", steps=2, random_state=0).fit(*switch).explain(switch[0][:1])
    with pytest.raises(InputError, match='fit a model with any preset but "paper"'):
        explanation.plot.path(0)


def test_the_number_selected_is_a_share_of_the_rows():
    ax = explained([[0.9, 0.9, 0.1], [0.9, 0.1, 0.1], [0.9, 0.1, 0.1], [0.1, 0.1, 0.1]]).plot.n_selected()
    centres = [bar.get_x() + bar.get_width() / 2 for bar in ax.patches]
    assert dict(zip(centres, (bar.get_height() for bar in ax.patches), strict=True)) == {0: 0.25, 1: 0.5, 2: 0.25}
    assert ax.get_title() == "on average 1.0 of 3 selected\n4 rows"
    many = ODD["many features"].plot.n_selected()
    assert sum(bar.get_height() for bar in many.patches) == pytest.approx(1)


def test_patches_are_outlined_on_the_image():
    importance = np.random.default_rng(0).random((2, 30))
    ax = explained(importance, data=np.arange(60.0).reshape(2, 30)).plot.image(1, shape=(5, 6), n_patches=3)
    boxes = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    corners = [(box.get_y() + 0.5, box.get_x() + 0.5) for box in boxes]
    assert corners == [tuple(corner) for corner in best_patches(importance, (5, 6), n_patches=3)[1]]
    pixels, overlay = ax.images
    np.testing.assert_array_equal(pixels.get_array(), np.arange(30.0, 60.0).reshape(5, 6))
    assert overlay.get_array()[..., 3].argmax() == importance[1].argmax()
    other = explained(importance).plot.image(0, shape=(5, 6), n_patches=0, pixels=np.ones(30), overlay=False)
    assert len(other.images) == 1
    assert not other.patches
    with pytest.raises(InputError, match="pass them as pixels"):
        explained([[0.1, 0.2]], data=[["a", "b"]]).plot.image(0, shape=(1, 2), patch_size=1, n_patches=1)
    with pytest.raises(InputError, match=r"shape=\(28, 28\) has 784 pixels; the rows have 30 features"):
        explained(importance).plot.image(0)


def test_a_comparison_counts_rows_by_who_selects():
    one = explained([[0.9, 0.1], [0.9, 0.9], [0.1, 0.1], [0.9, 0.1]])
    two = explained([[0.9, 0.1], [0.9, 0.1], [0.9, 0.1], [0.1, 0.1]], importance_kind="SHAP value")
    ax = one.plot.compare(two)
    widths = {bars.get_label(): [bar.get_width() for bar in bars] for bars in ax.containers}
    assert names_on(ax) == ["x1", "x2"]
    assert widths == {"both": [0.5, 0], "only mask": [0.25, 0.25], "only SHAP value": [0.25, 0]}
    assert ax.get_title() == "same features in 25% of the rows;\nmean overlap 38%\n4 rows, 2 features"
    named = one.plot.compare(two, labels=("ours", "theirs"))
    assert [bars.get_label() for bars in named.containers] == ["both", "only ours", "only theirs"]
    with pytest.raises(InputError, match="same rows and features"):
        one.plot.compare(two[:2])
    with pytest.raises(InputError, match="other must be an Explanation"):
        one.plot.compare([1])


def test_an_empty_explanation_is_refused():
    for name in ("heatmap", "bar", "beeswarm", "histograms", "n_selected"):
        with pytest.raises(InputError, match="no rows"):
            getattr(ODD["ordinary"][[]].plot, name)()


def test_long_names_are_short_and_stay_apart():
    names = [f"the average balance of account {i} in euro per month" for i in range(12)]
    for two_lines in (True, False):
        short = legible(names, two_lines=two_lines)
        assert len(set(short)) == 12
        assert max(len(line) for name in short for line in name.split("\n")) <= 18
        assert max(name.count("\n") for name in short) <= two_lines
        assert short[3].endswith("… #4"), "the column's number, where the rest is the same"
    assert legible(["the mean of the account"]) == ["the mean of\nthe account"]
    assert legible(["the mean of the account"], two_lines=False) == ["the mean…account"]
    assert legible(["a\tb  c", "$x$"]) == ["a b c", r"\$x\$"]


def test_the_course_of_training_has_every_loss(model):
    ax = plot_history(model)
    loss = model.history_["loss"]
    assert ax.get_title() == f"{loss.shape[1]} members, {model.history_['step'][-1]:,} steps"
    lines = {line.get_label(): line for line in ax.lines if len(line.get_xdata())}
    assert list(lines) == ["prediction", "with penalty"]
    loss = model.history_["loss"].mean(axis=1)
    np.testing.assert_allclose(lines["with penalty"].get_ydata(), loss, rtol=1e-6)  # single precision
    two = {name: np.repeat(values[:, None], 2, 1) for name, values in model.history_.items() if values.ndim == 1}
    records = {**model.history_, "validation_loss": two["penalty"] * [1.0, 3.0]}
    drawn = {line.get_label(): line for line in plot_history(records).lines}
    np.testing.assert_allclose(drawn["prediction, held out"].get_ydata(), 2 * model.history_["penalty"])
    assert problems_of_layout(ax.figure) == []
    with pytest.raises(InputError, match="fit it first"):
        plot_history(object())


def test_a_path_shows_loss_count_and_choice():
    path = SimpleNamespace(
        penalty=[1.0, 0.1, 0.3], loss=[0.7, 0.5, 0.4], standard_error=[0.1, 0.1, np.nan], n_selected=[0.0, 6.0, 3.2],
        score=[0.5, 0.8, 0.9], score_name="auroc", chosen=2,
    )  # fmt: skip
    ax = plot_path(SimpleNamespace(path_=path))
    assert ax.get_title() == "chosen: 0.3,\n3.2 selected per row, AUROC 0.900\n3 penalties"
    losses = next(line for line in ax.lines if line.get_label() == "held-out loss")
    assert losses.get_xydata().tolist() == [[0.1, 0.5], [0.3, 0.4], [1.0, 0.7]]
    assert [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == ":"] == [0.3]
    right = next(other for other in ax.figure.axes if other is not ax)
    assert right.lines[0].get_ydata().tolist() == [6.0, 3.2, 0.0]
    assert problems_of_layout(ax.figure) == []
    assert plot_path(SimpleNamespace(penalty=[0], loss=[1], n_selected=[0])).get_title() == "1 penalty"
    with pytest.raises(InputError, match="without penalty, loss, n_selected"):
        plot_path(object())


def test_a_screening_shows_the_best_columns_and_the_threshold():
    score = np.linspace(0, 9, 100)
    found = SimpleNamespace(score=score, kept=score > 8.5, threshold=8.5)
    ax = plot_screening(found, max_features=10)
    assert names_on(ax)[:2] == ["x100", "x99"]
    assert [to_hex(bar.get_facecolor()) for bar in ax.patches] == [BLUE] * 6 + [GREY] * 4
    assert [line.get_xdata()[0] for line in ax.lines] == [8.5]
    assert ax.get_title() == "6 of 100 columns kept\nshown: the best 10"
    model = SimpleNamespace(screening_=SimpleNamespace(score=[2, 0], kept=[True, False]), feature_names_in_=["a", "b"])
    ax = plot_screening(model)
    assert names_on(ax) == ["a", "b"]
    assert [line.get_xdata()[0] for line in ax.lines] == [1.0], "scores are multiples of the threshold"
    with pytest.raises(InputError, match="without score, kept"):
        plot_screening(object())


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("hideseek.report.figures")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'hideseek\[plot\]'"):
        ODD["ordinary"].plot()


def test_the_effects_of_a_row_are_bars_to_the_right_and_left(switch):
    X = switch[0]
    y = (X[:, 0] + X[:, 1] > 0).astype(int)  # one of the two may speak against the answer
    explanation = HideSeekClassifier("fast", random_state=0).fit(X, y).explain(X)
    row = int(np.flatnonzero((explanation.effect < -0.01).any(axis=1) & (explanation.effect > 0.01).any(axis=1))[0])
    ax = explanation.plot.row(row)
    chosen = np.flatnonzero(explanation.selected[row])
    largest_first = chosen[np.argsort(-np.abs(explanation.effect[row, chosen]))]
    assert names_on(ax) == [f"x{j + 1}" for j in largest_first]
    effects = explanation.effect[row, largest_first]
    assert [bar.get_width() for bar in ax.patches] == pytest.approx(effects.tolist())
    assert [to_hex(bar.get_facecolor()) for bar in ax.patches] == [BLUE if size > 0 else ORANGE for size in effects]
    label = ax.get_xlabel().replace("\n", " ").replace("\xa0", " ")
    assert label == f"effect on the probability of y = {explanation.prediction[row]}"
    other = explanation.plot.row(row, of=1 - explanation.prediction[row])
    assert [bar.get_width() for bar in other.patches] == pytest.approx((-effects).tolist(), abs=1e-6)
    assert explanation.plot.row(row, values="importance").get_xlabel() == "mask"


def test_a_waterfall_leads_from_the_prediction_without_each_feature_to_the_prediction(switch, model):
    explanation = model.explain(switch[0])
    row = int(np.flatnonzero(explanation.n_selected > 1)[0])
    ax = explanation.plot.waterfall(row)
    features = [explanation.feature_names.index(name) for name in names_on(ax)]
    effect, answer = explanation.effect[row, features], explanation.probability[row]
    assert (np.diff(np.abs(effect)) <= 0).all(), "the largest effect comes first"
    np.testing.assert_allclose([bar.get_x() for bar in ax.patches], answer - effect)
    np.testing.assert_allclose([bar.get_x() + bar.get_width() for bar in ax.patches], answer)
    assert [line.get_xdata()[0] for line in ax.lines] == [pytest.approx(answer)]
    label = ax.get_xlabel().replace("\n", " ").replace("\xa0", " ")
    assert label == f"the probability of y = {explanation.prediction[row]}, without and with the feature"
    with pytest.raises(InputError, match="this explanation has no effects"):
        ODD["ordinary"].plot.waterfall(0)


def test_a_beeswarm_of_effects_has_a_dot_where_a_feature_is_selected(switch, model):
    explanation = model.explain(switch[0])[:300]
    ax = explanation.plot.beeswarm()
    dots = dict(zip(names_on(ax), (dots.get_offsets()[:, 0] for dots in ax.collections), strict=True))
    for name, places in dots.items():
        j = explanation.feature_names.index(name)
        expected = explanation.effect_of(1)[explanation.selected[:, j], j]
        np.testing.assert_allclose(np.asarray(places), expected)
    assert "y = 1" in ax.get_xlabel().replace("\n", " ").replace("\xa0", " ")
    assert explanation.plot.beeswarm(values="importance").get_xlabel() == "mask"
    with pytest.raises(InputError, match="values='shap'"):
        explanation.plot.beeswarm(values="shap")
