"""An encoder folder back to weights that can learn: a sentence-transformers folder.

The exporter keeps the names of all weights but those of linear layers, which it turns; these are
known by the bias that is added to what they give.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from sat_retriever._extras import require
from sat_retriever.encoder.checkpoint import descriptions
from sat_retriever.encoder.folder import ModelFolder
from sat_retriever.errors import EncoderError
from sat_retriever.types import FloatArray

_EXTRA = "train"  # installs onnx and safetensors
_MODULE = "model."  # what the exported module calls its transformer


def expanded(folder: ModelFolder, cache: Path | None = None) -> Path:
    """A sentence-transformers folder of an encoder, written once below a cache folder.

    Args:
        folder: The encoder, with the config of its transformer.
        cache: Where it is kept; the user's cache folder when None.

    Raises:
        EncoderError: If the encoder does not say what transformer it was exported from, or the
            folder cannot be written.
        MissingExtraError: If onnx or safetensors is not installed.
    """
    if cache is None:
        from platformdirs import user_cache_path

        cache = user_cache_path("sat-retriever") / "checkpoints"
    target = cache / folder.spec.fingerprint
    if target.is_dir():
        return target
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=cache) as draft:
            made = Path(draft) / target.name
            expand_folder(folder, made)
            try:
                made.rename(target)
            except OSError:  # another process was first
                if not target.is_dir():
                    raise
    except OSError as error:
        raise EncoderError(f"the cache folder {cache} cannot be written ({error})") from error
    return target


def expand_folder(folder: ModelFolder, target: Path) -> None:
    """Write an encoder as a sentence-transformers folder, in single precision.

    Weights that were stored in bytes or half precision stay as exact as they were there.

    Args:
        folder: The encoder, with the config of its transformer.
        target: A folder that is not there yet.

    Raises:
        EncoderError: If the encoder does not say what transformer it was exported from.
        MissingExtraError: If onnx or safetensors is not installed.
        OSError: If the folder cannot be written.
    """
    if folder.transformer is None:
        raise EncoderError(
            f"{folder.path} does not say what transformer it was exported from, so its weights "
            "cannot learn; start from the sentence-transformers folder it was made of"
        )
    save_file = require("safetensors.numpy", _EXTRA).save_file
    weights = _weights(folder.model)
    target.mkdir(parents=True)
    save_file(weights, target / "model.safetensors", metadata={"format": "pt"})
    (target / "model.safetensors").chmod(0o644)  # safetensors makes it private
    shutil.copyfile(folder.tokenizer, target / "tokenizer.json")
    texts = {"config.json": dict(folder.transformer), **descriptions(folder.spec)}
    for name, value in texts.items():
        (target / name).parent.mkdir(exist_ok=True)
        text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
        (target / name).write_text(text, encoding="utf-8")


def _weights(model: Path) -> dict[str, FloatArray]:
    """The transformer's weights by their own names, float32."""
    onnx = require("onnx", _EXTRA)
    graph = onnx.load(model).graph
    stored = {each.name: onnx.numpy_helper.to_array(each) for each in graph.initializer}
    values = _in_single_precision(stored)
    turned = _linear(graph, values)
    named = {**values, **{name: values[place].T for name, place in turned.items()}}
    return {
        name.removeprefix(_MODULE): np.ascontiguousarray(value, dtype=np.float32)
        for name, value in named.items()
        if name.startswith(_MODULE) and value.dtype == np.float32
    }


def _in_single_precision(stored: dict[str, Any]) -> dict[str, Any]:
    """The weights as they were before `compact_onnx` stored them, as near as it kept them."""
    values = {}
    for name, value in stored.items():
        if name.endswith(".bytes"):
            whole = name.removesuffix(".bytes")
            values[whole] = value.astype(np.float32) * stored[f"{whole}.scales"]
        elif name.endswith(".halves"):
            values[name.removesuffix(".halves")] = value.astype(np.float32)
        elif not name.endswith(".scales"):
            values[name] = value
    return values


def _linear(graph: Any, values: dict[str, Any]) -> dict[str, str]:
    """Names of linear layers' weights, by name of the turned weight in the file.

    A matrix product's result, to which `x.bias` is added, is that of `x.weight`.
    """
    products = {node.output[0]: node.input[1] for node in graph.node if node.op_type == "MatMul"}
    found = {}
    for node in graph.node:
        if node.op_type != "Add":
            continue
        bias = next((name for name in node.input if name.endswith(".bias")), "")
        place = next((products[name] for name in node.input if name in products), "")
        if bias and place in values:
            found[f"{bias.removesuffix('.bias')}.weight"] = place
    return found
