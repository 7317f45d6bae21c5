"""A tiny model."""

import onnx
import pytest
from onnx import TensorProto, helper


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
