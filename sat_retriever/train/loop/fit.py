"""Run the training loop: epochs, validation, the best model, and resuming.

    prepare -> for each batch: loss, backward, clip, step -> validate -> save if best

All random numbers depend only on the schedule's seed. A killed training goes on from its last
checkpoint: on a CPU to the same weights, bit for bit, and on CUDA to weights that are as near as
those of two trainings from the start. There the order of sums varies from run to run.
"""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Any, Literal, NoReturn

import numpy as np
import torch
from accelerate import Accelerator

from sat_retriever.errors import TrainingError
from sat_retriever.train.loop.checkpoint import (
    load_best,
    load_checkpoint,
    remove_checkpoints,
    remove_other_bests,
    save_best,
    save_checkpoint,
)
from sat_retriever.train.loop.memory import (
    forget_gpu_peak,
    largest_memory_mib,
    peak_gpu_memory_mib,
)
from sat_retriever.train.loop.optimise import Optimiser, Part, learning_rate
from sat_retriever.train.loop.parallel import depth_on, made_ahead
from sat_retriever.train.loop.runfolder import RunFolder
from sat_retriever.train.loop.state import (
    Fitted,
    Metrics,
    OnProgress,
    TrainingProgress,
    TrainingState,
    finished_state,
    mark_finished,
)
from sat_retriever.train.loop.task import MEASURE, Task, batches
from sat_retriever.train.settings import Schedule

Untrained = Literal["skip", "show", "keep"]
STOPPED = "the training was stopped; the same command goes on with it"


def fit(
    task: Task,
    schedule: Schedule,
    run: RunFolder,
    accelerator: Accelerator,
    progress: OnProgress | None = None,
    phase: str = "",
    *,
    untrained: Untrained = "skip",
    checkpoint_s: float = 120.0,
) -> Fitted:
    """Train a task's module and keep its best epoch; go on where an earlier start ended.

    Called in every process. The best epoch has the highest validation NDCG@5; of equals the earlier
    one. At the end the module has that epoch's weights, and the task that epoch's `state`. The
    module is in train mode in `Task.loss`, elsewhere in eval mode without gradients. A finished
    phase is not trained again. A task must draw its random numbers from torch, or from a generator
    that it seeds by seed and epoch: the states of other generators are not kept.

    Args:
        accelerator: From `make_accelerator(schedule)`.
        phase: Name of this part of the run, of which there may be several.
        untrained: "skip" leaves the untrained model, epoch 0, unmeasured; "show" measures it
            for the reader; "keep" also lets it compete, so a later epoch must be strictly better.
        checkpoint_s: Seconds between checkpoints within an epoch; 0 for one a step. Each epoch
            ends with one.

    Raises:
        TrainingError: If loss, gradients or the validation measure are not finite, or the content
            of the run folder does not fit.
        OutputError: If the run folder cannot be written.
        KeyboardInterrupt: At Ctrl-C; during a step it waits for a checkpoint.
    """
    folder = run.phase(phase)
    task.module.to(accelerator.device)
    state = finished_state(folder)
    if state is None:
        with interrupts() as heard:
            training = _Training(
                task, schedule, run, accelerator, progress, phase, folder, heard, checkpoint_s,
                Optimiser(task, schedule, accelerator), untrained,
            )  # fmt: skip
            state = training.train()
    task.module.eval()
    model = load_best(folder, state.validated[state.best][0], task)
    accelerator.wait_for_everyone()  # the caller may move what was read here
    return Fitted.of(state, model)


@dataclass(slots=True)
class _Training:
    """One phase of a training, in one process; only the fields from `state` on change."""

    task: Task
    schedule: Schedule
    run: RunFolder
    accelerator: Accelerator
    progress: OnProgress | None
    phase: str
    folder: Path
    heard: Interrupts
    checkpoint_s: float
    optimiser: Optimiser
    untrained: Untrained
    state: TrainingState = field(default_factory=lambda: TrainingState(1))
    loss: float | None = None
    since: float = 0.0  # time at which `state.seconds` was right
    saved: float = 0.0  # time of the last checkpoint

    @property
    def epoch_steps(self) -> int:
        return math.ceil(self.task.size / self.schedule.batch_size)

    def train(self) -> TrainingState:
        forget_gpu_peak(self.accelerator.device)
        self._start(1 if self.untrained == "skip" else 0)
        while self.state.epoch <= self.schedule.epochs:
            if self.state.epoch > 0:
                self._prepare()
                self._steps()
            self._validate()
        if self.accelerator.is_main_process:
            mark_finished(self.folder, self.state)
            remove_checkpoints(self.folder)
            remove_other_bests(self.folder, self.state)
        self.accelerator.wait_for_everyone()
        self.accelerator.free_memory()  # another phase has an optimiser of its own
        return self.state

    def _start(self, first_epoch: int) -> None:
        found = load_checkpoint(self.folder, self.optimiser.trained)
        if found is None:
            phases = [row.get("phase") for row in self.run.metrics()] + [self.phase]
            self.state = TrainingState(first_epoch, rows=phases.index(self.phase))
            seeds = (self.schedule.seed, self.accelerator.process_index)  # each its own dropout
            torch.manual_seed(int(np.random.SeedSequence(seeds).generate_state(1)[0]))
        else:
            note, arrays = found
            self.state = TrainingState.from_json(note, self.folder)
            self.task.restore(arrays)
        self.run.cut(self.state.rows)
        self.since = self.saved = time.monotonic()

    def _prepare(self) -> None:
        if self.state.prepared:
            return
        self._tell("preparing")
        self.task.module.eval()
        with torch.no_grad():
            self.task.prepare(self.state.epoch, self.accelerator)
        self.state = replace(self.state, prepared=True, preparing=self._seconds())

    def _steps(self) -> None:
        state, schedule = self.state, self.schedule
        self.task.module.train()
        order = batches(self.task.size, schedule.batch_size, state.epoch, schedule.seed)
        self._tell("training")
        depth = depth_on(self.accelerator.device.type)
        left = order[state.batch :]
        with closing(made_ahead(self.optimiser.parts, left, depth)) as ready:
            for _ in left:
                self._step(ready)

    def _step(self, ready: Iterator[Sequence[Part]]) -> None:
        epoch, done = self.state.epoch, self._steps_done()
        rate = learning_rate(self.schedule, done, self.epoch_steps)
        with self.heard.wait():
            step = self.optimiser.step(
                next(ready), rate, f"step {done + 1} (epoch {epoch})",
                due=time.monotonic() - self.saved >= self.checkpoint_s, stop=self.heard.asked,
            )  # fmt: skip
            self.loss = step.loss
            self.state = replace(self.state, batch=self.state.batch + 1)
            self._log(
                "step",
                {"step": done + 1, "loss": step.loss, "lr": rate, "grad_norm": step.grad_norm},
            )
        stop = step.stop or (self.heard.asked and self.accelerator.num_processes == 1)
        if step.due or stop:
            self._checkpoint()
        self._tell("training")
        if stop:
            self.heard.stop()

    def _validate(self) -> None:
        """Measure the epoch, keep its model if it is the best, and go to the next epoch."""
        if self.heard.asked:
            self.heard.stop()
        self._tell("validating")
        self.task.module.eval()
        begun = self._seconds()
        with torch.no_grad():
            metrics = _finite(self.task.validate(self.accelerator), self.state.epoch)
        validation_seconds = self._seconds() - begun
        measure, before = metrics[MEASURE], self.state.best_measure
        competes = self.state.epoch > 0 or self.untrained == "keep"
        better = before is None or (measure is not None and measure > before)  # ties: the earlier
        best = competes and better
        if best:
            save_best(self.folder, self.state.epoch, self.task, self.accelerator)
        self._close(metrics, validation_seconds, best=best)
        if self.state.epoch <= self.schedule.epochs:
            self._checkpoint()

    def _close(self, metrics: Metrics, validation_seconds: float, *, best: bool) -> None:
        state, seconds = self.state, self._seconds()
        memory = max(state.memory, largest_memory_mib())
        gpu_memory = peak_gpu_memory_mib(self.accelerator.device)
        if gpu_memory is not None:
            gpu_memory = max(gpu_memory, state.gpu_memory or 0.0)
        row = {
            "step": self._steps_done(),
            "best": best,
            "validation": metrics,
            "seconds": seconds,
            "preparation_seconds": state.preparing,
            "validation_seconds": validation_seconds,
            "memory_mib": memory,
            "gpu_memory_mib": gpu_memory,
        }
        self._log("epoch", row)
        self.state = TrainingState(
            state.epoch + 1,
            rows=self.state.rows,
            before=state.before + seconds,
            memory=memory,
            gpu_memory=gpu_memory,
            validated=(*state.validated, (state.epoch, metrics)),
            best=len(state.validated) if best else state.best,
        )
        self.since = time.monotonic()

    def _checkpoint(self) -> None:
        """Write a checkpoint; called in every process at the same time."""
        place = (self.state.epoch, self.state.batch)
        note = asdict(replace(self.state, seconds=self._seconds()))
        save_checkpoint(self.folder, place, self.optimiser.trained, self.task.state(), note)
        if self.accelerator.is_main_process:
            remove_other_bests(self.folder, self.state)
        self.saved = time.monotonic()

    def _seconds(self) -> float:
        """Return the time of the current epoch, with that of earlier starts."""
        return self.state.seconds + time.monotonic() - self.since

    def _steps_done(self) -> int:
        return max(self.state.epoch - 1, 0) * self.epoch_steps + self.state.batch

    def _log(self, kind: Literal["step", "epoch"], row: Mapping[str, Any]) -> None:
        self.run.log({"row": kind, "phase": self.phase, "epoch": self.state.epoch, **row})
        self.state = replace(self.state, rows=self.state.rows + 1)

    def _tell(self, doing: Literal["preparing", "training", "validating"]) -> None:
        if self.progress is None or not self.accelerator.is_main_process:
            return
        steps = self.schedule.epochs * self.epoch_steps
        now = TrainingProgress(
            self.phase, doing, self.state.epoch, self.schedule.epochs, self._steps_done(), steps,
            self.loss, self.state.best_measure,
        )  # fmt: skip
        self.progress(now)


def _finite(metrics: Mapping[str, float | None], epoch: int) -> Metrics:
    found = {
        name: None if value is None or not math.isfinite(value) else float(value)
        for name, value in metrics.items()
    }
    if found.get(MEASURE) is None:
        raise TrainingError(
            f"validation {MEASURE} of epoch {epoch} is {metrics.get(MEASURE)}; it chooses the "
            "epoch to keep: give validation questions whose relevant sheets are there"
        )
    return found


class Interrupts:
    """A delayed stop: while `waiting`, the first Ctrl-C sets `asked`, a second stops at once."""

    def __init__(self) -> None:
        self.waiting = False
        self.asked = False

    @contextmanager
    def wait(self) -> Iterator[None]:
        """Delay a stop until the end of the block, where the caller looks at `asked`."""
        self.waiting = True
        try:
            yield
        finally:
            self.waiting = False

    def stop(self) -> NoReturn:
        """Stop now."""
        raise KeyboardInterrupt(STOPPED)

    def _heard(self, _number: int, _frame: FrameType | None) -> None:
        if self.waiting and not self.asked:
            self.asked = True
        else:
            self.stop()


@contextmanager
def interrupts() -> Iterator[Interrupts]:
    """Handle Ctrl-C in the main thread, unless it is ignored or has another handler."""
    heard = Interrupts()
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield heard
        return
    try:
        signal.signal(signal.SIGINT, heard._heard)
    except ValueError:  # only the main thread may
        yield heard
        return
    try:
        yield heard
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
