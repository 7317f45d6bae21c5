"""An ONNX file at run time: arrays in, an array out; onnxruntime only, on the processor."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sat_retriever.errors import EncoderError, InputError
from sat_retriever.onnx.file import refuse_external_data
from sat_retriever.records.tokens import FloatArray

if TYPE_CHECKING:
    import onnxruntime


def open_session(file: Path, threads: int) -> onnxruntime.InferenceSession:
    """A session over a model file; safe to share between threads.

    Between the steps of one call threads wait actively for 0.1 ms (2.6 ms a query, 3.5 ms
    without), and stop with the call: left to spin on, they slow the search that follows
    down from 6 ms to 14 ms. Waiting longer hurts when the machine is busy.

    Args:
        file: The ONNX file.
        threads: Processor cores one call may use.

    Raises:
        EncoderError: If it is no model that onnxruntime can open, or keeps weights in another file.
    """
    import onnxruntime

    refuse_external_data(file)

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.force_spinning_stop", "1")
    options.add_session_config_entry("session.intra_op.spin_duration_us", "100")
    try:
        return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors share no other base class
        raise EncoderError(f"onnxruntime cannot open {file} ({error})") from error


def run_session(
    session: onnxruntime.InferenceSession,
    inputs: Mapping[str, NDArray[Any]],
    file: Path,
    shape: tuple[int, ...],
) -> FloatArray:
    """The model's first output, float32.

    Args:
        session: What `open_session` gave.
        inputs: Arrays by input name.
        file: Its file, to name in an error.
        shape: What the output must be.

    Raises:
        EncoderError: If onnxruntime fails, for example for lack of memory, or the output is
            of another shape, or not all of it is a number.
    """
    try:
        output = np.asarray(session.run(None, dict(inputs))[0], dtype=np.float32)
    except Exception as error:  # onnxruntime's errors share no other base class
        raise EncoderError(f"onnxruntime failed on {file} ({error})") from error
    if output.shape != shape or not np.isfinite(output).all():
        given = "NaN or infinity" if output.shape == shape else f"shape {output.shape}"
        raise EncoderError(
            f"{file} gave {given} instead of finite numbers of shape {shape}; "
            "the model is broken: train or save it again"
        )
    return output


def input_shapes(session: onnxruntime.InferenceSession) -> dict[str, tuple[int | str, ...]]:
    """Shape of each input by its name: numbers, and names of sizes that are free."""
    return {item.name: tuple(item.shape) for item in session.get_inputs()}


def output_shape(session: onnxruntime.InferenceSession) -> tuple[int | str, ...]:
    """Shape of the first output: numbers, and names of sizes that are free."""
    return tuple(session.get_outputs()[0].shape)


def usable_threads(asked: int | None, most: int | None = None) -> int:
    """Threads to run a model with: those asked for, else one a core that is available.

    Args:
        asked: How many; None leaves it to this function.
        most: Most of them when none were asked for; None for no limit.

    Raises:
        InputError: If fewer than one is asked for.
    """
    if asked is None:
        return min(available_cores(), most or available_cores())
    if asked < 1:
        raise InputError(f"threads is {asked}; give 1 or more, or None for all cores")
    return asked


def available_cores() -> int:
    """Processor cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
