"""The figures: one file each, with shared code in ``axes``, ``colours``, ``density`` and ``features``."""

# All modules of this package import matplotlib, so this is the one place for the message if it is missing.
try:
    import matplotlib  # noqa: F401 - whether it is there is what matters
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "figures need matplotlib, which is not installed; pip install 'hideseek[plot]'", name=error.name
    ) from error
