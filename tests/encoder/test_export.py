from __future__ import annotations

import logging
import sys
import warnings

import numpy as np
import onnxruntime
import pytest

from sat_retriever import EncoderError, MissingExtraError, SheetEncoder
from sat_retriever.encoder import export
from sat_retriever.encoder.checkpoint import read_checkpoint
from sat_retriever.encoder.export import export_model, load_transformer


def _torch_tokens(folder, inputs, pooling):
    """Pooling and normalisation written out from their definition, row by row."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import torch
        from transformers import AutoModel

        model = AutoModel.from_pretrained(folder, local_files_only=True).eval()
        tensors = {name: torch.from_numpy(array) for name, array in inputs.items()}
        with torch.inference_mode():
            states = model(**tensors).last_hidden_state.numpy()
    rows = []
    for row, mask in zip(states, inputs["attention_mask"], strict=True):
        real = row[mask == 1]
        pooled = real[0] if pooling == "cls" else real.mean(axis=0)
        rows.append(pooled / np.sqrt((pooled**2).sum()))
    return np.stack(rows)


def _check_graph(file, folder, pooling):
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    # Sizes other than the ones it was exported with, one of them 1.
    for batch, length in ((1, 1), (3, 20), (5, 64)):
        ids = np.random.default_rng(0).integers(4, 60, (batch, length))
        mask = np.ones_like(ids)
        mask[-1, (length + 1) // 2 :] = 0
        inputs = {"input_ids": ids, "attention_mask": mask}
        tokens = session.run(None, inputs)[0]
        assert np.abs(tokens - _torch_tokens(folder, inputs, pooling)).max() < 1e-5


def test_cls_graph_pools_and_normalises_like_the_formula(tiny_encoder, tiny_source):
    _check_graph(tiny_encoder._model.folder.model, tiny_source, "cls")


def test_mean_graph_pools_and_normalises_like_the_formula(tiny, change, tmp_path):
    change(tiny / "1_Pooling/config.json", pooling_mode_cls_token=None, pooling_mode="mean")
    export_model(read_checkpoint(tiny, "tiny"), tmp_path / "model.onnx")
    _check_graph(tmp_path / "model.onnx", tiny, "mean")


def test_exported_graph_loads_in_old_runtimes(tiny_encoder):
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    model = onnx.load(tiny_encoder._model.folder.model)
    assert [(item.domain, item.version) for item in model.opset_import] == [("", 18)]
    assert model.ir_version == 10


@pytest.mark.slow
def test_export_is_quiet_and_leaves_settings_as_they_were(tiny, tmp_path, capfd):
    from transformers.utils import logging as bars

    shown, level = bars.is_progress_bar_enabled(), logging.root.manager.disable
    SheetEncoder.load(tiny, precision="int8", cache_dir=tmp_path / "cache")
    assert capfd.readouterr() == ("", "")
    assert (bars.is_progress_bar_enabled(), logging.root.manager.disable) == (shown, level)


def test_missing_weights_are_refused_not_made_up(tiny, tmp_path):
    from safetensors.numpy import load_file, save_file

    weights = load_file(tiny / "model.safetensors")
    name = next(name for name in weights if "attention.output.dense.weight" in name)
    del weights[name]
    save_file(weights, tiny / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(EncoderError, match=r"lacks weights, among them .*attention\.output"):
        SheetEncoder.load(tiny, cache_dir=tmp_path / "cache")


def test_weights_that_no_onnx_file_holds_are_refused_before_they_are_loaded(
    tiny_source, tmp_path, monkeypatch
):
    """Nor is a training begun that could not be exported."""
    from sat_retriever.train.encoder.backbone import Backbone
    from sat_retriever.train.reranker.pairmodel import PairModel
    from sat_retriever.train.settings import CrossEncoderTraining

    size = (tiny_source / "model.safetensors").stat().st_size
    monkeypatch.setattr(export, "_MAX_BYTES", size // 2)
    cross = CrossEncoderTraining(backbone=str(tiny_source), trained_layers=1)
    for refused in (
        lambda: export_model(read_checkpoint(tiny_source, "big"), tmp_path / "m.onnx"),
        lambda: Backbone.load(tiny_source),
        lambda: PairModel.load(cross),
    ):
        with pytest.raises(EncoderError, match=r"GB of weights in fp32; one ONNX file takes"):
            refused()
    monkeypatch.setattr(export, "_MAX_BYTES", 2 * size)
    Backbone.load(tiny_source)


def test_weights_in_half_precision_are_counted_as_they_are_exported(tiny, monkeypatch):
    from safetensors.numpy import load_file, save_file

    file = tiny / "model.safetensors"
    halves = {name: value.astype(np.float16) for name, value in load_file(file).items()}
    save_file(halves, file, metadata={"format": "pt"})
    monkeypatch.setattr(export, "_MAX_BYTES", file.stat().st_size * 3 // 2)
    with pytest.raises(EncoderError, match=r"GB of weights in fp32"):
        load_transformer(read_checkpoint(tiny, "half"))


def test_an_unknown_model_type_is_refused(tiny, change, tmp_path):
    change(tiny / "config.json", model_type="notamodel", architectures=None)
    with pytest.raises(EncoderError, match="transformers cannot load"):
        SheetEncoder.load(tiny, cache_dir=tmp_path / "cache")


def test_damaged_weights_are_refused(tiny, tmp_path):
    content = (tiny / "model.safetensors").read_bytes()
    (tiny / "model.safetensors").write_bytes(content[: len(content) // 2])
    with pytest.raises(EncoderError, match="transformers cannot load"):
        SheetEncoder.load(tiny, cache_dir=tmp_path / "cache")


@pytest.mark.slow
def test_weights_that_give_no_numbers_are_refused(tiny, tmp_path):
    from safetensors.numpy import load_file, save_file

    weights = load_file(tiny / "model.safetensors")
    name = next(name for name in weights if "word_embeddings" in name)
    weights[name][:] = np.nan
    save_file(weights, tiny / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(EncoderError, match="differs from torch by nan"):
        SheetEncoder.load(tiny, cache_dir=tmp_path / "cache")


@pytest.mark.parametrize("module", ["torch", "transformers", "onnxscript"])
def test_a_missing_export_package_is_named_with_its_command(tiny, tmp_path, monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf"{module} is not installed.*\[hub\]"):
        SheetEncoder.load(tiny, cache_dir=tmp_path / "cache")
