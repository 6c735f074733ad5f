import os

import numpy as np
import pytest
import torch

from hideseek import HideSeekClassifier


@pytest.fixture(autouse=True)
def same_random_numbers():
    """Tests that draw with torch draw the same in every run."""
    torch.manual_seed(0)


@pytest.fixture(scope="session")
def switch():
    """A small problem with a switch: x3 says whether x1 or x2 decides; x4 is noise."""
    X = np.random.default_rng(0).normal(size=(2000, 4))
    y = np.where(X[:, 2] > 0, X[:, 0], X[:, 1]) > 0
    return X, y.astype(int)


@pytest.fixture(scope="session")
def model(switch):
    return HideSeekClassifier("fast", random_state=0).fit(*switch)


@pytest.fixture
def published_data():
    if not os.environ.get("HIDESEEK_DATA"):
        pytest.skip("needs the published files: set HIDESEEK_DATA to a folder that has them")
