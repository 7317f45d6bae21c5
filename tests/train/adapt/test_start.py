"""Where the weights are that an encoder goes on learning from."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from sat_retriever.encoder import SheetEncoder
from sat_retriever.encoder.export import compact_folder
from sat_retriever.encoder.folder import read_model_folder
from sat_retriever.errors import EncoderError
from tests.saved_encoder import save_bag_of_words
from tests.tiny_transformer import save_tiny

pytest.importorskip("torch", reason="pip install '.[train]'")
from sat_retriever.encoder.models.folder import FOLDER
from sat_retriever.index.index import SheetIndex
from sat_retriever.rank.features.featurerank import FEATURES
from sat_retriever.rank.graph.graphrank import GRAPH
from sat_retriever.train.adapt.settings import AdaptSettings
from sat_retriever.train.adapt.start import goes_on, reranker_of, stage_2_of, start_of
from sat_retriever.train.reranker.graph import export_scorer
from sat_retriever.train.reranker.scorer import BaseScorer, ScorerShape
from tests.fakes import HashedEncoder
from tests.rank.graph.small_model import base_spec, save_base_scorer, save_small_model, small_spec


def _move(file: Path) -> None:
    """Make all weights differ, as training does: equal ones are one in an exported file."""
    chance = np.random.default_rng(0)
    moved = {
        name: (value + chance.normal(size=value.shape, scale=0.05)).astype(np.float32)
        for name, value in load_file(file).items()
    }
    save_file(moved, file, metadata={"format": "pt"})


@pytest.mark.parametrize("name", ["minilm", "general", "BAAI/bge-base-en-v1.5"])
def test_a_model_that_is_no_folder_is_its_own_start_in_any_precision(name):
    assert start_of(name) == start_of(f"{name}:int8") == start_of(f"{name}:compact") == name


def test_a_sentence_transformers_folder_is_its_own_start(tmp_path):
    assert start_of(str(tmp_path)) == str(tmp_path)


def test_an_exported_encoder_starts_from_the_weights_beside_it(tmp_path):
    bag = save_bag_of_words(tmp_path / "run" / "encoder", ["word"])
    with pytest.raises(EncoderError, match=r"cannot learn.*--backbone, for example 'general'"):
        start_of(str(bag))
    (bag.parent / "sentence-transformers").mkdir()
    with pytest.raises(EncoderError, match="cannot learn"):  # of some other model
        start_of(str(bag))
    (bag.parent / "config.json").touch()  # a training's run folder
    assert start_of(str(bag)) == str(bag.parent / "sentence-transformers")


@pytest.mark.slow
def test_one_that_says_what_it_was_exported_from_starts_from_its_own_file(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    source = save_tiny(tmp_path / "tiny")
    _move(source / "model.safetensors")
    texts = ["sales of alpha in 2021", "x"]
    exported = SheetEncoder.load(source)
    exported.save(tmp_path / "full")
    transformer = json.loads((source / "config.json").read_text())
    compact_folder(
        read_model_folder(tmp_path / "full"), tmp_path / "small", transformer=transformer
    )
    start = SheetEncoder.load(start_of(str(tmp_path / "small")))
    np.testing.assert_allclose(
        start.encode_sheets(texts),
        SheetEncoder.load(tmp_path / "small").encode_sheets(texts),
        atol=1e-5,
    )


# ---- Stage 2


def test_an_index_brings_the_reranker_that_it_is_searched_by_if_that_reads_its_tokens(tmp_path):
    with SheetIndex.create(tmp_path / "i.sat", HashedEncoder(16)) as index:
        assert reranker_of(index) is None  # links
        folder = save_small_model(tmp_path / "reranker", small_spec(index))
        index.name_reranker(folder)
        assert reranker_of(index) == (GRAPH, folder)
        assert reranker_of(index, "minilm") is None  # of other tokens
    general = FOLDER / "general" / "reranker"
    with SheetIndex.create(tmp_path / "g.sat", SheetEncoder.load("general")) as index:
        assert reranker_of(index) == reranker_of(index, "general") == (FEATURES, general)
        assert goes_on(index, "general")
        assert not goes_on(index, "minilm")


def test_stage_2_goes_on_with_the_reranker_that_there_is_if_it_reads_the_same(tmp_path):
    settings = AdaptSettings(seed=7)
    graph, features = settings.reranker_training(), settings.feature_training()
    assert {graph.seed, features.seed} == {7}
    assert stage_2_of(None, settings) == (graph, None)
    general = FOLDER / "general" / "reranker"
    assert stage_2_of((FEATURES, general), settings) == (features, general)
    with SheetIndex.create(tmp_path / "i.sat", HashedEncoder(6)) as index:
        spec = base_spec(index)
    own = save_base_scorer(tmp_path / "own", spec)
    assert stage_2_of((GRAPH, own), settings) == (graph, own)
    dense = save_base_scorer(tmp_path / "dense", replace(spec, start="dense"))
    assert stage_2_of((GRAPH, dense), settings) == (graph, None)
    export_scorer(BaseScorer(ScorerShape(6, 2)), spec, tmp_path / "new")
    assert stage_2_of((GRAPH, tmp_path / "new"), settings) == (graph, None)
