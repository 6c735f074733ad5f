import numpy as np
import pytest
import torch

import hideseek
from hideseek import HideSeekClassifier, HideSeekRegressor
from hideseek.engine.draws import Stream, normal, step_keys
from hideseek.engine.knockoffs import GaussianKnockoffs, equicorrelated, maximum_entropy
from hideseek.engine.replacement import KNOCKOFFS

# the fits here are too short for masks to settle
pytestmark = pytest.mark.filterwarnings("ignore::hideseek.errors.MaskWarning")

GAPS = [equicorrelated, maximum_entropy]


def keys_of(seeds, step=0):
    return step_keys(np.asarray(seeds), Stream.REPLACEMENT, step, step + 1)[0]


def gaussian_rows(n_rows, R, seed=0):
    """Shape: ``(columns, n_rows)``."""
    noise = np.random.default_rng(seed).normal(size=(n_rows, len(R)))
    return torch.from_numpy((noise @ np.linalg.cholesky(R).T).T).float()


def covariance(x, x_hat):
    return np.cov(torch.cat((x, x_hat)).double().numpy())


def band(rho, columns=4):
    return rho ** np.abs(np.subtract.outer(np.arange(columns), np.arange(columns)))


def test_normal_draws_follow_the_normal_law():
    draws = normal(keys_of(np.arange(20)), 20_000)
    assert draws.dtype == torch.float32
    sorted_draws = draws.double().flatten().sort().values
    n = len(sorted_draws)
    share = torch.special.ndtr(sorted_draws)
    gap = (share - (torch.arange(n) + 0.5) / n).abs().max()
    assert gap < 2 / np.sqrt(n), "Kolmogorov-Smirnov at about 0.0007"
    standardised_moments = [(draws.double() ** power).mean().item() for power in (1, 2, 3, 4)]
    errors = np.sqrt(np.array([1, 2, 15, 96]) / n)
    assert (np.abs(np.array(standardised_moments) - [0, 1, 0, 3]) < 5 * errors).all()
    neighbours = np.corrcoef(draws[:, :-1].flatten(), draws[:, 1:].flatten())[0, 1]
    assert abs(neighbours) < 5 / np.sqrt(n)


def test_normal_draws_are_the_members_own():
    assert torch.equal(normal(keys_of([3, 1, 4]), 1000)[2], normal(keys_of([4]), 1000)[0])
    assert torch.equal(normal(keys_of([4]), 1000)[0, :10], normal(keys_of([4]), 10)[0])


def test_the_gaps_of_two_columns_by_hand():
    R = torch.tensor([[1.0, 0.8], [0.8, 1.0]], dtype=torch.float64)
    assert equicorrelated(R).tolist() == pytest.approx([0.4, 0.4]), "eigenvalues 0.2 and 1.8"
    # log s + log det(2 R - s): s = 1 / [(2 R - s)^-1]_jj, so 2 s^2 - 6 s + 4 - 4 * 0.8^2 = 0
    expected = (3 - np.sqrt(1 + 8 * 0.64)) / 2
    assert maximum_entropy(R).tolist() == pytest.approx([expected, expected])
    assert equicorrelated(torch.eye(3)).tolist() == maximum_entropy(torch.eye(3)).tolist() == [1, 1, 1]


def test_maximum_entropy_gives_each_column_its_own_gap():
    R = torch.from_numpy(band(0.0, 5))
    R[0, 1] = R[1, 0] = 0.98
    s = maximum_entropy(R)
    assert s[:2].max() < 0.1
    assert s[2:].tolist() == pytest.approx([1, 1, 1])
    assert torch.linalg.eigvalsh(2 * R - s.diag()).min() > 0
    assert equicorrelated(R).max() == pytest.approx(0.04)


def test_the_conditional_law_of_two_columns_by_hand():
    """Correlation 0.5, deviations 2 and 3: with the equicorrelated s = 1, R^-1 = [[4, -2], [-2, 4]] / 3."""
    x = gaussian_rows(200_000, np.array([[1.0, 0.5], [0.5, 1.0]]))
    x = (x - x.mean(dim=1, keepdim=True)) / x.std(dim=1, keepdim=True, correction=0)
    x[1] = (x[1] - np.corrcoef(x)[0, 1] * x[0]) * np.sqrt(0.75 / (1 - np.corrcoef(x)[0, 1] ** 2)) + 0.5 * x[0]
    X = torch.tensor([[2.0], [3.0]]) * x + torch.tensor([[10.0], [-20.0]])
    knockoffs = GaussianKnockoffs.fit(X[None], gaps=equicorrelated)

    row = torch.tensor([[12.0], [-23.0]])  # one deviation above, one below
    x_hat = knockoffs.draw(keys_of([0]), row.expand(1, 2, 100_000).contiguous())[0].double()
    mean = [10 + 2 * (1 - (4 + 2) / 3), -20 + 3 * (-1 + (2 + 4) / 3)]  # x - R^-1 x = (-1, 1)
    assert mean == [8, -17]
    spread = np.diag([2, 3]) @ np.array([[2 - 4 / 3, 2 / 3], [2 / 3, 2 - 4 / 3]]) @ np.diag([2, 3])
    np.testing.assert_allclose(x_hat.mean(dim=1), mean, atol=5 * 3 / np.sqrt(100_000))
    np.testing.assert_allclose(np.cov(x_hat), spread, atol=5 * 9 * np.sqrt(2 / 100_000))


@pytest.mark.parametrize("gaps", GAPS)
@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_two_moments_are_exchangeable(rho, gaps):
    n, R = 100_000, band(rho)
    X = gaussian_rows(n, R)
    x_hat = GaussianKnockoffs.fit(X[None], gaps=gaps).draw(keys_of([0]), X[None])[0]
    joint = covariance(X, x_hat)
    error = 5 * np.sqrt(2 / n)
    own, theirs, between = joint[:4, :4], joint[4:, 4:], joint[:4, 4:]
    np.testing.assert_allclose(theirs, own, atol=error)
    np.testing.assert_allclose(between[~np.eye(4, dtype=bool)], own[~np.eye(4, dtype=bool)], atol=error)
    np.testing.assert_allclose(np.diag(between), 1 - gaps(torch.from_numpy(R)), atol=2 * error)
    np.testing.assert_allclose(x_hat.mean(dim=1), X.mean(dim=1), atol=error)


def test_a_new_row_gets_knockoffs_of_the_fitted_law():
    R = band(0.7)
    knockoffs = GaussianKnockoffs.fit(gaussian_rows(100_000, R)[None])
    new = gaussian_rows(100_000, R, seed=1)
    joint = covariance(new, knockoffs.draw(keys_of([0]), new[None])[0])
    swapped = [4, 1, 2, 3, 0, 5, 6, 7]  # column 0 for its knockoff
    np.testing.assert_allclose(joint, joint[swapped][:, swapped], atol=10 * np.sqrt(2 / 100_000))


def test_constant_repeated_and_too_many_columns_do_not_break_it():
    X = gaussian_rows(5000, np.eye(4))
    X[1], X[3] = X[0], 0.0
    x_hat = GaussianKnockoffs.fit(X[None]).draw(keys_of([0]), X[None])[0]
    assert (x_hat[3] == 0).all()
    assert np.corrcoef(x_hat[0], x_hat[1])[0, 1] > 0.99
    assert abs(np.corrcoef(X[2], x_hat[2])[0, 1]) < 0.1, "the repeated columns cost the others nothing"
    few_rows = gaussian_rows(20, np.eye(50))
    x_hat = GaussianKnockoffs.fit(few_rows[None]).draw(keys_of([0]), few_rows[None])[0]
    assert torch.isfinite(x_hat).all()
    assert np.corrcoef(few_rows.flatten(), x_hat.flatten())[0, 1] < 0.7, "not copies"


@pytest.mark.parametrize("tables", [1, 2])
def test_a_member_draws_the_same_alone_and_in_a_stack(tables):
    X = torch.stack([gaussian_rows(500, band(rho)) for rho in (0.8, 0.2)[:tables]])
    table = torch.tensor([0, tables - 1, 0])
    seeds = np.array([5, 6, 7])
    together = GaussianKnockoffs.fit(X).of(table)
    keys = step_keys(seeds, Stream.REPLACEMENT, 0, 2)
    x = X[table].repeat(2, 1, 1)[:, :, :50].contiguous()
    drawn = together.draw(keys.flatten(0, 1), x)
    for k in range(3):
        alone = GaussianKnockoffs.fit(X[table[k]][None])
        for step in (0, 1):
            i = 3 * step + k
            torch.testing.assert_close(drawn[i], alone.draw(keys[step, k][None], x[i][None])[0], atol=1e-5, rtol=0)


@pytest.mark.parametrize("replacement", KNOCKOFFS)
def test_estimators_fit_explain_predict_and_survive_a_file(switch, tmp_path, replacement):
    X, y = switch[0][:100], switch[1][:100]
    quick = {"preset": "fast", "steps": 20, "random_state": 0, "replacement": replacement, "n_members": 2}
    frame = np.column_stack((X, X[:, 0] + 0.1 * X[:, 3]))
    for model in (HideSeekClassifier(**quick).fit(frame, y), HideSeekRegressor(**quick).fit(frame, X[:, 0])):
        answer = model.predict_proba if hasattr(model, "predict_proba") else model.predict
        assert model.explain(frame).importance.shape == frame.shape
        model.save(tmp_path / "model.safetensors")
        again = hideseek.load(tmp_path / "model.safetensors")
        again_answer = again.predict_proba if hasattr(again, "predict_proba") else again.predict
        np.testing.assert_array_equal(again_answer(frame), answer(frame))
        np.testing.assert_array_equal(answer(frame[7:9]), answer(frame)[7:9], "a row depends on itself alone")
        assert (tmp_path / "model.safetensors").stat().st_size < 100_000


def test_a_prediction_hides_by_the_knockoffs_of_its_row(switch):
    """With nothing shown, Seek sees the knockoff alone: its mean output over the draws, worked out by hand."""
    X, y = switch
    model = HideSeekClassifier(
        "paper",
        steps=50,
        batch_size=500,
        learning_rate=3e-3,
        penalty=50,
        random_state=0,
        replacement="gaussian_knockoff",
        prediction_draws=3,
    )
    with pytest.warns(hideseek.HideSeekWarning, match="collapsed"):
        model.fit(X, y)
    ensemble = model._ensemble
    rows = torch.from_numpy(ensemble.scaler.transform(X[:5])).t()
    offset, shift, spread = (tensor[0] for tensor in ensemble.knockoffs.tensors)
    masks = torch.from_numpy(model.explain(X[:5]).importance).t()
    total = 0
    for noise in ensemble.pool[:3]:
        x_hat = offset + shift @ rows + (spread @ noise)[:, None]
        z = masks * rows + (1 - masks) * x_hat
        total = total + ensemble.stack.seek.forward(ensemble.stack.layers()[1], z[None])[0].softmax(dim=0)
    np.testing.assert_allclose(model.predict_proba(X[:5]), (total / 3).t(), atol=1e-5)


def test_training_hides_by_the_knockoffs_that_were_asked_for(switch):
    quick = {"preset": "fast", "steps": 3, "random_state": 0}
    models = [HideSeekClassifier(**quick, replacement=name).fit(*switch) for name in (None, "gaussian_knockoff")]
    assert models[1].recipe_.replacement == "gaussian_knockoff"
    assert not torch.equal(*(model._ensemble.stack.parameters for model in models))


@pytest.mark.parametrize("replacement", KNOCKOFFS)
def test_the_switch_is_found(switch, replacement):
    X, y = switch
    model = HideSeekClassifier("fast", random_state=0, replacement=replacement).fit(X, y)
    selected = model.select(X)
    decides = np.where(X[:, 2] > 0, 0, 1)
    assert selected[:, 2].mean() > 0.9, "the switch"
    assert selected[np.arange(len(X)), decides].mean() > 0.9
    assert selected[:, 3].mean() < 0.1, "the noise"
    assert model.score(X, y) > 0.85


def test_an_unknown_replacement_is_named():
    with pytest.raises(hideseek.InputError, match="did you mean 'deep_knockoff'"):
        HideSeekClassifier(replacement="deep_knockof").fit(np.eye(4), [0, 1, 0, 1])
