"""Write the model that multiplies codes of tokens: `sat_retriever/index/search/products.onnx`.

python .ci/products_model.py
"""

from pathlib import Path

from onnx import TensorProto, checker, helper, save

PLACE = Path(__file__).resolve().parents[1] / "sat_retriever/index/search/products.onnx"

graph = helper.make_graph(
    [helper.make_node("MatMulInteger", ["codes", "asked"], ["sums"])],
    "products",
    [
        helper.make_tensor_value_info("codes", TensorProto.UINT8, ["m", "d"]),
        helper.make_tensor_value_info("asked", TensorProto.INT8, ["d", 1]),
    ],
    [helper.make_tensor_value_info("sums", TensorProto.INT32, ["m", 1])],
)
# The oldest versions that know the operation.
model = helper.make_model(graph, ir_version=7, opset_imports=[helper.make_opsetid("", 10)])
checker.check_model(model)
save(model, PLACE)
