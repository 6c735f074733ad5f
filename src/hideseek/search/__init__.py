"""What surrounds the networks: the penalty to use, the columns worth looking at, and how far to believe a fit."""

from hideseek.search.path import PenaltyPath
from hideseek.search.screening import Screening
from hideseek.search.trust import Trust

__all__ = ["PenaltyPath", "Screening", "Trust"]
