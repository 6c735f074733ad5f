import numpy as np
import pytest
import torch

import hideseek
from hideseek import HideSeekClassifier
from hideseek.datasets import make_syn
from hideseek.engine.draws import member_seeds
from hideseek.engine.recipe import PRESETS
from hideseek.engine.stack import Data
from hideseek.metrics import auroc
from hideseek.search import fitting, refinement
from hideseek.search.parts import N_FOLDS, folds_of


@pytest.fixture
def without(monkeypatch):
    """Fits without refinement."""

    def fit(*arguments, **settings):
        with monkeypatch.context() as patch:
            patch.setattr("hideseek.search.fitting.refined", lambda ensembles, *_, **__: list(ensembles))
            return HideSeekClassifier("fast", random_state=0, **settings).fit(*arguments)

    return fit


def test_predictions_from_the_selected_features_get_better_and_selections_stay(without):
    train, test = make_syn("Syn4", 4000, random_state=100), make_syn("Syn4", 4000, random_state=101)
    model = HideSeekClassifier("fast", random_state=0).fit(train.X, train.y)
    before = without(train.X, train.y)
    np.testing.assert_array_equal(model.select(test.X), before.select(test.X))
    scores = [auroc(test.y, each.predict_proba(test.X)) for each in (before, model)]
    assert scores[1] > scores[0] + 0.003
    assert model.trust_.score_selected > before.trust_.score_selected


@pytest.mark.filterwarnings("ignore::hideseek.errors.MaskWarning")  # so few steps teach nothing
def test_each_member_keeps_its_fold_and_each_seek_has_draws_of_its_own(monkeypatch):
    calls, outer = [], []
    refine, refined = refinement.refine, refinement.refined
    monkeypatch.setattr(refinement, "refine", lambda *args, **named: calls.append(args) or refine(*args, **named))
    monkeypatch.setattr(fitting, "refined", lambda *args, **named: outer.append(args) or refined(*args, **named))
    monkeypatch.setattr(refinement, "_lend", lambda *_: None)  # else some rows have the sets of others
    tables = [make_syn("Syn1", 200, random_state=0)] * 2
    models = HideSeekClassifier("fast", steps=60, n_members=6, penalty=0.03, screening=False).fit_many(
        [(each.X, each.y, seed, {}) for seed, each in zip((3, 12), tables, strict=True)]
    )
    [(_, data, u, seeks)], [(_, _, seeds)] = calls, outer
    assert seeks.fold.tolist() == [0, 1, 2, 3, 4, 0] * 2
    at_price = np.arange(200) % 4 != 0
    for number, (table, model) in enumerate(zip(tables, models, strict=True)):
        np.testing.assert_array_equal(data.fold[number], folds_of(table.y, seeds[number]))
        selected = model.select(table.X)
        assert (selected != selected[0]).any(), "sets differ between rows"
        np.testing.assert_array_equal(data.selected[number][at_price].numpy(), selected[at_price])
        positions = np.unique(u[number].numpy()[~at_price].round(3))
        np.testing.assert_allclose(positions, np.linspace(-2, 2, 8), atol=2e-3)
    trained = np.concatenate([member_seeds(seed, 6) for seed in seeds])
    assert len(np.unique(np.concatenate((trained, seeks.seeds.numpy())))) == 12 + 24


def test_rows_beyond_the_limit_are_left_out_equally_in_every_fold(monkeypatch):
    monkeypatch.setattr(refinement, "_MOST_ROWS", 50)
    fold = torch.full((2, 103), -1)
    for table in range(2):
        fold[table, torch.randperm(103, generator=torch.Generator().manual_seed(table))[:100]] = (
            torch.arange(100) % N_FOLDS
        )
    X = torch.arange(206.0).view(2, 103, 1)
    some = refinement._some_rows(Data(X, X[:, :, 0], X[:, :, 0], fold))
    assert some.X.shape == (2, 50, 1)
    for table in range(2):
        assert torch.bincount(some.fold[table]).tolist() == [10] * N_FOLDS
        rows = (some.X[table, :, 0] - 103 * table).long()
        assert torch.equal(fold[table, rows], some.fold[table])
    assert torch.equal(some.target, some.X[:, :, 0])
    assert torch.equal(some.weight, some.target)


@pytest.mark.filterwarnings("ignore::hideseek.errors.MaskWarning")  # so few steps teach nothing
def test_a_fit_whose_price_is_too_high_is_that_of_the_next_lower_price(monkeypatch):
    def flags(chosen, refined, tables, **_):
        asked.append(chosen)
        return [position == 1 for position in range(len(chosen))]

    asked, seeds = [], (0, 1, 2)
    monkeypatch.setattr(fitting, "too_high", flags)
    table, method = make_syn("Syn1", 300, random_state=0), HideSeekClassifier("fast", steps=60, screening=False)
    models = method.fit_many([(table.X, table.y, seed, {}) for seed in seeds])
    penalties = [float(model.path_.penalty[model.path_.chosen]) for model in models]
    expected = method.fit_many(
        [(table.X, table.y, seed, {"penalty": each}) for seed, each in zip(seeds, penalties, strict=True)]
    )
    for seed, model, own, position in zip(seeds, models, expected, asked[0], strict=True):
        assert model.path_.chosen == model.path_.default == position - (seed == 1)
        assert model.penalty_ == own.penalty_
        np.testing.assert_allclose(model.predict_proba(table.X), own.predict_proba(table.X), atol=1e-5)
    assert asked[1:] == [[]], "a penalty that is given stays"


def test_the_paper_does_not_refine():
    assert PRESETS["paper"].refinement == 0
    assert PRESETS["balanced"].refinement > 0


def test_one_row_in_ten_is_given_the_features_of_another_row():
    sets = np.arange(400)[:, None] >> np.arange(9) & 1 == 1
    rows, lent = np.flatnonzero(np.arange(400) % 4), sets.copy()
    refinement._lend(lent, rows, seed=3)
    number = (lent << np.arange(9)).sum(axis=1)
    changed = np.flatnonzero(number != np.arange(400))
    assert len(changed) == 40
    assert np.isin(changed, rows).all()
    assert sorted(number[changed]) == changed.tolist(), "each set is still that of one row"


@pytest.mark.filterwarnings("ignore::hideseek.errors.MaskWarning")  # 60 steps teach little
@pytest.mark.parametrize("hidden_layers", [(), (8,) * 8], ids=["no hidden layer", "eight hidden layers"])
def test_networks_of_any_depth_are_trained_refined_and_saved(hidden_layers, switch, tmp_path):
    X, y = switch
    model = HideSeekClassifier("fast", hidden_layers=hidden_layers, steps=60, penalty=0.02, random_state=0).fit(X, y)
    model.save(tmp_path / "model.safetensors")
    probability = model.predict_proba(X)
    assert model.learned_.ensemble.stack.seek.sizes[1:-1] == hidden_layers
    assert np.isfinite(probability).all()
    np.testing.assert_array_equal(hideseek.load(tmp_path / "model.safetensors").predict_proba(X), probability)
