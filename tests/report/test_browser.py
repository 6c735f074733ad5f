"""The page in a real browser: what it shows, what it does, and that it needs nothing but itself."""

import json

import numpy as np
import pandas as pd
import pytest

from hideseek import Explanation, HideSeekClassifier
from hideseek.report import write_report

EXACT = 1e-5


def column(page, number):
    return page.locator(f"#rows-table tbody tr > :nth-child({number})").all_text_contents()


def test_rows_are_sorted_searched_and_paged(visit, reports, models, table):
    with visit(reports["regression"]) as page:
        predicted = models["regression"].predict(table[0][:60])
        assert column(page, 1) == [str(row) for row in range(25)]
        assert page.locator("#rows-status").text_content() == "Rows 1 to 25 of 60"
        page.get_by_role("button", name="Next").click()
        assert column(page, 1)[0] == "25"

        header = page.locator("#rows-table").get_by_role("columnheader", name="Prediction")
        header.get_by_role("button").click()
        assert header.get_attribute("aria-sort") == "ascending"
        assert column(page, 1) == [str(row) for row in np.argsort(predicted)[:25]]
        header.get_by_role("button").press("Enter")
        assert header.get_attribute("aria-sort") == "descending"
        assert column(page, 1)[0] == str(predicted.argmax())

        page.get_by_label("Search").fill("row 17: predicted")
        assert column(page, 1) == ["17"]
        page.get_by_label("Search").fill("no such thing")
        assert page.locator("#rows-status").text_content() == "No row matches"


@pytest.mark.parametrize("name", ["binary", "three classes", "regression"])
def test_the_model_in_the_page_answers_as_in_python(visit, reports, models, name):
    model = models[name]
    with visit(reports[name]) as page:
        assert_same_answer(page, model)
        page.get_by_role("textbox", name="Start from row").fill("42")
        page.get_by_role("button", name="Take this row").click()
        assert_same_answer(page, model)
        before = page.locator("#what-if-outputs data").first.get_attribute("value")
        for feature in ("x1", "x2", "x4"):
            slider = page.get_by_role("slider", name=feature)
            slider.press("End")
            assert_same_answer(page, model)
        page.get_by_role("slider", name="x1").press("ArrowLeft")
        assert_same_answer(page, model)
        page.get_by_role("combobox", name="x5").select_option(label="two")
        assert_same_answer(page, model)
        page.get_by_role("spinbutton", name="x2").fill("1e12")  # so far out that it is cut off
        assert_same_answer(page, model)
        assert page.locator("#what-if-outputs data").first.get_attribute("value") != before
        page.get_by_role("button", name="Reset").click()
        assert page.locator("#what-if-outputs data").first.get_attribute("value") == before
        page.get_by_role("textbox", name="Start from row").fill("4711")
        page.get_by_role("button", name="Take this row").click()
        assert page.get_by_role("alert").text_content() == "No row 4711 in this page."


def assert_same_answer(page, model):
    """What the page shows is what Python says to the values it shows."""
    values, masks, effects, outputs = page.evaluate(
        """() => [
            [0, 1, 2, 3, 4].map((j) => [...document.querySelectorAll(`[aria-labelledby=field-${j}]`)].at(-1).value),
            [1, 2, 3, 4, 5].map((j) => document.querySelector(`meter[aria-label="Mask of x${j}"]`).value),
            [1, 2, 3, 4, 5].map((j) => document.querySelector(`data[aria-label="Effect of x${j}"]`).value),
            [...document.querySelectorAll("#what-if-outputs data")].map((output) => output.value),
        ].map((part) => part.map(Number))"""
    )
    values = [values]
    explanation = model.explain(values)
    np.testing.assert_allclose(masks, explanation.importance[0], rtol=0, atol=EXACT)
    size = max(getattr(model, "_target_scale", 1.0), *np.abs(outputs))  # of what the effects are differences of
    np.testing.assert_allclose(effects, explanation.effect[0], rtol=0, atol=5 * EXACT * size)
    if hasattr(model, "classes_"):
        np.testing.assert_allclose(outputs, model.predict_proba(values)[0], rtol=0, atol=EXACT)
    else:
        np.testing.assert_allclose(outputs, model.predict(values), rtol=EXACT, atol=EXACT * model._target_scale)


@pytest.fixture(scope="module")
def mixed_report(mixed_model, mixed, tmp_path_factory):
    """The report of a table with a column of every kind."""
    path = tmp_path_factory.mktemp("mixed") / "report.html"
    mixed_model.explain(mixed[0][:60]).report(path, y=mixed[1][:60])
    return path


def test_values_of_every_kind_are_encoded_as_in_python(visit, mixed_report, mixed_model, mixed):
    X, seen = mixed[0], []
    with visit(mixed_report) as page:
        for row in (17, 42, 0):
            page.get_by_role("textbox", name="Start from row").fill(str(row))
            page.get_by_role("button", name="Take this row").click()
            seen.append(what_is_seen(page))
        expected = mixed_model.explain(X[:1]).describe(0).replace("Row 0: ", "With these values: ")
        page.get_by_text(expected, exact=True).wait_for()
        for menu, labels in {
            "region": ["west", "missing"],
            "size": ["large", "missing"],
            "member": ["True", "missing"],
            "sure": ["True", "False"],
            "kind": ["a", "other"],
            "two": ["left", "right"],
            "colour": ["blue", "missing"],
        }.items():
            for label in labels:
                page.get_by_role("combobox", name=menu).select_option(label=label)
                seen.append(what_is_seen(page))
        for number in ("x1", "x9"):
            slider = page.get_by_role("slider", name=number)
            slider.press("End")
            seen.append(what_is_seen(page))
        box, field = page.get_by_role("checkbox", name="x1 is missing"), page.get_by_role("spinbutton", name="x1")
        before = field.input_value()
        box.check()
        assert field.input_value() == ""
        seen.append(what_is_seen(page))
        box.uncheck()
        assert field.input_value() == before
        page.get_by_role("spinbutton", name="x2").fill("0.25")
        page.get_by_label("joined", exact=True).fill("2022-02-28")
        page.get_by_label("seen", exact=True).fill("2024-02-29T13:45:10")
        seen.append(what_is_seen(page))
        page.get_by_role("checkbox", name="joined is missing").check()
        seen.append(what_is_seen(page))
    for rows, asked in ((slice(3), X.iloc[[17, 42, 0]]), (slice(None), as_frame([shown for shown, _, _ in seen], X))):
        explanation = mixed_model.explain(asked)
        masks = [[by_name[f"Mask of {name}"] for name in explanation.feature_names] for _, by_name, _ in seen[rows]]
        np.testing.assert_allclose(masks, explanation.importance, rtol=0, atol=EXACT)
        outputs = [output for _, _, output in seen[rows]]
        np.testing.assert_allclose(outputs, mixed_model.predict_proba(asked), rtol=0, atol=EXACT)
    answers = {(*by_name.values(), *output) for _, by_name, output in seen}
    assert len(answers) > len(seen) - 5, "what is changed changes the answer"


def what_is_seen(page):
    """The text in the control of each column, the masks by their labels, and the outputs."""
    return page.evaluate(
        """() => {
            const last = (k) => [...document.querySelectorAll(`[aria-labelledby=field-${k}]`)].at(-1);
            const said = (control) => (control.selectedOptions ? control.selectedOptions[0].text : control.value);
            const meters = [...document.querySelectorAll("#what-if-features meter")];
            return [
                JSON.parse(document.querySelector("#page-data").textContent).fields.map((_, k) => said(last(k))),
                Object.fromEntries(meters.map((meter) => [meter.ariaLabel, meter.value])),
                [...document.querySelectorAll("#what-if-outputs data")].map((output) => Number(output.value)),
            ];
        }"""
    )


def as_frame(shown, X):
    """A frame like X of the texts in the controls."""
    cells = [[None if text in ("", "missing") else text for text in row] for row in shown]
    frame = pd.DataFrame(cells, columns=X.columns)
    frame = frame.astype({"x1": float, "x2": float, "x9": float, "size": X["size"].dtype})
    for name in ("joined", "seen"):
        frame[name] = pd.to_datetime(frame[name])
    for name in ("member", "sure"):
        frame[name] = frame[name].map({"True": True, "False": False})
    return frame


def priced(page, model, level):
    """The model at the price of a level of the page's slider."""
    path = json.loads(page.locator("#page-data").text_content())["path"]
    return model.at(penalty=path["prices"][level] / path["prices"][path["chosen"]] * model.penalty_)


@pytest.mark.parametrize("name", ["binary", "regression"])
def test_one_slider_moves_rows_ranking_tiles_and_what_if_to_another_price(visit, reports, models, table, name):
    model, X = models[name], table[0][:60]
    with visit(reports[name]) as page:
        slider = page.get_by_role("slider", name="From few to many features")
        page.locator("#what-if-sentence", has_text="With these values").wait_for()
        before = page.locator("main").inner_text()
        page.get_by_label("Rows per page").select_option("100")
        for key, level in (("End", 50), ("Home", 0), ("PageUp", 5)):
            slider.press(key)
            assert slider.input_value() == str(level)
            page.evaluate("new Promise(requestAnimationFrame)")  # the page follows the slider once in a frame
            assert page.locator("#rows-moved").is_visible()
            other = priced(page, model, level)
            selected = other.select(X)
            place = 4 if name == "regression" else 5
            assert column(page, place) == [str(count) for count in selected.sum(axis=1)]
            ranked = page.locator("#ranking-moved-table th").all_text_contents()
            shown = page.locator("#ranking-moved-table td.number").all_text_contents()
            shares = {f"x{j + 1}": 100 * share for j, share in enumerate(selected.mean(axis=0)) if share}
            assert {each: float(share.rstrip("%")) for each, share in zip(ranked, shown, strict=True)} == pytest.approx(
                shares, abs=0.51
            )
            assert page.locator("#tile-selected").text_content() == f"{selected.sum(axis=1).mean():.1f}"
            assert f"{selected.sum(axis=1).mean():.1f} features per row" in slider.get_attribute("aria-valuetext")
            assert_same_answer(page, other)
        page.get_by_role("button", name="As chosen").click()
        page.locator("#rows-moved").wait_for(state="hidden")
        page.get_by_label("Rows per page").select_option("25")
        page.wait_for_timeout(500)  # the sentence of what-if waits before it speaks
        assert page.locator("main").inner_text() == before
        assert_same_answer(page, model)


def test_rows_can_be_searched_by_what_is_selected_at_the_price(visit, reports, models, table):
    with visit(reports["binary"]) as page:
        page.get_by_role("slider", name="From few to many features").press("End")
        page.locator("#rows-moved").wait_for()
        selected = priced(page, models["binary"], 50).select(table[0][:60])
        page.get_by_label("Rows per page").select_option("100")
        page.get_by_label("Search").fill("x5")
        assert column(page, 1) == [str(row) for row in np.flatnonzero(selected[:, 4])]


def test_the_heatmap_tells_what_is_selected_at_the_price(visit, reports, models, table):
    with visit(reports["binary"]) as page:
        page.get_by_role("slider", name="From few to many features").press("Home")
        page.locator("#heatmap-moved").wait_for()
        selected = priced(page, models["binary"], 0).select(table[0][:60])
        page_data = json.loads(page.locator("#page-data").text_content())
        row, heatmap = page_data["rows"]["order"][0], page.locator("#heatmap-canvas")
        heatmap.press("ArrowDown")
        for j in page_data["features"]["heatmap"]:
            said = "selected" if selected[row, j] else "not selected"
            assert page.locator("#heatmap-cell").text_content().endswith(f"row {row}, x{j + 1}: {said}")
            heatmap.press("ArrowRight")
        assert not selected[row].all()


def test_a_page_of_one_price_has_no_slider(visit, models, table, tmp_path):
    models["binary"].explain(table[0][:60], n_features=2).report(tmp_path / "two.html")
    with visit(tmp_path / "two.html") as page:
        assert page.locator("#path").is_hidden()
        assert len(column(page, 1)) == 25


def test_the_sentence_of_what_if_names_stand_ins_too(visit, table, tmp_path):
    X, score = table
    twice = np.hstack((X[:, :4], X[:, [3]]))
    model = HideSeekClassifier("fast", steps=300, prediction_draws=4, random_state=0).fit(twice, score > 0)
    explanation = model.explain(twice[:30])
    row = next(i for i in range(30) if "(x5 would have done as well)" in explanation.describe(i))
    explanation.report(tmp_path / "twice.html")
    with visit(tmp_path / "twice.html") as page:
        assert "x5 would have done as well" in page.locator("#ranking-chosen").inner_text()
        page.get_by_role("textbox", name="Start from row").fill(str(row))
        page.get_by_role("button", name="Take this row").click()
        expected = explanation.describe(row).replace(f"Row {row}: ", "With these values: ")
        page.get_by_text(expected, exact=True).wait_for()


def test_the_sentence_of_what_if_is_that_of_describe(visit, reports, models, table):
    with visit(reports["three classes"]) as page:
        described = models["three classes"].explain(table[0][:1]).describe(0)
        page.locator("#what-if-sentence", has_text="With these values").wait_for()
        said = page.locator("#what-if-sentence").text_content()
        of_x5 = {"0": "none", "1": "one", "2": "two"}[f"{table[0][0, 4]:g}"]
        expected = described.replace("Row 0: ", "With these values: ").replace(
            f"x5 = {table[0][0, 4]:g}", f"x5 = {of_x5}"
        )
        assert said == expected


def test_everything_can_be_reached_from_the_keyboard(visit, reports):
    with visit(reports["binary"]) as page:
        heatmap = page.locator("#heatmap-canvas")
        heatmap.focus()
        heatmap.press("ArrowDown")
        heatmap.press("ArrowDown")
        heatmap.press("ArrowRight")
        order = json.loads(page.locator("#page-data").text_content())["rows"]["order"]
        assert f"row {order[1]}, " in page.locator("#heatmap-cell").text_content()
        heatmap.press("Enter")
        assert page.get_by_role("textbox", name="Start from row").input_value() == str(order[1])
        assert page.evaluate("document.activeElement.id") == "what-if-title"
        button = page.get_by_role("button", name="What if, from row 3", exact=True)
        button.press("Enter")
        assert page.get_by_role("textbox", name="Start from row").input_value() == "3"
        unnamed = page.locator("input, select, button, canvas, meter").evaluate_all(
            "all => all.filter(e => !(e.labels?.length || e.ariaLabel || e.textContent.trim()"
            " || e.getAttribute('aria-labelledby') || e.ariaHidden === 'true')).length"
        )
        assert unnamed == 0


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_the_page_fits_and_the_heatmap_is_drawn(visit, reports, width, scheme):
    with visit(reports["three classes"], width, scheme) as page:
        assert page.evaluate("document.documentElement.scrollWidth") == width
        page.wait_for_function("document.querySelector('#heatmap-canvas').height > 150")
        colours = page.evaluate(
            """() => {
                const canvas = document.querySelector('#heatmap-canvas');
                const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
                return new Set(new Uint32Array(pixels.buffer)).size;
            }"""
        )
        assert colours > 20
        page.emulate_media(media="print")
        assert page.get_by_role("navigation").is_hidden()
        assert page.locator("#ranking").is_visible()


def test_names_that_look_like_code_stay_text(visit, tmp_path):
    evil = ["</script><script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "${alert(3)}", "a\u2028b&amp;'"]
    draw = np.random.default_rng(0)
    masks = draw.uniform(size=(40, 4))
    explanation = Explanation(
        masks, masks > 0.5, feature_names=evil, data=draw.normal(size=(40, 4)), row_labels=[*evil, *range(36)]
    )
    write_report(explanation, tmp_path / "evil.html", title=evil[0], quality={evil[1]: evil[0]})
    with visit(tmp_path / "evil.html") as page:
        assert page.title() == evil[0]
        assert page.locator("h1").text_content() == evil[0]
        assert column(page, 1)[:3] == evil[:3]
        ranked = page.locator("#ranking table").first.locator("tbody th").all_text_contents()
        assert sorted(ranked) == sorted(evil)
        assert page.locator("img").count() == 0
        assert page.locator("#what-if-panel").is_hidden()
