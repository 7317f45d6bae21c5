"""Save and load checkpoints: all that the next step of a killed training depends on.

A folder `resume-<epoch>-<batch>` holds the trained weights, the optimiser's moments, the arrays of
the task, the random state of each process (safetensors) and a note (JSON). It is written under
another name and renamed when it is complete and on the disk. Older ones are removed only then, so
a kill always leaves the old one or the new one.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator

from sat_retriever.errors import TrainingError
from sat_retriever.records.files import make_folder, writing
from sat_retriever.train.loop.state import TrainingState
from sat_retriever.train.loop.task import State, Task
from sat_retriever.train.loop.weights import (
    damaged,
    load_state,
    load_tensors,
    load_weights,
    own_copy,
    put_in_place,
    save_state,
    save_tensors,
    save_weights,
    weights,
)

FORMAT_NUMBER = 1
_NAME = re.compile(r"resume-(\d+)-(\d+)")
_NOTE = "note.json"
_WEIGHTS = "weights.safetensors"
_STATE = "task.safetensors"
_MODEL = "model"


@dataclass(frozen=True, slots=True)
class Trained:
    """What a training changes: module and optimizer are those that accelerate wraps."""

    module: torch.nn.Module
    optimizer: torch.optim.Optimizer
    accelerator: Accelerator


def save_checkpoint(
    folder: Path, place: tuple[int, int], trained: Trained, state: State, note: Mapping[str, Any]
) -> None:
    """Write the state of a training; called in every process at the same step.

    `place` is the epoch with the number of its finished batches, later than any checkpoint in the
    folder; `state` the task's arrays; `note` other values, as JSON. If it cannot be written, the
    previous checkpoint stays.
    """
    accelerator = trained.accelerator
    target = folder / f"resume-{place[0]}-{place[1]}"
    draft = folder / ".resume.partial"
    main = accelerator.is_main_process
    try:
        if main:
            shutil.rmtree(draft, ignore_errors=True)
            make_folder(draft)
        accelerator.wait_for_everyone()
        save_tensors(
            draft / f"random-{accelerator.process_index}.safetensors", _random_state(accelerator)
        )
        if main:
            save_tensors(draft / "weights.safetensors", weights(trained.module))
            save_tensors(draft / "optimizer.safetensors", _moments(trained))
            save_state(draft / "task.safetensors", state)
            _write_note(draft / _NOTE, trained.accelerator, note)
        accelerator.wait_for_everyone()
        if main:
            put_in_place(draft, target)
            for _, old in _checkpoints(folder)[:-1]:
                shutil.rmtree(old, ignore_errors=True)
    finally:
        if main:
            shutil.rmtree(draft, ignore_errors=True)


def load_checkpoint(folder: Path, trained: Trained) -> tuple[dict[str, Any], State] | None:
    """Restore weights, optimiser, scaler and random state from the latest checkpoint.

    Returns note and arrays of the task; None if there is no checkpoint.

    Raises:
        TrainingError: If it is damaged, of another format or model, or was written by another
            number of processes, on another device or in another precision.
    """
    found = _checkpoints(folder)
    if not found:
        return None
    last = found[-1][1]
    content = _read_note(last / _NOTE)
    accelerator = trained.accelerator
    for name, here in _setting(accelerator).items():
        there = content["setting"].get(name)
        if there != here:
            raise TrainingError(
                f"{last} was written with {name} {there}, this process has {here}; the result "
                "would not be the same: go on as it was started, or name a new run folder"
            )
    load_weights(last / "weights.safetensors", trained.module)
    _restore_moments(last / "optimizer.safetensors", trained)
    if accelerator.scaler is not None:
        accelerator.scaler.load_state_dict(content["scaler"])
    state = load_state(last / "task.safetensors")
    _restore_random(last / f"random-{accelerator.process_index}.safetensors", accelerator)
    note: dict[str, Any] = content["note"]
    return note, state


def remove_checkpoints(folder: Path) -> None:
    """Remove all checkpoints in a folder."""
    for _, checkpoint in _checkpoints(folder):
        shutil.rmtree(checkpoint, ignore_errors=True)


def _checkpoints(folder: Path) -> list[tuple[tuple[int, int], Path]]:
    """Return the complete checkpoints, the latest last."""
    if not folder.is_dir():
        return []
    named = ((_NAME.fullmatch(path.name), path) for path in folder.iterdir())
    return sorted(((int(name[1]), int(name[2])), path) for name, path in named if name)


def _setting(accelerator: Accelerator) -> dict[str, Any]:
    """Return the settings that must be equal for an equal result."""
    return {
        "number of processes": accelerator.num_processes,
        "device": accelerator.device.type,
        "precision": accelerator.mixed_precision,
    }


def _write_note(file: Path, accelerator: Accelerator, note: Mapping[str, Any]) -> None:
    content = {
        "format_number": FORMAT_NUMBER,
        "setting": _setting(accelerator),
        "scaler": None if accelerator.scaler is None else accelerator.scaler.state_dict(),
        "note": dict(note),
    }
    with writing(file):
        file.write_text(json.dumps(content, indent=2, allow_nan=False) + "\n", encoding="utf-8")


def _read_note(file: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        number = content["format_number"]
        _ = content["setting"], content["scaler"], content["note"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise damaged(file, error) from error
    if number != FORMAT_NUMBER:
        raise TrainingError(
            f"{file} has format {number}, this version reads {FORMAT_NUMBER}; go on with the "
            "version that wrote it, or name a new run folder"
        )
    return content


def _moments(trained: Trained) -> dict[str, torch.Tensor]:
    return {
        f"{kind}.{name}": own_copy(value)
        for name, parameter in trained.module.named_parameters()
        for kind, value in trained.optimizer.state.get(parameter, {}).items()
    }


def _restore_moments(file: Path, trained: Trained) -> None:
    saved = load_tensors(file)
    parameters = {
        name: value for name, value in trained.module.named_parameters() if value.requires_grad
    }
    trained.optimizer.state.clear()
    for key, value in saved.items():
        kind, _, name = key.partition(".")
        parameter = parameters.get(name)
        if parameter is None or (kind != "step" and value.shape != parameter.shape):
            raise TrainingError(
                f"{file}: {key} of shape {tuple(value.shape)} does not fit the model; it is "
                "another model's: name a new run folder"
            )
        held = value if kind == "step" else value.to(parameter.device)  # torch keeps steps there
        trained.optimizer.state[parameter][kind] = held


def _random_state(accelerator: Accelerator) -> dict[str, torch.Tensor]:
    state = {"cpu": torch.get_rng_state()}
    if accelerator.device.type == "cuda":
        state["cuda"] = torch.cuda.get_rng_state(accelerator.device)
    return state


def _restore_random(file: Path, accelerator: Accelerator) -> None:
    state = load_tensors(file)
    try:
        torch.set_rng_state(state["cpu"])
        if accelerator.device.type == "cuda":
            torch.cuda.set_rng_state(state["cuda"], accelerator.device)
    except (KeyError, RuntimeError, TypeError) as error:
        raise damaged(file, error) from error


def save_best(folder: Path, epoch: int, task: Task, accelerator: Accelerator) -> None:
    """Keep the current task as `best-<epoch>`, whole or not at all; called in every process."""
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
    """Load a kept epoch into the task; return the folder that `Task.save` wrote in it."""
    kept = _folder(folder, epoch)
    load_weights(kept / _WEIGHTS, task.module)
    task.restore(load_state(kept / _STATE))
    return kept / _MODEL


def remove_other_bests(folder: Path, state: TrainingState) -> None:
    """Remove earlier best models; called after the better one is recorded."""
    kept = None if state.best_epoch is None else _folder(folder, state.best_epoch)
    for other in sorted(folder.glob("best-*")):
        if other != kept:
            shutil.rmtree(other, ignore_errors=True)


def _folder(folder: Path, epoch: int) -> Path:
    return folder / f"best-{epoch}"
