"""Read a training back from its run folder, finished or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sat_retriever.errors import TrainingError
from sat_retriever.train.loop.runfolder import RunFolder
from sat_retriever.train.loop.task import MEASURE


@dataclass(frozen=True, slots=True)
class EpochSummary:
    """One epoch of a training."""

    epoch: int  # 0 is the model before training
    validation: Mapping[str, float | None]  # metrics; None where undefined
    loss: float | None  # mean of its steps; None for epoch 0
    best: bool  # True if it was the best so far
    seconds: float  # wall time


@dataclass(frozen=True, slots=True)
class PhaseSummary:
    """One part of a training, such as the graph of Stage 2."""

    name: str  # may be empty
    losses: tuple[float, ...]  # of each step
    epochs: tuple[EpochSummary, ...]  # every one that was validated

    @property
    def start(self) -> float | None:
        """Validation NDCG@5 before it; None if that was not measured."""
        first = self.epochs[0] if self.epochs else None
        return None if first is None or first.epoch else first.validation.get(MEASURE)

    @property
    def best(self) -> EpochSummary | None:
        """The epoch whose model was kept; None before the first validation."""
        return next((each for each in reversed(self.epochs) if each.best), None)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A training as recorded in its run folder."""

    path: Path  # the run folder
    settings: Mapping[str, Any]
    data: Mapping[str, str]  # name and hash of the training data
    finished: bool
    phases: tuple[PhaseSummary, ...]
    seconds: float  # wall time of all epochs
    memory_mib: float  # peak of the main process; 0 before the first validation
    gpu_memory_mib: float | None  # peak of its GPU; None without one
    hardware: Mapping[str, Any]  # of the last start


def read_run(folder: str | Path) -> RunSummary:
    """Read a run folder; a TrainingError if it is none, or is damaged."""
    run = RunFolder(Path(folder).absolute(), main=False)
    if not (run.path / "config.json").exists():
        raise TrainingError(f"{folder} is no run of sat train: it has no config.json")
    config = run.config()
    rows = run.metrics()
    epochs = [row for row in rows if row["row"] == "epoch"]
    gpu = [row["gpu_memory_mib"] for row in epochs if row.get("gpu_memory_mib") is not None]
    starts = config["starts"]
    return RunSummary(
        path=run.path,
        settings=config["settings"],
        data=config["data"],
        finished=run.finished,
        phases=tuple(_phase(name, rows) for name in dict.fromkeys(row["phase"] for row in rows)),
        seconds=sum(row["seconds"] for row in epochs),
        memory_mib=max((row["memory_mib"] for row in epochs), default=0.0),
        gpu_memory_mib=max(gpu, default=None),
        hardware=starts[-1].get("hardware", {}) if starts else {},
    )


def trained_on(encoder: str | Path) -> str | None:
    """Return the hash of the training data of a run's encoder folder; None outside a run."""
    run = RunFolder(Path(encoder).absolute().parent, main=False)
    if not (run.path / "config.json").exists():
        return None
    try:
        found: str = run.config()["data"]["hash"]
    except (TrainingError, KeyError, TypeError):  # a file of another program
        return None
    return found


def _phase(name: str, rows: Sequence[Mapping[str, Any]]) -> PhaseSummary:
    own = [row for row in rows if row["phase"] == name]
    losses: dict[int, list[float]] = {}
    for row in own:
        if row["row"] == "step":
            losses.setdefault(row["epoch"], []).append(row["loss"])
    return PhaseSummary(
        name=name,
        losses=tuple(loss for part in losses.values() for loss in part),
        epochs=tuple(_epoch(row, losses) for row in own if row["row"] == "epoch"),
    )


def _epoch(row: Mapping[str, Any], losses: Mapping[int, Sequence[float]]) -> EpochSummary:
    own = losses.get(row["epoch"], ())
    return EpochSummary(
        epoch=row["epoch"],
        validation=row["validation"],
        loss=sum(own) / len(own) if own else None,
        best=row["best"],
        seconds=row["seconds"],
    )
