"""Record the state of a training, what it reports of it, and its outcome."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from sat_retriever.errors import TrainingError
from sat_retriever.records.files import draft_of
from sat_retriever.train.loop.task import MEASURE

_DONE = "done.json"
Metrics = Mapping[str, float | None]  # None where undefined


@dataclass(frozen=True, slots=True)
class TrainingProgress:
    """The progress that a training reports."""

    phase: str  # name of the part, for example "graph"; may be empty
    # "mixing" the weights from before and after comes last.
    doing: Literal["preparing", "training", "validating", "mixing"]
    epoch: int  # the current one; 0 is the model before training
    epochs: int
    step: int  # optimiser steps done, over all epochs
    steps: int  # in all
    loss: float | None  # of the last step; None before the first one since the start or resumption
    best: float | None  # best validation NDCG@5 so far


# Receives the state after each step and at each start of another activity, in the main process.
OnProgress = Callable[[TrainingProgress], None]


@dataclass(frozen=True, slots=True)
class TrainingState:
    """The state of a training in its loop; a checkpoint keeps it."""

    epoch: int  # the current one; after the end, the last one plus 1
    batch: int = 0  # finished batches of the epoch
    prepared: bool = False  # True if `Task.prepare` was called for it
    rows: int = 0  # lines of the run's metrics so far
    preparing: float = 0.0  # seconds of the epoch's preparation
    seconds: float = 0.0  # of the epoch so far
    before: float = 0.0  # seconds of the epochs before it
    memory: float = 0.0  # peak so far, in MiB
    gpu_memory: float | None = None  # in MiB; None without a GPU
    validated: tuple[tuple[int, Metrics], ...] = ()  # each epoch with its metrics
    best: int = -1  # place in `validated`; -1 before the first that competes

    @property
    def best_measure(self) -> float | None:
        """Its validation measure; None before the first epoch that competes."""
        return self.validated[self.best][1][MEASURE] if self.best >= 0 else None

    @property
    def best_epoch(self) -> int | None:
        """None before the first epoch that competes."""
        return self.validated[self.best][0] if self.best >= 0 else None

    @classmethod
    def from_json(cls, values: Mapping[str, Any], file: Path) -> TrainingState:
        """Read the values of `asdict`; a TrainingError names their file if they are invalid."""
        try:
            validated = tuple((int(epoch), dict(found)) for epoch, found in values["validated"])
            return cls(**{**values, "validated": validated})
        except (KeyError, TypeError, ValueError) as error:
            raise TrainingError(f"{file} is damaged ({error!r}); name a new run folder") from error


@dataclass(frozen=True, slots=True)
class Fitted:
    """The outcome of a training or one of its phases."""

    best_epoch: int  # whose model was kept; 0 is the model before training
    metrics: Metrics  # of its validation
    by_epoch: Mapping[int, Metrics]  # of each measured epoch, in order
    folder: Path  # that `Task.save` wrote; pass it to `RunFolder.finish`
    seconds: float  # wall time of all epochs, with preparation, validation and saving
    memory_mib: float  # peak of the main process
    gpu_memory_mib: float | None  # peak of its GPU; None without one

    @classmethod
    def of(cls, state: TrainingState, folder: Path) -> Fitted:
        """Return the outcome at the end of a training."""
        best_epoch, metrics = state.validated[state.best]
        return cls(
            best_epoch, metrics, dict(state.validated), folder,
            state.before, state.memory, state.gpu_memory,
        )  # fmt: skip

    def result(self) -> dict[str, Any]:
        """Return JSON values without the folder, for `RunFolder.finish`."""
        content = asdict(self)
        del content["folder"]
        return content


def mark_finished(folder: Path, state: TrainingState) -> None:
    """Mark a phase's folder as finished, with its last state."""
    with draft_of(folder / _DONE) as draft:
        draft.write_text(json.dumps(asdict(state), indent=2) + "\n", encoding="utf-8")


def finished_state(folder: Path) -> TrainingState | None:
    """Return the last state of a phase, or None; a TrainingError if it is damaged."""
    file = folder / _DONE
    try:
        values = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise TrainingError(f"{file} is damaged ({error}); name a new run folder") from error
    return TrainingState.from_json(values, file)
