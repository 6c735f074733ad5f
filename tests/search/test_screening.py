from itertools import permutations

import numpy as np
import pytest
import torch

from hideseek.datasets import make_syn
from hideseek.engine.scaling import Scaler
from hideseek.search import screening as screening_module
from hideseek.search import terms
from hideseek.search.screening import residuals_of
from hideseek.search.screening import screen as screen_raw
from hideseek.search.terms import modifier_scores, pair_scores, piece_scores, single_scores, triple_scores


@pytest.fixture(scope="module")
def noise():
    return np.random.default_rng(0).normal(size=(4000, 60)).astype(np.float32)


def screen(X, residuals, **how):
    return screen_raw(X, Scaler.fit(X), residuals, **how)


def kept(X, target, n_outputs=2, weight=None, **how):
    return set(np.flatnonzero(screen(X, residuals_of(target, n_outputs, weight), **how).kept).tolist())


@pytest.mark.parametrize("name", ["Syn1", "Syn2", "Syn3", "Syn4", "Syn5", "Syn6"])
def test_no_relevant_column_is_lost_and_hardly_any_other_kept(name):
    data = make_syn(name, n_samples=10_000, n_features=100, random_state=100)
    found, truth = kept(data.X, data.y), set(np.flatnonzero(data.relevant.any(axis=0)))
    assert truth <= found
    assert len(found - truth) <= 4


def test_each_kind_of_term_finds_its_columns_and_says_so(noise):
    rng = np.random.default_rng(1)
    switched = np.where(noise[:, 5] > 0, noise[:, 6], -noise[:, 6])
    y = noise[:, 0] + noise[:, 1] ** 2 + noise[:, 2] * noise[:, 3] + switched * noise[:, 7] + rng.normal(size=4000)
    screening = screen(noise, residuals_of(y, 1, None))
    assert set(np.flatnonzero(screening.kept)) >= {0, 1, 2, 3}
    assert [screening.why(j) for j in range(4)] == ["x1", "x2 squared", "x3 * x4", "x4 * x3"]
    assert screening.why(0, [f"column {j}" for j in range(60)]) == "column 0"


def test_a_switch_is_found_by_what_it_changes(noise):
    y = (np.where(noise[:, 4] > 0, noise[:, 0], noise[:, 1]) > 0).astype(int)
    screening = screen(noise, residuals_of(y, 2, None))
    assert screening.kept[[0, 1, 4]].all()
    three_way = (noise[:, 0] + 2 * noise[:, 0] * np.sign(noise[:, 4]) * (noise[:, 5] > 0) > 0).astype(int)
    assert screen(noise, residuals_of(three_way, 2, None)).kept[[0, 4, 5]].all()


def test_pure_noise_keeps_next_to_nothing_unless_told_to(noise):
    y = np.random.default_rng(5).integers(0, 2, 4000)
    assert len(kept(noise, y)) <= 3
    assert len(kept(noise, y, fewest=10)) == 10
    data = make_syn("Syn3", n_samples=5000, n_features=30, random_state=100)
    assert len(kept(data.X, data.y, most=2)) == 2


def test_one_class_of_several_is_enough(noise):
    y = np.where(noise[:, 0] * noise[:, 1] > 0.5, 2, np.random.default_rng(2).integers(0, 2, 4000))
    assert {0, 1} <= kept(noise, y, n_outputs=3)
    assert {0, 1} <= kept(noise, np.eye(3)[y], n_outputs=3), "probabilities of classes are targets as well"


def test_rows_without_weight_have_no_say(noise):
    y = (noise[:, 0] > 0).astype(int)
    y[2000:] = noise[2000:, 1] > 0
    weight = np.r_[np.ones(2000), np.full(2000, 1e-9)]
    found = kept(noise, y, weight=weight)
    assert 0 in found
    assert 1 not in found


def test_one_wild_value_is_no_effect(noise):
    X = noise.copy()
    X[0, :3] = 1e6
    assert len(kept(X, np.random.default_rng(7).integers(0, 2, 4000))) <= 3
    y = np.random.default_rng(3).normal(size=4000)
    y[0] = 1e6
    assert len(kept(X, y, n_outputs=1)) <= 3


def test_constant_columns_are_never_kept(noise):
    X = noise.copy()
    X[:, 3] = 0
    screening = screen(X, residuals_of((X[:, 0] > 0).astype(int), 2, None), fewest=60)
    assert screening.kept.sum() == 59
    assert screening.why(3) == "constant"


def test_blocks_do_not_change_the_scores(noise, monkeypatch):
    Z, residual = torch.from_numpy(noise.T.copy()), torch.randn(4000)
    whole = [*single_scores(Z, residual), *pair_scores(Z, residual), modifier_scores(Z, residual, Z[:2])]
    monkeypatch.setattr(terms, "_BLOCK_COLUMNS", 7)
    monkeypatch.setattr(terms, "_PAIRED_COLUMNS", 9)
    parts = [*single_scores(Z, residual), *pair_scores(Z, residual), modifier_scores(Z, residual, Z[:2])]
    for one, other in zip(whole, parts, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


def test_the_best_partners_are_those_of_the_plain_sum(noise):
    Z, residual = torch.from_numpy(noise.T.copy()), torch.randn(4000)
    sums = torch.einsum("ir,jr,r->ij", Z, Z, residual).abs().fill_diagonal_(0)
    pairs = pair_scores(Z, residual)
    assert torch.equal(pairs.partner.sort(dim=1).values, sums.topk(3, dim=1).indices.sort(dim=1).values)


def test_scores_of_terms_that_mean_nothing_are_standard_normal(noise):
    Z, residuals = torch.from_numpy(noise.T.copy()), torch.randn(20, 4000)
    residuals -= residuals.mean(dim=1, keepdim=True)
    scores = torch.cat([torch.stack(single_scores(Z, residual)) for residual in residuals])
    assert scores.square().mean().item() == pytest.approx(1, abs=0.1)
    changes = modifier_scores(Z, residuals[0], Z[:20])
    assert 1.0 < changes.square().mean().item() < 2.0, "the larger of two scores, of a column and of its sign"


@pytest.mark.parametrize("name", ["Syn1", "Syn4", "Syn6"])
def test_half_precision_keeps_the_same_columns(name, monkeypatch):
    data = make_syn(name, n_samples=5000, n_features=200, random_state=100)
    residuals = residuals_of(data.y, 2, None)
    single = screen(data.X, residuals, fewest=16)
    monkeypatch.setattr(screening_module, "_dtype_for", lambda n_columns, device: torch.bfloat16)
    half = screen(data.X, residuals, fewest=16)
    assert (half.kept == single.kept).all()
    np.testing.assert_allclose(half.score, single.score, atol=0.01)


def test_narrow_tables_are_screened_in_single_precision():
    assert screening_module._dtype_for(1999, torch.device("cpu")) == torch.float32
    assert screening_module._device_for(10, None) == torch.device("cpu")


def test_a_column_that_goes_with_the_target_in_pieces_is_found(noise):
    X = noise[:, :20]
    y = (np.cos(6 * X[:, 3]) > 0).astype(int)
    screening = screen(X, residuals_of(y, 2, None))
    assert screening.kept[3]
    assert screening.why(3) == "x4 in pieces"
    assert 3 not in kept(noise, (np.cos(6 * noise[:, 3]) > 0).astype(int)), "among many columns nobody looks"


def test_a_product_of_three_columns_is_found_and_named(noise):
    X = noise[:, :20]
    screening = screen(X, residuals_of((X[:, 2] * X[:, 5] * X[:, 11] > 0).astype(int), 2, None))
    assert screening.kept[[2, 5, 11]].all()
    assert {screening.why(j) for j in (2, 5, 11)} == {"x3 * x6 * x12", "x6 * x3 * x12", "x12 * x3 * x6"}


def test_scores_of_pieces_and_triples_that_mean_nothing_are_standard_normal(noise):
    Z, residuals = (
        torch.from_numpy(noise.T[:20].copy()),
        torch.randn(20, 4000, generator=torch.Generator().manual_seed(0)),
    )
    residuals -= residuals.mean(dim=1, keepdim=True)
    pieces = torch.cat([piece_scores(Z, residual) for residual in residuals])
    assert pieces.mean().item() == pytest.approx(0, abs=0.15)
    assert pieces.std().item() == pytest.approx(1, abs=0.15)
    coarse = torch.from_numpy(np.random.default_rng(1).integers(0, 2, (20, 4000)).astype(np.float32))
    binary = torch.cat([piece_scores(coarse, residual) for residual in residuals])
    assert binary.max() < 5, "two values are two pieces"


def test_the_best_triple_is_that_of_the_plain_sum(noise, monkeypatch):
    Z, residual = torch.from_numpy(noise.T[:7].copy()), torch.randn(4000, generator=torch.Generator().manual_seed(0))
    residual -= residual.mean()
    scores = torch.zeros(7, 7, 7)
    for i, j, k in permutations(range(7), 3):
        term = Z[i] * Z[j] * Z[k]
        scores[i, j, k] = (term @ residual).abs() / (
            (term - term.mean()).square().sum() * residual.square().mean()
        ).sqrt()
    for cells in (2**24, 4000 * 4):
        monkeypatch.setattr(terms, "_BLOCK_CELLS", cells)
        found = triple_scores(Z, residual)
        torch.testing.assert_close(found.score, scores.amax(dim=(1, 2)), rtol=1e-3, atol=1e-3)
        assert all(scores[i, j, k] > 0.999 * scores[i].max() for i, (j, k) in enumerate(found.others.tolist()))


def test_features_and_not_their_columns_are_counted(noise):
    widths = [5, 1, 5, 1, 1, 1, 1, 5]
    y = np.random.default_rng(5).integers(0, 2, 4000)
    X = noise[:, : sum(widths)].copy()
    X[:, 6:11] = 0
    found = screen(X, residuals_of(y, 2, None), widths=widths, fewest=6)
    assert found.kept.shape == (8,)
    assert found.kept.sum() == 6
    assert not found.kept[2], "it is constant"
    assert screen(X, residuals_of(y, 2, None), widths=widths, fewest=6, most=3).kept.sum() == 3
