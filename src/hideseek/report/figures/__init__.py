"""The figures: one file each, with shared code in ``axes``, ``colours``, ``density`` and ``features``."""

from hideseek.extras import import_extra

# All modules of this package import matplotlib, so this is the one place for the message if it is missing.
import_extra("matplotlib", "plot", "figures need matplotlib")
