"""What can go wrong, apart by who can mend it."""

from __future__ import annotations

__all__ = [
    "DataError",
    "FileFormatError",
    "HideSeekError",
    "HideSeekWarning",
    "InputError",
    "MaskWarning",
    "TrainingError",
]


class HideSeekError(Exception):
    """Any error that this library raises on purpose."""


class InputError(HideSeekError, ValueError):
    """An argument is not what was expected; the message names it and says what to do."""


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
