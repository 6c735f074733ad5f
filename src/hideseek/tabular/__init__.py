"""A mixed-type table as a float matrix, in which a feature may be several columns."""

from hideseek.tabular._encoder import TableEncoder
from hideseek.tabular._grouping import is_grouping
from hideseek.tabular._table import Column, Table, only_numbers

__all__ = ["Column", "Table", "TableEncoder", "is_grouping", "only_numbers"]
