"""Store an exported encoder in two fifths of the space: bytes and half precision, run in fp32."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sat_retriever.encoder.folder import ModelFolder, write_model_folder
from sat_retriever.encoder.onnx.compact import compact_onnx
from sat_retriever.encoder.onnx.session import open_session, usable_threads
from sat_retriever.errors import EncoderError

_EXTRA = "train"  # installs onnx
_LEAST_COSINE = 0.999  # MiniLM's tokens of real sheets reach at least 0.99996


def compact_model(source: Path, target: Path) -> None:
    """Write a compact copy of an exported model, and check its tokens against the source's.

    Args:
        source: The fp32 ONNX file.
        target: The file to write.

    Raises:
        MissingExtraError: If onnx is not installed.
        EncoderError: If the source is not in fp32, or loses too much in half precision.
        OSError: If the file cannot be written.
    """
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

    Args:
        source: A folder of an fp32 encoder.
        target: The folder; an existing encoder or empty folder is replaced.
        transformer: The `config.json` of the transformer that it was exported from, which
            `expand_folder` needs to make trainable weights; None takes the source's.

    Raises:
        MissingExtraError: If onnx is not installed.
        EncoderError: If the source is not in fp32, loses too much, or the copy cannot be written.
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
