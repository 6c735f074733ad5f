"""California housing: block groups of the 1990 census, and labels that a switch on the longitude decides."""

from __future__ import annotations

import dataclasses
import io

import numpy as np
from numpy.typing import NDArray

from hideseek.datasets._dataset import Dataset, Split
from hideseek.datasets._draws import Floats, draw_labels
from hideseek.datasets._files import PublishedFile, read_published
from hideseek.datasets._parts import RawTable, divide, eighty_ten_ten
from hideseek.datasets.truth import falling_probability
from hideseek.validation import check_parameters, choice, integer

__all__ = ["california_switch", "load_california"]

_FILE = PublishedFile(
    path="california/cal_housing.data",
    sha256="a2b44dcc7e1c9091b43c4f458b25cbd1f7e8068d08edd26bc4703108d3fa6214",
    url="https://ndownloader.figshare.com/files/5976036",
    member="CaliforniaHousing/cal_housing.data",
    archive_sha256="aaa5c9a6afe2225cc2aed2723682ae403280c4a3695a2ddda4ffb5d8215ea681",
)
_FEATURES = ("MedInc", "HouseAge", "AveRooms", "AveBedrms", "Population", "AveOccup", "Longitude")
_INCOME, _AGE, _ROOMS, _BEDROOMS, _POPULATION, _OCCUPANCY, _LONGITUDE = range(7)
_CUTS = {"released": (-121.5, -118.5), "paper": (-121.5, -118.0)}
_CELLS = ((_ROOMS, _BEDROOMS), (_POPULATION, _OCCUPANCY), (_INCOME, _AGE))


def load_california(
    variant: str = "released", random_state: int = 0, *, standardize: bool = True, as_frame: bool = False
) -> Split:
    """Load the California housing data as the paper uses it: 16,036 block groups, seven features, median house value.

    Of the 20,640 block groups, three filters are applied in turn: houses younger than 50 years; no value below the 1 %
    quantile of any of the six housing columns; no value above the 97 % quantile, computed again, of any of them except
    the age. The paper's text does not mention the filters; its code applies them, and they give the sizes in the text:
    12,828, 1,604 and 1,604 rows.

    Provenance: StatLib. The archive is the one ``sklearn.datasets.fetch_california_housing`` reads, and the columns are
    formed from it in the same way. Licence: none is stated.

    Citation: R. K. Pace and R. Barry, "Sparse spatial autoregressions", Statistics & Probability Letters 33(3),
    291-297, 1997.

    Args:
        variant: "released": the split is drawn with ``random_state``, as the code of the paper does. "paper": every
            run has the same test rows, as its text says: the split of seed 0.
        random_state: Seed of the split.
        standardize: Give every column mean 0 and standard deviation 1 on the training rows.
        as_frame: Return X as a pandas frame and y as a series, indexed by the row of the published table.

    Example:
        >>> from hideseek.datasets import load_california
        >>> split = load_california()
        >>> len(split.train.y), len(split.validation.y), len(split.test.y)
        (12828, 1604, 1604)
    """
    _check("load_california", variant, random_state)
    table = _table()
    rows = eighty_ten_ten(len(table.y), random_state if variant == "released" else 0)
    return divide(table, rows, standardize=standardize, as_frame=as_frame)


def california_switch(variant: str = "released", random_state: int = 0) -> Split:
    """Give the block groups of :func:`load_california` a label that the longitude switches between three rules.

    On standardised columns, U is AveRooms - AveBedrms in the west, Population / AveOccup in the middle and
    5 MedInc - 2 HouseAge^2 in the east. The relevant features are the two of the region and Longitude.

    Args:
        variant: "released", the code of the paper: regions cut at -121.5 and -118.5 degrees, the label is [U > 0], not
            drawn, and ``probability`` is 1 / (1 + exp(-U)). "paper", its text: regions cut at -121.5 and -118 degrees,
            the label is one with probability 1 / (1 + exp(U)). The text assigns -121.5 to -121 to no region; here it
            belongs to the middle.
        random_state: Seed of the split ("released") or of the labels ("paper").

    Example:
        >>> from hideseek.datasets import california_switch
        >>> split = california_switch(random_state=1)
        >>> split.test.name, set(split.test.relevant.sum(axis=1).tolist())
        ('California released', {3})
    """
    _check("california_switch", variant, random_state)
    raw = load_california(variant, random_state, standardize=False)
    scaled = load_california(variant, random_state)
    rng = np.random.default_rng(random_state)

    def relabelled(part: Dataset, longitude: Floats) -> Dataset:
        U, relevant = _truth(part.X, np.searchsorted(_CUTS[variant], longitude, side="right"))
        if variant == "released":
            probability = falling_probability(-U)
            y = (U > 0).astype(np.int64)
        else:
            probability = falling_probability(U)
            y = draw_labels(rng, probability)
        return dataclasses.replace(part, name=f"California {variant}", y=y, relevant=relevant, probability=probability)

    return Split(*(relabelled(part, unscaled.X[:, _LONGITUDE]) for part, unscaled in zip(scaled, raw, strict=True)))


def _check(owner: str, variant: str, random_state: int) -> None:
    values = {"variant": variant, "random_state": random_state}
    check_parameters(owner, values, {"variant": choice(*_CUTS), "random_state": integer(0)})


def _table() -> RawTable:
    """Return the filtered rows, with scikit-learn's columns."""
    longitude, _, age, rooms, bedrooms, population, households, income, value = np.loadtxt(
        io.BytesIO(read_published(_FILE)), delimiter=",", unpack=True
    )
    X = np.column_stack(
        [income, age, rooms / households, bedrooms / households, population, population / households, longitude]
    )
    kept = np.flatnonzero(age < 50)
    housing = X[:, :_LONGITUDE]
    kept = kept[(housing[kept] >= np.quantile(housing[kept], 0.01, axis=0)).all(axis=1)]
    housing = np.delete(housing, _AGE, axis=1)
    kept = kept[(housing[kept] <= np.quantile(housing[kept], 0.97, axis=0)).all(axis=1)]
    return RawTable("California", X[kept], value[kept] / 100_000, _FEATURES, "MedHouseVal", kept)


def _truth(X: Floats, region: NDArray[np.intp]) -> tuple[Floats, NDArray[np.bool_]]:
    """Return U and the relevant features of every row, from standardised columns and the region 0, 1 or 2."""
    U = np.choose(
        region,
        [
            X[:, _ROOMS] - X[:, _BEDROOMS],
            X[:, _POPULATION] / X[:, _OCCUPANCY],
            5 * X[:, _INCOME] - 2 * X[:, _AGE] ** 2,
        ],
    )
    relevant = np.zeros(X.shape, dtype=bool)
    relevant[:, _LONGITUDE] = True
    for cell, columns in enumerate(_CELLS):
        relevant[np.ix_(region == cell, columns)] = True
    return U, relevant
