"""Weights stored in bytes and half precision: what is kept, what is computed."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from sat_retriever import EncoderError
from sat_retriever.encoder.onnx.compact import byte_rows, compact_onnx

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(200, 64)).astype(np.float32)
MATRIX = RNG.normal(size=(64, 64)).astype(np.float32)
BIAS = RNG.normal(size=64).astype(np.float32)
TINY = np.float32([[1e-9]])


def save_model(path, *, matrix=MATRIX, tied=False):
    """`rows(ids) @ matrix + bias + 1e-9`; a tied table also multiplies the result."""
    nodes = [
        helper.make_node("Gather", ["table", "ids"], ["rows"]),
        helper.make_node("MatMul", ["rows", "matrix"], ["turned"], doc_string="a long note"),
        helper.make_node("Add", ["turned", "bias"], ["moved"]),
        helper.make_node("Add", ["moved", "tiny"], ["states"]),
    ]
    constants = {"table": TABLE, "matrix": matrix, "bias": BIAS, "tiny": TINY}
    if tied:
        nodes += [
            helper.make_node("Transpose", ["table"], ["turned_table"]),
            helper.make_node("MatMul", ["states", "turned_table"], ["logits"]),
        ]
    output = "logits" if tied else "states"
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["t"])],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, ["t", None])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    onnx.save(model, path)
    return path


def weights(path):
    """Initializers by name."""
    return {each.name: numpy_helper.to_array(each) for each in onnx.load(path).graph.initializer}


def run(path, ids):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(None, {"ids": np.array(ids)})[0]


@pytest.fixture
def compact(tmp_path):
    compact_onnx(save_model(tmp_path / "m.onnx"), tmp_path / "c.onnx", "train", table=1000)
    return tmp_path / "c.onnx"


def test_looked_up_tables_hold_bytes_matrices_halves_and_the_rest_is_as_it_was(compact):
    found = weights(compact)
    assert {name: value.dtype.name for name, value in found.items()} == {
        "table.bytes": "int8",
        "table.scales": "float32",
        "matrix.halves": "float16",
        "bias": "float32",
        "tiny": "float32",
    }
    np.testing.assert_array_equal(found["bias"], BIAS)
    np.testing.assert_array_equal(found["tiny"], TINY)


def test_results_are_those_of_the_stored_weights_in_single_precision(compact):
    ids = [3, 0, 199, 3]
    rows, scales = byte_rows(TABLE)
    table, matrix = rows * scales, MATRIX.astype(np.float16).astype(np.float32)
    np.testing.assert_allclose(run(compact, ids), table[ids] @ matrix + BIAS, rtol=2e-5, atol=2e-5)


def test_the_runtime_casts_once_when_it_opens_the_file(compact, tmp_path):
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "opened.onnx")
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    onnxruntime.InferenceSession(compact, options, providers=["CPUExecutionProvider"])
    opened = onnx.load(tmp_path / "opened.onnx").graph
    assert "float16" not in {numpy_helper.to_array(w).dtype.name for w in opened.initializer}
    assert [list(n.input) for n in opened.node if n.op_type == "Cast"] == [["rows.bytes"]]


def test_a_row_is_off_by_half_a_step_at_most():
    rows, scales = byte_rows(TABLE)
    assert (np.abs(rows * scales - TABLE) <= scales * 0.5001).all()
    assert (np.abs(rows).max(axis=1) == 127).all()


def test_a_table_that_something_else_reads_too_holds_halves(tmp_path):
    compact_onnx(save_model(tmp_path / "m.onnx", tied=True), tmp_path / "c.onnx", "train", table=9)
    assert weights(tmp_path / "c.onnx")["table.halves"].dtype == np.float16
    found, expected = (run(tmp_path / name, [5, 6]) for name in ("c.onnx", "m.onnx"))
    np.testing.assert_allclose(found, expected, rtol=0.01, atol=0.5)


def test_weights_that_halves_cannot_hold_stay_in_single_precision(tmp_path):
    matrix = MATRIX.copy()
    matrix[0, 0] = 1e5
    compact_onnx(save_model(tmp_path / "m.onnx", matrix=matrix), tmp_path / "c.onnx", "train")
    np.testing.assert_array_equal(weights(tmp_path / "c.onnx")["matrix"], matrix)


def test_notes_of_the_exporter_are_left_out(compact):
    assert b"a long note" not in compact.read_bytes()


def test_what_is_compact_already_is_refused(compact, tmp_path):
    with pytest.raises(EncoderError, match="no large weights in single precision"):
        compact_onnx(compact, tmp_path / "again.onnx", "train")


def test_what_is_no_model_is_refused(tmp_path):
    (tmp_path / "m.onnx").write_bytes(b"\xff no model")
    with pytest.raises(EncoderError, match=r"m\.onnx, it is no ONNX file"):
        compact_onnx(tmp_path / "m.onnx", tmp_path / "c.onnx", "train")
