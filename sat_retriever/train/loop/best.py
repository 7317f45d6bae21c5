"""Keep the best model so far: its weights, the task's arrays, and the exported model."""

from __future__ import annotations

import shutil
from pathlib import Path

from accelerate import Accelerator

from sat_retriever.records.files import make_folder
from sat_retriever.train.loop.course import Course
from sat_retriever.train.loop.task import Task
from sat_retriever.train.loop.weights import (
    load_state,
    load_weights,
    put_in_place,
    save_state,
    save_weights,
)

_WEIGHTS = "weights.safetensors"
_STATE = "task.safetensors"
_MODEL = "model"


def save_best(folder: Path, epoch: int, task: Task, accelerator: Accelerator) -> None:
    """Keep the current task as `best-<epoch>`, whole or not at all; called in every process.

    Raises:
        OutputError: If it cannot be written; earlier ones stay.
    """
    if accelerator.is_main_process:
        draft = folder / ".best.partial"
        shutil.rmtree(draft, ignore_errors=True)
        make_folder(draft)
        try:
            save_weights(draft / _WEIGHTS, task.module)
            save_state(draft / _STATE, task.state())
            task.save(draft / _MODEL)
            put_in_place(draft, _folder(folder, epoch))
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    accelerator.wait_for_everyone()


def load_best(folder: Path, epoch: int, task: Task) -> Path:
    """Load the weights and arrays of a kept epoch into the task.

    Returns:
        The folder that `Task.save` wrote in that epoch.

    Raises:
        TrainingError: If they are missing, damaged or of another model.
    """
    kept = _folder(folder, epoch)
    load_weights(kept / _WEIGHTS, task.module)
    task.restore(load_state(kept / _STATE))
    return kept / _MODEL


def remove_other_bests(folder: Path, course: Course) -> None:
    """Remove earlier best models; called after the better one is recorded."""
    kept = None if course.best_epoch is None else _folder(folder, course.best_epoch)
    for other in sorted(folder.glob("best-*")):
        if other != kept:
            shutil.rmtree(other, ignore_errors=True)


def _folder(folder: Path, epoch: int) -> Path:
    """Return the folder of an epoch's model."""
    return folder / f"best-{epoch}"
