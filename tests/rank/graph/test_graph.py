"""Candidates to graph: order, scores, features, and the parts put together."""

import json
import random
from dataclasses import asdict, replace

import numpy as np
import pytest

from sat_retriever import EmptyInputError, Filters, InputError, LinkReranker
from sat_retriever.rank.graph.graph import build_graph, candidate_graph, started
from sat_retriever.rank.graph.spec import GraphSpec
from sat_retriever.rank.trained import spec_of
from tests.rank.graph.small_model import small_spec

QUERY = "sales amount 003"


def same(one, other):
    return one.candidates == other.candidates and all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("query", "tokens", "scores", "features", "relations")
    )


@pytest.mark.parametrize("start", ["dense", "fused", "links"])
@pytest.mark.parametrize("k", [1, 2, 50, 200])
def test_any_number_of_candidates_in_any_order_gives_one_graph(large, start, k):
    spec = small_spec(large, start=start, channels=("semantic", "schema", "join_confidence"))
    found = large.candidates(QUERY, k)
    assert len(found) == k
    graph = candidate_graph(large, large.question(QUERY), found, spec)
    size = len(graph.candidates)
    assert size == k if start != "links" else k <= size <= k + 16
    assert graph.tokens.shape == (size, 64)
    assert graph.features.shape == (size, 1)
    assert graph.relations.shape == (3, size, size)
    assert np.all(np.diff(graph.scores) <= 0)
    assert [c.rank for c in graph.candidates] == list(range(1, size + 1))
    random.Random(k).shuffle(found)
    assert same(graph, candidate_graph(large, large.question(QUERY), found, spec))


def test_the_start_score_is_the_cosine_the_fused_score_or_the_one_after_links(index):
    found = index.candidates(index.question("total sales", dense_weight=0.7), 4)
    by_id = {c.sheet_id: c for c in found}
    for start, wanted in (
        ("dense", {i: c.dense for i, c in by_id.items()}),
        ("fused", {i: 0.25 * max(c.dense, 0) + 0.75 * c.lexical for i, c in by_id.items()}),
    ):
        spec = small_spec(index, start=start, dense_weight=0.25)
        scored = started(index, index.question("total sales"), found, spec)
        assert {c.sheet_id: c.score for c in scored} == pytest.approx(wanted, abs=1e-6)
    spec = small_spec(index, start="links", dense_weight=0.7)
    linked = started(index, index.question("total sales"), found, spec)
    question = index.question("total sales", dense_weight=0.7)
    assert linked == LinkReranker(index).rerank(question, found)
    assert linked != found


def test_equal_start_scores_come_in_the_order_of_sheet_ids(index):
    found = [
        replace(c, dense=0.5, lexical=0.0, together=0.0) for c in index.candidates("total sales", 4)
    ]
    ids = [
        c.sheet_id for c in started(index, index.question("total sales"), found, small_spec(index))
    ]
    assert ids == sorted(ids)


def test_sheets_that_links_bring_in_are_scored_alike_and_meet_the_filters(large):
    spec = small_spec(large, start="links", dense_weight=0.9)
    found = large.candidates(large.question(QUERY, dense_weight=0.9), 2)
    brought = started(large, large.question(QUERY), found, spec)
    assert len(brought) > 2
    question = large.question(QUERY, dense_weight=0.9)
    assert brought == LinkReranker(large).rerank(question, found)
    assert brought != LinkReranker(large).rerank(large.question(QUERY, dense_weight=0.4), found)
    first = Filters(metadata={"half": "first"})
    kept = started(large, large.question(QUERY), large.candidates(QUERY, 2, first), spec, first)
    halves = {r.metadata["half"] for r in large.records([c.sheet_id for c in kept]).values()}
    assert halves == {"first"}


def test_features_come_in_the_order_of_the_spec(index):
    spec = small_spec(index, features=("fused", "dense", "lexical"), dense_weight=0.25)
    graph = candidate_graph(
        index, index.question("total sales"), index.candidates("total sales", 4), spec
    )
    wanted = [(0.25 * max(c.dense, 0) + 0.75 * c.lexical, c.dense, c.lexical)
              for c in graph.candidates]  # fmt: skip
    assert graph.features == pytest.approx(np.array(wanted), abs=1e-6)
    bare = candidate_graph(
        index, index.question("x"), index.candidates("x", 4), small_spec(index, features=())
    )
    assert bare.features.shape == (4, 0)


def test_tokens_and_relations_stand_in_the_order_of_the_candidates(index):
    found = index.candidates("total sales", 4)
    graph = candidate_graph(index, index.question("total sales"), found, small_spec(index))
    ids = [c.sheet_id for c in graph.candidates]
    assert np.array_equal(graph.tokens, index.tokens(ids))
    assert np.array_equal(graph.query, index.question("total sales").token)
    formula, schema = graph.relations
    at = {sheet_id: row for row, sheet_id in enumerate(ids)}
    assert formula[at["summary"], at["q1"]] == formula[at["q1"], at["summary"]] == 1
    assert formula.sum() == 2
    assert schema[at["q1"], at["q2"]] == 1
    assert schema[at["q1"], at["summary"]] == 0


def test_parts_at_hand_give_the_same_graph(large):
    """What training does: everything fetched once."""
    spec = small_spec(large, channels=("schema", "formula_reference", "same_workbook"))
    found = started(large, large.question(QUERY), large.candidates(QUERY, 30), spec)
    tokens = large.tokens([c.sheet_id for c in found])
    everything = large.records(large.sheet_ids()), list(large.all_links())
    graph = build_graph(large.question(QUERY).token, tokens, found, *everything, spec)
    assert same(graph, candidate_graph(large, large.question(QUERY), found, spec))


def test_sheets_removed_since_are_passed_over_and_none_left_is_said(index):
    found = index.candidates("total sales", 4)
    index.remove(["q1"])
    graph = candidate_graph(index, index.question("total sales"), found, small_spec(index))
    assert sorted(c.sheet_id for c in graph.candidates) == ["q2", "sales notes", "summary"]
    assert [c.rank for c in graph.candidates] == [1, 2, 3]
    index.remove([c.sheet_id for c in found])
    for none in (found, []):
        with pytest.raises(EmptyInputError, match="no candidates"):
            candidate_graph(index, index.question("total sales"), none, small_spec(index))


def test_a_sheet_removed_while_its_graph_is_made_is_passed_over(index, monkeypatch):
    found, read = index.candidates("total sales", 4), index.records

    def records(sheet_ids):
        there = read(sheet_ids)
        index.remove(["q1"])
        return there

    monkeypatch.setattr(index, "records", records)
    graph = candidate_graph(index, index.question("total sales"), found, small_spec(index))
    assert sorted(c.sheet_id for c in graph.candidates) == ["q2", "sales notes", "summary"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"start": "random"}, "'random'.*dense, fused, links"),
        ({"features": ("bm25",)}, "'bm25'.*lexical, dense, fused"),
        ({"channels": ("formulas",)}, "'formulas'"),
        ({"dense_weight": 1.5}, "1.5"),
        ({"layers": -1}, "layers is -1"),
        ({"complete_share": 0.0}, "complete_share is 0"),
    ],
)
def test_a_spec_that_cannot_be_is_refused(index, change, said):
    with pytest.raises(InputError, match=said):
        small_spec(index, **change)


def test_a_spec_survives_json(index):
    spec = small_spec(index)
    values = json.loads(json.dumps(asdict(spec)))
    assert spec_of(values, GraphSpec) == spec
    with pytest.raises(InputError, match=r"\(depth\).*upgrade"):
        spec_of({**values, "depth": 1}, GraphSpec)
