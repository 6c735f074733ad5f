"""The threes and eights of MNIST, two digits that differ in a few strokes."""

from __future__ import annotations

import gzip

import numpy as np
from numpy.typing import NDArray

from hideseek.datasets._dataset import Split
from hideseek.datasets._files import PublishedFile, read_published
from hideseek.datasets._parts import RawTable, divide, eighty_ten_ten

__all__ = ["load_mnist_3_8", "mnist_digits"]

_SIDE = 28
_CHECKSUMS = {
    "train-images-idx3-ubyte.gz": "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
    "train-labels-idx1-ubyte.gz": "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
    "t10k-images-idx3-ubyte.gz": "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
    "t10k-labels-idx1-ubyte.gz": "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
}
_IMAGE_HEADER, _LABEL_HEADER = 16, 8
"""Bytes before the values in an idx file of three dimensions and of one."""


def load_mnist_3_8(*, standardize: bool = True, as_frame: bool = False) -> Split:
    """Load the 3s and 8s of MNIST: 13,966 images of 28 x 28 pixels, 7,141 of a three and 6,825 of an eight.

    They come from all 70,000 images, the 60,000 first. The split is the paper's: 11,172, 1,397 and 1,397 rows. The
    labels are the digits 3 and 8. Columns are the pixels in reading order, from ``pixel_0_0`` (row, column) on.

    Provenance: the four original archives, from the mirror that torchvision uses. Licence: CC BY-SA 3.0, according to
    the documentation of Keras.

    Citation: Y. LeCun, L. Bottou, Y. Bengio and P. Haffner, "Gradient-based learning applied to document recognition",
    Proceedings of the IEEE 86(11), 2278-2324, 1998.

    Args:
        standardize: Give every pixel mean 0 and standard deviation 1 on the training rows; a pixel that is constant
            there is 0 everywhere. Otherwise grey levels from 0 to 255.
        as_frame: Return X as a pandas frame and y as a series, indexed by the number of the image among the 70,000.

    Example:
        >>> from hideseek.datasets import load_mnist_3_8
        >>> split = load_mnist_3_8(standardize=False)
        >>> split.test.X.shape, float(split.test.X.max())
        ((1397, 784), 255.0)
    """
    X, y, chosen = mnist_digits(3, 8)
    names = tuple(f"pixel_{row}_{column}" for row in range(_SIDE) for column in range(_SIDE))
    table = RawTable("MNIST 3 and 8", X, y, names, "digit", chosen)
    return divide(table, eighty_ten_ten(len(chosen), 42), standardize=standardize, as_frame=as_frame)


def mnist_digits(*digits: int) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.intp]]:
    """Return the images of some digits, their labels, and their numbers among the 70,000."""
    labels = np.concatenate([_values(f"{part}-labels-idx1-ubyte.gz", _LABEL_HEADER) for part in ("train", "t10k")])
    pixels = np.concatenate([_values(f"{part}-images-idx3-ubyte.gz", _IMAGE_HEADER) for part in ("train", "t10k")])
    chosen = np.flatnonzero(np.isin(labels, digits))
    return pixels.reshape(-1, _SIDE**2)[chosen].astype(np.float64), labels[chosen].astype(np.int64), chosen


def _values(name: str, header: int) -> NDArray[np.uint8]:
    url = f"https://ossci-datasets.s3.amazonaws.com/mnist/{name}"
    content = read_published(PublishedFile(f"mnist/{name}", _CHECKSUMS[name], url))
    return np.frombuffer(gzip.decompress(content), dtype=np.uint8, offset=header)
