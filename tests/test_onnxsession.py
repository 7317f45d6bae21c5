"""ONNX files that can be opened and run, and those that cannot."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from sat_retriever import EncoderError
from sat_retriever.onnxsession import available_cores, open_session, run_session


@pytest.fixture
def doubling(tmp_path):
    """`y = x + x`, any length."""
    nodes = [helper.make_node("Add", ["x", "x"], ["y"])]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["k"]) for name in "xy")
    opset = [helper.make_opsetid("", 18)]
    model = helper.make_model(
        helper.make_graph(nodes, "double", [x], [y]), opset_imports=opset, ir_version=10
    )
    onnx.save(model, tmp_path / "model.onnx")
    return tmp_path / "model.onnx"


@pytest.mark.parametrize("threads", [1, 2])
def test_a_session_gives_the_first_output(doubling, threads):
    session = open_session(doubling, threads)
    found = run_session(session, {"x": np.float32([1, 2])}, doubling)
    assert found.tolist() == [2, 4]


def test_a_file_that_is_no_model_is_named(tmp_path):
    (tmp_path / "model.onnx").write_bytes(b"no model")
    for name in ("model.onnx", "none.onnx"):
        with pytest.raises(EncoderError, match=f"cannot open .*{name}"):
            open_session(tmp_path / name, 1)


@pytest.mark.parametrize("inputs", [{}, {"x": np.float32([[1]])}, {"z": np.float32([1])}])
def test_a_run_that_fails_names_the_file(doubling, inputs):
    with pytest.raises(EncoderError, match=r"failed on .*model\.onnx"):
        run_session(open_session(doubling, 1), inputs, doubling)


def test_at_least_one_core_is_there():
    assert available_cores() >= 1
