"""Copies of a reranker folder."""

from dataclasses import replace

import pytest

from sat_retriever.errors import EncoderError, FingerprintMismatchError
from sat_retriever.index.index import SheetIndex
from sat_retriever.rank.graph.graphrank import GRAPH, GraphReranker
from sat_retriever.rank.graph.spec import MODEL
from tests.fakes import HashedEncoder
from tests.rank.graph.small_model import save_small_model, small_spec


def test_a_copy_is_the_same_reranker_and_replaces_one_that_is_there(index, tmp_path):
    source = save_small_model(tmp_path / "source", small_spec(index))
    target = save_small_model(tmp_path / "target", small_spec(index, dense_weight=0.1))
    GRAPH.copy(source, target)
    assert GRAPH.trained_on(target) == small_spec(index)
    assert (target / MODEL).read_bytes() == (source / MODEL).read_bytes()


def test_a_copy_for_another_encoder_orders_its_tokens_and_the_first_does_not(index, tmp_path):
    source = save_small_model(tmp_path / "source", small_spec(index))
    with SheetIndex.create(tmp_path / "i.sat", HashedEncoder(index.encoder.width, "new")) as other:
        GRAPH.copy(source, tmp_path / "copy", encoder=other.fingerprint)
        assert GraphReranker.load(other, tmp_path / "copy").model.spec == replace(
            small_spec(index), encoder=other.fingerprint
        )
        with pytest.raises(FingerprintMismatchError):
            GraphReranker.load(other, source)


def test_what_is_no_reranker_is_not_copied(tmp_path):
    with pytest.raises(EncoderError, match="no complete reranker"):
        GRAPH.copy(tmp_path, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
