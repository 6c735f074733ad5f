"""Synthetic data with known relevant features, and the real data of the paper with its splits.

Generators (``make_...``) return a :class:`Dataset`. Loaders return a :class:`Split` of three. Files are read from the
folder that the environment variable HIDESEEK_DATA names if it is set, else from the user's cache, to which they are
downloaded from their public address at first use.
"""

from __future__ import annotations

from hideseek.datasets._brca import load_brca
from hideseek.datasets._california import california_switch, load_california
from hideseek.datasets._credit import credit_syn, load_credit
from hideseek.datasets._dataset import Dataset, Split
from hideseek.datasets._mixed import make_mixed
from hideseek.datasets._mnist import load_mnist_3_8
from hideseek.datasets._switches import make_cafe, make_ice_cream, make_multiclass, make_switch
from hideseek.datasets._syn import make_syn, make_syn_regression

__all__ = [
    "Dataset",
    "Split",
    "california_switch",
    "credit_syn",
    "load_brca",
    "load_california",
    "load_credit",
    "load_mnist_3_8",
    "make_cafe",
    "make_ice_cream",
    "make_mixed",
    "make_multiclass",
    "make_switch",
    "make_syn",
    "make_syn_regression",
]
