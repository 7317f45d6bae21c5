"""Record the progress of a training, and its outcome."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sat_retriever.errors import TrainingError
from sat_retriever.records.files import draft_of
from sat_retriever.train.loop.task import MEASURE

_DONE = "done.json"
Metrics = Mapping[str, float | None]  # None where undefined


@dataclass(frozen=True, slots=True)
class Course:
    """The progress of a training.

    Attributes:
        epoch: The current epoch; after the end, the last one plus 1.
        batch: Number of its finished batches.
        prepared: True if it was prepared.
        rows: Lines of the run's metrics so far.
        preparing: Time of its preparation, in seconds.
        seconds: Its time so far, in seconds.
        before: Time of the epochs before it, in seconds.
        memory: Peak memory so far, in MiB.
        gpu_memory: Peak memory of the GPU, in MiB; None without one.
        validated: Epoch and metrics of each validation.
        best: Place of the best in `validated`; -1 before the first that competes.
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
        """The validation measure of the best epoch so far; None before the first that competes."""
        return self.validated[self.best][1][MEASURE] if self.best >= 0 else None

    @property
    def best_epoch(self) -> int | None:
        """The best epoch so far; None before the first that competes."""
        return self.validated[self.best][0] if self.best >= 0 else None

    def to_json(self) -> dict[str, Any]:
        """Return the progress as JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any], file: Path) -> Course:
        """Read the progress from the output of `to_json`.

        Raises:
            TrainingError: If the values are invalid; the message names their file.
        """
        try:
            validated = tuple((int(epoch), dict(found)) for epoch, found in values["validated"])
            return cls(**{**values, "validated": validated})
        except (KeyError, TypeError, ValueError) as error:
            raise TrainingError(f"{file} is damaged ({error!r}); name a new run folder") from error


@dataclass(frozen=True, slots=True)
class Fitted:
    """The outcome of a training or one of its phases.

    Attributes:
        best_epoch: Epoch whose model was kept; 0 is the model before training.
        metrics: Its validation metrics.
        by_epoch: Validation metrics of each epoch, in order; 0 is the model before training,
            if it was measured.
        folder: The folder that `Task.save` wrote; pass it to `RunFolder.finish`.
        seconds: Wall time of all epochs, with preparation, validation and saving.
        memory_mib: Peak memory of the main process, in MiB.
        gpu_memory_mib: Peak memory of its GPU, in MiB; None without one.
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
        """Return the outcome of a finished course."""
        best_epoch, metrics = course.validated[course.best]
        return cls(
            best_epoch, metrics, dict(course.validated), folder,
            course.before, course.memory, course.gpu_memory,
        )  # fmt: skip

    def result(self) -> dict[str, Any]:
        """Return the outcome as JSON values without the folder, for `RunFolder.finish`."""
        content = asdict(self)
        del content["folder"]
        return content


def write_course(folder: Path, course: Course) -> None:
    """Mark a phase's folder as finished, with its course.

    Raises:
        OutputError: If it cannot be written.
    """
    with draft_of(folder / _DONE) as draft:
        draft.write_text(json.dumps(course.to_json(), indent=2) + "\n", encoding="utf-8")


def read_course(folder: Path) -> Course | None:
    """Return the course of a finished phase; None if it is not finished.

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
