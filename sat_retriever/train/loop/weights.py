"""Read and write weights and arrays as safetensors files, with names and shapes checked."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.numpy import load_file as load_arrays
from safetensors.numpy import save_file as save_arrays
from safetensors.torch import load_file, save_file

from sat_retriever.errors import OutputError, TrainingError
from sat_retriever.records.files import writing
from sat_retriever.train.loop.task import State


def weights(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Return copies of trained parameters and of buffers, by name, on the CPU."""
    parameters = dict(module.named_parameters(remove_duplicate=False))
    found = {name: value for name, value in module.named_parameters() if value.requires_grad}
    found |= {name: value for name, value in module.state_dict().items() if name not in parameters}
    return {name: own_copy(value) for name, value in found.items()}


def save_weights(file: Path, module: torch.nn.Module) -> None:
    """Write `weights` to a safetensors file."""
    save_tensors(file, weights(module))


def load_weights(file: Path, module: torch.nn.Module) -> None:
    """Load saved weights; a TrainingError if they are missing, damaged or another model's."""
    saved = load_tensors(file)
    here = dict(module.named_parameters()) | dict(module.named_buffers())
    expected = weights(module)
    odd = sorted(saved.keys() ^ expected.keys())
    if odd:
        where = "in the file only" if odd[0] in saved else "in the model only"
        raise TrainingError(
            f"{file} is another model's: {odd[0]} is {where}; name a new run folder"
        )
    with torch.no_grad():
        for name, value in saved.items():
            if value.shape != expected[name].shape:
                raise TrainingError(
                    f"{file}: {name} has shape {tuple(value.shape)} there and "
                    f"{tuple(expected[name].shape)} in the model; it is another model's"
                )
            here[name].copy_(value)


def save_state(file: Path, state: State) -> None:
    """Write a task's arrays; a TrainingError if one holds anything but numbers."""
    arrays = {name: np.array(value, order="C") for name, value in state.items()}
    for name, value in arrays.items():
        if value.dtype.kind not in "biuf":
            raise TrainingError(
                f"the task's state {name!r} holds {value.dtype}, which a checkpoint cannot keep; "
                "give numbers or truth values"
            )
    with _safe(file):
        save_arrays(arrays, file)


def load_state(file: Path) -> State:
    """Read a task's arrays; a TrainingError if the file is missing or damaged."""
    try:
        arrays: State = load_arrays(file)
    except (OSError, SafetensorError) as error:
        raise damaged(file, error) from error
    return arrays


def save_tensors(file: Path, tensors: dict[str, torch.Tensor]) -> None:
    """Write tensors as safetensors; an OutputError if that fails."""
    with _safe(file):
        save_file(tensors, file)


def load_tensors(file: Path) -> dict[str, torch.Tensor]:
    """Read the tensors of a safetensors file onto the CPU; a TrainingError if it is damaged."""
    try:
        tensors: dict[str, torch.Tensor] = load_file(file)
    except (OSError, SafetensorError) as error:
        raise damaged(file, error) from error
    return tensors


@contextmanager
def _safe(file: Path) -> Iterator[None]:
    with writing(file):
        try:
            yield
        except SafetensorError as error:
            raise OutputError(
                f"{file} cannot be written ({error}); free some space, then start again"
            ) from error


def damaged(file: Path, error: Exception) -> TrainingError:
    """Return the error for a file that cannot be used."""
    return TrainingError(
        f"{file} is damaged or missing ({error}); remove its folder to go on from an earlier "
        "state, or name a new run folder"
    )


def own_copy(value: torch.Tensor) -> torch.Tensor:
    """Return a separate copy on the CPU, since safetensors takes no shared memory."""
    return value.detach().to("cpu", copy=True).contiguous()


def put_in_place(draft: Path, target: Path) -> None:
    """Give a finished folder its name after its files are flushed to the disk."""
    with writing(target):
        for file in sorted(path for path in draft.rglob("*") if path.is_file()):
            with file.open("rb") as stream:
                os.fsync(stream.fileno())
        if target.exists():  # left by a killed attempt
            shutil.rmtree(target)
        draft.rename(target)
