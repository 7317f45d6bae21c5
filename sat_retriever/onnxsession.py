"""An ONNX file at run time: arrays in, an array out; onnxruntime only, on the processor."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from sat_retriever.errors import EncoderError

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
        EncoderError: If it is no model that onnxruntime can open.
    """
    import onnxruntime

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
    session: onnxruntime.InferenceSession, inputs: Mapping[str, NDArray[Any]], file: Path
) -> NDArray[Any]:
    """The model's first output.

    Args:
        session: What `open_session` gave.
        inputs: Arrays by input name.
        file: Its file, to name in an error.

    Raises:
        EncoderError: If onnxruntime fails, for example for lack of memory.
    """
    try:
        output: NDArray[Any] = session.run(None, dict(inputs))[0]
    except Exception as error:  # onnxruntime's errors share no other base class
        raise EncoderError(f"onnxruntime failed on {file} ({error})") from error
    return output


def available_cores() -> int:
    """Processor cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
