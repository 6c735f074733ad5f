import numpy as np
import pandas as pd
import pytest

from hideseek import HideSeekClassifier


@pytest.fixture(scope="session")
def rows(switch):
    """Four features, with an id and the label beside them."""
    X, y = switch
    return pd.DataFrame(X, columns=["x1", "x2", "x3", "x4"]).assign(id=np.arange(1000, 3000), label=y)


@pytest.fixture(scope="session")
def named(rows):
    return HideSeekClassifier("fast", random_state=0).fit(rows[["x1", "x2", "x3", "x4"]], rows["label"])


@pytest.fixture(scope="session")
def expected(named, rows):
    return named.explain(rows[["x1", "x2", "x3", "x4"]])


@pytest.fixture(scope="session")
def saved(named, tmp_path_factory):
    path = tmp_path_factory.mktemp("scoring") / "model.safetensors"
    named.save(path)
    return path
