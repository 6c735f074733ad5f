"""Which jobs a run has, what they are known by, and which are done together."""

from fakes import Fake, Stacked

from hideseek import baselines
from hideseek.benchmark import Config
from hideseek.benchmark._jobs import jobs_of, pieces_of

SYN = {f"Syn{i}": {"maker": "make_syn", "parameters": {"name": f"Syn{i}", "n_samples": 50}} for i in (1, 2)}


def keys(**changes):
    given = {
        "methods": {"mine": {"method": Fake, "parameters": {"k": 1}}},
        "datasets": {"Syn1": SYN["Syn1"]},
        **changes,
    }
    return [job.key for job in jobs_of(Config.from_dict(given))]


def test_the_grid_is_every_method_on_every_dataset_with_every_seed():
    jobs = jobs_of(Config({"a": Fake, "b": Fake(k=2)}, SYN, seeds=3))
    assert len({job.key for job in jobs}) == len(jobs) == 12
    assert [(job.method, job.dataset, job.seed) for job in jobs[:4]] == [
        ("a", "Syn1", 0),
        ("a", "Syn1", 1),
        ("a", "Syn1", 2),
        ("a", "Syn2", 0),
    ]


def test_the_key_depends_on_what_determines_the_result_and_on_nothing_else():
    (key,) = keys()
    assert len(key) == 24
    data, mine = SYN["Syn1"], {"method": Fake, "parameters": {"k": 1}}
    for same in (
        {"name": "other"},
        {"scores": ["tpr"]},
        {"methods": {"renamed": mine}},
        {"datasets": {"renamed": data}},
        {"methods": {"mine": {**mine, "by_dataset": {"Syn1": {"k": 1}}}}},
    ):
        assert keys(**same) == [key], same
    for other in (
        {"seeds": [1]},
        {"rows": 10},
        {"methods": {"mine": {**mine, "rows": 10}}},
        {"methods": {"mine": {"method": Fake, "parameters": {"k": 2}}}},
        {"methods": {"mine": {"method": Stacked, "parameters": {"k": 1}}}},
        {"methods": {"mine": {**mine, "by_dataset": {"Syn1": {"k": 2}}}}},
        {"datasets": {"Syn1": SYN["Syn2"]}},
        {"datasets": {"Syn1": {**data, "test": "train"}}},
        {"datasets": {"Syn1": {**data, "switch": 3}}},
    ):
        assert keys(**other) != [key], other


def test_a_key_is_the_same_in_every_version():
    # A change here makes every stored result of every user be computed anew.
    assert keys() == ["327f82d9b78f31466a2f489e"]


def sizes(config, stack_size):
    return [len(piece) for piece in pieces_of(jobs_of(config), stack_size)]


def test_jobs_share_a_stack_across_datasets_and_penalties_but_not_across_other_parameters_or_shapes():
    larger = {"maker": "make_syn", "parameters": {"name": "Syn1", "n_samples": 60}}
    methods = {"a": Stacked(k=1), "b": Stacked(k=1, penalty=2.0), "c": Stacked(k=2), "d": Fake(k=1)}
    pieces = pieces_of(jobs_of(Config(methods, {**SYN, "larger": larger}, seeds=2)), 100)
    labels = [sorted({f"{job.method} {job.dataset}" for job in piece}) for piece in pieces]
    assert labels[:4] == [
        ["a Syn1", "a Syn2", "b Syn1", "b Syn2"],
        ["a larger", "b larger"],
        ["c Syn1", "c Syn2"],
        ["c larger"],
    ]
    assert [len(piece) for piece in pieces] == [8, 4, 4, 2, 1, 1, 1, 1, 1, 1]


def test_pieces_are_no_larger_than_asked_for():
    config = Config({"a": Stacked}, SYN, seeds=5)
    assert sizes(config, 4) == [4, 4, 2]
    assert sizes(config, 1) == [1] * 10
    assert sizes(config, 10) == [10]


def test_classes_are_part_of_the_shape():
    classes = {
        f"{n} classes": {"maker": "make_multiclass", "parameters": {"n_samples": 90, "n_classes": n, "n_features": 11}}
        for n in (3, 4)
    }
    assert sizes(Config({"realx": baselines.RealX}, classes, seeds=2), 10) == [2, 2]


def test_a_dataset_that_cannot_be_made_is_left_for_the_job_to_report():
    broken = {"maker": "make_syn", "parameters": {"name": "Syn9"}}
    assert sizes(Config({"a": Stacked}, {**SYN, "broken": broken}, seeds=2), 10) == [4, 2]
