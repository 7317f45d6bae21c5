"""Nodes in, the same nodes in a better order out."""

from __future__ import annotations

import asyncio
import json
import pickle
import threading
from collections import Counter
from datetime import date

import pytest
from llama_index.core.callbacks import CallbackManager, CBEventType, LlamaDebugHandler
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.postprocessor.sat import SheetGraphReranker
from llama_index.retrievers.sat import SheetTokenRetriever

from sat_retriever import (
    EmptyInputError,
    FingerprintMismatchError,
    IndexNotFoundError,
    InputError,
    PathNotFoundError,
    SheetIndex,
    SheetRetriever,
)
from tests.fakes import HeldEncoder
from tests.integrations.reads import count_reads
from tests.rank.graph.small_model import save_small_model, small_spec

QUESTION = "total for region"


@pytest.fixture
def nodes(index):
    """Every sheet of the index, in the order of Stage 1."""
    return SheetTokenRetriever(index, 50).retrieve(QUESTION)


def foreign(text, node_id, score=0.9, **metadata):
    return NodeWithScore(node=TextNode(text=text, id_=node_id, metadata=metadata), score=score)


def sheets(nodes):
    return [node.node.metadata.get("sheet_id") for node in nodes]


def test_both_stages_rank_as_the_library_does(index, nodes):
    ranked = SheetGraphReranker(index, top_n=4).postprocess_nodes(nodes, query_str=QUESTION)
    hits = SheetRetriever(index, "links").retrieve(QUESTION, 4)
    assert [(n.metadata["sheet_id"], n.score) for n in ranked] == [
        (hit.sheet_id, pytest.approx(hit.score, abs=1e-6)) for hit in hits
    ]
    assert sheets(ranked) != sheets(nodes)[:4]  # links moved something


def test_a_trained_checkpoint_ranks_as_the_library_does(index, nodes, tmp_path):
    folder = save_small_model(tmp_path / "reranker", small_spec(index), (-20.0, 0.0))
    for named in (folder, str(folder)):
        reranker = SheetGraphReranker(index, checkpoint=named, top_n=50)
        ranked = reranker.postprocess_nodes(nodes, query_str=QUESTION)
        hits = SheetRetriever(index, folder).retrieve(QUESTION, 50)
        assert sheets(ranked) == [hit.sheet_id for hit in hits]
        assert [n.score for n in ranked] == pytest.approx([hit.score for hit in hits], abs=1e-6)
    links = SheetGraphReranker(index, top_n=50).postprocess_nodes(nodes, query_str=QUESTION)
    assert sheets(links) != sheets(ranked)


def test_the_order_and_the_scores_of_the_nodes_it_is_given_do_not_matter(index, nodes):
    reranker = SheetGraphReranker(index, top_n=50)
    mixed = [NodeWithScore(node=node.node, score=None) for node in reversed(nodes)]
    first, second = (reranker.postprocess_nodes(n, query_str=QUESTION) for n in (nodes, mixed))
    assert [(n.node_id, n.score) for n in first] == [(n.node_id, n.score) for n in second]


def test_nodes_that_are_handed_in_keep_their_scores(index, nodes):
    before = [(node.node_id, node.score) for node in nodes]
    SheetGraphReranker(index, top_n=50).postprocess_nodes(nodes, query_str=QUESTION)
    assert [(node.node_id, node.score) for node in nodes] == before


def test_no_node_is_lost_or_doubled(index, nodes):
    """Our own, foreign ones, two of one sheet, one of a sheet that is gone, one without text."""
    twin = NodeWithScore(node=TextNode(text="part two", id_="twin", metadata=nodes[0].metadata))
    strange = [
        foreign("revenue of the north region", "text"),
        foreign("revenue", "gone", sheet_id="gone.xlsx#Q1"),
        foreign("", "blank", score=None),
        foreign("x", "list", sheet_id=["staff.csv#staff"]),
    ]
    given = [*nodes, twin, *strange]
    reranker = SheetGraphReranker(index, top_n=50)
    ranked = reranker.postprocess_nodes(given, query_str=QUESTION)
    assert Counter(n.node_id for n in ranked) == Counter(n.node_id for n in given)
    scores = [n.score for n in ranked]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    by_id = {n.node_id: n.score for n in ranked}
    assert by_id["twin"] == by_id[nodes[0].node_id]
    assert len(SheetGraphReranker(index, top_n=3).postprocess_nodes(given, query_str="x")) == 3


@pytest.mark.parametrize("trained", [False, True])
def test_foreign_nodes_are_ranked_by_what_they_say(index, nodes, tmp_path, trained):
    folder = save_small_model(tmp_path / "reranker", small_spec(index)) if trained else None
    good = foreign("total revenue by region", "good", score=0.0)
    poor = foreign("currency rate", "poor", score=1.0)
    reranker = SheetGraphReranker(index, folder, top_n=50)
    alone = reranker.postprocess_nodes([poor, good], query_str=QUESTION)
    assert [n.node_id for n in alone] == ["good", "poor"]
    among = reranker.postprocess_nodes([poor, *nodes, good], query_str=QUESTION)
    places = [n.node_id for n in among]
    assert places.index("good") < places.index("poor")
    assert [each for each in sheets(among) if each] == sheets(
        reranker.postprocess_nodes(nodes, query_str=QUESTION)
    )


def test_an_empty_list_stays_empty(index, heard):
    assert SheetGraphReranker(index).postprocess_nodes([], query_str="revenue") == []
    assert heard.names() == ["ReRankStartEvent", "ReRankEndEvent"]


@pytest.mark.parametrize("way", ["postprocess_nodes", "apostprocess_nodes"])
def test_events_tell_of_a_reranking(index, nodes, heard, way):
    reranker = SheetGraphReranker(index, top_n=2)
    found = getattr(reranker, way)(nodes, query_bundle=QueryBundle(QUESTION))
    ranked = asyncio.run(found) if asyncio.iscoroutine(found) else found
    start, end = heard.events
    assert (start.class_name(), end.class_name()) == ("ReRankStartEvent", "ReRankEndEvent")
    assert (start.query.query_str, start.top_n, start.model_name) == (QUESTION, 2, "auto")
    assert start.nodes == nodes
    assert json.loads(start.model_dump_json())["nodes"][0]["node"]["text"] == nodes[0].text
    assert end.nodes == ranked and len(ranked) == 2
    assert [span.rsplit("-", 5)[0] for span in heard.spans()] == [
        "SheetGraphReranker._postprocess_nodes"
    ]
    assert start.span_id == end.span_id == heard.spans()[0]


def test_the_callback_manager_hears_of_a_reranking(index, nodes):
    debug = LlamaDebugHandler(print_trace_on_end=False)
    reranker = SheetGraphReranker(index, callback_manager=CallbackManager([debug]))
    ranked = reranker.postprocess_nodes(nodes, query_str=QUESTION)
    [(start, end)] = debug.get_event_pairs(CBEventType.RERANKING)
    assert (start.payload["query_str"], start.payload["top_k"]) == (QUESTION, 5)
    assert end.payload["nodes"] == ranked


def test_parallel_rerankings_give_what_serial_ones_do(index, nodes):
    reranker = SheetGraphReranker(index, top_n=50)
    asked = [("revenue", "salary", "hours of a project")[n % 3] for n in range(30)]

    async def together():
        return await asyncio.gather(
            *(reranker.apostprocess_nodes(nodes, query_str=q) for q in asked)
        )

    for query, parallel in zip(asked, asyncio.run(together()), strict=True):
        assert parallel == reranker.postprocess_nodes(nodes, query_str=query)


def test_it_is_written_as_a_path_and_read_back(index, index_file, nodes, tmp_path):
    folder = save_small_model(tmp_path / "reranker", small_spec(index))
    for reranker in (
        SheetGraphReranker(index, top_n=3),
        SheetGraphReranker(index, folder, top_n=3, today=date(2024, 5, 10)),
    ):
        written = reranker.to_dict()
        assert written == {
            "index": str(index_file),
            "checkpoint": reranker.checkpoint,
            "top_n": 3,
            "today": reranker.today and "2024-05-10",
            "principals": None,
            "class_name": "SheetGraphReranker",
        }
        copies = [
            SheetGraphReranker.from_dict(written),
            SheetGraphReranker.from_json(reranker.to_json()),
            SheetGraphReranker.model_validate_json(reranker.model_dump_json()),
            pickle.loads(pickle.dumps(reranker)),
        ]
        for each in copies:
            assert isinstance(each, BaseNodePostprocessor)
            assert json.loads(each.to_json()) == written
            assert each.postprocess_nodes(nodes, query_str=QUESTION) == reranker.postprocess_nodes(
                nodes, query_str=QUESTION
            )
            each.index.close()


def test_what_cannot_work_is_refused_when_it_is_made(index, tmp_path):
    with pytest.raises(IndexNotFoundError):
        SheetGraphReranker(tmp_path / "none.sat")
    with pytest.raises(InputError, match="top_n is 0"):
        SheetGraphReranker(index, top_n=0)
    with pytest.raises(InputError, match="top_n is 'x'; give a whole number"):
        SheetGraphReranker(index, top_n="x")
    with pytest.raises(PathNotFoundError):
        SheetGraphReranker(index, tmp_path / "none")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no trained reranker"):
        SheetGraphReranker(index, tmp_path / "empty")
    other = save_small_model(tmp_path / "other", small_spec(index, encoder="another"))
    with pytest.raises(FingerprintMismatchError):
        SheetGraphReranker(index, other)


def test_a_reranking_without_a_query_is_refused(index, nodes):
    reranker = SheetGraphReranker(index)
    with pytest.raises(InputError, match="query"):
        reranker.postprocess_nodes(nodes)
    with pytest.raises(EmptyInputError):
        reranker.postprocess_nodes(nodes, query_str=" ")


def test_an_async_reranking_leaves_the_event_loop_free(tmp_path):
    async def rerank():
        encoder = HeldEncoder()
        with SheetIndex.create(tmp_path / "a.sat", encoder) as own:
            given = [foreign("revenue", "text")]
            ranking = SheetGraphReranker(own).apostprocess_nodes(given, query_str=QUESTION)
            return await encoder.beside(ranking)

    assert [node.node_id for node in asyncio.run(rerank())] == ["text"]


def test_the_class_has_the_base_of_its_kind():
    names_of_base_classes = [each.__name__ for each in SheetGraphReranker.__mro__]
    assert BaseNodePostprocessor.__name__ in names_of_base_classes
    assert SheetGraphReranker.class_name() == "SheetGraphReranker"


def test_workbooks_are_opened_for_the_texts_of_kept_nodes_alone(index, monkeypatch):
    opened = count_reads(monkeypatch)
    found = SheetTokenRetriever(index, 50).retrieve(QUESTION)
    reranker = SheetGraphReranker(index, top_n=2)
    kept = reranker.postprocess_nodes(found, query_str=QUESTION)
    assert len(found) == len(index)
    assert [node.metadata["citation"] for node in kept] and not opened
    assert all(node.text and node.node.to_dict() for node in kept)
    assert len(opened) == 2


async def test_async_calls_read_the_texts_that_are_looked_at_in_their_thread(index, monkeypatch):
    opened = count_reads(monkeypatch)
    found = await SheetTokenRetriever(index, 50).aretrieve(QUESTION)
    assert not opened
    reranker = SheetGraphReranker(index, top_n=2)
    kept = await reranker.apostprocess_nodes(found, query_str=QUESTION)
    assert len(opened) == 2
    assert all(node.text for node in kept)
    few = await SheetTokenRetriever(index, 3).aretrieve(QUESTION)
    assert all(node.text for node in few)
    assert len(opened) == 5
    assert threading.get_ident() not in opened
