"""The docstrings of the estimators are composed of shared entries, and complete."""

import inspect
import re

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from hideseek import BlackBoxExplainer, HideSeekClassifier, HideSeekRegressor
from hideseek.estimators._docs import ENTRIES, documented

CLASSES = [HideSeekClassifier, HideSeekRegressor, BlackBoxExplainer]
OWN = {BlackBoxExplainer: {"validation_fraction", "trust_", "fitted_files_"}}


def entries(cls, section):
    """Return the entries of a section of a class docstring, with their texts on one line."""
    text = re.search(rf"^{section}:\n(.*?)\n\n", inspect.getdoc(cls), re.MULTILINE | re.DOTALL).group(1)
    found = re.findall(r"^    (\w+): (.*?)(?=\n    \w|\Z)", text, re.MULTILINE | re.DOTALL)
    return {name: " ".join(description.split()) for name, description in found}


def fitted(cls):
    X = np.random.default_rng(0).normal(size=(300, 40))
    X[:, 39] = X[:, 0]
    y = X[:, 0] > 0
    settings = {"steps": 20, "random_state": 0}
    if cls is BlackBoxExplainer:
        return cls(LogisticRegression().fit(X, y), "fast", **settings).fit(X)
    return cls("fast", **settings).fit(X, y.astype(float) if cls is HideSeekRegressor else y)


@pytest.mark.parametrize("cls", CLASSES)
def test_every_parameter_is_documented_in_the_order_of_the_constructor(cls):
    assert list(entries(cls, "Args")) == list(inspect.signature(cls).parameters)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cls", CLASSES)
def test_every_fitted_attribute_is_documented(cls):
    model = fitted(cls)
    learned = {name for name in dir(model) if re.fullmatch(r"[a-z]\w*_", name) and hasattr(model, name)}
    assert learned - set(entries(cls, "Attributes")) == set()


@pytest.mark.parametrize("cls", CLASSES)
def test_shared_entries_have_the_same_text_in_every_class(cls):
    found = entries(cls, "Args") | entries(cls, "Attributes")
    shared = {name: " ".join(text.split()) for name, text in ENTRIES.items() if name not in OWN.get(cls, ())}
    assert {name: found[name] for name in shared} == shared


def test_documented_fails_on_an_unknown_name():
    with pytest.raises(KeyError, match="nonsense"):

        @documented
        class Wrong:
            """Text.

            Args:
                {nonsense}
            """
