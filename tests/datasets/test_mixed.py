import numpy as np
import pytest

from hideseek import InputError
from hideseek.datasets import make_mixed


def test_the_region_says_which_numbers_decide():
    data = make_mixed("Syn4", n_samples=2000)
    first = data.X["region"].isin(["north", "south"]).to_numpy()
    expected = np.zeros((2000, 15), dtype=bool)
    expected[:, 10] = True
    expected[first, :2] = True
    expected[~first, 2:6] = True
    np.testing.assert_array_equal(data.relevant, expected)
    product = (data.X["x1"] * data.X["x2"]).to_numpy()
    np.testing.assert_allclose(data.probability[first], 1 / (1 + np.exp(product[first])))
    assert tuple(data.X.columns) == data.feature_names
    assert data.X.notna().all(axis=None)


def test_what_is_missing_is_not_relevant_nor_what_it_makes_meaningless():
    data, whole = make_mixed("Syn5", n_samples=4000, missing=0.2), make_mixed("Syn5", n_samples=4000)
    here = data.X.notna().to_numpy()
    assert abs(here.mean() - 0.8) < 0.02
    assert not data.relevant[~here].any()
    assert not data.relevant[~here[:, 10]].any(), "without the region nothing can be told"
    assert (data.relevant[:, 0] == data.relevant[:, 1]).all(), "half a product says nothing"
    later = slice(6, 10)
    seen = here[:, later] & here[:, 10, None]
    np.testing.assert_array_equal(data.relevant[:, later], whole.relevant[:, later] & seen)
    np.testing.assert_array_equal(data.y, whole.y)


@pytest.mark.parametrize("wrong", [{"name": "Syn1"}, {"missing": 1.0}, {"missing": -0.1}, {"n_samples": 0}])
def test_arguments_are_checked(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        make_mixed(**wrong)
