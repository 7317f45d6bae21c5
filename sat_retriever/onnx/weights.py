"""The weights of an exported module, under their own names again.

The exporter keeps the names of all weights but those of linear layers, which it turns; these are
known by the bias that is added to what they give.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sat_retriever._extras import require
from sat_retriever.onnx.compact import open_onnx
from sat_retriever.records.tokens import FloatArray


def onnx_weights(file: Path, module: str, extra: str) -> dict[str, FloatArray]:
    """Weights of a module within an ONNX file of this package, compact or not, in float32.

    What was stored in bytes or half precision stays as exact as it was there.

    Args:
        file: The ONNX file.
        module: What the exported module calls the one that is wanted.
        extra: Extra of this package that installs `onnx`, for the message.

    Returns:
        By their names in that module.

    Raises:
        MissingExtraError: If onnx is not installed.
        EncoderError: If it is no ONNX file, or cannot be read.
    """
    graph, onnx = open_onnx(file, extra).graph, require("onnx", extra)
    stored = {each.name: onnx.numpy_helper.to_array(each) for each in graph.initializer}
    values = _in_single_precision(stored)
    turned = _linear(graph, values)
    named = {**values, **{name: values[place].T for name, place in turned.items()}}
    start = f"{module}."
    return {
        name.removeprefix(start): np.array(value, dtype=np.float32, order="C")
        for name, value in named.items()
        if name.startswith(start) and value.dtype == np.float32
    }


# ---- inner workings


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
