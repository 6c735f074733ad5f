"""What is looked for before and beside the networks: the penalty to use, and the columns worth looking at."""

from hideseek.search.path import PenaltyPath
from hideseek.search.screening import Screening

__all__ = ["PenaltyPath", "Screening"]
