import importlib
import warnings
from pathlib import Path

import pytest
import torch

from hideseek import persistence
from hideseek.estimators._base import BaseHideSeek

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def fuzzer():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT))
        yield importlib.import_module("benchmarks.fuzz_files")


@pytest.fixture(scope="module")
def targets(fuzzer, tmp_path_factory):
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield list(fuzzer.make_targets(tmp_path_factory.mktemp("fuzz")))
    torch.set_num_threads(before)


def bad_ones(fuzzer, targets, count):
    counts, bad = fuzzer.fuzz(targets, count, seed=7)
    assert sum(counts.values()) == count
    return {outcome: sum(n for (_, one), n in counts.items() if one == outcome) for outcome in fuzzer.BAD}, bad


def test_damaged_files_of_every_kind_are_refused_or_harmless(fuzzer, targets):
    found, bad = bad_ones(fuzzer, targets, 40 * len(targets))
    assert not any(found.values()), bad


def test_the_fuzzer_sees_what_digest_and_rules_keep_out(fuzzer, targets, monkeypatch):
    models = [target for target in targets if target.name == "classifier"]
    monkeypatch.setattr(persistence, "_check_digest", lambda *parts: None)
    found, _ = bad_ones(fuzzer, models, 200)
    assert found["silently different"] > 0
    monkeypatch.setattr(BaseHideSeek, "_check_state", lambda *parts: None)
    found, _ = bad_ones(fuzzer, models, 200)
    assert found["unclean"] > 0
