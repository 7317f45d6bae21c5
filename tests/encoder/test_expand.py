"""Weights that can learn, out of an exported encoder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from sat_retriever import EncoderError, SheetEncoder
from sat_retriever.encoder.export import compact_folder
from sat_retriever.encoder.folder import read_model_folder
from sat_retriever.encoder.models import folder as model_folders
from sat_retriever.encoder.source import expand_folder, expanded, find_checkpoint

TEXTS = ["revenue by region", "price", "name: stock ; columns: price"]


@pytest.fixture(scope="module")
def learnt(tiny_source, tmp_path_factory):
    """The tiny model with biases and norms that differ, as training leaves them."""
    folder = Path(shutil.copytree(tiny_source, tmp_path_factory.mktemp("learnt") / "m"))
    weights, chance = load_file(folder / "model.safetensors"), np.random.default_rng(0)
    moved = {
        name: (value + chance.normal(size=value.shape, scale=0.05)).astype(np.float32)
        for name, value in weights.items()
    }
    save_file(moved, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


@pytest.fixture
def compact(learnt, cache, tmp_path):
    SheetEncoder.load(learnt, cache_dir=cache).save(tmp_path / "full")
    transformer = json.loads((learnt / "config.json").read_text())
    folder = tmp_path / "models/general/encoder"
    compact_folder(read_model_folder(tmp_path / "full"), folder, transformer=transformer)
    return read_model_folder(folder)


@pytest.mark.slow
def test_expanded_weights_give_the_tokens_of_the_compact_encoder(compact, tmp_path, cache):
    expand_folder(compact, tmp_path / "source")
    ours = SheetEncoder.load(tmp_path / "source", cache_dir=cache)
    theirs = SheetEncoder.load(compact.path)
    for method in ("encode_queries", "encode_sheets"):
        found, expected = getattr(ours, method)(TEXTS), getattr(theirs, method)(TEXTS)
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_the_general_model_can_be_learnt_from(compact, tmp_path, monkeypatch):
    monkeypatch.setattr(model_folders, "FOLDER", tmp_path / "models")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    found = find_checkpoint("general")
    assert found.name == "general"
    assert found.spec.architecture == compact.spec.architecture
    assert found.spec.query_prefix == "search: "
    assert found.folder == expanded(compact)  # the one that is there


def test_an_encoder_that_does_not_name_its_transformer_cannot_be_expanded(tiny_encoder, tmp_path):
    tiny_encoder.save(tmp_path / "full")
    with pytest.raises(EncoderError, match="does not say what transformer"):
        expand_folder(read_model_folder(tmp_path / "full"), tmp_path / "source")


def test_a_changed_description_of_the_transformer_is_refused(compact, change):
    transformer = dict(compact.transformer) | {"num_attention_heads": 2}
    change(compact.path / "config.json", transformer=transformer)
    with pytest.raises(EncoderError, match=r"config\.json is not what was written there"):
        read_model_folder(compact.path)


def test_saving_a_compact_encoder_keeps_what_it_can_be_expanded_by(compact, tmp_path):
    SheetEncoder.load(compact.path).save(tmp_path / "copy")
    assert read_model_folder(tmp_path / "copy").transformer == compact.transformer
