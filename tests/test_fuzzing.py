import warnings

import pytest
import torch

from benchmarks.fuzz_files import BAD, fuzz, make_targets
from hideseek import persistence
from hideseek.estimators._base import BaseHideSeek


@pytest.fixture(scope="module")
def targets(tmp_path_factory):
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield list(make_targets(tmp_path_factory.mktemp("fuzz")))
    torch.set_num_threads(before)


def bad_ones(targets, count):
    counts, bad = fuzz(targets, count, seed=7)
    assert sum(counts.values()) == count
    return {outcome: sum(n for (_, one), n in counts.items() if one == outcome) for outcome in BAD}, bad


def test_damaged_files_of_every_kind_are_refused_or_harmless(targets):
    found, bad = bad_ones(targets, 40 * len(targets))
    assert not any(found.values()), bad


def test_the_fuzzer_sees_what_digest_and_rules_keep_out(targets, monkeypatch):
    models = [target for target in targets if target.name == "classifier"]
    monkeypatch.setattr(persistence, "_check_digest", lambda *parts: None)
    found, _ = bad_ones(models, 200)
    assert found["silently different"] > 0
    monkeypatch.setattr(BaseHideSeek, "_check_state", lambda *parts: None)
    found, _ = bad_ones(models, 200)
    assert found["unclean"] > 0
