"""Weights out of an exported file, under the names they had."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="pip install '.[train]'")
import torch
from torch import nn

from sat_retriever import EncoderError
from sat_retriever.encoder.onnx.compact import compact_onnx, onnx_weights
from sat_retriever.encoder.onnx.export import export_onnx


class Outer(nn.Module):
    """A table, a number and linear layers with and without an axis before them."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.inner = nn.ModuleDict(
            {"table": nn.Embedding(4, 40), "first": nn.Linear(40, 30), "last": nn.Linear(30, 1)}
        )
        self.inner.scale = nn.Parameter(torch.tensor(2.5))
        self.other = nn.Linear(1, 1)

    def forward(self, places, values):
        parts = self.inner
        seen = parts["first"](parts["table"](places)) + parts["first"](values[None])[0]
        return self.other(parts.scale * parts["last"](torch.tanh(seen)))


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    file, module = tmp_path_factory.mktemp("onnx") / "model.onnx", Outer().eval()
    inputs = {"places": torch.tensor([1, 3]), "values": torch.rand(2, 40)}
    export_onnx(module, inputs, ("out",), {"places": (0,), "values": (0,)}, file, "train")
    return file, {name: value.numpy() for name, value in module.inner.state_dict().items()}


def test_every_weight_of_the_inner_module_is_there_in_its_shape(exported):
    file, expected = exported
    found = onnx_weights(file, "inner", "train")
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value)
        assert (found[name].dtype, found[name].shape) == (np.float32, value.shape)


def test_those_of_a_compact_file_are_as_exact_as_it_is(exported, tmp_path):
    file, expected = exported
    compact_onnx(file, tmp_path / "small.onnx", "train", table=100)
    found = onnx_weights(tmp_path / "small.onnx", "inner", "train")
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, atol=abs(value).max() / 250)


def test_what_is_no_onnx_file_is_named(tmp_path):
    (tmp_path / "model.onnx").write_bytes(b"no model")
    with pytest.raises(EncoderError, match=r"model\.onnx, it is no ONNX file"):
        onnx_weights(tmp_path / "model.onnx", "inner", "train")
