"""The threes and eights of MNIST, two digits that differ in a few strokes."""

from __future__ import annotations

from hideseek.datasets._dataset import Split
from hideseek.datasets._parts import RawTable, divide, eighty_ten_ten
from hideseek.datasets.digits import SIDE, mnist_digits

__all__ = ["load_mnist_3_8"]


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
    names = tuple(f"pixel_{row}_{column}" for row in range(SIDE) for column in range(SIDE))
    table = RawTable("MNIST 3 and 8", X, y, names, "digit", chosen)
    return divide(table, eighty_ten_ten(len(chosen), 42), standardize=standardize, as_frame=as_frame)
