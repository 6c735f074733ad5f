"""A description is read strictly, and everything wrong with it is said at once."""

import json

import numpy as np
import pytest
from fakes import Fake, Speechless

from hideseek import HideSeekClassifier, InputError, baselines
from hideseek.benchmark import Config

SYN1 = {"maker": "make_syn", "parameters": {"name": "Syn1", "n_samples": 50}}


def config(**changes):
    return {"methods": {"forest": {"parameters": {"k": 2}}}, "datasets": {"Syn1": SYN1}, **changes}


def complaint(description):
    with pytest.raises(InputError) as caught:
        Config.from_dict(description)
    return str(caught.value)


def test_all_problems_are_reported_at_once_with_their_places():
    message = complaint(
        {
            "nmae": "x",
            "methods": {
                "invsae": {},
                "forest": {"parameters": {"k": 2, "n_estimatrs": 5}, "by_datset": {}},
                "lasso": {"parameters": {"k": 2}, "by_dataset": {"syn1": {"k": 3}}, "rows": 0},
                "shap": {},
            },
            "datasets": {
                "Syn1": {"maker": "make_sin"},
                "Syn2": {"maker": "make_syn", "parameters": {"nme": "Syn2"}, "test": "tomorrow"},
            },
            "seeds": [0, 0, -1],
            "rows": "all",
            "scores": ["f2"],
        }
    )
    assert message.startswith("15 problems in the configuration:\n- ")
    for part in (
        "- nmae: unknown key; did you mean 'name'?",
        "- methods.invsae: expected 'hideseek', ",
        "did you mean 'invase'?",
        "- methods.forest.by_datset: unknown key; did you mean 'by_dataset'?",
        "- methods.forest.parameters.n_estimatrs: unknown parameter; did you mean 'n_estimators'?",
        "- methods.lasso.by_dataset.syn1: unknown dataset; did you mean 'Syn1'?",
        "- methods.lasso.rows: expected a whole number of at least 1 or None; got 0",
        "- methods.shap: ShapExplainer needs k; give it in parameters, or in by_dataset for Syn1, Syn2",
        "- datasets.Syn1.maker: ",
        "did you mean 'make_syn'?",
        "- datasets.Syn2.parameters.nme: unknown parameter; did you mean 'name'?",
        "- datasets.Syn2.parameters: hideseek.datasets._syn:make_syn needs name",
        "- datasets.Syn2.test: expected 'next_seed', 'held_out', 'train', 'test' or 'validation' or None",
        "- seeds: expected a whole number from 0 to 2147483646; got -1",
        "- seeds: expected at least one seed, each once; got [0, 0, -1]",
        "- rows: expected a whole number of at least 1 or None; got 'all'",
        "- scores: expected 'tpr', ",
    ):
        assert part in message


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"methods": {}}, "methods: at least one is needed"),
        ({"datasets": {}}, "datasets: at least one is needed"),
        ({"methods": 3}, "methods: expected a mapping; got 3"),
        ({"methods": {"mine": Speechless}}, "Speechless has no explain; a method needs fit(X, y) and explain(X)"),
        ({"methods": {"mine": {"method": "fakes:Nothing"}}}, "methods.mine.method: cannot import 'fakes:Nothing'"),
        ({"methods": {"mine": {"method": 7}}}, "methods.mine.method: expected the name of a method"),
        (
            {"methods": {"mine": {"method": Fake, "parameters": {"k": print}}}},
            "methods.mine.parameters.k: a builtin_function_or_method has no JSON form",
        ),
        (
            {"methods": {"mine": {"method": Fake, "parameters": {"k": float("inf")}}}},
            "methods.mine.parameters.k: inf is not a finite number",
        ),
        (
            {"methods": {"mine": {"method": Fake, "parameters": {"random_state": 3}}}},
            "methods.mine.parameters.random_state: the run sets it from its seeds; remove it",
        ),
        ({"datasets": {"mine": {}}}, "datasets.mine: maker is missing"),
        ({"datasets": {"mine": lambda: 3}}, "datasets.mine.maker: expected a function with a name"),
        ({"datasets": {"mine": {"maker": 3}}}, "datasets.mine.maker: expected a function with a name"),
        ({"datasets": {"mine": {"X": [[1.0]]}}}, "datasets.mine: y is missing"),
        (
            {"datasets": {"mine": ([[1.0]], [1, 2])}},
            "X must be (rows, features) and y (rows,)",
        ),
        ({"datasets": {"mine": ([[1.0]], [1], [True])}}, "datasets.mine.relevant: expected booleans of the shape of X"),
        ({"datasets": {"mine": {"X": [[1.0]], "y": [1], "truth": 1}}}, "datasets.mine.truth: unknown key"),
        (
            {"datasets": {"mine": {"X": [[1.0]], "y": [1], "test": ([[1.0, 2.0]], [1])}}},
            "datasets.mine.test: X has 2 columns; the rows to fit 1",
        ),
        (
            {"datasets": {"mine": {"X": [[1.0]], "y": [1], "test": "next_seed"}}},
            "expected 'held_out' or 'train'",
        ),
        ({"name": "../elsewhere"}, "name: expected letters, digits"),
        ({"seeds": "many"}, "seeds: expected a list of whole numbers, or how many; got 'many'"),
        ({"seeds": []}, "seeds: expected at least one seed"),
    ],
)
def test_what_cannot_be_meant_is_refused(changes, expected):
    message = complaint(config(**changes))
    assert message.startswith("a problem in the configuration:\n- ")
    assert expected in message


def test_the_constructor_is_as_strict():
    with pytest.raises(InputError, match=r"2 problems .*\n- methods.forst: .*did you mean 'forest'.*\n- rows: "):
        Config({"forst": {}}, {"Syn1": SYN1}, rows=0)


def test_methods_may_be_names_classes_objects_or_mappings():
    fast = {"method": "hideseek", "parameters": {"preset": "fast", "hidden_layers": [8]}}
    methods = Config(
        {
            "hideseek": "hideseek",
            "class": HideSeekClassifier,
            "object": HideSeekClassifier("fast", hidden_layers=(8,), random_state=3),
            "mapping": fast,
            "mine": "fakes:Fake",
        },
        {"Syn1": SYN1},
    ).to_dict()["methods"]
    assert methods["hideseek"] == methods["class"]
    assert methods["object"] == methods["mapping"] == fast
    assert methods["mine"]["method"] == "fakes:Fake"
    listed = Config(["hideseek", "realx"], ["make_cafe"])
    assert [method.cls for method in listed.methods.values()] == [HideSeekClassifier, baselines.RealX]


def test_parameters_on_a_dataset_join_and_replace():
    methods = {"mine": {"method": Fake, "parameters": {"k": 1, "log": "a"}, "by_dataset": {"two": {"k": 2}}}}
    mine = Config(methods, {"one": SYN1, "two": SYN1}).methods["mine"]
    assert mine.parameters_on("one") == {"k": 1, "log": "a"}
    assert mine.parameters_on("two") == {"k": 2, "log": "a"}


def test_seeds_are_a_list_or_a_number():
    assert Config(**config(seeds=3)).seeds == (0, 1, 2)
    assert Config(**config(seeds=[7, 5])).seeds == (7, 5)
    assert Config(**config(seeds=np.arange(2))).seeds == (0, 1)


def test_files_say_what_mappings_say(tmp_path):
    toml = """
name = "trees"
seeds = 2
[methods.forest.parameters]
k = 2
[datasets.Syn1]
maker = "make_syn"
parameters = {name = "Syn1", n_samples = 50}
"""
    (tmp_path / "run.toml").write_text(toml)
    (tmp_path / "run.json").write_text(json.dumps(config(name="trees", seeds=2)))
    expected = Config(**config(name="trees", seeds=2)).to_dict()
    assert Config.from_file(tmp_path / "run.toml").to_dict() == expected
    assert Config.from_file(str(tmp_path / "run.json")).to_dict() == expected
    assert Config.from_dict(expected).to_dict() == expected
    (tmp_path / "bad.toml").write_text("name = ")
    with pytest.raises(InputError, match=r"bad.toml' is not TOML: "):
        Config.from_file(tmp_path / "bad.toml")
    with pytest.raises(InputError, match=r"a configuration is a \.toml or \.json file"):
        Config.from_file(tmp_path / "run.yaml")


@pytest.mark.parametrize("place", ["methods", "datasets", "seeds", "name"])
def test_a_description_nested_too_deeply_is_refused(place, tmp_path):
    deep = {}
    for _ in range(1000):
        deep = {"a": deep}
    assert f"- {place}: lists or dicts in it are nested too deeply" in complaint(config(**{place: deep}))
    loop = []
    loop.append(loop)
    assert "or contain themselves" in complaint(config(**{place: loop}))


@pytest.mark.parametrize(
    ("name", "text"),
    [("deep.json", '{"a":' * 5000 + "1" + "}" * 5000), ("deep.toml", "a = " + "[" * 5000 + "]" * 5000)],
)
def test_a_file_nested_too_deeply_is_refused(name, text, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match="nested too deeply to be a configuration"):
        Config.from_file(tmp_path / name)
