from __future__ import annotations

import numpy as np
import pytest

from hideseek import extras
from hideseek.datasets import california_switch, credit_syn, load_brca, load_california, load_credit, load_mnist_3_8
from hideseek.errors import InputError

pytestmark = pytest.mark.usefixtures("published_data")
LOADERS = [load_credit, load_california, load_mnist_3_8, load_brca]


def sizes(split):
    return tuple(len(part.y) for part in split)


def labels(split):
    return np.concatenate([part.y for part in split])


@pytest.mark.parametrize("load", LOADERS)
def test_train_is_standardised_and_constant_columns_are_zero(load):
    split = load()
    deviation = split.train.X.std(axis=0)
    assert np.abs(split.train.X.mean(axis=0)).max() < 1e-9
    assert np.isclose(deviation, 1).sum() + (deviation == 0).sum() == len(split.train.feature_names)
    assert not split.validation.X[:, deviation == 0].any()
    assert not split.test.X[:, deviation == 0].any()
    assert np.abs(split.test.X.mean(axis=0)).max() > 1e-3


@pytest.mark.parametrize("load", [load_credit, load_california, load_brca])
def test_frames_hold_the_same_values_and_every_row_once(load):
    frames, arrays = load(as_frame=True), load()
    for frame, array in zip(frames, arrays, strict=True):
        assert np.array_equal(frame.X.to_numpy(), array.X)
        assert tuple(frame.X.columns) == array.feature_names
        assert np.array_equal(frame.y.to_numpy(), array.y)
        assert frame.X.index.equals(frame.y.index)
    if load is not load_brca:
        rows = np.concatenate([part.X.index for part in frames])
        assert len(set(rows.tolist())) == len(rows) == sum(sizes(arrays))


def test_credit_facts():
    split = load_credit(standardize=False)
    assert sizes(split) == (24_000, 3_000, 3_000)
    assert np.bincount(labels(split)).tolist() == [23_364, 6_636]
    assert [int(part.y.sum()) for part in split] == [5_309, 664, 663]
    X = np.concatenate([part.X for part in split])
    means = dict(zip(split.train.feature_names, X.mean(axis=0), strict=True))
    assert X.shape == (30_000, 23)
    assert means["LIMIT_BAL"] == pytest.approx(167_484.32, abs=0.01)
    assert means["BILL_AMT6"] == pytest.approx(38_871.76, abs=0.01)
    assert means["PAY_AMT1"] == pytest.approx(5_663.58, abs=0.01)
    assert means["AGE"] == pytest.approx(35.4855)
    assert means["SEX"] == pytest.approx((11_888 + 2 * 18_112) / 30_000)


def test_credit_columns_stand_in_the_order_of_the_paper():
    names = "LIMIT_BAL BILL_AMT1 BILL_AMT2 BILL_AMT3 BILL_AMT4 BILL_AMT5 BILL_AMT6 PAY_AMT1 PAY_AMT2 PAY_AMT3 AGE"
    more = "PAY_AMT4 PAY_AMT5 PAY_AMT6 SEX EDUCATION MARRIAGE PAY_0 PAY_2 PAY_3 PAY_4 PAY_5 PAY_6"
    assert load_credit().train.feature_names == tuple(f"{names} {more}".split())


def test_credit_syn_labels_the_standardised_columns():
    split, real = credit_syn("syn4", random_state=3), load_credit()
    for part, plain in zip(split, real, strict=True):
        assert np.array_equal(part.X, plain.X)
        young = part.X[:, 10] < 0
        U = np.where(young, part.X[:, 0] * part.X[:, 1], (part.X[:, 2:6] ** 2).sum(axis=1) - 4)
        assert part.probability == pytest.approx(0.5 * (1 - np.tanh(U / 2)), abs=1e-12)
        assert np.array_equal(part.relevant[:, 0], young)
        assert np.array_equal(part.relevant[:, 5], ~young)
        assert part.relevant[:, 10].all()
        assert not part.relevant[:, 11:].any()
        assert part.y.mean() == pytest.approx(part.probability.mean(), abs=0.03)
    assert not np.array_equal(split.train.y, credit_syn("Syn4", random_state=4).train.y)
    with pytest.raises(InputError, match="did you mean 'Syn4'"):
        credit_syn("Sym4")


def test_california_facts():
    split = load_california(standardize=False)
    assert sizes(split) == (12_828, 1_604, 1_604)
    X = np.concatenate([part.X for part in split])
    longitude = X[:, split.train.feature_names.index("Longitude")]
    assert X.shape == (16_036, 7)
    assert X[:, split.train.feature_names.index("HouseAge")].max() < 50
    assert ((longitude < -121.5).sum(), (longitude >= -118.5).sum()) == (4_211, 8_102)
    assert labels(split).max() == 5.00001


def test_california_split_follows_the_seed_as_released_and_stays_in_the_paper():
    def rows(variant, seed):
        return load_california(variant, seed, as_frame=True).test.X.index.tolist()

    assert rows("released", 0) != rows("released", 1)
    assert rows("paper", 0) == rows("paper", 1) == rows("released", 0)


@pytest.mark.parametrize(("variant", "cut"), [("released", -118.5), ("paper", -118.0)])
def test_california_switch_follows_its_regions(variant, cut):
    split, raw = california_switch(variant, 2), load_california(variant, 2, standardize=False)
    for part, unscaled in zip(split, raw, strict=True):
        income, age, rooms, bedrooms, population, occupancy, _ = part.X.T
        longitude = unscaled.X[:, 6]
        west, east = longitude < -121.5, longitude >= cut
        U = np.where(west, rooms - bedrooms, np.where(east, 5 * income - 2 * age**2, population / occupancy))
        names = dict(zip(part.feature_names, part.relevant.T, strict=True))
        assert names["Longitude"].all()
        assert np.array_equal(names["AveRooms"] & names["AveBedrms"], west)
        assert np.array_equal(names["MedInc"] & names["HouseAge"], east)
        assert np.array_equal(names["Population"] & names["AveOccup"], ~west & ~east)
        assert np.array_equal(part.relevant.sum(axis=1), np.full(len(U), 3))
        sign = 1 if variant == "released" else -1
        assert part.probability == pytest.approx(0.5 * (1 + np.tanh(sign * U / 2)), abs=1e-12)
        if variant == "released":
            assert np.array_equal(part.y == 1, U > 0)
        else:
            assert part.y.mean() == pytest.approx(part.probability.mean(), abs=0.04)
            assert not np.array_equal(part.y == 1, U < 0)


def test_unknown_california_variant():
    with pytest.raises(InputError, match="did you mean 'released'"):
        load_california("release")


def test_mnist_facts():
    split = load_mnist_3_8(standardize=False)
    assert sizes(split) == (11_172, 1_397, 1_397)
    assert np.unique(labels(split), return_counts=True)[1].tolist() == [7_141, 6_825]
    assert set(labels(split).tolist()) == {3, 8}
    assert split.train.X.shape[1] == len(split.train.feature_names) == 784
    assert (split.train.X.min(), split.train.X.max()) == (0, 255)


def test_mnist_images_lie_beside_their_labels():
    # The training digits begin 5 0 4 1 9 2 1 3, so image 7 is the first three. Eights have more ink on the left.
    split = load_mnist_3_8(standardize=False, as_frame=True)
    every = np.concatenate([part.X.index for part in split])
    assert len(set(every.tolist())) == 13_966
    assert every.min() == 7
    left = split.train.X[["pixel_16_9", "pixel_17_9", "pixel_18_9"]].sum(axis=1)
    assert left[split.train.y == 8].mean() > 2 * left[split.train.y == 3].mean()


def test_brca_facts():
    split = load_brca(as_frame=True)
    assert sizes(split) == (372, 100, 100)
    assert np.bincount(labels(split)).tolist() == [105, 49, 304, 114]
    assert [np.bincount(part.y).tolist() for part in split] == [[67, 37, 195, 73], [19, 6, 54, 21], [19, 6, 55, 20]]
    assert (split.train.feature_names[0], split.train.feature_names[-1]) == ("OSTbeta", "TAS2R9")
    assert split.test.X.index.isin(split.train.X.index).sum() == 20


def test_brca_by_patient_keeps_every_patient_in_one_part():
    split = load_brca(by_patient=True, as_frame=True)
    patients = [set(part.X.index) for part in split]
    assert sum(sizes(split)) == 572
    assert len(set.union(*patients)) == sum(map(len, patients)) == 510
    assert sizes(split)[1:] == pytest.approx((100, 100), abs=10)


def test_frames_without_pandas_name_the_extra(monkeypatch):
    def not_installed(module):
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)

    monkeypatch.setattr(extras, "import_module", not_installed)
    with pytest.raises(ModuleNotFoundError, match=r"hideseek\[data\]"):
        load_brca(as_frame=True)
