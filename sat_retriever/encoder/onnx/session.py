"""Run an ONNX file with onnxruntime: arrays in, an array out, in batches of similar lengths."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sat_retriever.encoder.onnx.device import (
    ON_PROCESSOR,
    Device,
    Provider,
    refuse_other_device,
    wanted_providers,
)
from sat_retriever.encoder.onnx.file import refuse_external_data
from sat_retriever.errors import EncoderError, InputError
from sat_retriever.records.tokens import FloatArray
from sat_retriever.system import usable_cores

if TYPE_CHECKING:
    import onnxruntime

_log = logging.getLogger(__name__)


def open_session(file: Path, threads: int, device: Device) -> onnxruntime.InferenceSession:
    """Open a model file; the session may be shared between threads.

    Within one call on the processor, threads that wait spin for at most 0.1 ms, and they stop with
    the call. A query takes 2.6 ms, against 3.5 ms without spinning. Threads that spin after the
    call slow the search that follows from 6 ms to 14 ms. Longer spinning hurts on a busy machine.

    Raises:
        EncoderError: If onnxruntime cannot open it, it keeps weights in another file, or CUDA is
            asked for and cannot be started.
        InputError: If the device is unknown.
        MissingExtraError: If CUDA is asked for, and this onnxruntime lacks it.
    """
    import onnxruntime

    refuse_external_data(file)
    providers = wanted_providers(device)

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.force_spinning_stop", "1")
    options.add_session_config_entry("session.intra_op.spin_duration_us", "100")
    try:
        session = _opened(file, options, providers)
    except EncoderError as error:
        if device != "auto" or providers == ON_PROCESSOR:
            raise
        _log.warning("CUDA cannot be used, so the processor is: %s", error)
        session = _opened(file, options, ON_PROCESSOR)
    refuse_other_device(session, device)
    return session


def _opened(
    file: Path, options: onnxruntime.SessionOptions, providers: Sequence[Provider]
) -> onnxruntime.InferenceSession:
    import onnxruntime

    try:
        # Without onnxruntime's own fallback to the processor, which prints and raises nothing.
        return onnxruntime.InferenceSession(
            str(file), options, providers=providers, enable_fallback=0
        )
    except Exception as error:  # onnxruntime's errors share no other base class
        raise EncoderError(f"onnxruntime cannot open {file} ({error})") from error


def run_session(
    session: onnxruntime.InferenceSession,
    inputs: Mapping[str, NDArray[Any]],
    file: Path,
    shape: tuple[int, ...],
) -> FloatArray:
    """Return the model's first output, float32, of the expected shape; `file` is for messages.

    Raises:
        EncoderError: If onnxruntime fails, for example for lack of memory, or if the output has
            another shape or values that are not finite.
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
    """Return the shape of each input by its name: numbers, or names of free sizes."""
    return {item.name: tuple(item.shape) for item in session.get_inputs()}


def output_shape(session: onnxruntime.InferenceSession) -> tuple[int | str, ...]:
    """Return the shape of the first output: numbers, or names of free sizes."""
    return tuple(session.get_outputs()[0].shape)


def usable_threads(asked: int | None, most: int | None = None) -> int:
    """Return the requested threads, at least 1, or one per usable core, at most `most`."""
    if asked is None:
        return min(usable_cores(), most or usable_cores())
    if asked < 1:
        raise InputError(f"threads is {asked}; give 1 or more, or None for all cores")
    return asked


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """The bounds of one padded batch."""

    most_pieces: int  # most word pieces with padding; a longer text is a batch of its own
    enough_pieces: int = 0  # word pieces from which a batch need not grow at the cost of padding
    least_filled: float = 0.0  # smallest share of real word pieces in a batch that is large enough


# On a processor larger batches gain nothing, and many small ones of one length are a fifth faster
# than three large ones. A GPU needs more to be busy, but it computes padding, too.
_LIMITS = {"cpu": BatchLimits(1024), "cuda": BatchLimits(16_384, 2_048, 0.9)}


def limits_on(kind: str) -> BatchLimits:
    """Return the bounds for a kind of device: "cpu", "cuda", or another, which is like "cpu"."""
    return _LIMITS.get(kind, _LIMITS["cpu"])


def similar_lengths(lengths: Sequence[int], limits: BatchLimits) -> list[list[int]]:
    """Return the places of texts of some lengths in groups of similar length, shortest first.

    >>> similar_lengths([7, 2, 3], BatchLimits(12))
    [[1, 2], [0]]
    >>> similar_lengths([9, 4, 3], BatchLimits(99, enough_pieces=6, least_filled=0.8))
    [[2, 1], [0]]
    """
    groups: list[list[int]] = []
    real = 0  # word pieces in the last group
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        own = lengths[place]
        if groups and _has_room(len(groups[-1]), real, own, limits):
            groups[-1].append(place)
            real += own
        else:
            groups.append([place])
            real = own
    return groups


def _has_room(texts: int, real: int, longest: int, limits: BatchLimits) -> bool:
    """True if a longer text belongs into a group of some texts with `real` word pieces."""
    padded = (texts + 1) * longest
    filled = (real + longest) / padded
    return padded <= limits.most_pieces and (
        real < limits.enough_pieces or filled >= limits.least_filled
    )
