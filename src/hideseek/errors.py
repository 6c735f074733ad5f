"""Exceptions and warnings, grouped by who can fix the cause."""

from __future__ import annotations

__all__ = [
    "ArgumentTypeError",
    "DataError",
    "FileAccessError",
    "FileFormatError",
    "HideSeekError",
    "HideSeekWarning",
    "InputError",
    "MaskWarning",
    "MissingFileError",
    "PositionError",
    "TrainingError",
    "UnknownFeatureError",
]


class HideSeekError(Exception):
    """Base class of all errors that this library raises on purpose."""


class InputError(HideSeekError, ValueError):
    """An argument has a wrong value; the message names it and says what to do."""


class ArgumentTypeError(InputError, TypeError):
    """An argument has a wrong type; the message names it and says what to do."""


class PositionError(InputError, IndexError):
    """A row or feature position is out of range, or not a position."""


class UnknownFeatureError(InputError, KeyError):
    """A feature name does not exist."""

    __str__ = Exception.__str__  # KeyError would show the repr of the message


class FileAccessError(HideSeekError, OSError):
    """A file cannot be read or written."""


class MissingFileError(FileAccessError, FileNotFoundError):
    """A file or folder does not exist."""


class TrainingError(HideSeekError, RuntimeError):
    """Training did not give a usable model."""


class FileFormatError(HideSeekError, ValueError):
    """A file is truncated, damaged, foreign or newer than this library; the message names it and the problem."""


class DataError(HideSeekError, OSError):
    """A dataset file is missing, cannot be downloaded, or fails its checksum."""


class HideSeekWarning(UserWarning):
    """Something works, but probably not as intended."""


class MaskWarning(HideSeekWarning):
    """The masks of a fitted model collapsed (nothing is selected) or saturated (everything is)."""
