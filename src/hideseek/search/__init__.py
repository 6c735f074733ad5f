"""What is looked for before and beside the networks: the penalty to use, and the columns worth looking at; and how far to believe it."""

from hideseek.search.path import PenaltyPath
from hideseek.search.screening import Screening
from hideseek.search.trust import Trust

__all__ = ["PenaltyPath", "Screening", "Trust"]
