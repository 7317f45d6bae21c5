"""Compact an ONNX file, and read its weights; inputs, outputs and computation stay the same.

Only the storage of weights changes. A large table whose rows are looked up holds one byte a value
and one scale a row; rows are scaled when they are looked up. Every other large matrix is stored in
half precision and cast once, when onnxruntime opens the file. Norms, biases and constants stay as
they are, since they are small, and a constant such as 1e-9 would be zero in half precision.

The exporter keeps the names of all weights except those of linear layers, which it transposes.
Such a weight is identified by the bias that is added to its product.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sat_retriever._extras import require
from sat_retriever.encoder.onnx.file import refuse_external_data
from sat_retriever.errors import EncoderError
from sat_retriever.records.tokens import FloatArray

if TYPE_CHECKING:
    import onnx

_LARGE = 1_024  # values; compacting a smaller matrix saves nothing
_TABLE = 1 << 17  # values; a smaller table is not stored in bytes
_STEPS = 127


def compact_onnx(source: Path, target: Path, extra: str, *, table: int = _TABLE) -> None:
    """Write the smaller file; the package's `extra` installs `onnx`.

    Tables of at least `table` values whose rows are looked up are stored in bytes.
    """
    model, onnx = open_onnx(source, extra), require("onnx", extra)
    graph = model.graph
    found = [each for each in graph.initializer if _is_large(each, onnx)]
    if not found:
        raise EncoderError(
            f"{source} has no large weights in single precision; it is compact already, or "
            "holds int8: give the model that was exported"
        )
    for weight in found:
        rows = _rows_read(graph, weight.name)
        if rows and len(weight.dims) == 2 and np.prod(weight.dims) >= table:
            _store_bytes(graph, weight, rows, onnx)
        else:
            _store_halves(graph, weight, onnx)
    _drop_notes(model)
    onnx.save(model, target)


def open_onnx(file: Path, extra: str) -> Any:
    """Return an ONNX file, parsed into an `onnx.ModelProto`; it must hold its weights itself."""
    onnx = require("onnx", extra)
    refuse_external_data(file)
    try:
        return onnx.load(file, load_external_data=False)
    except Exception as error:  # protobuf's errors share no other base class
        raise EncoderError(f"{file} is no ONNX file ({error}); export the model again") from error


def byte_rows(table: FloatArray) -> tuple[NDArray[np.int8], FloatArray]:
    """Quantize the rows of a table (n, d) float32 to bytes; each row's largest becomes ±127.

    Returns:
        Bytes (n, d) in [-127, 127] and scales (n, 1) float32. Their product differs from the
        table by half a scale at most.

    >>> rows, scales = byte_rows(np.float32([[127, -63.4], [0, 0]]))
    >>> rows.tolist(), scales.tolist()
    ([[127, -63], [0, 0]], [[1.0], [1.0]])
    """
    largest = np.abs(table).max(axis=1, keepdims=True)  # (n, 1)
    scales = np.where(largest > 0, largest / _STEPS, 1).astype(np.float32)
    return np.rint(table / scales).clip(-_STEPS, _STEPS).astype(np.int8), scales


def _is_large(weight: onnx.TensorProto, onnx: Any) -> bool:
    single = weight.data_type == onnx.TensorProto.FLOAT
    return bool(single and len(weight.dims) > 1 and np.prod(weight.dims) >= _LARGE)


def _rows_read(graph: onnx.GraphProto, name: str) -> list[onnx.NodeProto]:
    """Return the nodes that look up rows of a weight; none if another node reads it."""
    readers = [node for node in graph.node if name in node.input]
    for node in readers:
        axis = next((each.i for each in node.attribute if each.name == "axis"), 0)
        if node.op_type != "Gather" or list(node.input).index(name) or axis:
            return []
    return readers


def _store_bytes(
    graph: onnx.GraphProto, weight: onnx.TensorProto, readers: list[onnx.NodeProto], onnx: Any
) -> None:
    """Store a table as bytes and scales; its readers look up both and multiply."""
    name, helper, as_weight = weight.name, onnx.helper, onnx.numpy_helper
    rows, scales = byte_rows(as_weight.to_array(weight))
    graph.initializer.append(as_weight.from_array(scales, f"{name}.scales"))
    weight.CopyFrom(as_weight.from_array(rows, f"{name}.bytes"))
    for node in readers:
        places, out = node.input[1], node.output[0]
        made = [
            helper.make_node("Gather", [f"{name}.bytes", places], [f"{out}.bytes"]),
            helper.make_node("Gather", [f"{name}.scales", places], [f"{out}.scales"]),
            helper.make_node("Cast", [f"{out}.bytes"], [f"{out}.steps"], to=onnx.TensorProto.FLOAT),
            helper.make_node("Mul", [f"{out}.steps", f"{out}.scales"], [out]),
        ]
        at = list(graph.node).index(node)
        del graph.node[at]
        for new in reversed(made):
            graph.node.insert(at, new)


def _store_halves(graph: onnx.GraphProto, weight: onnx.TensorProto, onnx: Any) -> None:
    """Store a weight in half precision and cast it under its old name, unless it overflows."""
    name, as_weight = weight.name, onnx.numpy_helper
    with np.errstate(over="ignore"):
        halves = as_weight.to_array(weight).astype(np.float16)
    if not np.isfinite(halves).all():
        return
    weight.CopyFrom(as_weight.from_array(halves, f"{name}.halves"))
    cast = onnx.helper.make_node("Cast", [f"{name}.halves"], [name], to=onnx.TensorProto.FLOAT)
    graph.node.insert(0, cast)


def _drop_notes(model: onnx.ModelProto) -> None:
    """Remove notes on the Python source of each step: half a megabyte in an encoder."""
    graph = model.graph
    for part in (graph, *graph.node, *graph.initializer, *graph.value_info, *graph.input):
        part.ClearField("doc_string")
        part.ClearField("metadata_props")
    del graph.value_info[:]
    del model.metadata_props[:]


def onnx_weights(file: Path, module: str, extra: str) -> dict[str, FloatArray]:
    """Return the weights of a module in an ONNX file of this package, compact or not, in float32.

    Names are those in that module. Weights that were stored in bytes or half precision keep that
    precision.
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
