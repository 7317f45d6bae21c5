"""Run the training of a reranker of any kind in a run folder, from its start to its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from accelerate import Accelerator

from sat_retriever.rank.trained import RERANKER
from sat_retriever.train.loop.fit import Untrained, fit
from sat_retriever.train.loop.runfolder import RunFolder
from sat_retriever.train.loop.state import OnProgress
from sat_retriever.train.loop.task import Task
from sat_retriever.train.settings import Schedule

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclass(frozen=True, slots=True)
class TrainedReranker:
    """A finished training of Stage 2."""

    folder: Path  # of the run
    best_epoch: int  # that was kept, of the last phase
    metrics: Mapping[str, float | None]  # of the validation questions

    @classmethod
    def of(cls, run: RunFolder) -> TrainedReranker:
        """Read the outcome of a finished run."""
        result = run.result()
        return cls(run.path, result["best_epoch"], result["metrics"])

    @property
    def reranker(self) -> Path:
        """The folder that `load_reranker` loads without torch."""
        return self.folder / RERANKER


class Lists(Protocol):
    """The candidates of some questions."""

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits over all inputs of a training on them."""
        ...


class RerankerTask(Task, Protocol):
    """A task whose model is a reranker."""

    def export(self, target: Path) -> None:
        """Write the current model as a folder that runs without torch."""
        ...


def open_run(
    folder: str | Path,
    kind: str,
    settings: DataclassInstance,
    lists: tuple[Lists, Lists],
    data_name: str,
    **starts: str,
) -> RunFolder:
    """Open the run of a training; `starts` has the hashes of other models that it begins with."""
    config: dict[str, Any] = {"kind": kind, **asdict(settings), **starts}
    data_hash = "-".join(each.fingerprint for each in lists)
    return RunFolder.open(folder, config, data_hash=data_hash, data_name=data_name)


def train_in(
    run: RunFolder,
    make: Callable[[], RerankerTask],
    schedule: Schedule,
    accelerator: Accelerator,
    progress: OnProgress | None,
    phase: str,
    untrained: Untrained = "skip",
) -> TrainedReranker:
    """Train the task that `make` returns, in one phase, and export its best epoch."""
    if not run.finished:
        with run.held():
            task = make()
            fitted = fit(task, schedule, run, accelerator, progress, phase, untrained=untrained)
            if accelerator.is_main_process:
                task.export(fitted.folder / RERANKER)
                run.finish(fitted.result(), fitted.folder)
            accelerator.wait_for_everyone()
    return TrainedReranker.of(run)
