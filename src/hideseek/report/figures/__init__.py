"""The pictures: one file each, and what they share in ``axes``, ``colours``, ``density`` and ``features``."""

from hideseek.extras import import_extra

# Every file in here begins with matplotlib, so the one place to say what to do without it is this one.
import_extra("matplotlib", "plot", "pictures need matplotlib")
