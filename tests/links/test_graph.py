"""Graphs of sheets: networkx, JSON and GraphML."""

from __future__ import annotations

import io
import json

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sat_retriever import Column, Link, SheetRecord, Visibility, link_graph
from sat_retriever.datasets.dataset import load_industrytab, load_spider
from sat_retriever.datasets.edges import load_links
from sat_retriever.links.graph import graph_json_parts, graphml_parts
from sat_retriever.records.formats import FormulaState
from sat_retriever.records.jsonform import record_from_json
from sat_retriever.records.sheets import ColumnType
from tests.places import needs


def sheet(path: str, name: str, *headers: str, **more) -> SheetRecord:
    columns = tuple(Column(header, type=ColumnType.NUMBER) for header in headers)
    return SheetRecord(f"{path}#{name}", name, path, path, columns, **more)


RECORDS = [
    sheet("a.xlsx", "Q1", "Month", "Net", num_rows=12, num_cols=2, range="A1:B12", format="xlsx"),
    sheet("a.xlsx", "Summary", formulas=FormulaState.READ),
    sheet("b.xls", "Rates", visibility=Visibility.HIDDEN, formulas=FormulaState.UNREAD),
]
Q1, SUMMARY, RATES = (record.sheet_id for record in RECORDS)
LINKS = [
    Link(SUMMARY, Q1, "formula_reference", 0.75, "Summary!B4 =SUM(Q1!B2:B9)"),
    Link(SUMMARY, Q1, "aggregation", 1.0, "Summary!B4 =SUM(Q1!B2:B9)"),
    Link(Q1, RATES, "join_key", 0.5),
    Link(Q1, "gone.xlsx#x", "join_key", 0.5),
]


def test_a_sheet_is_a_node_with_plain_attributes():
    graph = link_graph(RECORDS, LINKS)
    assert list(graph) == [Q1, SUMMARY, RATES]
    assert graph.nodes[Q1] == {
        "name": "Q1",
        "workbook": "a.xlsx",
        "path": "a.xlsx",
        "range": "A1:B12",
        "rows": 12,
        "cols": 2,
        "headers": "Month | Net",
        "visibility": "visible",
        "format": "xlsx",
        "formulas": "none",
    }
    assert (graph.nodes[RATES]["visibility"], graph.nodes[RATES]["formulas"]) == (
        "hidden",
        "unread",
    )


def test_links_are_edges_keyed_by_type_and_one_to_a_sheet_that_is_not_there_is_left_out():
    graph = link_graph(RECORDS, LINKS)
    assert sorted(graph.edges(keys=True)) == sorted(
        [(SUMMARY, Q1, "formula_reference"), (SUMMARY, Q1, "aggregation"), (Q1, RATES, "join_key")]
    )
    assert graph.edges[SUMMARY, Q1, "formula_reference"] == {
        "type": "formula_reference",
        "weight": 0.75,
        "evidence": "Summary!B4 =SUM(Q1!B2:B9)",
    }
    assert nx.pagerank(graph)[RATES] > nx.pagerank(graph)[SUMMARY]  # any algorithm takes it


def test_the_json_form_has_whole_records_and_links():
    form = json.loads("".join(graph_json_parts(RECORDS, LINKS)))
    assert list(form) == ["sheets", "links"]
    assert [record_from_json(row) for row in form["sheets"]] == RECORDS
    assert form["links"][0] == {
        "source": SUMMARY,
        "target": Q1,
        "type": "formula_reference",
        "weight": 0.75,
        "evidence": "Summary!B4 =SUM(Q1!B2:B9)",
    }


def test_exported_json_is_read_back_as_the_same_links(tmp_path):
    file = tmp_path / "graph.json"
    file.write_text("".join(graph_json_parts(RECORDS, LINKS)), encoding="utf-8")
    assert load_links(file) == tuple(LINKS[:3])


def edges_of(graph) -> list[tuple]:
    return sorted(
        (source, target, data["type"], data["weight"], data.get("evidence", ""))
        for source, target, data in graph.edges(data=True)
    )


def graphml(records, links) -> bytes:
    return "".join(graphml_parts(records, links)).encode()


def read(graphml: bytes) -> nx.MultiDiGraph:
    return nx.read_graphml(io.BytesIO(graphml), force_multigraph=True)


def test_networkx_reads_the_graphml_as_the_same_graph():
    graph, ours = read(graphml(RECORDS, LINKS)), link_graph(RECORDS, LINKS)
    assert graph.is_directed()
    assert dict(graph.nodes(data=True)) == dict(ours.nodes(data=True))
    assert edges_of(graph) == edges_of(ours)


def test_every_edge_of_the_graphml_has_an_id_of_its_own():
    text = graphml(RECORDS, LINKS).decode()
    assert [f'id="e{number}"' in text for number in range(4)] == [True, True, True, False]


NASTY = st.text(
    st.one_of(
        st.characters(exclude_categories=()), st.sampled_from("\x00\x01\t\r\n<>&\"']]>\ud800￾�😀")
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=150)
@given(st.lists(NASTY, min_size=2, max_size=4, unique=True), NASTY)
def test_any_name_and_evidence_survives_both_forms(names, evidence):
    records = [SheetRecord(name, name, columns=(Column(name),)) for name in names]
    links = [Link(names[0], names[1], "join_key", 0.5, evidence)]
    form = json.loads("".join(graph_json_parts(records, links)))
    assert [record_from_json(row) for row in form["sheets"]] == records
    ends = {"source": names[0], "target": names[1]}
    assert form["links"] == [ends | {"type": "join_key", "weight": 0.5, "evidence": evidence}]
    graph = read(graphml(records, links))
    assert len(graph) == len(names)
    assert graph.number_of_edges() == 1
    # What XML can hold is the same again.
    assert {name for name in names if _is_plain(name)} <= set(graph)
    if _is_plain(evidence):
        assert next(data for *_, data in graph.edges(data=True))["evidence"] == evidence


def _is_plain(text: str) -> bool:
    return all(letter in "\t\n\r" or letter.isprintable() for letter in text)


def test_a_control_character_is_written_as_excel_does():
    graph = read(graphml([SheetRecord("a\x0b", "a\x0b")], []))
    assert list(graph.nodes(data="name")) == [("a_x000B_", "a_x000B_")]


def test_line_ends_stay_as_they_are():
    link = Link("a\r\n\tb", "c", "join_key", 0.5, "one\rtwo\r\nthree\tfour")
    graph = read(graphml([SheetRecord("a\r\n\tb", "a"), SheetRecord("c", "c")], [link]))
    assert edges_of(graph) == [("a\r\n\tb", "c", "join_key", 0.5, link.evidence)]


def test_an_empty_graph_has_a_form_too():
    assert json.loads("".join(graph_json_parts([], LINKS))) == {"sheets": [], "links": []}
    assert len(read(graphml([], LINKS))) == 0
    assert len(link_graph([], LINKS)) == 0


def test_the_texts_are_made_bit_by_bit():
    def records():
        yield from RECORDS
        raise KeyboardInterrupt  # what came before is out already

    for parts in (graph_json_parts, graphml_parts):
        seen = ""
        with pytest.raises(KeyboardInterrupt):
            for part in parts(records(), LINKS):
                seen += part
        assert "Summary" in seen


# ---- published graphs


@pytest.fixture
def data():
    return needs("data")


def test_published_graphs_take_the_same_form(data, tmp_path):
    for dataset in (load_industrytab(data / "industrytab_1k"), load_spider(data / "spider")):
        graph = link_graph(dataset.records, dataset.links)
        assert len(graph) == len(dataset.records)
        published = {(link.source, link.target, link.type) for link in dataset.links}
        assert set(graph.edges(keys=True)) == published
        file = tmp_path / f"{dataset.name}.json"
        file.write_text("".join(graph_json_parts(dataset.records, dataset.links)))
        assert load_links(file) == dataset.links
