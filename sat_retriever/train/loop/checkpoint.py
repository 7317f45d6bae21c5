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
from sat_retriever.train.loop.task import State
from sat_retriever.train.loop.weights import (
    damaged,
    load_state,
    load_tensors,
    load_weights,
    own_copy,
    put_in_place,
    save_state,
    save_tensors,
    weights,
)

FORMAT_NUMBER = 1
_NAME = re.compile(r"resume-(\d+)-(\d+)")
_NOTE = "note.json"


@dataclass(frozen=True, slots=True)
class Trained:
    """The objects that a training changes.

    Attributes:
        module: The module, as it was before accelerate wrapped it.
        optimizer: AdamW over its trainable parameters, as it was before accelerate wrapped it.
        accelerator: Device, processes, gradient scaler.
    """

    module: torch.nn.Module
    optimizer: torch.optim.Optimizer
    accelerator: Accelerator


def save_checkpoint(
    folder: Path, place: tuple[int, int], trained: Trained, state: State, note: Mapping[str, Any]
) -> None:
    """Write the state of a training; called in every process at the same step.

    Args:
        folder: Folder of all checkpoints of this training.
        place: Epoch, and number of its finished batches; later than any checkpoint there.
        trained: The objects that training changes.
        state: The task's arrays.
        note: Other values, as JSON.

    Raises:
        OutputError: If it cannot be written; the previous checkpoint stays.
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

    Returns:
        The note and the task's arrays; None if there is no checkpoint.

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
    """Remove all checkpoints below a folder."""
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
    """Write the JSON part of a checkpoint."""
    content = {
        "format_number": FORMAT_NUMBER,
        "setting": _setting(accelerator),
        "scaler": None if accelerator.scaler is None else accelerator.scaler.state_dict(),
        "note": dict(note),
    }
    with writing(file):
        file.write_text(json.dumps(content, indent=2, allow_nan=False) + "\n", encoding="utf-8")


def _read_note(file: Path) -> dict[str, Any]:
    """Return the JSON part of a checkpoint after checking its format."""
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
    """Return AdamW's step and moments of each parameter that had a gradient, by name."""
    return {
        f"{kind}.{name}": own_copy(value)
        for name, parameter in trained.module.named_parameters()
        for kind, value in trained.optimizer.state.get(parameter, {}).items()
    }


def _restore_moments(file: Path, trained: Trained) -> None:
    """Restore AdamW's saved step and moments."""
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
    """Return the random state of this process."""
    state = {"cpu": torch.get_rng_state()}
    if accelerator.device.type == "cuda":
        state["cuda"] = torch.cuda.get_rng_state(accelerator.device)
    return state


def _restore_random(file: Path, accelerator: Accelerator) -> None:
    """Restore this process's random state."""
    state = load_tensors(file)
    try:
        torch.set_rng_state(state["cpu"])
        if accelerator.device.type == "cuda":
            torch.cuda.set_rng_state(state["cuda"], accelerator.device)
    except (KeyError, RuntimeError, TypeError) as error:
        raise damaged(file, error) from error
