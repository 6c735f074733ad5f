"""What the page says and is made of, without a browser."""

import json
import re
from base64 import b64decode, b64encode
from copy import copy
from dataclasses import replace
from datetime import date
from hashlib import sha256
from html.parser import HTMLParser
from importlib.metadata import version
from importlib.resources import files
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from hideseek import BlackBoxExplainer, Explanation, HideSeekClassifier, HideSeekWarning, InputError, baselines
from hideseek.effects import Effects
from hideseek.markup import element
from hideseek.report import write_report
from hideseek.report.page.columns import columns_of
from hideseek.report.page.content import gather
from hideseek.report.page.directions import directions_of
from hideseek.report.page.model import page_model
from hideseek.report.page.packing import pack_column
from hideseek.report.page.path import _first_levels
from hideseek.report.page.rules import rule_for
from hideseek.report.page.sampling import row_weights, rows_shown
from hideseek.report.page.splits import page_splits
from hideseek.report.page.subgroups import group_rows, subgroups_of
from hideseek.tabular import Table, TableEncoder

# the fits here are too short for masks to settle
pytestmark = pytest.mark.filterwarnings("ignore::hideseek.errors.MaskWarning")


class Page(HTMLParser):
    """The page's text by section, its tags, and the data it carries."""

    def __init__(self, path):
        super().__init__()
        self.source = path.read_text(encoding="utf-8")
        self.text, self.attributes, self._path = {}, [], []
        self.feed(self.source)
        self.data = json.loads(re.search(r'id="page-data">(.*?)</script>', self.source, re.DOTALL)[1])

    def handle_starttag(self, tag, attributes):
        self.attributes += attributes
        if tag == "section":
            self._path.append(dict(attributes).get("id", ""))

    def handle_endtag(self, tag):
        if tag == "section":
            self._path.pop()

    def handle_data(self, text):
        section = self._path[-1] if self._path else "page"
        self.text[section] = " ".join((self.text.get(section, "") + " " + text).split())


@pytest.fixture(scope="module")
def page(model, switch, tmp_path_factory):
    X, y = switch
    path = tmp_path_factory.mktemp("page") / "report.html"
    model.explain(X).report(path, y=y, title="A switch & more", quality={"AUROC, other rows": 0.875})
    return Page(path)


def arrays(packed):
    return np.frombuffer(b64decode(packed["data"]), dtype=f"<{packed['type']}").astype(float)


# -- what is said -------------------------------------------------------------------------------------------------


def test_the_page_tells_what_decides_and_in_which_rows(page):
    assert page.text["ranking"].index("x3") < page.text["ranking"].index("x4"), "the switch before the noise"
    groups = page.text["groups"]
    assert "By what was selected, the rows fall into" in groups
    rules = re.findall(r"Which rows: x3 (.) (-?[\d.]+) holds for (\d+)%", groups)[:2]
    assert {relation for relation, _, _ in rules} == {"<", "≥"}, (
        "the two largest groups are the two sides of the switch"
    )
    assert all(abs(float(bound)) < 0.4 and int(share) > 80 for _, bound, share in rules)


def test_quality_origin_and_data_are_there(page, model, switch):
    X, y = switch
    assert "AUROC, other rows 0.8750" in page.text["believe"]
    assert f"{model.score(X, y):.4f}" in page.text["believe"]
    assert "HideSeekClassifier" in page.text["origin"]
    assert version("torch") in page.text["origin"]
    assert f"{model.penalty_:.4g}" in page.text["origin"]
    assert f"{X[:, 0].min():.4g}" in page.text["data"]


def test_rows_carry_their_sentences(page, model, switch):
    explanation = model.explain(switch[0])
    rows = page.data["rows"]
    assert rows["sentences"][7] == explanation.describe(7)
    assert rows["selected"] == explanation.n_selected.tolist()
    importance = arrays(rows["importance"]).reshape(-1, 4) / 65535
    np.testing.assert_allclose(importance, explanation.importance, atol=1e-5)
    np.testing.assert_allclose(arrays(page.data["fields"][1]["values"]), switch[0][:, 1], atol=1e-6)
    assert sorted(rows["order"]) == list(range(len(explanation)))


def test_a_row_with_everything_selected_does_not_fill_the_page(tmp_path):
    full = np.ones((3, 300))
    write_report(Explanation(full, full, data=full * 1.2345), tmp_path / "page.html")
    (sentence, *_) = Page(tmp_path / "page.html").data["rows"]["sentences"]
    assert len(sentence) < 420
    assert sentence.endswith("(1.00), ...")


def test_findings_name_what_is_odd(tmp_path):
    def found(masks, data=None):
        explanation = Explanation(masks, np.asarray(masks) > 0.5, data=data)
        write_report(explanation, tmp_path / "page.html")
        return Page(tmp_path / "page.html").text["believe"]

    sure = np.tile([0.99, 0.01, 0.01], (50, 1))
    assert "The masks collapsed" in found(np.zeros((50, 3)))
    assert "The masks saturated" in found(np.ones((50, 3)))
    assert "No problems were found" in found(sure)
    assert "the selection is uncertain" in found(np.full((50, 3), 0.45))
    data = np.random.default_rng(0).normal(size=(50, 3))
    data[:, 2] = data[:, 0] * 2
    assert "nearly the same (correlation above 0.9): x1 and x3." in found(sure, data)
    data[:, 1] = 5
    assert "Constant in these rows: x2." in found(sure, data)


def test_rows_held_out_in_the_fit_tell_quality_and_warnings_without_labels(model, switch, tmp_path):
    doubtful = copy(model)
    doubtful.learned_ = replace(
        doubtful.learned_, trust=replace(model.trust_, agreement=0.4, agreement_held_out=0.1).with_warnings()
    )
    explanation = model.explain(switch[0][:50])
    write_report(explanation, tmp_path / "page.html", model=doubtful)
    page, trust = Page(tmp_path / "page.html"), model.trust_
    assert "The members select different features (agreement 0.40)" in page.text["believe"]
    assert "Measured in the fit on 2,000 rows" in page.text["believe"]
    score, everything = f"{trust.score_selected:.3f}", f"{trust.score_all:.3f}"
    assert f"the selected features {trust.n_selected:.1f} {score} {trust.loss_selected:.4f}" in page.text["believe"]
    assert f"all features 4 {everything}" in page.text["believe"]
    assert "no feature 0 0.500" in page.text["believe"]
    assert f"AUROC {score} from the selected features, {everything} from all 4, 0.5 from none" in page.text[""]
    assert "warnings, the first: The members select" in page.text[""]


def test_more_rows_than_fit_are_sampled_and_that_is_said(tmp_path):
    draw = np.random.default_rng(0)
    masks = draw.uniform(size=(3000, 4))
    explanation = Explanation(masks, masks > 0.5, data=masks, predictor=lambda X: (X[:, 0], None))
    write_report(explanation, tmp_path / "page.html", max_rows=200)
    page = Page(tmp_path / "page.html")
    assert "hold 200 of 3,000 rows" in page.text["heatmap"]
    assert len(page.data["rows"]["labels"]) == 200
    assert str(masks[:, 0].argmax()) in page.data["rows"]["labels"]
    assert "3,000 rows explained" not in page.text["rows"]
    assert "3,000" in page.text["page"]


def test_a_large_report_stays_small(tmp_path):
    draw = np.random.default_rng(0)
    masks = draw.uniform(size=(5100, 100)).astype(np.float32)
    write_report(Explanation(masks, masks > 0.97, data=draw.normal(size=masks.shape)), tmp_path / "page.html")
    page = Page(tmp_path / "page.html")
    assert len(page.data["rows"]["labels"]) == 5000
    assert len(page.source) < 8e6


def test_of_very_wide_tables_the_features_that_matter_are_held(tmp_path):
    masks = np.zeros((30, 1000))
    masks[:, 777] = 1
    write_report(Explanation(masks, masks > 0.5, data=masks), tmp_path / "page.html")
    page = Page(tmp_path / "page.html")
    names = page.data["features"]["names"]
    assert len(names) == 200
    assert names[page.data["features"]["heatmap"][0]] == "x778"
    assert "500 features that matter less are left out" in page.text["ranking"]


# -- the file -----------------------------------------------------------------------------------------------------


def test_nothing_can_be_fetched_and_only_this_script_runs(page):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page.source)[1]
    assert policy.startswith("default-src 'none'")
    for tag, kind in (('<script type="module">', "script"), ("<style>", "style")):
        (content,) = re.findall(f"{re.escape(tag)}(.*?)</{kind}>", page.source, re.DOTALL)
        assert f"{kind}-src 'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'" in policy
    assert "http://" not in page.source
    assert "https://" not in page.source
    names = {name for name, _ in page.attributes}
    assert not [name for name in names if name.startswith("on") or name == "style"]
    ids = [value for name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))


def test_the_same_explanation_gives_the_same_bytes(model, switch, tmp_path):
    for name in "ab":
        model.explain(switch[0][:100]).report(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["a", "b"]


def test_text_is_escaped_and_attributes_too():
    assert element("p", "<b>", class_='"x"') == '<p class="&quot;x&quot;">&lt;b&gt;</p>'
    assert element("p", element("b", "&")) == "<p><b>&amp;</b></p>"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(scheme):
    style = (files("hideseek.report.page") / "templates" / "page.css").read_text(encoding="utf-8")
    blocks = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    colours = dict(re.findall(r"--([\w-]+): (#\w{6})", blocks[0]))
    if scheme == "dark":
        colours |= dict(re.findall(r"--([\w-]+): (#\w{6})", blocks[1]))
    for ink in ("ink", "quiet", "accent", "mark"):
        for ground in ("paper", "card"):
            assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
    assert contrast(colours["ink"], colours["note"]) >= 4.5
    assert contrast(colours["bar"], colours["card"]) >= 3


def contrast(one, other):
    """As WCAG 2 defines it."""

    def luminance(colour):
        channels = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
        linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"y": [1, 0]}, r"y has the shape \(2,\); expected one label for each of 100 rows"),
        ({"y": ["yes"] * 100}, "labels that the model was not fitted on: yes"),
        ({"categories": {"wage": {0: "low"}}}, "categories has 'wage'"),
        ({"categories": {"x1": {"a": "low"}}}, r"categories\['x1'\] must map numbers"),
        ({"max_rows": 0}, "max_rows=0"),
        ({"protected": ["X1"]}, "protected must name features of the explanation; it has 'X1'; did you mean 'x1'"),
        ({"protected": "x1"}, "protected='x1': expected a list of names"),
        ({"other": "x1"}, "other must be an Explanation"),
    ],
)
def test_bad_arguments_are_refused(model, switch, tmp_path, options, problem):
    with pytest.raises(InputError, match=problem):
        write_report(model.explain(switch[0][:100]), tmp_path / "page.html", **options)
    assert list(tmp_path.iterdir()) == []


def test_nothing_to_report(model, switch, tmp_path):
    with pytest.raises(InputError, match="0 rows"):
        model.explain(switch[0][:100])[[]].report(tmp_path / "page.html")


# -- the model ----------------------------------------------------------------------------------------------------


def standardised(value, column, center, scale, constant, cuts=(), ramp=None):
    if constant:
        return 0
    deviations = (value - center) / scale
    for cut in cuts:  # no two of them are near the same value
        if abs(deviations - cut["at"]) < cut["margin"]:
            deviations = cut["at"] + (cut["margin"] if deviations >= cut["at"] else -cut["margin"])
            break
    if ramp is None:
        return deviations
    height = np.clip((deviations - ramp["low"]) / (ramp["high"] - ramp["low"]), 0, 1)
    return (height - ramp["center"]) / ramp["scale"]


def place_of(price, ends):
    """The position of a price between the ends of a member's range, from -2 to 2; None where there is no range."""
    return None if ends is None else 4 * (np.log(price) - ends[0]) / (ends[1] - ends[0]) - 2


def mask_of(output, u):
    """The masks of a member, at the position of a price where it answers for a range."""
    if u is not None:
        a, b = np.split(output, 2)
        output = a - np.log1p(np.exp(b + 1)) * u
    return 1 / (1 + np.exp(-output))


def run(described, row):
    """What model.js does, with numpy."""
    weights = arrays(described["weights"])

    def forward(layers, values):
        for layer in layers:
            start, shape = layer["start"], (layer["outputs"], layer["inputs"])
            stop = start + shape[0] * shape[1]
            values = weights[start:stop].reshape(shape) @ values + weights[stop : stop + shape[0]]
            values = np.maximum(values, 0) if layer is not layers[-1] else values
        return values

    (raw,) = TableEncoder.from_json(described["encoder"]).encode(Table(row))
    x = np.array([standardised(raw[i["column"]], **i) for i in described["inputs"]])
    pool = weights[described["pool"]["start"] :][: described["pool"]["rows"] * len(x)].reshape(-1, len(x))
    places = [place_of(described["price"], member["range"]) for member in described["members"]]
    own = [mask_of(forward(member["hide"], x), u) for member, u in zip(described["members"], places, strict=True)]
    visible = np.array([member["visible"] for member in described["members"]], dtype=bool)
    masks = np.nanmean(np.where(visible, own, np.nan), axis=0)
    if described["shown"] == "selected":
        own = [masks > described["threshold"]] * len(own)
    outputs = []
    for member, mask, u in zip(described["members"], own, places, strict=True):
        shown, price = mask[described["groups"]], [] if u is None else [np.clip(u, -2, 2)]
        for seek in member["seeks"]:
            outputs += [forward(seek, np.append(shown * x + (1 - shown) * hidden, price)) for hidden in pool]
    if described["output"]["kind"] == "softmax":
        powers = np.exp(outputs)
        return masks, (powers / powers.sum(axis=1, keepdims=True)).mean(axis=0)
    return masks, np.mean(outputs) * described["output"]["scale"] + described["output"]["center"]


@pytest.mark.parametrize("name", ["binary", "three classes", "regression"])
def test_the_description_of_a_model_is_complete(models, table, name):
    assert models[name]._ensemble.scaler.ramps is not None
    assert_described(models[name], table[0][3:4])


def test_the_description_of_a_model_of_a_mixed_table_is_complete(mixed_model, mixed):
    assert mixed_model._ensemble.stack.n_seeks == 2
    for row in (0, 1, 2):
        assert_described(mixed_model, mixed[0][row : row + 1])


@pytest.mark.parametrize("name", ["binary", "regression"])
def test_the_description_of_an_imitation_is_complete(models, table, name):
    X, model = table[0], models[name]
    black_box = model.predict if name == "regression" else model.predict_proba
    explainer = BlackBoxExplainer(black_box, "fast", steps=30, random_state=0).fit(X)
    assert_described(explainer, X[3:4])


def assert_described(model, row):
    """That Python and the description give the same answer to a table of one row."""
    masks, outputs = run(json.loads(json.dumps(page_model(model))), row)
    np.testing.assert_allclose(masks, model.explain(row).importance[0], atol=1e-5)
    expected = model.predict_proba(row)[0] if hasattr(model, "classes_") else model.predict(row)
    np.testing.assert_allclose(outputs, expected, rtol=1e-5)


def test_features_that_screening_left_out_are_not_in_the_page(models, table, tmp_path):
    members, model = models["binary"], copy(models["binary"])
    kept, X = [1, 2, 3, 5, 6], np.insert(table[0], [0, 3], 7.0, axis=1)
    features = SimpleNamespace(features=np.array(kept))
    ensemble = SimpleNamespace(**{**vars(members.learned_.ensemble), "kept": features}, draws_given_row=False)
    model.learned_, model.n_features_in_ = replace(members.learned_, ensemble=ensemble), 7
    model.encoder_ = TableEncoder.fit_numbers([f"x{j + 1}" for j in range(7)], X)
    masks = np.zeros((40, 7))
    masks[:, kept] = members.explain(X[:40, kept]).importance
    Explanation(masks, masks > 0.5, data=X[:40], model=model).report(tmp_path / "page.html")
    page = Page(tmp_path / "page.html")
    assert "Screening left out 2 of 7 features" in page.text["what-if"]
    assert [field["name"] for field in page.data["fields"]] == ["x2", "x3", "x4", "x6", "x7"]
    np.testing.assert_allclose(arrays(page.data["fields"][3]["values"]), X[:40, 5], rtol=1e-6)
    found, outputs = run(page.data["model"], X[3:4, kept])
    np.testing.assert_allclose(found, masks[3, kept], atol=1e-5)
    np.testing.assert_allclose(outputs, members.predict_proba(X[3:4, kept])[0], rtol=1e-5)


def test_an_imitation_says_that_it_is_one(models, table, tmp_path):
    explainer = BlackBoxExplainer(models["binary"], "fast", steps=30, random_state=0).fit(table[0])
    explainer.explain(table[0][:50]).report(tmp_path / "page.html", y=table[1][:50] > 0)
    page = Page(tmp_path / "page.html")
    assert (
        "The imitation of the model (HideSeekClassifier), not that model itself, is in this page"
        in page.text["what-if"]
    )
    assert "15 networks, " in page.text["what-if"], "five Hides, and two Seeks of each"
    agreement = explainer.fidelity_["seek"].agreement
    assert f"Agreement KL R² the imitation's answers {agreement:.1f} %" in page.text["believe"]
    assert "Accuracy of the imitation on the 50 rows explained" in page.text["believe"]
    assert "model HideSeekClassifier" in page.text["origin"]
    assert "explained by an imitation" in page.text["origin"]


def test_pages_without_a_model_say_why(model, switch, tmp_path):
    X, y = switch

    def said(explanation):
        write_report(explanation, tmp_path / "page.html")
        page = Page(tmp_path / "page.html")
        assert page.data["model"] is None
        return page.text["what-if"]

    forest = baselines.get("forest")(k=2, random_state=0).fit(X[:300], y[:300]).explain(X[:50])
    assert "ForestImportance is not a Hide&Seek model" in said(forest)
    model.explain(X[:50]).save(tmp_path / "saved.npz")
    assert "came without its model" in said(Explanation.load(tmp_path / "saved.npz"))
    assert "only some of the columns" in said(model.explain(X[:50])[:, ["x1", "x2"]])
    knockoff = HideSeekClassifier("fast", steps=20, replacement="gaussian_knockoff", random_state=0).fit(X, y)
    assert "knockoffs" in said(knockoff.explain(X[:50]))
    wide = np.random.default_rng(0).normal(size=(40, 501))
    large = HideSeekClassifier("fast", steps=2, penalty=0.0, screening=False, random_state=0).fit(wide, wide[:, 0] > 0)
    assert "too large to run in a page: 501 columns" in said(large.explain(wide))


def test_a_model_can_be_given_to_an_explanation_that_lost_it(model, switch, tmp_path):
    model.explain(switch[0][:50]).save(tmp_path / "saved.npz")
    write_report(Explanation.load(tmp_path / "saved.npz"), tmp_path / "page.html", model=model)
    assert len(Page(tmp_path / "page.html").data["model"]["members"]) == len(model._ensemble.visible)


# -- parts --------------------------------------------------------------------------------------------------------


def test_columns_know_what_their_values_are():
    first, last = date(2020, 1, 1), date(2020, 1, 4)
    data = np.empty((3, 6), dtype=object)
    data[:] = [
        [1.0, 0.5, "red", True, first, (1.5, "a")],
        [2.0, np.nan, "blue", None, last, (2.5, None)],
        [2.0, 1.5, None, False, None, (None, "b")],
    ]
    explanation = Explanation(np.ones((3, 6)), np.ones((3, 6)), data=data)
    columns = columns_of(explanation, None, None)
    _, number, text, boolean, day, *group = columns
    kinds = ["whole number", "number", "category", "boolean", "date", "number", "category"]
    assert [column.kind for column in columns] == kinds
    assert [column.feature for column in columns] == [0, 1, 2, 3, 4, 5, 5]
    assert number.n_missing == 1
    assert number.span == (0.5, 1.0, 1.5)
    assert text.categories == {0.0: "blue", 1.0: "red"}
    np.testing.assert_array_equal(text.values, [1, 0, np.nan])
    np.testing.assert_array_equal(boolean.values, [1, np.nan, 0])
    assert [day.display(value) for value in day.span] == ["2020-01-01", "2020-01-02", "2020-01-04"]
    assert [column.name for column in group] == ["x6 1", "x6 2"]
    coded = columns_of(explanation, {"x1": {1: "one", 3: "three"}}, None)[0]
    assert coded.categories == {1.0: "one", 2.0: "2", 3.0: "three"}
    assert columns_of(explanation, {"x3": {"red": "rot"}}, None)[2].categories == {0.0: "blue", 1.0: "rot"}


def test_fields_have_the_values_that_the_encoder_takes(mixed_model, mixed, tmp_path):
    X = mixed[0][:100].assign(two=["left", "up"] * 50)  # a level that the fit did not have
    with pytest.warns(HideSeekWarning, match="two"):
        explanation = mixed_model.explain(X)
    explanation.report(tmp_path / "page.html", categories={"region": {"north": "up there"}})
    page = Page(tmp_path / "page.html")
    fields = {field["name"]: field for field in page.data["fields"]}
    assert list(fields) == list(X.columns)
    assert fields["x9"]["feature"] == fields["colour"]["feature"]
    controls = {name: field["control"] for name, field in fields.items()}
    assert (controls["x1"], controls["joined"], controls["seen"]) == ("number", "date", "datetime-local")
    labels = {name: [option["label"] for option in field["options"]] for name, field in fields.items()}
    assert labels["region"] == ["east", "up there", "south", "west"]
    assert labels["size"] == ["small", "medium", "large"]
    assert labels["kind"] == ["a", "b", "other"]
    assert labels["member"] == ["False", "True"]
    assert {name for name, field in fields.items() if not field["missing"]} == {"sure", "seen", "kind"}
    np.testing.assert_array_equal(
        arrays(fields["size"]["values"]), np.where(X["size"].isna(), np.nan, X["size"].cat.codes)
    )
    np.testing.assert_array_equal(arrays(fields["two"]["values"]), [0, np.nan] * 50)
    rare = ~X["kind"].isin(["a", "b"])
    np.testing.assert_array_equal(arrays(fields["kind"]["values"]) == 2, rare)
    days = (X["joined"] - pd.Timestamp(0)) / pd.Timedelta(days=1)
    np.testing.assert_array_equal(arrays(fields["joined"]["values"]), days)
    for said in ("date", "boolean", "category, 4", "ordered category, 3", X["joined"].min().date().isoformat()):
        assert said in page.text["data"]
    assert "place: x9, colour" in page.text["origin"]


def test_rules_are_found_and_worded():
    draw = np.random.default_rng(0)
    data = np.column_stack([draw.normal(size=2000) * 1e4, draw.integers(0, 5, 2000), draw.integers(0, 3, 2000)])
    explanation = Explanation(np.ones((2000, 3)), np.ones((2000, 3)), feature_names=["pay", "n", "hue"], data=data)
    columns = columns_of(explanation, {"hue": {0: "red", 1: "green", 2: "blue"}}, None)
    rows = draw.permutation(2000)

    def worded(meant):
        return str(rule_for(meant[rows], columns, rows))

    assert re.fullmatch(r"pay ≥ (4,9|5,)\d00", worded(data[:, 0] > 5000))
    assert worded(data[:, 1] < 3) == "n ≤ 2"
    assert worded((data[:, 2] == 1) & (data[:, 1] > 2)) in ("hue is green and n ≥ 3", "n ≥ 3 and hue is green")
    assert worded(draw.uniform(size=2000) < 0.9) == "None"
    assert rule_for((data[:, 1] < 3)[rows], columns, rows).accuracy == 1.0


def test_rules_know_dates_booleans_levels_and_holes(mixed, mixed_model):
    X = mixed[0]
    columns = columns_of(mixed_model.explain(X), None, mixed_model.encoder_)
    rows = np.random.default_rng(0).permutation(len(X))

    def worded(meant):
        return str(rule_for(np.asarray(meant)[rows], columns, rows))

    late = worded(X["joined"] > pd.Timestamp("2021-06-01"))
    assert late.startswith("joined ≥ 2021-")
    assert abs(date.fromisoformat(late[-10:]) - date(2021, 6, 2)).days < 15
    assert worded(X["sure"]) == "sure is True"
    assert worded(X["region"].isna()) == "region is missing"
    assert worded(X["x1"].isna()) == "x1 is missing"
    assert worded((X["size"] >= "medium").astype(bool)) == "size ≥ medium"


def test_rows_fall_into_groups_by_what_was_selected():
    draw = np.random.default_rng(0)
    kind = draw.choice(3, p=[0.2, 0.5, 0.3], size=1000)
    selected = np.eye(3, dtype=bool)[kind] ^ (draw.uniform(size=(1000, 3)) < 0.01)
    group = group_rows(selected)
    assert (group == np.array([2, 0, 1])[kind]).mean() > 0.97, "the largest group comes first"
    assert not group_rows(np.tile([True, False], (50, 1))).any()
    assert not group_rows(np.ones((1, 3), dtype=bool)).any()
    _, found = subgroups_of(Explanation(selected * 1.0, selected), [])
    assert [subgroup.deciding[0][0] for subgroup in found] == [1, 2, 0]
    assert sum(subgroup.n_rows for subgroup in found) == 1000


def test_sampled_rows_have_the_extremes_and_every_group():
    draw = np.random.default_rng(0)
    group = (draw.uniform(size=10_000) < 0.01).astype(np.int64)
    score = draw.normal(size=10_000)
    rows = rows_shown(group, score, 500)
    assert len(rows) == len(set(rows)) == 500
    assert {score.argmin(), score.argmax()} <= set(rows)
    assert (group[rows] == 1).sum() >= 50
    np.testing.assert_array_equal(rows_shown(group, None, 10_000), np.arange(10_000))


def test_weights_of_sampled_rows_add_up_to_all_rows_and_estimate_their_shares():
    draw = np.random.default_rng(0)
    group, score = (draw.uniform(size=10_000) < 0.1).astype(np.int64), draw.normal(size=10_000)
    rows = rows_shown(group, score, 1000)
    weight = row_weights(rows, group, score, 1000)
    assert weight.sum() == pytest.approx(10_000)
    high = score > 1
    assert high[rows].mean() > 1.4 * high.mean(), "extremes are in the sample more often"
    assert weight[high[rows]].sum() / 10_000 == pytest.approx(high.mean(), abs=0.02)
    np.testing.assert_array_equal(row_weights(np.arange(50), group[:50], score[:50], 100), np.ones(50))


def test_directions_tell_for_which_values_a_feature_raises_the_prediction(tmp_path):
    draw = np.random.default_rng(0)
    X = np.column_stack([draw.normal(size=1000), draw.integers(1, 3, 1000), draw.normal(size=1000)])
    effect = np.column_stack(
        [np.where(X[:, 0] > 0.5, 0.2, -0.1), np.where(X[:, 1] == 2, 0.1, -0.1), draw.normal(size=1000)]
    )
    selected = np.ones((1000, 3), dtype=bool)
    selected[:400, 1] = False
    effects = Effects(selected, np.column_stack((-effect[selected], effect[selected])), np.array([0, 1]))
    explanation = Explanation(
        selected * 0.9,
        selected,
        feature_names=["pay", "sex", "noise"],
        data=X,
        predictor=lambda X: (np.ones(len(X), dtype=int), np.full(len(X), 0.8)),
        effects=lambda _: effects,
    )
    columns = columns_of(explanation, {"sex": {1: "male", 2: "female"}}, None)
    (found,) = directions_of(explanation, np.ones(1000), columns, np.arange(1000))
    assert found.what == "the probability of y = 1"
    np.testing.assert_allclose(found.raises[:2], (selected & (effect > 0)).mean(axis=0)[:2])
    np.testing.assert_allclose(found.lowers[:2], (selected & (effect < 0)).mean(axis=0)[:2])
    np.testing.assert_allclose(found.size[1], 0.1)
    assert re.fullmatch(r"pay ≥ 0\.[45]\d?", found.rule[0])
    assert list(found.rule[1:]) == ["sex is female", ""]


def test_rows_are_divided_by_values_or_at_the_median():
    draw = np.random.default_rng(0)
    X = np.column_stack([draw.normal(size=99), draw.integers(0, 3, 99), np.zeros(99), draw.integers(0, 20, 99)])
    X[:9, 1] = np.nan
    X[:60, 3] = 0
    masks = draw.uniform(size=X.shape)
    explanation = Explanation(masks, masks > 0.5, data=X, predictor=lambda X: (X[:, 0], None))
    content = gather(
        explanation,
        title=None,
        model=None,
        y=None,
        quality=None,
        categories=None,
        protected=(),
        other=None,
        max_rows=99,
    )
    splits = {split["name"]: split for split in page_splits(content) if split["name"] != "Group"}
    assert list(splits) == ["Prediction", "x1", "x2", "x4"], "a constant column divides nothing"
    assert splits["x2"]["parts"] == ["x2 = 0", "x2 = 1", "x2 = 2", "x2 is missing"]
    np.testing.assert_array_equal(arrays(splits["x2"]["values"]), np.where(np.isnan(X[:, 1]), 3, X[:, 1]))
    np.testing.assert_array_equal(arrays(splits["x1"]["values"]), X[:, 0] >= np.median(X[:, 0]))
    np.testing.assert_array_equal(arrays(splits["x4"]["values"]), X[:, 3] > 0)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0, 1, 255], "u1"),
        ([0, 1, 256], "u2"),
        ([-1, 1, 70_000], "i4"),
        ([0.1, 0.2, 0.3], "f4"),
        ([0.0, np.nan, 1.0], "f4"),
        ([1e9 + 0.1, 1e9 + 0.2, 1e9 + 0.3], "f8"),
    ],
)
def test_columns_are_packed_as_short_as_can_be(values, kind):
    packed = pack_column(np.array(values, dtype=float))
    assert packed["type"] == kind
    np.testing.assert_allclose(arrays(packed), values, rtol=1e-7)


# -- from few features to many ------------------------------------------------------------------------------------


def test_the_slider_starts_at_the_selection_that_was_made(page, model, switch):
    path, n_features = page.data["path"], 4
    first = arrays(path["first"]).reshape(-1, n_features)
    np.testing.assert_array_equal(first <= path["chosen"], model.select(switch[0]))
    assert path["prices"][path["chosen"]] == model._ensemble.price
    assert path["prices"] == sorted(path["prices"], reverse=True)
    assert [sum(counts) for counts in path["numbers"]] == [2000] * 51


def test_every_level_selects_what_the_model_selects_at_its_price(page, model, switch):
    path = page.data["path"]
    first = arrays(path["first"]).reshape(-1, 4)
    for level in (0, 20, 50):
        other = model.at(penalty=path["prices"][level] / model._ensemble.price * model.penalty_)
        selected = other.select(switch[0])
        assert (selected != (first <= level)).mean() < 1e-3
        shares = arrays(path["selected"]).reshape(-1, 4, 51)[:, :, level] / 65535
        overall = np.array(path["sizes"]) @ shares / sum(path["sizes"])
        np.testing.assert_allclose(overall, selected.mean(axis=0), atol=2e-3)


def test_at_its_own_price_the_explanation_decides_what_is_selected():
    selected = np.array([[True, True, False, True, False, False]])
    part = SimpleNamespace(selected=selected, entry_price=np.array([[8.0, 2.0, 2.0, 1.5, 0.5, 8.0]]))
    first = _first_levels(part, np.array([4.0, 2.0, 1.0]), 1)
    assert first.dtype == np.uint8
    assert first.tolist() == [[0, 1, 2, 1, 3, 2]]


def test_levels_of_a_long_table_are_counted_in_some_of_its_rows(model, switch, tmp_path, monkeypatch):
    monkeypatch.setattr("hideseek.report.page.path._ROWS_COUNTED", 500)
    write_report(model.explain(switch[0]), tmp_path / "long.html", max_rows=100)
    path = Page(tmp_path / "long.html").data["path"]
    assert sum(path["numbers"][0]) == 500
    assert len(arrays(path["first"])) == 100 * 4


def test_a_model_of_one_penalty_has_one_level_with_its_selection(switch, tmp_path):
    model = HideSeekClassifier("paper", steps=2, random_state=0).fit(*switch)
    explanation = model.explain(switch[0][:50])
    write_report(explanation, tmp_path / "paper.html")
    path = Page(tmp_path / "paper.html").data["path"]
    assert (len(path["prices"]), path["chosen"]) == (1, 0)
    np.testing.assert_array_equal(arrays(path["first"]).reshape(-1, 4) == 0, explanation.selected)
