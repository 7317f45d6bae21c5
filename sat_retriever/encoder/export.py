"""Export a checkpoint to ONNX, once, and make smaller copies of it; no other module uses torch.

Pooling and normalisation are part of the exported graph. Its inputs are `input_ids` and
`attention_mask`, (b, t) int64; its output is `token`, (b, d) float32, rows of unit length.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sat_retriever._extras import require
from sat_retriever.encoder.checkpoint import Checkpoint
from sat_retriever.encoder.folder import ModelFolder, write_model_folder
from sat_retriever.encoder.onnx.compact import compact_onnx
from sat_retriever.encoder.onnx.export import export_onnx, quiet
from sat_retriever.encoder.onnx.session import open_session, usable_threads
from sat_retriever.encoder.source import MINILM
from sat_retriever.errors import EncoderError

if TYPE_CHECKING:
    import torch

# A protobuf, and so an ONNX file with its weights inside, ends at 2 GiB. Weights in a second file
# are no way out: `sat_retriever.encoder.onnx.file` refuses them, since no hash would cover them.
_MAX_BYTES = 2_000_000_000

_log = logging.getLogger(__name__)


def export_model(checkpoint: Checkpoint, target: Path) -> None:
    """Write a checkpoint as one ONNX file and check it against torch.

    Raises:
        MissingExtraError: If torch, transformers or onnxscript is not installed.
        EncoderError: If the model is unknown, incomplete or too large, or its export's tokens
            differ from torch's.
    """
    _log.info("exporting %s to ONNX, once", checkpoint.name)
    with quiet():
        extra = "minilm" if checkpoint.name == MINILM else "hub"
        for package in ("onnxscript", "safetensors", "transformers"):
            require(package, extra)
        torch = require("torch", extra)
        module = _pooled(load_transformer(checkpoint), checkpoint.spec.pooling)
    # Two texts of unequal length.
    ids = torch.arange(1, 19, dtype=torch.int64).reshape(2, 9) % 97 + 1
    mask = torch.ones_like(ids)
    mask[1, 5:] = 0
    inputs = {"input_ids": ids, "attention_mask": mask}
    export_onnx(module, inputs, ["token"], dict.fromkeys(inputs, (0, 1)), target, extra)


def quantize_model(source: Path, target: Path) -> None:
    """Write an int8 copy of an exported model: weights int8, activations quantised at run time."""
    require("onnx", "minilm")
    with quiet():
        quantization = require("onnxruntime.quantization", "minilm")
        try:
            quantization.quantize_dynamic(
                source,
                target,
                weight_type=quantization.QuantType.QInt8,
                # One scale per column keeps .83 instead of .74 of fp32's top 10 on IndustryTab-1K.
                per_channel=True,
                # Seven bits cost nothing there, and cannot overflow on processors without VNNI.
                reduce_range=True,
            )
        except (RuntimeError, ValueError, TypeError) as error:
            raise EncoderError(f"{source} cannot be quantised to int8 ({error})") from error


def load_transformer(checkpoint: Checkpoint, attention: str | None = "eager") -> torch.nn.Module:
    """Load the transformer with all its weights, in fp32 and evaluation mode.

    A model that cannot be exported is refused here, so that no training of it begins. Every version
    of the exporter supports "eager" attention; None takes the fastest.
    """
    import torch
    from safetensors import SafetensorError
    from transformers import AutoModel

    try:
        _refuse_large(checkpoint)
        model, report = AutoModel.from_pretrained(
            checkpoint.folder,
            attn_implementation=attention,
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
    if report["missing_keys"]:
        model.pooler = None  # random, and never read
    loaded: torch.nn.Module = model.eval()
    return loaded


def _refuse_large(checkpoint: Checkpoint) -> None:
    """Refuse a checkpoint whose weights, in fp32, no ONNX file holds; only shapes are read."""
    from safetensors import safe_open

    size = 0
    for file in checkpoint.folder.glob("*.safetensors"):
        with safe_open(file, "np") as held:
            size += sum(
                4 * math.prod(held.get_slice(name).get_shape()) for name in list(held.keys())
            )
    if size > _MAX_BYTES:
        raise EncoderError(
            f"{checkpoint.name} holds {size / 1e9:.2f} GB of weights in fp32; one ONNX file takes "
            f"{_MAX_BYTES / 1e9:.0f} GB at most: choose a smaller model"
        )


def _pooled(model: torch.nn.Module, pooling: str) -> torch.nn.Module:
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


_EXTRA = "train"  # installs onnx
_LEAST_COSINE = 0.999  # MiniLM's tokens of real sheets reach at least 0.99996


def compact_model(source: Path, target: Path) -> None:
    """Write a compact copy of an exported fp32 model, and check its tokens against the source's."""
    compact_onnx(source, target, _EXTRA)
    before, after = _tokens(source), _tokens(target)
    cosine = float((before * after).sum(axis=1).min())
    if not cosine >= _LEAST_COSINE:  # also refuses NaN
        raise EncoderError(
            f"the tokens of {source} come to a cosine of {cosine:.4f} only when it is compact; "
            "keep it in fp32"
        )


def compact_folder(
    source: ModelFolder, target: Path, *, transformer: Mapping[str, Any] | None = None
) -> ModelFolder:
    """Write a compact copy of an encoder folder; only the fingerprint differs.

    `transformer` is the `config.json` that `expand_folder` needs; None takes the source's.
    """
    if source.spec.precision != "fp32":
        raise EncoderError(
            f"{source.path} is {source.spec.precision} already; make a compact encoder of the "
            "fp32 one"
        )
    return write_model_folder(
        target,
        source.spec.with_precision("compact"),
        source.tokenizer,
        lambda file: compact_model(source.model, file),
        dense_weight=source.dense_weight,
        transformer=source.transformer if transformer is None else transformer,
    )


def _tokens(file: Path) -> NDArray[Any]:
    """Return the tokens of two made-up texts (2, d), of pieces that every vocabulary has."""
    ids = np.arange(1, 19, dtype=np.int64).reshape(2, 9)  # (b, t)
    mask = np.ones_like(ids)
    mask[1, 5:] = 0
    session = open_session(file, usable_threads(None, 4), "cpu")
    found: NDArray[Any] = session.run(None, {"input_ids": ids, "attention_mask": mask})[0]
    return found
