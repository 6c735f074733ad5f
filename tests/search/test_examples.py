import doctest

import pytest

from hideseek import HideSeekClassifier
from hideseek.search import PenaltyPath, Screening


@pytest.mark.parametrize("thing", [PenaltyPath, Screening, HideSeekClassifier.at], ids=lambda thing: thing.__name__)
def test_examples_run(thing):
    (example,) = doctest.DocTestFinder(recurse=False).find(thing, thing.__name__)
    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0
