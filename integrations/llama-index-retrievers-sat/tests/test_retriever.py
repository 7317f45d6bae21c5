"""Questions to nodes."""

from __future__ import annotations

import asyncio
import json
import pickle
import shutil
from datetime import UTC, date, datetime

import numpy as np
import pytest
from llama_index.core import Document, MockEmbedding, VectorStoreIndex
from llama_index.core.callbacks import CallbackManager, CBEventType, LlamaDebugHandler
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import MetadataMode, QueryBundle, TextNode
from llama_index.core.vector_stores import MetadataFilters
from llama_index.retrievers.sat import SheetTokenRetriever

from sat_retriever import (
    Column,
    Content,
    EmptyInputError,
    EncoderError,
    Filters,
    IndexNotFoundError,
    InputError,
    SheetIndex,
    SheetRecord,
    SheetRetriever,
)
from sat_retriever.records.hits import NOTHING
from tests.builders import transit
from tests.fakes import HashedEncoder, HeldEncoder
from tests.integrations.llamaindex import MONTHS
from tests.integrations.scripted import ScriptedLLM

QUESTIONS = ("salary of the staff", "currency rate", "revenue by region", "project hours")


def sheets(nodes):
    return [node.node.metadata["sheet_id"] for node in nodes]


def answer(nodes):
    """All that a caller sees of an answer."""
    return [(node.node_id, node.score, node.text, node.metadata) for node in nodes]


def test_metadata_says_how_sure_the_answer_is(index):
    near, strange = (
        SheetTokenRetriever(index).retrieve(question)
        for question in (QUESTIONS[2], "which goalkeeper saved most penalties?")
    )
    assert {each.node.metadata["answered"] for each in near} == {True}
    assert {each.node.metadata["answered"] for each in strange} == {False}
    assert near[0].node.metadata["confidence"] > strange[0].node.metadata["confidence"]
    assert strange[0].node.get_content(MetadataMode.LLM).count(NOTHING) == 1
    assert not any(NOTHING in each.text for each in (*near, *strange[1:]))


def test_nodes_are_the_sheets_of_stage_1_with_their_scores(index):
    found = SheetTokenRetriever(index, similarity_top_k=4).retrieve(QUESTIONS[2])
    bare = SheetRetriever(index, None).retrieve(QUESTIONS[2], 4)
    assert sheets(found) == [hit.sheet_id for hit in bare]
    assert [node.score for node in found] == [hit.score for hit in bare]


def test_an_index_is_given_open_or_as_its_path(index, index_file):
    by_path = SheetTokenRetriever(index_file)
    assert answer(by_path.retrieve("salary")) == answer(
        SheetTokenRetriever(index).retrieve("salary")
    )
    by_path.index.close()


def test_a_path_without_an_index_is_refused_at_once(tmp_path):
    with pytest.raises(IndexNotFoundError):
        SheetTokenRetriever(tmp_path / "none.sat")


def test_from_paths_indexes_what_is_new_and_takes_the_options(workbooks, encoder, tmp_path):
    made = SheetTokenRetriever.from_paths(
        [workbooks], index=tmp_path / "own.sat", encoder=encoder, similarity_top_k=1
    )
    assert sheets(made.retrieve("salary")) == ["staff.csv#staff"]
    made.index.close()
    again = SheetTokenRetriever.from_paths([workbooks], index=tmp_path / "own.sat")
    assert len(again.index) == 9
    again.index.close()


def test_sheets_of_equal_text_stay_apart(index):
    retriever = SheetTokenRetriever(index, similarity_top_k=3, content="record")
    for nodes in (retriever.retrieve("hours"), asyncio.run(retriever.aretrieve("hours"))):
        assert sorted(sheets(nodes)) == sorted(f"{m}/Hours.xlsx#Hours" for m in MONTHS)
        assert len({node.text for node in nodes}) == 1
        assert len({node.node_id for node in nodes}) == 3


def test_ids_are_the_same_in_every_answer_and_differ_between_indexes(index, index_file, tmp_path):
    other = SheetTokenRetriever(shutil.copy(index_file, tmp_path / "b.sat"))
    first, second = (
        {node.metadata["sheet_id"]: node.node_id for node in SheetTokenRetriever(index).retrieve(q)}
        for q in ("hours", "project hours")
    )
    shared = first.keys() & second.keys()
    assert len(shared) >= 3
    assert all(first[each] == second[each] for each in shared)
    elsewhere = {node.node_id for node in other.retrieve("hours")}
    assert not elsewhere & set(first.values())
    other.index.close()


def test_metadata_say_where_the_data_is_and_what_speaks_for_it(index):
    [node] = SheetTokenRetriever(index, similarity_top_k=1).retrieve("salary of the staff")
    found = node.metadata
    assert found["sheet_id"] == "staff.csv#staff"
    assert found["citation"] == "staff.csv#staff!A1:B3"
    assert (found["workbook"], found["path"], found["sheet"]) == ("staff.csv", "staff.csv", "staff")
    assert (found["range"], found["header_row"], found["columns"]) == ("A1:B3", 1, "Name | Salary")
    assert (found["rank"], found["dense_rank"], found["headers"]) == (1, 1, "Salary")
    assert node.score == pytest.approx(found["score"], abs=1e-6)
    assert all(value is None or isinstance(value, (str, int, float)) for value in found.values())


def test_metadata_say_all_that_a_hit_says(index):
    nodes = SheetTokenRetriever(index, 9).retrieve("total revenue")
    for node, hit in zip(
        nodes, SheetRetriever(index, None).retrieve("total revenue", 9), strict=True
    ):
        said = hit.to_dict()
        said |= said.pop("why")
        assert {*said, "confidence", "answered"} == node.metadata.keys()
        for key, value in said.items():
            if isinstance(value, float):
                assert node.metadata[key] == pytest.approx(value, abs=1e-6)
            elif not isinstance(value, (list, dict)):
                assert node.metadata[key] == value
        assert node.metadata["columns"] == " | ".join(each["name"] for each in said["columns"])
        assert node.metadata["words"] == ", ".join(said["words"])
        assert node.metadata["copies"].split() == said["copies"]["sheet_ids"]
        links = node.metadata["links"].split("; ") if said["links"] else []
        assert len(links) == len(said["links"])


def test_links_within_the_answer_are_named(index):
    nodes = SheetTokenRetriever(index, similarity_top_k=9).retrieve("total revenue")
    summary = next(node for node in nodes if node.metadata["sheet"] == "Summary")
    link = "formula_reference: sales/2024.xlsx#Summary -> sales/2024.xlsx#Q1"
    assert link in summary.metadata["links"].split("; ")


def test_a_model_reads_the_citation_and_the_text_and_nothing_else(index):
    [node] = SheetTokenRetriever(index, similarity_top_k=1).retrieve("salary")
    read = node.node.get_content(metadata_mode=MetadataMode.LLM)
    assert read == f"citation: staff.csv#staff!A1:B3\n\n{node.text}"
    assert node.node.get_content(metadata_mode=MetadataMode.EMBED) == node.text


def test_the_text_can_be_the_rows_instead(index):
    retriever = SheetTokenRetriever(index, 1, content=Content("markdown", 200))
    [node] = retriever.retrieve("salary")
    assert "Ada" in node.text and "41" in node.text
    [short] = SheetTokenRetriever(index, 1, content="html").retrieve("salary")
    assert "<td>Ada</td>" in short.text
    assert "Ada" in SheetTokenRetriever(index, 1).retrieve("salary")[0].text
    [headers] = SheetTokenRetriever(index, 1, content="record").retrieve("salary")
    assert "Ada" not in headers.text
    with pytest.raises(InputError, match="unknown content form 'pdf'"):
        SheetTokenRetriever(index, content="pdf")


def test_a_record_s_own_fields_come_along(tmp_path):
    record = SheetRecord("a", "a", columns=(Column("Tax"),), metadata={"team": "ops", "rank": "x"})
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as index:
        index.add_records([record])
        [node] = SheetTokenRetriever(index).retrieve("tax")
    assert (node.metadata["team"], node.metadata["rank"]) == ("ops", 1)


@pytest.mark.parametrize("count", [0, -3, "x", 2.5, None, True])
def test_a_number_of_nodes_that_is_none_is_refused_when_the_retriever_is_made(index, count):
    with pytest.raises(InputError, match=f"similarity_top_k is {count!r}; (give|ask for)"):
        SheetTokenRetriever(index, similarity_top_k=count)


def test_from_paths_leaves_no_open_index_behind_when_an_option_is_wrong(
    workbooks, encoder, tmp_path
):
    file = tmp_path / "own.sat"
    with pytest.raises(InputError, match="similarity_top_k"):
        SheetTokenRetriever.from_paths(workbooks, file, encoder=encoder, similarity_top_k=0)
    assert not file.with_name("own.sat-wal").exists()  # closing the last reader removes it


def test_filters_hold_for_every_node(index):
    filters = MetadataFilters.from_dicts([{"key": "path", "value": "March/Hours.xlsx"}])
    retriever = SheetTokenRetriever(index, 9, filters)
    assert sheets(retriever.retrieve("salary")) == ["March/Hours.xlsx#Hours"]
    assert sheets(asyncio.run(retriever.aretrieve("salary"))) == ["March/Hours.xlsx#Hours"]


def test_parallel_queries_answer_as_one_after_the_other(index):
    retriever = SheetTokenRetriever(index, similarity_top_k=5)
    asked = [each + " total" * n for each in QUESTIONS for n in range(3)]

    async def together():
        return await asyncio.gather(*(retriever.aretrieve(each) for each in asked * 2))

    parallel = [answer(nodes) for nodes in asyncio.run(together())]
    assert parallel == 2 * [answer(retriever.retrieve(each)) for each in asked]
    assert len({str(each) for each in parallel}) == 12


class HeldForQueries(HeldEncoder):
    def encode_sheets(self, texts):
        return HashedEncoder.encode_sheets(self, texts)

    def encode_queries(self, texts):
        return HeldEncoder.encode_sheets(self, texts)


async def test_the_event_loop_runs_on_while_a_query_is_encoded(tmp_path):
    encoder = HeldForQueries()
    with SheetIndex.create(tmp_path / "a.sat", encoder) as index:
        index.add_records([SheetRecord("a", "a", columns=(Column("Tax"),))])
        nodes = await encoder.beside(SheetTokenRetriever(index).aretrieve("tax"))
    assert sheets(nodes) == ["a"]


class NoEncoder(HashedEncoder):
    """Encodes sheets, but no query."""

    def encode_queries(self, texts):
        raise AssertionError("the query was encoded although its embedding was given")


def test_a_query_that_brings_its_embedding_is_not_encoded(tmp_path):
    token = HashedEncoder().encode_queries(["tax"])[0]
    with SheetIndex.create(tmp_path / "a.sat", NoEncoder(), dense_weight=1.0) as index:
        index.add_records(SheetRecord(x, x, columns=(Column(x),)) for x in ("tax", "stock"))
        query = QueryBundle("stock", embedding=(3 * token).tolist())
        retriever = SheetTokenRetriever(index, 1)
        for nodes in (retriever.retrieve(query), asyncio.run(retriever.aretrieve(query))):
            assert sheets(nodes) == ["tax"]
            assert nodes[0].score == pytest.approx(2 / np.sqrt(6), abs=1e-6)  # name tax columns tax


def test_an_embedding_of_another_model_is_passed_over(index):
    """Vector retrievers leave theirs in a query that they share with others."""
    expected = answer(SheetTokenRetriever(index).retrieve("salary"))
    wide = QueryBundle("salary", embedding=[1.0] * 1536)
    assert answer(SheetTokenRetriever(index).retrieve(wide)) == expected
    assert wide.embedding == [1.0] * 1536
    same_width = QueryBundle("salary", embedding=[1.0] * 64)
    deaf = SheetTokenRetriever(index, use_embedding=False)
    assert answer(deaf.retrieve(same_width)) == expected
    assert answer(SheetTokenRetriever(index).retrieve(same_width)) != expected


def test_an_embedding_without_a_direction_is_refused(index):
    with pytest.raises(InputError, match="token"):
        SheetTokenRetriever(index).retrieve(QueryBundle("salary", embedding=[0.0] * 64))


def test_it_stands_beside_a_vector_retriever_of_another_model(index):
    documents = [Document(text=text) for text in ("salary", "hours")]
    vectors = VectorStoreIndex.from_documents(documents, embed_model=MockEmbedding(8))
    both = [vectors.as_retriever(), SheetTokenRetriever(index, 3)]
    merged = QueryFusionRetriever(
        both, ScriptedLLM([]), num_queries=1, similarity_top_k=9, use_async=False
    )
    found = merged.retrieve(QueryBundle("salary of the staff"))
    assert "staff.csv#staff" in [node.metadata.get("sheet_id") for node in found]


def test_an_embedding_counts_for_its_query_alone(index):
    token = index.encoder.encode_queries(["currency"])[0].tolist()
    retriever = SheetTokenRetriever(index, 9)
    before = answer(retriever.retrieve("salary"))
    other = answer(retriever.retrieve(QueryBundle("salary", embedding=token)))
    assert other != before
    assert answer(retriever.retrieve("salary")) == before


def test_texts_to_embed_in_place_of_the_query_are_used(tmp_path):
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder(), dense_weight=1.0) as index:
        index.add_records(SheetRecord(x, x, columns=(Column(x),)) for x in ("tax", "stock"))
        query = QueryBundle("tax", custom_embedding_strs=["stock", "stock on hand"])
        assert sheets(SheetTokenRetriever(index, 1).retrieve(query)) == ["stock"]


def test_an_empty_query_is_refused(index):
    with pytest.raises(EmptyInputError):
        SheetTokenRetriever(index).retrieve("  ")
    with pytest.raises(InputError, match="top_k is 0"):
        SheetTokenRetriever(index, similarity_top_k=0).retrieve("tax")


@pytest.mark.parametrize("way", ["retrieve", "aretrieve"])
def test_events_and_spans_tell_of_a_query(index, heard, way):
    retriever = SheetTokenRetriever(index, 2)
    asked = getattr(retriever, way)("salary")
    nodes = asyncio.run(asked) if way == "aretrieve" else asked
    assert heard.names() == ["RetrievalStartEvent", "RetrievalEndEvent"]
    assert heard.events[0].str_or_query_bundle == "salary"
    assert sheets(heard.events[1].nodes) == sheets(nodes)
    inner = {"retrieve": "_retrieve", "aretrieve": "_aretrieve"}[way]
    names = [span.rsplit("-", 5)[0] for span in heard.spans()]
    assert names == [f"SheetTokenRetriever.{inner}", f"SheetTokenRetriever.{way}"]


@pytest.mark.parametrize("way", ["retrieve", "aretrieve"])
def test_the_callback_manager_hears_of_a_query(index, way):
    debug = LlamaDebugHandler(print_trace_on_end=False)
    retriever = SheetTokenRetriever(index, 2, callback_manager=CallbackManager([debug]))
    asked = getattr(retriever, way)("salary")
    nodes = asyncio.run(asked) if way == "aretrieve" else asked
    [(start, end)] = debug.get_event_pairs(CBEventType.RETRIEVE)
    assert start.payload["query_str"] == "salary"
    assert end.payload["nodes"] == nodes


def test_merging_several_answers_counts_each_sheet_once(index):
    """Rank and score differ between the answers, the node is the same."""
    march = MetadataFilters.from_dicts([{"key": "path", "value": "March/Hours.xlsx"}])
    parts = [SheetTokenRetriever(index, 9), SheetTokenRetriever(index, 9, march)]
    merged = QueryFusionRetriever(
        parts, ScriptedLLM([]), mode="reciprocal_rerank", num_queries=1, similarity_top_k=20
    )
    nodes = merged.retrieve("salary of the staff")
    assert len(set(sheets(nodes))) == len(nodes) == 9
    place = sheets(parts[0].retrieve("salary of the staff")).index("March/Hours.xlsx#Hours")
    assert place > 0
    assert sheets(nodes)[0] == "March/Hours.xlsx#Hours"  # found twice
    assert nodes[0].score == pytest.approx(1 / (60 + place) + 1 / 60)


def test_a_node_survives_its_serialised_form(index):
    [node] = SheetTokenRetriever(index, 1).retrieve("salary")
    again = TextNode.from_dict(node.node.to_dict())
    assert again.to_dict() == node.node.to_dict()


def test_last_year_counts_from_a_given_day(tmp_path):
    with SheetIndex.create(tmp_path / "years.sat", HashedEncoder()) as years:
        years.add_records([SheetRecord(f"{year}", f"Sales {year}") for year in (2021, 2022, 2023)])
        for day, best in ((date(2024, 5, 10), "2023"), (date(2022, 1, 1), "2021")):
            retriever = SheetTokenRetriever(years, 1, today=day)
            assert sheets(retriever.retrieve("sales last year")) == [best]
            assert sheets(asyncio.run(retriever.aretrieve("sales last year"))) == [best]


def test_nodes_hold_the_rows_that_answer_where_contents_are_kept(tmp_path):
    with SheetIndex.open(transit(tmp_path), HashedEncoder()) as kept:
        found = SheetTokenRetriever(kept).retrieve("people of town 444")
        [node] = [each.node for each in found if each.metadata["sheet"] == "Cities"]
        assert node.metadata["citation"] == "Transit.xlsx#Cities!A436:C456"
        assert node.metadata["cells"] == "B446: Town 444"
        assert "| 446 | C-0444 | Town 444 | 444 |" in node.text
        other = SheetTokenRetriever(kept).retrieve("people of town 3")
        [same] = [each.node for each in other if each.metadata["sheet"] == "Cities"]
        assert node.text != same.text and node.hash == same.hash  # one sheet, two questions
        headers = SheetTokenRetriever(kept, content="record").retrieve("people of town 444")
        assert all(each.text.startswith("name: ") for each in headers)


def test_a_retriever_comes_back_from_a_pickle_and_from_its_settings(index):
    since = datetime(2001, 2, 3, tzinfo=UTC)
    retriever = SheetTokenRetriever(
        index, 3, Filters(format="xlsx", modified_after=since), content=Content("html", 64),
        use_embedding=False, today=date(2024, 5, 10), verbose=True,
        callback_manager=CallbackManager([LlamaDebugHandler(print_trace_on_end=False)]),
    )  # fmt: skip
    written = json.loads(json.dumps(retriever.to_dict()))
    assert written["index"] == str(index.path)
    for again in (
        pickle.loads(pickle.dumps(retriever)),
        SheetTokenRetriever.from_dict(written),
        SheetTokenRetriever.from_dict(written, index=index),
    ):
        assert again.to_dict() == written
        assert (again.filters, again.content) == (retriever.filters, retriever.content)
        assert answer(again.retrieve(QUESTIONS[2])) == answer(retriever.retrieve(QUESTIONS[2]))
        if again.index is not index:
            again.index.close()
    fewer = SheetTokenRetriever.from_dict(written, similarity_top_k=1)
    assert len(fewer.retrieve(QUESTIONS[2])) == 1
    fewer.index.close()
    with pytest.raises(InputError, match="no filter author"):
        SheetTokenRetriever.from_dict({**written, "filters": {"author": "Ada"}})


def test_settings_of_an_index_of_no_named_encoder_take_the_open_index(tmp_path):
    model = MockEmbedding(embed_dim=8)
    with SheetIndex.create(tmp_path / "a.sat", model) as own:
        own.add_records([SheetRecord("sales", "Sales")])
        written = SheetTokenRetriever(own).to_dict()
        lost = SheetTokenRetriever.from_dict(written)
        with lost.index, pytest.raises(EncoderError, match="encoder=OBJECT"):
            lost.retrieve("sales")
        assert sheets(SheetTokenRetriever.from_dict(written, index=own).retrieve("sales"))
