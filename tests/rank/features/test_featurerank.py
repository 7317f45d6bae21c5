"""The feature reranker on an index: order, guard, and what is refused."""

import random
from dataclasses import replace

import numpy as np
import pytest

from sat_retriever.answer.retriever import SheetRetriever
from sat_retriever.errors import FingerprintMismatchError
from sat_retriever.rank.features.featurerank import FEATURES, FeatureReranker
from sat_retriever.rank.features.features import list_inputs
from sat_retriever.rank.links.linkrank import LinkReranker
from sat_retriever.rank.load import load_reranker
from tests.rank.features.small_features import list_of, small_model
from tests.train import sheet_world

QUERY = "which sky is red"


@pytest.fixture
def reranker(world, model):
    return FeatureReranker(world, model, "here")


def test_scores_are_those_of_links_plus_the_moves(world, model, reranker):
    known = list_of(world, QUERY)
    moves = model.moves(list_inputs(known))
    assert moves.any()
    wanted = {
        each.sheet_id: min(each.score + move, 1)
        for each, move in zip(known.candidates, moves.tolist(), strict=True)
    }
    question = world.question(QUERY)
    first = world.candidates(question, 50)
    ranked = reranker.rerank(question, first)
    assert {each.sheet_id: each.score for each in ranked} == pytest.approx(wanted, abs=1e-6)
    assert [each.rank for each in ranked] == list(range(1, len(ranked) + 1))
    random.Random(1).shuffle(first)
    assert reranker.rerank(question, first) == ranked


def test_a_strange_list_has_the_order_of_links(world, model):
    """Half of the guard's bounds: every list is farther than the farthest learnt one."""
    guard = replace(model.familiarity, near=(-2.0, -1.0))
    strict = FeatureReranker(world, replace(model, familiarity=guard), "here")
    question = world.question(QUERY)
    first = world.candidates(question, 50)
    assert strict.rerank(question, first) == LinkReranker(world).rerank(question, first)


@pytest.mark.parametrize("k", [0, 1])
def test_a_list_of_none_or_one_stays(world, reranker, k):
    question = world.question(QUERY)
    first = world.candidates(question, 12)[:k]
    assert [each.sheet_id for each in reranker.rerank(question, first)][:1] == [
        each.sheet_id for each in first
    ]


def test_it_is_loaded_from_its_folder_and_searched_with(world, model, tmp_path):
    model.save(tmp_path / "m")
    assert isinstance(load_reranker(world, tmp_path / "m"), FeatureReranker)
    hits = SheetRetriever(world, tmp_path / "m").retrieve(QUERY)
    question = world.question(QUERY)
    ranked = FeatureReranker(world, model, "m").rerank(question, world.candidates(question, 50))
    assert [hit.sheet_id for hit in hits] == [each.sheet_id for each in ranked[: len(hits)]]


def test_cosines_of_another_encoder_are_refused_unless_it_is_carried(world, asked, tmp_path):
    small_model(world, asked).save(tmp_path / "m")
    with sheet_world.index(tmp_path / "other.sat", width=32) as other:
        with pytest.raises(FingerprintMismatchError, match="--kind features --index"):
            load_reranker(other, tmp_path / "m")
        FEATURES.copy(tmp_path / "m", tmp_path / "carried", encoder=other.fingerprint)
        question = other.question(QUERY)
        carried = load_reranker(other, tmp_path / "carried")
        assert np.isfinite([each.score for each in carried.rerank(question, [])]).all()
        assert carried.rerank(question, other.candidates(question, 50))
