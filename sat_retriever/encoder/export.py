"""Checkpoint to ONNX, once: the only module that touches torch and transformers.

Pooling and normalisation are part of the exported graph, so that running it needs no
second pass. Its inputs are `input_ids` and `attention_mask`, (b, t) int64; its output is
`token`, (b, d) float32, rows of unit length.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sat_retriever._extras import require
from sat_retriever.encoder.checkpoint import Checkpoint
from sat_retriever.encoder.source import MINILM
from sat_retriever.errors import EncoderError

if TYPE_CHECKING:
    import torch

# Opset 18 and IR 10 load in every onnxruntime since 1.18.
_OPSET = 18
_IR_VERSION = 10
# An ONNX file with its weights inside cannot pass 2 GiB.
_MAX_BYTES = 2_000_000_000
_TOLERANCE = 1e-4

_log = logging.getLogger(__name__)


def export_model(checkpoint: Checkpoint, target: Path) -> None:
    """Write a checkpoint as one ONNX file and check it against torch.

    Args:
        checkpoint: Source weights.
        target: The file to write.

    Raises:
        MissingExtraError: If torch, transformers or onnxscript is not installed.
        EncoderError: If the model is unknown, incomplete, too large, or its export
            does not give torch's tokens.
        OSError: If the file cannot be written.
    """
    _log.info("exporting %s to ONNX, once", checkpoint.name)
    size = sum(file.stat().st_size for file in checkpoint.folder.glob("*.safetensors"))
    if size > _MAX_BYTES:
        raise EncoderError(
            f"{checkpoint.name} holds {size / 1e9:.1f} GB of weights; one ONNX file takes "
            f"{_MAX_BYTES / 1e9:.0f} GB at most: choose a smaller model"
        )
    with _quiet():
        extra = "minilm" if checkpoint.name == MINILM else "hub"
        for package in ("onnxscript", "safetensors", "transformers"):
            require(package, extra)
        torch = require("torch", extra)
        module = _pooled(_load_transformer(checkpoint), checkpoint.spec.pooling)
        # Two texts of unequal length: sizes of 1 would be taken for constants.
        ids = torch.arange(1, 19, dtype=torch.int64).reshape(2, 9) % 97 + 1
        mask = torch.ones_like(ids)
        mask[1, 5:] = 0
        program = _export(module, ids, mask)
        program.model.ir_version = _IR_VERSION
        program.save(target, external_data=False)
        with torch.inference_mode():
            expected = module(ids, mask).numpy()
    _check(target, {"input_ids": ids.numpy(), "attention_mask": mask.numpy()}, expected)


def quantize_model(source: Path, target: Path) -> None:
    """Write an int8 copy of an exported model: weights int8, activations quantised as they come.

    Args:
        source: The fp32 ONNX file.
        target: The file to write.

    Raises:
        MissingExtraError: If onnx is not installed.
        EncoderError: If the model cannot be quantised.
    """
    require("onnx", "minilm")
    with _quiet():
        quantization = require("onnxruntime.quantization", "minilm")
        try:
            quantization.quantize_dynamic(
                source,
                target,
                weight_type=quantization.QuantType.QInt8,
                # One scale a column: .83 instead of .74 of fp32's top 10 on IndustryTab-1K.
                per_channel=True,
                # Seven bits cost nothing there, and cannot overflow on processors without VNNI.
                reduce_range=True,
            )
        except (RuntimeError, ValueError, TypeError) as error:
            raise EncoderError(f"{source} cannot be quantised to int8 ({error})") from error


def _load_transformer(checkpoint: Checkpoint) -> torch.nn.Module:
    """The transformer with all its weights, in fp32, ready to run."""
    import torch
    from safetensors import SafetensorError
    from transformers import AutoModel

    try:
        model, report = AutoModel.from_pretrained(
            checkpoint.folder,
            attn_implementation="eager",
            dtype=torch.float32,
            use_safetensors=True,
            trust_remote_code=False,
            local_files_only=True,
            output_loading_info=True,
        )
    except (OSError, ValueError, KeyError, RuntimeError, ImportError, SafetensorError) as error:
        raise EncoderError(
            f"transformers cannot load {checkpoint.folder} ({error}); "
            "the folder may be incomplete, or its model type unknown"
        ) from error
    # The pooler is not used; any other missing weight would silently be random.
    missing = sorted(key for key in report["missing_keys"] if "pooler" not in key)
    if missing:
        raise EncoderError(
            f"{checkpoint.folder} lacks weights, among them {missing[0]}; fetch it again"
        )
    loaded: torch.nn.Module = model.eval()
    return loaded


def _pooled(model: torch.nn.Module, pooling: str) -> torch.nn.Module:
    """The model followed by CLS or mean pooling and L2 normalisation."""
    import torch

    class Pooled(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
            hidden = self.model(input_ids=input_ids, attention_mask=attention_mask)
            states = hidden.last_hidden_state  # (b, t, d)
            if pooling == "cls":
                pooled = states[:, 0]
            else:
                weight = attention_mask.unsqueeze(-1).to(states.dtype)  # (b, t, 1)
                pooled = (states * weight).sum(1) / weight.sum(1).clamp(min=1e-9)
            return torch.nn.functional.normalize(pooled, dim=-1)  # (b, d)

    return Pooled().eval()


def _export(module: torch.nn.Module, ids: torch.Tensor, mask: torch.Tensor) -> Any:
    """The ONNX program with any batch size and any length."""
    import torch

    sizes = {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}
    try:
        return torch.onnx.export(
            module,
            (ids, mask),
            dynamo=True,
            opset_version=_OPSET,
            input_names=["input_ids", "attention_mask"],
            output_names=["token"],
            dynamic_shapes={"input_ids": sizes, "attention_mask": sizes},
            verbose=False,
        )
    except (RuntimeError, ValueError, TypeError) as error:
        raise EncoderError(f"torch cannot export this model to ONNX ({error})") from error


def _check(file: Path, inputs: dict[str, Any], expected: Any) -> None:
    """Refuse an export whose tokens are not torch's."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    difference = float(np.abs(session.run(None, inputs)[0] - expected).max())
    if not difference <= _TOLERANCE:  # also refuses NaN
        raise EncoderError(
            f"the exported model differs from torch by {difference:.1e}; "
            "try another version of torch"
        )


@contextmanager
def _quiet() -> Iterator[None]:
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
