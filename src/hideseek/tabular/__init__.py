"""Encoding of mixed-type tables as a float matrix, in which a feature may have several columns."""

from hideseek.tabular._encoder import TableEncoder
from hideseek.tabular._grouping import is_grouping
from hideseek.tabular._table import Column, Table, only_numbers

__all__ = ["Column", "Table", "TableEncoder", "is_grouping", "only_numbers"]
