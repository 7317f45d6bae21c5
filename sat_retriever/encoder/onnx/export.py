"""Export a torch module to one ONNX file for onnxruntime 1.18 or newer, and check it."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sat_retriever._extras import require
from sat_retriever.errors import EncoderError

if TYPE_CHECKING:
    import torch

# Opset 18 and IR 10 load in every onnxruntime since 1.18.
_OPSET = 18
_IR_VERSION = 10
_TOLERANCE = 1e-4


def export_onnx(
    module: torch.nn.Module,
    inputs: Mapping[str, torch.Tensor],
    outputs: Sequence[str],
    dynamic: Mapping[str, Sequence[int]],
    target: Path,
    extra: str,
) -> None:
    """Write a module as one ONNX file with its weights; its results equal torch's.

    The exporter prints and logs nothing.

    Args:
        module: The module, in evaluation mode and on the CPU. It takes only tensors and
            returns one tensor or a tuple of them.
        inputs: An example of each input by its name in the file, in the order of `forward`.
            Give a dynamic axis a size of 2 or more: torch takes 1 for a constant.
        dynamic: Axes of each input whose size may change between calls. Sizes that must be
            equal, such as the k of tokens and of relations, stay equal.
        extra: Extra of this package that installs the exporter, for error messages.

    Raises:
        MissingExtraError: If torch or onnxscript is not installed.
        EncoderError: If torch cannot export the module, or the file gives other results.
    """
    with quiet():  # torch warns on import too
        require("onnxscript", extra)
        torch = require("torch", extra)
    arguments = tuple(inputs.values())
    sizes = tuple(dict.fromkeys(dynamic.get(name, ()), torch.export.Dim.DYNAMIC) for name in inputs)
    with quiet(), torch.no_grad():
        try:
            program = torch.onnx.export(
                module,
                arguments,
                dynamo=True,
                opset_version=_OPSET,
                input_names=list(inputs),
                output_names=list(outputs),
                dynamic_shapes=sizes,
                verbose=False,
            )
        except (RuntimeError, ValueError, TypeError) as error:
            raise EncoderError(f"torch cannot export this model to ONNX ({error})") from error
        program.model.ir_version = _IR_VERSION
        program.save(target, external_data=False)
        expected = module(*arguments)
    if isinstance(expected, torch.Tensor):
        expected = (expected,)
    feed = {name: tensor.detach().numpy() for name, tensor in inputs.items()}
    _check(target, feed, [tensor.numpy() for tensor in expected])


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the exporters' warnings, log lines and progress bars off the terminal."""
    level = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                from transformers.utils import logging as bars
            except ImportError:
                yield
                return
            shown = bars.is_progress_bar_enabled()
            bars.disable_progress_bar()  # type: ignore[no-untyped-call]
            try:
                yield
            finally:
                if shown:
                    bars.enable_progress_bar()  # type: ignore[no-untyped-call]
    finally:
        logging.disable(level)


def _check(file: Path, inputs: dict[str, Any], expected: Sequence[Any]) -> None:
    import onnxruntime

    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    found = session.run(None, inputs)
    difference = max(
        float(np.abs(ours - theirs).max()) for ours, theirs in zip(found, expected, strict=True)
    )
    if not difference <= _TOLERANCE:  # also refuses NaN
        raise EncoderError(
            f"the exported model differs from torch by {difference:.1e}; "
            "try another version of torch"
        )
