"""Lists of candidates, as a search would give them."""

from __future__ import annotations

import numpy as np
import pytest

from sat_retriever.answer.retriever import SheetRetriever
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.metrics.rows import metrics_of
from sat_retriever.errors import EmptyInputError, InputError
from sat_retriever.rank.features.features import FEATURES
from sat_retriever.train.reranker.featurelists import FeatureLists, feature_lists, joined_lists
from tests.train import sheet_world


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    with sheet_world.index(tmp_path_factory.mktemp("index") / "i.sat") as made:
        yield made


@pytest.fixture(scope="module")
def lists(index):
    return feature_lists(index, sheet_world.queries(), "world")


def test_lists_are_ranked_as_a_search_ranks(index, lists):
    """Their rows are those of the link reranker, and count relevant sheets that were not found."""
    rows = lists.rows(lists.scores)
    for query, row in zip(sheet_world.queries(), rows, strict=True):
        hits = SheetRetriever(index, "links").retrieve(query.text, 10)
        places = [hit.rank for hit in hits if hit.sheet_id in query.positives]
        assert [place for place in row["hits"] if place <= len(hits)] == places
        assert row["relevant"] == len(query.positives)
    missed = feature_lists(index, [Query("which sky is red", ("red#sky", "gone"))], "world")
    assert missed.rows(missed.scores)[0]["relevant"] == 2
    assert metrics_of(missed.rows(missed.scores), ["AllRelevant@10"])["AllRelevant@10"] == 0


def test_a_file_holds_all_of_them(lists, tmp_path):
    lists.save(tmp_path / "lists.npz")
    again = FeatureLists.load(tmp_path / "lists.npz")
    assert again.fingerprint == lists.fingerprint
    assert again.corpora.tolist() == ["world"] * len(lists)
    changed = again.features.copy()
    changed[0, 0, 0] += 1
    again.features[:] = changed
    assert again.fingerprint != lists.fingerprint


def test_lists_of_several_corpora_are_joined_in_order(index, lists):
    other = feature_lists(index, sheet_world.queries()[:2], "other")
    both = joined_lists([lists, other])
    assert both.corpora.tolist() == ["world"] * 12 + ["other"] * 2
    np.testing.assert_array_equal(both.features[12:], lists.features[:2])
    assert both.relations[:12].any()
    assert [each.shape[1] for each in both.lists()] == [len(FEATURES)] * 14


def test_what_cannot_be_joined_or_found_is_refused(index, lists, tmp_path):
    with sheet_world.index(tmp_path / "other.sat", width=32) as wide:
        with pytest.raises(InputError, match="several encoders"):
            joined_lists([lists, feature_lists(wide, sheet_world.queries()[:1], "wide")])
        with pytest.raises(EmptyInputError, match="no questions"):
            feature_lists(wide, [])
    with pytest.raises(EmptyInputError):
        joined_lists([])
