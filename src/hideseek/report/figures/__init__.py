"""The pictures: one file each, and what they share in ``axes``, ``colours``, ``density`` and ``features``."""

# Every file in here begins with matplotlib, so the one place to say what to do without it is this one.
try:
    import matplotlib  # noqa: F401 - whether it is there is what matters
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "pictures need matplotlib, which is not installed; pip install 'hideseek[plot]'", name=error.name
    ) from error
