"""The results of a run on disk: one small file per job, written atomically."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hideseek.benchmark._jobs import Job
from hideseek.benchmark._work import Outcome
from hideseek.benchmark.config import Config
from hideseek.benchmark.origin import now
from hideseek.errors import FileAccessError, FileFormatError, MissingFileError
from hideseek.files import accessing, write_atomically
from hideseek.warn import warn_caller

__all__ = ["Plan", "Record", "Store", "plan_of"]

Record = dict[str, Any]
"""A stored result."""

Plan = dict[str, Any]
"""The content of a run: its configuration, and its jobs by label, seed and key."""

_FORMAT = 1
_PLAN = "run.json"


def plan_of(config: Config, jobs: Sequence[Job]) -> Plan:
    """Return the plan of a configuration."""
    listed = [{"method": job.method, "dataset": job.dataset, "seed": job.seed, "key": job.key} for job in jobs]
    return {"format": _FORMAT, "config": config.to_dict(), "jobs": listed}


class Store:
    """A folder with ``run.json``, the plan; ``KEY.json``, a result; and ``KEY.npz``, the arrays kept with it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write_plan(self, plan: Plan) -> None:
        """Make the folder, and write the plan to it."""
        with accessing(self.folder, "write"):
            self.folder.mkdir(parents=True, exist_ok=True)
        self._write(_PLAN, plan)

    def read_plan(self) -> Plan:
        """Return the plan that ``write_plan`` wrote last."""
        try:
            with accessing(self.folder / _PLAN, "read") as file:
                content = file.read_bytes()
            plan: Plan = json.loads(content)
        except FileAccessError:
            raise MissingFileError(
                f"there are no results in {str(self.folder)!r}: it has no {_PLAN}; pass the folder of a run, which "
                "has the run's name"
            ) from None
        except (ValueError, RecursionError) as error:
            raise FileFormatError(f"{str(self.folder / _PLAN)!r} is damaged: {error}") from error
        if plan.get("format") != _FORMAT:
            raise FileFormatError(f"{str(self.folder / _PLAN)!r} was written by another version of hideseek")
        return plan

    def write(self, job: Job, outcome: Outcome, keep: str | None, commit: str | None) -> Record:
        """Store the outcome of a job; arrays are written first, so that an existing result is complete."""
        if outcome.arrays:
            buffer = io.BytesIO()
            np.savez_compressed(buffer, allow_pickle=False, **outcome.arrays)
            write_atomically(self.folder / f"{job.key}.npz", buffer.getvalue())
        record = {
            "format": _FORMAT,
            "key": job.key,
            "method": job.method,
            "dataset": job.dataset,
            "seed": job.seed,
            "job": dict(job.description),
            **outcome.result,
            "keep": keep,
            "arrays": sorted(outcome.arrays),
            "commit": commit,
            "time": now(),
        }
        self._write(f"{job.key}.json", record)
        return record

    def read(self, key: str) -> Record | None:
        """Return the stored result of a job, or None; a damaged file counts as missing."""
        path = self.folder / f"{key}.json"
        try:
            record: Record = json.loads(path.read_bytes())
            usable = record["format"] == _FORMAT and record["status"] in ("finished", "failed")
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError):
            usable = False
        if not usable:
            warn_caller(f"{str(path)!r} is damaged; the job will run again")
        return record if usable else None

    def arrays(self, record: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        """Return the arrays that the keep hook gave for a result."""
        if not record["arrays"]:
            return {}
        with np.load(self.folder / f"{record['key']}.npz", allow_pickle=False) as file:
            return {name: file[name] for name in record["arrays"]}

    def _write(self, name: str, content: Mapping[str, Any]) -> None:
        write_atomically(self.folder / name, (json.dumps(content, indent=1, allow_nan=False) + "\n").encode())
