import numpy as np
import pytest


@pytest.fixture
def own():
    """A table whose first column decides, with the truth."""
    X = np.random.default_rng(0).normal(size=(60, 4))
    relevant = np.zeros(X.shape, dtype=bool)
    relevant[:, 0] = True
    return {"X": X, "y": (X[:, 0] > 0).astype(int), "relevant": relevant}


@pytest.fixture
def log(tmp_path):
    return str(tmp_path / "log")
