from __future__ import annotations

import sys
import warnings

import numpy as np
import onnxruntime
import pytest

from sat_retriever import EncoderError, MissingExtraError
from sat_retriever.encoder.onnx.export import export_onnx

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch's own, on import
    torch = pytest.importorskip("torch", reason="torch is not installed")


class Spread(torch.nn.Module):
    """Tokens spread along relations, like a layer of the graph: two results."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.value = torch.nn.Linear(4, 4)

    def forward(self, tokens, relations):
        moved = torch.einsum("cij,jd->cid", relations, self.value(tokens))  # (c, k, d)
        return moved.sum(0) + tokens, torch.relu(tokens).sum(-1)


class Noisy(torch.nn.Module):
    """Gives other results on every call: no file can agree with it."""

    def forward(self, tokens):
        return tokens + torch.rand_like(tokens)


def _export(module, target, *, dynamic=None):
    inputs = {"tokens": torch.rand(5, 4), "relations": torch.rand(3, 5, 5)}
    dynamic = {"tokens": [0], "relations": [1, 2]} if dynamic is None else dynamic
    export_onnx(module.eval(), inputs, ["moved", "size"], dynamic, target, "train")


def _run(file, **inputs):
    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    return session.run(["moved", "size"], inputs)


@pytest.fixture(scope="module")
def spread(tmp_path_factory):
    """A module and the file it was exported to, in a folder of its own."""
    module, file = Spread(), tmp_path_factory.mktemp("spread") / "model.onnx"
    _export(module, file)
    return module, file


@pytest.mark.parametrize("count", [1, 2, 7, 200])
def test_any_size_of_a_shared_dynamic_axis_gives_torch_results(spread, count):
    module, file = spread
    tokens = np.random.default_rng(1).standard_normal((count, 4)).astype(np.float32)
    relations = np.random.default_rng(2).random((3, count, count)).astype(np.float32)
    found = _run(file, tokens=tokens, relations=relations)
    with torch.no_grad():
        expected = module(torch.from_numpy(tokens), torch.from_numpy(relations))
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.shape == tuple(theirs.shape)
        assert np.abs(ours - theirs.numpy()).max() < 1e-4


def test_an_axis_that_is_not_dynamic_takes_its_example_size_only_and_nothing_is_printed(
    tmp_path, capfd
):
    _export(Spread(), tmp_path / "model.onnx", dynamic={})
    assert capfd.readouterr() == ("", "")
    with pytest.raises(Exception, match="INVALID_ARGUMENT"):
        _run(
            tmp_path / "model.onnx",
            tokens=np.zeros((6, 4), np.float32),
            relations=np.zeros((3, 6, 6), np.float32),
        )


def test_weights_are_inside_the_one_file_and_old_runtimes_read_it(spread):
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    _, written = spread
    assert [file.name for file in written.parent.iterdir()] == ["model.onnx"]
    model = onnx.load(written)
    assert [(item.domain, item.version) for item in model.opset_import] == [("", 18)]
    assert model.ir_version == 10


def test_a_file_that_does_not_give_torch_results_is_refused(tmp_path):
    with pytest.raises(EncoderError, match="differs from torch by"):
        export_onnx(
            Noisy().eval(), {"tokens": torch.rand(5, 4)}, ["moved"], {}, tmp_path / "m.onnx", "x"
        )


def test_a_module_that_cannot_be_exported_is_refused(tmp_path):
    class Branching(torch.nn.Module):
        def forward(self, tokens):
            return tokens if tokens.sum() > 0 else -tokens

    with pytest.raises(EncoderError, match="torch cannot export"):
        export_onnx(
            Branching().eval(), {"tokens": torch.rand(5, 4)}, ["y"], {}, tmp_path / "m.onnx", "x"
        )


def test_a_missing_package_is_named_with_its_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    with pytest.raises(MissingExtraError, match=r"onnxscript is not installed.*\[train\]"):
        _export(Spread(), tmp_path / "model.onnx")
