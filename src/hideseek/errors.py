"""What can go wrong, apart by who can mend it."""

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
    """Any error that this library raises on purpose."""


class InputError(HideSeekError, ValueError):
    """An argument is not what was expected; the message names it and says what to do."""


class ArgumentTypeError(InputError, TypeError):
    """An argument is of a type that cannot be used; the message names it and says what to do."""


class PositionError(InputError, IndexError):
    """A row or feature is asked for by a position that is not there, or by what is no position."""


class UnknownFeatureError(InputError, KeyError):
    """A feature is asked for by a name that is not there."""

    __str__ = Exception.__str__  # a KeyError would show the repr of its message


class FileAccessError(HideSeekError, OSError):
    """A file cannot be read or written where the path says."""


class MissingFileError(FileAccessError, FileNotFoundError):
    """There is no file or folder where the path says."""


class TrainingError(HideSeekError, RuntimeError):
    """Training ended without a usable model."""


class FileFormatError(HideSeekError, ValueError):
    """A file is truncated, damaged, foreign or newer than this library; the message names it and says what is wrong."""


class DataError(HideSeekError, OSError):
    """A file of a dataset is neither here nor to be had, or is not the published one."""


class HideSeekWarning(UserWarning):
    """Something works, but probably not as intended."""


class MaskWarning(HideSeekWarning):
    """The masks of a fitted model collapsed (nothing is selected) or saturated (everything is)."""
