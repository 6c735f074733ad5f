"""The first screen, comparisons, protected columns, files and links of the page, in a real browser."""

import csv
import io
import re

import numpy as np
import pytest

from hideseek import Explanation
from hideseek.report import write_report

N_ROWS = 60


def level(page, key):
    """Move the slider, and wait until the page has followed."""
    page.get_by_role("slider", name="From few to many features").press(key)
    page.locator("#rows-moved").wait_for()


def shares_in(page, table):
    """The percentages in the lines of a table, by name."""
    lines = page.locator(f"{table} tbody tr").all()
    return {
        line.locator("th span, th").first.inner_text().split("\n")[0]: [
            float(text.rstrip("%")) for text in line.locator("td.number").all_text_contents() if text.endswith("%")
        ]
        for line in lines
    }


def percents(selected):
    """The share of the rows that select each feature, as the page has them: those of no row are left out."""
    return {f"x{j + 1}": 100 * share for j, share in enumerate(selected.mean(axis=0)) if share}


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_the_first_screen_says_what_decides_without_scrolling(visit, reports, models, table, width, height):
    explanation = models["binary"].explain(table[0][:N_ROWS])
    often = explanation.selected.mean(axis=0)
    most = {f"x{j + 1}" for j in np.flatnonzero(often == often.max())}
    with visit(reports["binary"], width) as page:
        answer = page.locator("#answer").inner_text()
        assert f"decides most often, in {often.max():.0%} of the 60 rows" in answer
        assert f"a row needs {explanation.n_selected.mean():.1f} of 5 features on average" in answer
        assert page.locator("#answer strong").inner_text() in most
        shown = shares_in(page, "#picture-chosen")
        assert {name: share for name, (share,) in shown.items()} == pytest.approx(
            percents(explanation.selected), abs=0.51
        )
        drawn = page.locator("#picture-chosen").bounding_box()
        assert drawn["y"] + drawn["height"] < height
        if width > 1000:
            facts = page.locator(".opening").bounding_box()
            assert facts["y"] + facts["height"] < height
            assert page.locator("#protected-short").inner_text().startswith("x5 decides in ")
            assert "rows of the fit that the members who answer had not" in page.locator(".opening").inner_text()


def test_bars_are_divided_by_what_the_feature_does_to_the_second_class(visit, reports, models, table):
    explanation = models["binary"].explain(table[0][:N_ROWS])
    effect = explanation.effect_of(True)
    with visit(reports["binary"]) as page:
        assert "lowers the probability of y = True" in page.locator(".opening .legend").inner_text()
        for line in page.locator("#picture-chosen tbody tr").all():
            j = int(line.locator("th span").inner_text()[1:]) - 1
            drawn = [float(part.get_attribute("width")) for part in line.locator("rect").all()]
            raises, lowers = 100 * (effect[:, j] > 0.005).mean(), 100 * (effect[:, j] < -0.005).mean()
            np.testing.assert_allclose(drawn[::2], [raises, lowers], atol=0.01)
            np.testing.assert_allclose(sum(drawn), 100 * explanation.selected[:, j].mean(), atol=0.02)


def test_of_three_classes_the_reader_chooses_whose_probability_the_bars_tell(visit, reports):
    with visit(reports["three classes"]) as page:
        menu = page.get_by_label("Effects on")
        assert menu.locator("option").all_text_contents() == [
            f"the probability of {label}" for label in ("the predicted class", "'high'", "'low'", "'middle'")
        ]
        menu.select_option(label="the probability of 'low'")
        assert "lowers the probability of 'low'" in page.locator(".opening").inner_text()


def test_the_slider_moves_the_sentence_and_the_picture(visit, reports, models, table):
    with visit(reports["binary"]) as page:
        before = page.locator("#answer").inner_text()
        level(page, "End")
        assert page.locator("#answer").inner_text().startswith("At this price: x")
        assert page.locator("#picture-chosen").is_hidden()
        n_features = float(re.search(r"([\d.]+) features per row", page.locator("#answer").inner_text())[1])
        assert n_features > models["binary"].explain(table[0][:N_ROWS]).n_selected.mean()
        assert set(shares_in(page, "#picture-moved")) == {"x1", "x2", "x3", "x4", "x5"}
        page.get_by_role("button", name="As chosen").click()
        page.locator("#rows-moved").wait_for(state="hidden")
        assert page.locator("#answer").inner_text() == before


def test_any_two_groups_of_rows_are_compared(visit, reports, models, table):
    X, model = table[0][:N_ROWS], models["binary"]
    selected, y = model.select(X), model.predict(X)
    with visit(reports["binary"]) as page:

        def compared():
            found = shares_in(page, "#compare-table")
            return [{name: share[side] for name, share in found.items()} for side in (0, 1)]

        def expect(*groups):
            for shown, rows in zip(compared(), groups, strict=True):
                assert {name: share for name, share in shown.items() if share} == pytest.approx(
                    percents(selected[rows]), abs=0.51
                )

        page.get_by_label("Divide the rows by").select_option("x5")
        page.locator("#compare-second").select_option("x5 = two")
        expect(X[:, 4] == 0, X[:, 4] == 2)
        status = page.locator("#compare-status").inner_text()
        assert status.startswith(f"x5 = none: {(X[:, 4] == 0).sum()} rows; x5 = two: {(X[:, 4] == 2).sum()} rows.")
        page.locator("#compare-second").select_option("all others")
        expect(X[:, 4] == 0, X[:, 4] != 0)
        page.get_by_label("Divide the rows by").select_option("Actual")
        expect(~y, y)
        page.get_by_label("Divide the rows by").select_option("x4")
        high = X[:, 3] >= np.median(X[:, 3])
        expect(~high, high)
        page.get_by_label("Order").select_option("ranking of the second")
        ranked = list(compared()[1].values())
        assert ranked == sorted(ranked, reverse=True)
        level(page, "Home")
        path = page.evaluate("JSON.parse(document.querySelector('#page-data').textContent).path")
        cheaper = model.at(penalty=path["prices"][0] / path["prices"][path["chosen"]] * model.penalty_)
        selected = cheaper.select(X)
        expect(~high, high)


def test_shares_of_groups_in_a_sample_count_the_rows_that_each_row_stands_for(visit, tmp_path):
    draw = np.random.default_rng(0)
    X = draw.normal(size=(3000, 3))
    selected = np.column_stack([X[:, 0] > 1, X[:, 1] > 0, draw.uniform(size=3000) < 0.5])
    explanation = Explanation(selected * 0.9, selected, data=X, predictor=lambda X: (X[:, 0], None))
    write_report(explanation, tmp_path / "sample.html", max_rows=400)
    with visit(tmp_path / "sample.html", at="#compare=Prediction&compare-second=others") as page:
        status = page.locator("#compare-status").inner_text()
        assert re.match(r"y < \S+: about 1,[45]00 rows; all others: about 1,[56]00 rows\.", status)
        found = shares_in(page, "#compare-table")
    high = X[:, 0] >= np.median(X[:, 0])
    truth = [percents(selected[rows]).get("x1", 0.0) for rows in (~high, high)]
    assert found["x1"] == pytest.approx(truth, abs=6), "extremes, where x1 is selected, are in the sample more often"


def test_two_models_are_compared(visit, models, table, tmp_path):
    X = table[0][:N_ROWS]
    one, two = models["binary"].explain(X), models["three classes"].explain(X)
    one.report(tmp_path / "two.html", other=two)
    with visit(tmp_path / "two.html") as page:
        assert page.get_by_label("Divide the rows by").input_value() == "Model"
        assert "mean overlap" in page.locator("#compare").inner_text()
        shown = shares_in(page, "#compare-table")
        for side, explanation in enumerate((one, two)):
            found = {name: share[side] for name, share in shown.items() if share[side]}
            assert found == pytest.approx(percents(explanation.selected), abs=0.51)


def test_columns_are_marked_as_protected_by_argument_and_by_the_reader(visit, reports, models, table):
    X, selected = table[0][:N_ROWS], models["binary"].select(table[0][:N_ROWS])
    share = [f"{each:.1%} of the rows" if each else "no row" for each in selected.mean(axis=0)]
    with visit(reports["binary"]) as page:
        short, said = page.locator("#protected-short"), page.locator("#protected-sentence")
        assert short.inner_text() == said.inner_text() == f"x5 decides in {share[4]}."
        page.get_by_label("Mark a column").select_option("x2")
        either = f"{selected[:, [1, 4]].any(axis=1).mean():.1%} of the rows"
        assert said.inner_text() == f"x5 decides in {share[4]} and x2 in {share[1]}; at least one of them in {either}."
        assert short.inner_text() == said.inner_text()
        high = X[:, 1] >= np.median(X[:, 1])
        line = page.locator("#protected-table tbody tr", has_text="x2")
        shares = [f"{selected[rows, 1].mean():.1%}" for rows in (~high, high)]
        assert [part.rpartition(" ")[2] for part in line.locator("td").nth(2).inner_text().split(", ")] == shares
        page.get_by_role("button", name="Unmark x5").press("Enter")
        assert said.inner_text() == f"x2 decides in {share[1]}."
        page.get_by_role("button", name="Unmark x2").press("Enter")
        assert said.inner_text() == "No column is marked as protected."


def test_the_rows_that_are_found_are_downloaded_as_csv(visit, reports, models, table):
    explanation = models["regression"].explain(table[0][:N_ROWS])
    with visit(reports["regression"]) as page:
        page.get_by_label("Search").fill("row 1:")
        with page.expect_download() as download:
            page.get_by_role("button", name="Download as CSV").press("Enter")
        content = download.value.path().read_text(encoding="utf-8-sig")
        assert download.value.suggested_filename == "rows.csv"
    rows = list(csv.DictReader(io.StringIO(content)))
    assert [int(row["Row"]) for row in rows] == [1, 11, 21, 31, 41, 51]
    for row in rows:
        i = int(row["Row"])
        assert float(row["Prediction"]) == pytest.approx(explanation.prediction[i], rel=1e-6)
        assert row["What decided"] == explanation.describe(i)
        assert int(row["Selected"]) == len(row["Selected features"].split("; "))
        masks = [float(row[f"mask of x{j}"]) for j in range(1, 6)]
        np.testing.assert_allclose(masks, explanation.importance[i], atol=1e-4)


def test_a_link_restores_the_view(visit, reports):
    with visit(reports["binary"]) as page:
        level(page, "PageDown")
        page.get_by_label("Search").fill("x1")
        page.get_by_label("Rows per page").select_option("10")
        page.locator("#rows-table").get_by_role("columnheader", name="Probability").get_by_role("button").click()
        page.get_by_role("button", name="Next").click()
        page.get_by_label("Divide the rows by").select_option("x5")
        page.locator("#compare-second").select_option("x5 = two")
        page.get_by_label("Mark a column").select_option("x2")
        page.get_by_role("textbox", name="Start from row").fill("42")
        page.get_by_role("button", name="Take this row").click()
        page.get_by_role("slider", name="x1").press("End")
        page.get_by_role("link", name="Compare").click()
        page.wait_for_function("location.hash.includes('at=compare') && location.hash.includes('values=')")
        page.wait_for_timeout(500)  # the sentence of what-if waits before it speaks
        address, seen = page.evaluate("location.hash"), page.locator("body").inner_text()
        page.get_by_role("button", name="Copy link").press("Enter")
        assert page.evaluate("location.hash") == address
    with visit(reports["binary"], at=address) as page:
        page.wait_for_timeout(700)
        assert page.locator("body").inner_text() == seen
        assert page.locator("#compare").bounding_box()["y"] < 300
        page.evaluate("location.hash = '#protected=[]'")  # a link pasted into the address of the open page
        page.locator("#protected-short", has_text="No column is marked").wait_for()
        assert page.locator("#rows-moved").is_hidden()
    with visit(reports["binary"], at="#level=zzz&row=4711&protected=%7B&rows-sort=no&values=99:1&compare=no") as page:
        assert page.locator("#rows-status").inner_text() == "Rows 1 to 25 of 60"


def test_the_page_prints_without_controls_and_in_light_colours(visit, reports):
    with visit(reports["binary"], scheme="dark") as page:
        assert len(page.pdf()) > 20_000
        page.emulate_media(media="print")
        for control in ("#path", "#copy-link", "#print", "#rows-download", "#compare-form", "#protected-form"):
            assert page.locator(control).is_hidden()
        for part in ("#answer", "#picture-chosen", "#believe", "#compare-table", "#protected-sentence"):
            assert page.locator(part).is_visible()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_a_page_without_model_and_effects_has_its_first_screen_and_comparisons(visit, tmp_path):
    draw = np.random.default_rng(0)
    masks = draw.uniform(size=(40, 3))
    Explanation(masks, masks > 0.5, data=draw.normal(size=(40, 3))).report(tmp_path / "plain.html", protected=["x1"])
    with visit(tmp_path / "plain.html") as page:
        assert {name: share for name, (share,) in shares_in(page, "#picture-chosen").items()} == pytest.approx(
            percents(masks > 0.5), abs=0.51
        )
        assert page.get_by_label("Divide the rows by").locator("option").all_text_contents()[-3:] == ["x1", "x2", "x3"]
        assert "The quality of the predictions is not known" in page.locator(".opening").inner_text()
