"""The images of MNIST by digit, from its four original archives."""

from __future__ import annotations

import gzip

import numpy as np
from numpy.typing import NDArray

from hideseek.datasets._files import PublishedFile, read_published

__all__ = ["SIDE", "mnist_digits"]

SIDE = 28
_CHECKSUMS = {
    "train-images-idx3-ubyte.gz": "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
    "train-labels-idx1-ubyte.gz": "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
    "t10k-images-idx3-ubyte.gz": "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
    "t10k-labels-idx1-ubyte.gz": "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
}
_IMAGE_HEADER, _LABEL_HEADER = 16, 8
"""Bytes before the values in an idx file of three dimensions and of one."""


def mnist_digits(*digits: int) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.intp]]:
    """Return the images of some digits, their labels, and their numbers among the 70,000."""
    labels = np.concatenate([_values(f"{part}-labels-idx1-ubyte.gz", _LABEL_HEADER) for part in ("train", "t10k")])
    pixels = np.concatenate([_values(f"{part}-images-idx3-ubyte.gz", _IMAGE_HEADER) for part in ("train", "t10k")])
    chosen = np.flatnonzero(np.isin(labels, digits))
    return pixels.reshape(-1, SIDE**2)[chosen].astype(np.float64), labels[chosen].astype(np.int64), chosen


def _values(name: str, header: int) -> NDArray[np.uint8]:
    url = f"https://ossci-datasets.s3.amazonaws.com/mnist/{name}"
    content = read_published(PublishedFile(f"mnist/{name}", _CHECKSUMS[name], url))
    return np.frombuffer(gzip.decompress(content), dtype=np.uint8, offset=header)
