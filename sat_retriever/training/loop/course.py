"""The progress of a training, and its outcome."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sat_retriever.atomic import draft_of
from sat_retriever.errors import TrainingError
from sat_retriever.training.loop.task import MEASURE

_DONE = "done.json"
Metrics = Mapping[str, float | None]  # None where undefined


@dataclass(frozen=True, slots=True)
class Course:
    """How far a training has come.

    Attributes:
        epoch: The epoch at hand; the one after the last when all is done.
        batch: Its batches that are done.
        prepared: Whether it was prepared.
        rows: Lines of the run's metrics up to here.
        preparing: Seconds its preparation took.
        seconds: Seconds it took so far.
        before: Seconds that the epochs before it took.
        memory: Peak memory so far, MiB.
        gpu_memory: The GPU's; None without one.
        validated: Epoch and metrics of each validation.
        best: Place in `validated` of the best; -1 before the first that competes.
    """

    epoch: int
    batch: int = 0
    prepared: bool = False
    rows: int = 0
    preparing: float = 0.0
    seconds: float = 0.0
    before: float = 0.0
    memory: float = 0.0
    gpu_memory: float | None = None
    validated: tuple[tuple[int, Metrics], ...] = ()
    best: int = -1

    @property
    def best_measure(self) -> float | None:
        """Validation measure of the best epoch so far; None before the first that competes."""
        return self.validated[self.best][1][MEASURE] if self.best >= 0 else None

    @property
    def best_epoch(self) -> int | None:
        """The best epoch so far; None before the first that competes."""
        return self.validated[self.best][0] if self.best >= 0 else None

    def to_json(self) -> dict[str, Any]:
        """The same as JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any], file: Path) -> Course:
        """What `to_json` gave.

        Raises:
            TrainingError: If it is no such thing; names the file that it is from.
        """
        try:
            validated = tuple((int(epoch), dict(found)) for epoch, found in values["validated"])
            return cls(**{**values, "validated": validated})
        except (KeyError, TypeError, ValueError) as error:
            raise TrainingError(f"{file} is damaged ({error!r}); name a new run folder") from error


@dataclass(frozen=True, slots=True)
class Fitted:
    """What a training, or a phase of it, came to.

    Attributes:
        best_epoch: Epoch whose model was kept; 0 is the model before training.
        metrics: Its validation metrics.
        by_epoch: Validation metrics of each epoch, in order; 0 is the model before training,
            if it was measured.
        folder: What `Task.save` wrote of it; give this to `RunFolder.finish`.
        seconds: Wall time of all epochs, with preparation, validation and saving.
        memory_mib: Peak memory of the main process.
        gpu_memory_mib: Peak memory of its GPU; None without one.
    """

    best_epoch: int
    metrics: Metrics
    by_epoch: Mapping[int, Metrics]
    folder: Path
    seconds: float
    memory_mib: float
    gpu_memory_mib: float | None

    @classmethod
    def of(cls, course: Course, folder: Path) -> Fitted:
        """The outcome of a course that is done."""
        best_epoch, metrics = course.validated[course.best]
        return cls(
            best_epoch, metrics, dict(course.validated), folder,
            course.before, course.memory, course.gpu_memory,
        )  # fmt: skip

    def result(self) -> dict[str, Any]:
        """The same as JSON values without the folder: a result for `RunFolder.finish`."""
        content = asdict(self)
        del content["folder"]
        return content


def write_course(folder: Path, course: Course) -> None:
    """Mark a phase's folder as done, with its course.

    Raises:
        OutputError: If it cannot be written.
    """
    with draft_of(folder / _DONE) as draft:
        draft.write_text(json.dumps(course.to_json(), indent=2) + "\n", encoding="utf-8")


def read_course(folder: Path) -> Course | None:
    """The course of a phase that is done; None if it is not.

    Raises:
        TrainingError: If it is damaged.
    """
    file = folder / _DONE
    try:
        values = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise TrainingError(f"{file} is damaged ({error}); name a new run folder") from error
    return Course.from_json(values, file)
