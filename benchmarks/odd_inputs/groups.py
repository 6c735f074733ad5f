"""All cases, by what they call."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.odd_inputs import models, others
from benchmarks.odd_inputs.case import Case


def groups(folder: Path) -> dict[str, Iterator[Case]]:
    """Every case; files go to the folder."""
    return {
        "fits": models.fits(),
        "parameters": models.parameters(),
        "answers": models.answers(),
        "not fitted": models.not_fitted(),
        "model files": models.model_files(folder),
        "explanations": others.explanations(),
        "pictures": others.pictures(folder),
        "scores": others.scores(),
        "makers": others.makers(),
        "configurations": others.configurations(folder),
        "commands": others.commands(folder),
    }
