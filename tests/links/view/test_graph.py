"""Graphs of sheets: networkx, JSON, GraphML, parts of them, and places on a page."""

from __future__ import annotations

import io
import json
import time

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sat_retriever.datasets.dataset import load_industrytab, load_spider
from sat_retriever.datasets.edges import load_links
from sat_retriever.links.view.graph import (
    graph_json_parts,
    graphml_parts,
    link_graph,
    to_graph_json,
    to_graphml,
)
from sat_retriever.links.view.layout import place_sheets
from sat_retriever.links.view.part import around, best_linked
from sat_retriever.records.jsonform import record_from_json
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import Column, ColumnType, FormulaState, SheetRecord, Visibility
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
        [
            (SUMMARY, Q1, "formula_reference"),
            (SUMMARY, Q1, "aggregation"),
            (Q1, RATES, "join_key"),
        ]
    )
    assert graph.edges[SUMMARY, Q1, "formula_reference"] == {
        "type": "formula_reference",
        "weight": 0.75,
        "evidence": "Summary!B4 =SUM(Q1!B2:B9)",
    }
    assert nx.pagerank(graph)[RATES] > nx.pagerank(graph)[SUMMARY]  # any algorithm takes it


def test_the_json_form_has_whole_records_and_links():
    form = json.loads(json.dumps(to_graph_json(RECORDS, LINKS)))
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


def read(graphml: bytes) -> nx.MultiDiGraph:
    return nx.read_graphml(io.BytesIO(graphml), force_multigraph=True)


def test_networkx_reads_the_graphml_as_the_same_graph():
    graph, ours = read(to_graphml(RECORDS, LINKS)), link_graph(RECORDS, LINKS)
    assert graph.is_directed()
    assert dict(graph.nodes(data=True)) == dict(ours.nodes(data=True))
    assert edges_of(graph) == edges_of(ours)


def test_every_edge_of_the_graphml_has_an_id_of_its_own():
    text = to_graphml(RECORDS, LINKS).decode()
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
    text = "".join(graph_json_parts(records, links))
    assert json.loads(text) == to_graph_json(records, links)
    graph = read(to_graphml(records, links))
    assert len(graph) == len(names)
    assert graph.number_of_edges() == 1
    # What XML can hold is the same again.
    assert {name for name in names if _is_plain(name)} <= set(graph)
    if _is_plain(evidence):
        assert next(data for *_, data in graph.edges(data=True))["evidence"] == evidence


def _is_plain(text: str) -> bool:
    return all(letter in "\t\n\r" or letter.isprintable() for letter in text)


def test_a_control_character_is_written_as_excel_does():
    graph = read(to_graphml([SheetRecord("a\x0b", "a\x0b")], []))
    assert list(graph.nodes(data="name")) == [("a_x000B_", "a_x000B_")]


def test_line_ends_stay_as_they_are():
    link = Link("a\r\n\tb", "c", "join_key", 0.5, "one\rtwo\r\nthree\tfour")
    graph = read(to_graphml([SheetRecord("a\r\n\tb", "a"), SheetRecord("c", "c")], [link]))
    assert edges_of(graph) == [("a\r\n\tb", "c", "join_key", 0.5, link.evidence)]


def test_an_empty_graph_has_a_form_too():
    assert json.loads("".join(graph_json_parts([], LINKS))) == {"sheets": [], "links": []}
    assert len(read(to_graphml([], LINKS))) == 0
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


# ---- parts of a graph

PAIRS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=20)


@given(PAIRS, st.integers(0, 9), st.integers(0, 4))
def test_around_is_what_a_breadth_first_search_finds(pairs, start, hops):
    links = [Link(str(a), str(b), "join_key") for a, b in pairs]
    graph = nx.Graph(pairs)
    graph.add_node(start)
    near = nx.single_source_shortest_path_length(graph, start, cutoff=hops)
    assert around([str(start)], links, hops) == sorted(map(str, near))


def test_going_round_ends_where_no_sheet_is_left_however_many_hops_are_allowed():
    links = [Link("a", "b", "join_key"), Link("b", "a", "join_key")]
    assert around(["a"], links, 10**18) == ["a", "b"]


def test_the_best_linked_stay_and_the_same_workbook_counts_last():
    links = [
        Link("d", "e", "join_key"),
        *(Link("a", other, "same_workbook") for other in "bcde"),
        Link("x", "b", "join_key"),  # x is not among the sheets
    ]
    assert best_linked("abcde", links, 5) == list("abcde")
    assert best_linked("abcde", links, 3) == ["a", "d", "e"]
    assert best_linked("abcde", links, 2) == ["d", "e"]


# ---- places


def corpus(size: int, a_workbook: int, count: int) -> tuple[list[SheetRecord], list[Link]]:
    chance = np.random.default_rng(7)
    records = [sheet(f"w{row // a_workbook}.xlsx", f"Sheet {row}") for row in range(size)]
    ends = chance.integers(0, size, (count, 2))
    links = [Link(records[a].sheet_id, records[b].sheet_id, "formula_reference") for a, b in ends]
    return records, links


LAYOUTS = [(1, 1, 0), (2, 1, 1), (2, 2, 1), (40, 1, 0), (60, 6, 40), (300, 4, 200), (400, 1, 1500)]


@pytest.mark.parametrize(("size", "a_workbook", "count"), LAYOUTS)
def test_no_two_cards_overlap_and_every_sheet_is_in_its_own(size, a_workbook, count):
    records, links = corpus(size, a_workbook, count)
    layout = place_sheets(records, links)
    boxes = np.array([(c.left, c.top, c.left + c.width, c.top + c.height) for c in layout.cards])
    for row, (left, top, right, bottom) in enumerate(boxes):
        others = np.delete(boxes, row, axis=0)
        apart = (others[:, 0] >= right) | (others[:, 2] <= left)
        apart |= (others[:, 1] >= bottom) | (others[:, 3] <= top)
        assert apart.all()
    placed = sorted(one for card in layout.cards for one in card.sheets)
    assert placed == list(range(size))
    for card in layout.cards:
        assert {records[one].path for one in card.sheets} == {card.title}
        x, y = layout.points[list(card.sheets)].T
        assert ((card.left < x) & (x < card.left + card.width)).all()
        assert ((card.top < y) & (y < card.top + card.height)).all()
        assert len({(a, b) for a, b in zip(x, y, strict=True)}) == len(card.sheets)


def test_the_same_sheets_are_placed_the_same_way():
    records, links = corpus(120, 5, 150)
    first, second = place_sheets(records, links), place_sheets(records, links)
    assert first.cards == second.cards
    assert (first.points == second.points).all()


def test_linked_workbooks_are_nearer_than_others():
    records, _ = corpus(120, 4, 0)
    links = [  # a ring of 30 workbooks
        Link(records[row].sheet_id, records[(row + 4) % 120].sheet_id, "join_key")
        for row in range(0, 120, 4)
    ]
    cards = place_sheets(records, links).cards
    middle = {c.title: np.array([c.left + c.width / 2, c.top + c.height / 2]) for c in cards}
    ring = np.array([middle[f"w{number}.xlsx"] for number in range(30)])
    beside = np.linalg.norm(ring - np.roll(ring, 1, axis=0), axis=1).mean()
    across = np.linalg.norm(ring - np.roll(ring, 15, axis=0), axis=1).mean()
    assert beside < across / 2


def test_sheets_without_a_workbook_share_a_card_with_those_they_are_linked_to():
    records = [SheetRecord(str(number), f"Sheet {number}") for number in range(9)]
    links = [Link("0", "1", "join_key"), Link("2", "3", "join_key"), Link("3", "4", "join_key")]
    groups = [card.sheets for card in place_sheets(records, links).cards]
    assert groups == [(2, 3, 4), (0, 1), (5, 6, 7, 8)]


def test_two_thousand_sheets_are_placed_in_seconds():
    records, links = corpus(2000, 1, 8000)  # measured at 1.3 s
    start = time.process_time()
    place_sheets(records, links)
    assert time.process_time() - start < 20


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
