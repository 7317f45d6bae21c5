"""Read the weights of an exported module under their original names.

The exporter keeps the names of all weights except those of linear layers, which it transposes.
Such a weight is identified by the bias that is added to its product.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sat_retriever._extras import require
from sat_retriever.encoder.onnx.compact import open_onnx
from sat_retriever.records.tokens import FloatArray


def onnx_weights(file: Path, module: str, extra: str) -> dict[str, FloatArray]:
    """Return the weights of a module in an ONNX file of this package, compact or not, in float32.

    Weights that were stored in bytes or half precision keep that precision.

    Args:
        file: The ONNX file.
        module: Name of the wanted module within the exported one.
        extra: Extra of this package that installs `onnx`, for the error message.

    Returns:
        Weights by their names in that module.

    Raises:
        MissingExtraError: If onnx is not installed.
        EncoderError: If it is not an ONNX file or cannot be read.
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
    """Return the weights as before `compact_onnx`, as exactly as the file has them."""
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
    """Map the names of linear layers' weights to the transposed weights in the file.

    If `x.bias` is added to a matrix product, the product's matrix is `x.weight`, transposed.
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
