"""A mixed-type table as a float matrix, in which a feature may be several columns."""

from hideseek.tabular._codes import CategoryCode, Code, NumberCode, as_levels, sorted_levels
from hideseek.tabular._encoder import TableEncoder
from hideseek.tabular._grouping import is_grouping
from hideseek.tabular._schema import ENCODER
from hideseek.tabular._table import Column, Table, only_numbers

__all__ = [
    "ENCODER",
    "CategoryCode",
    "Code",
    "Column",
    "NumberCode",
    "Table",
    "TableEncoder",
    "as_levels",
    "is_grouping",
    "only_numbers",
    "sorted_levels",
]
