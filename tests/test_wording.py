import numpy as np
import pytest

from hideseek.extras import import_extra, version_of
from hideseek.validation import choice
from hideseek.wording import did_you_mean, listed, some, values_by_name


def test_a_similar_name_is_suggested_whatever_the_case():
    assert did_you_mean("FASR", ["fast", "balanced"]) == "; did you mean 'fast'?"
    assert did_you_mean("zzz", ["fast", "balanced"]) == ""


def test_a_known_name_and_what_is_no_name_get_no_suggestion():
    assert did_you_mean("cuda", ["auto", "cuda"]) == ""
    assert choice("fast", "balanced").suggestion(np.zeros(3)) == ""


def test_long_lists_are_cut():
    assert listed("abc", last="or") == "a, b or c"
    assert some(list("abcdefgh")) == "a, b, c, d, e and 3 more"


def test_a_missing_extra_says_what_needs_it_and_how_to_install_it():
    with pytest.raises(ModuleNotFoundError) as error:
        import_extra("no_such_library", "plot", "pictures need it", otherwise=", or draw by hand")
    assert str(error.value) == "pictures need it, which is not installed; pip install 'hideseek[plot]', or draw by hand"
    assert error.value.name == "no_such_library"


def test_the_version_is_that_of_the_first_package_that_is_installed():
    assert version_of("no-such-package", "numpy") == np.__version__
    assert version_of("no-such-package") is None


def test_numbers_are_listed_with_the_names_that_they_belong_to():
    assert values_by_name({"age": (25.0, 35.5), "income": (1234.567,)}) == "age at 25 and 35.5, income at 1235"
