"""`sat graph`: formats, parts of the graph, and where it is written."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import networkx as nx
import pytest

from sat_retriever import SheetEncoder, SheetIndex
from sat_retriever.datasets.edges import load_links
from tests.builders import save_book
from tests.cli.conftest import run_sat
from tests.cli.terminals import in_terminal

SUMMARY, Q1, Q2, RATES = (
    "sales/2024.xlsx#Summary",
    "sales/2024.xlsx#Q1",
    "sales/2024.xlsx#Q2",
    "rates.xlsx#Rates",
)
ALONE = "staff.csv#staff"
SUM = "Summary!B2 =SUM(Q1!B2:B3)"


@pytest.fixture(scope="session")
def linked(tmp_path_factory: pytest.TempPathFactory, encoder: Path) -> Path:
    """An index of workbooks whose formulas refer to each other, never written to by a test."""
    folder = tmp_path_factory.mktemp("linked")
    quarter = [["Region", "Revenue"], ["North", 1], ["South", 2]]
    first = [[*quarter[0], None, "='[../rates.xlsx]Rates'!B2"], *quarter[1:]]
    summary = [["Quarter", "Revenue"], ["Q1", "=SUM(Q1!B2:B3)"], ["Q2", "=SUM(Q2!B2:B3)"]]
    save_book(folder / "sales" / "2024.xlsx", Summary=summary, Q1=first, Q2=quarter)
    save_book(folder / "rates.xlsx", Rates=[["Currency", "Rate"], ["EUR", 1.1]])
    (folder / "staff.csv").write_text("Name,Salary\nAda,41\n", encoding="utf-8")
    file = folder / "linked.sat"
    done = run_sat("index", folder, "--index", file, "--model", encoder)
    assert done.code == 0, done.err
    return file


def exported(sat, *arguments) -> dict:
    run = sat("graph", *arguments)
    assert (run.code, run.err) == (0, "")
    return json.loads(run.out)


def ids(graph: dict) -> list[str]:
    return [sheet["sheet_id"] for sheet in graph["sheets"]]


def test_json_is_printed_with_all_sheets_and_links(linked, sat):
    graph = exported(sat, "-i", linked)
    assert list(graph) == ["sheets", "links"]
    assert ids(graph) == sorted([SUMMARY, Q1, Q2, RATES, ALONE])
    keys = ["source", "target", "type", "weight", "evidence"]
    assert all(list(link) == keys for link in graph["links"])
    (link,) = (
        link
        for link in graph["links"]
        if (link["source"], link["target"], link["type"]) == (SUMMARY, Q1, "aggregation")
    )
    assert link["evidence"] == SUM
    assert 0 < link["weight"] <= 1


def test_the_name_of_the_file_says_which_format_and_all_hold_the_same_links(linked, sat, tmp_path):
    for name in ("g.json", "g.graphml", "g.html"):
        run = sat("graph", "-i", linked, "--out", tmp_path / name)
        assert (run.code, run.out) == (0, "")
        assert re.fullmatch(rf"5 sheets and \d+ links in .*{name}\n", run.err)
    links = load_links(tmp_path / "g.json")
    graph = nx.read_graphml(
        io.BytesIO((tmp_path / "g.graphml").read_bytes()), force_multigraph=True
    )
    edges = {(a, b, data["type"]) for a, b, data in graph.edges(data=True)}
    assert edges == {(link.source, link.target, link.type) for link in links}
    page = (tmp_path / "g.html").read_text(encoding="utf-8")
    assert json.dumps(SUM)[1:-1] in page
    assert "<title>linked</title>" in page


PARTS = [
    (["--workbook", "2024.xlsx"], {SUMMARY, Q1, Q2}),
    (["--workbook", "sales/2024.xlsx"], {SUMMARY, Q1, Q2}),
    (["--path", "sales/*"], {SUMMARY, Q1, Q2}),
    (["--path", "*.csv"], {ALONE}),
    (["--sheet", ALONE], {ALONE}),
    (["--sheet", "staff.csv", "--hops", "3"], {ALONE}),
    (["--sheet", "2024.xlsx#Q2", "--hops", "0"], {Q2}),
    (["--sheet", Q2, "--type", "aggregation"], {Q2, SUMMARY}),
    (["--sheet", Q2, "--type", "aggregation", "--hops", "2"], {Q2, SUMMARY, Q1}),
    (["--sheet", Q2, "--sheet", RATES, "--hops", "0"], {Q2, RATES}),
    (["--sheet", RATES, "--type", "formula_reference", "--path", "sales/*"], {Q1}),
]


@pytest.mark.parametrize(("options", "expected"), PARTS, ids=[" ".join(o) for o, _ in PARTS])
def test_a_part_is_cut_out(options, expected, linked, sat):
    graph = exported(sat, "-i", linked, *options)
    assert set(ids(graph)) == expected
    ends = {link[end] for link in graph["links"] for end in ("source", "target")}
    assert ends <= expected


def test_what_is_counted_is_what_is_written(linked, sat, tmp_path):
    file = tmp_path / "g.json"
    run = sat("graph", "-i", linked, "--path", "sales/*", "-o", file)
    links = json.loads(file.read_text())["links"]
    assert run.err.startswith(f"3 sheets and {len(links)} links in ")


def test_types_leave_out_the_others(linked, sat):
    graph = exported(sat, "-i", linked, "--type", "aggregation", "--type", "summary_source")
    assert {link["type"] for link in graph["links"]} == {"aggregation", "summary_source"}
    wrong = sat("graph", "-i", linked, "--type", "friendship")
    assert (wrong.code, "aggregation" in wrong.err) == (2, True)


def test_a_limit_keeps_the_best_linked_and_says_so(linked, sat):
    run = sat("graph", "-i", linked, "--limit", 3, "--type", "aggregation")
    assert run.code == 0
    assert ids(json.loads(run.out)) == sorted([SUMMARY, Q1, Q2])
    assert run.err == "The 3 best linked of 5 sheets; --limit changes that.\n"


def test_a_page_says_what_was_left_out(linked, sat, tmp_path):
    file = tmp_path / "g.html"
    sat("graph", "-i", linked, "--limit", 3, "-o", file)
    assert "The 3 best linked of 5 sheets" in file.read_text(encoding="utf-8")


def test_an_existing_file_is_replaced_only_by_force(linked, sat, tmp_path):
    file = tmp_path / "g.json"
    file.write_text("mine")
    run = sat("graph", "-i", linked, "--out", file)
    assert run.code == 2
    assert "--force" in run.err
    assert file.read_text() == "mine"
    file.chmod(0o640)
    assert sat("graph", "-i", linked, "--out", file, "--force").code == 0
    assert len(json.loads(file.read_text())["sheets"]) == 5
    assert file.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [file]


def test_the_index_is_not_replaced_even_by_force(own_index, sat):
    before = own_index.read_bytes()
    run = sat("graph", "-i", own_index, "--out", own_index, "--format", "json", "--force")
    assert run.code == 2
    assert "is the index itself" in run.err
    assert own_index.read_bytes() == before


def test_what_fails_half_way_leaves_the_old_file(linked, sat, tmp_path, monkeypatch):
    file = tmp_path / "g.json"
    file.write_text("old")

    def fails(*_: object) -> list[object]:
        raise OSError("the disk is on fire")

    monkeypatch.setattr("sat_retriever.index.index.SheetIndex.all_links", fails)
    run = sat("graph", "-i", linked, "--out", file, "--force")
    assert (run.code, file.read_text()) == (1, "old")
    assert list(tmp_path.iterdir()) == [file]


def test_a_page_is_not_printed_to_a_terminal_but_to_a_pipe(linked, sat):
    refused = in_terminal("graph", "-i", linked, "--format", "html", output=True)
    assert (refused.code, refused.out) == (2, "")
    assert "--out graph.html" in refused.err
    piped = sat("graph", "-i", linked, "--format", "html")
    assert (piped.code, piped.out[:15]) == (0, "<!doctype html>")


def test_an_empty_index_gives_an_empty_graph(tmp_path, encoder, sat):
    file = tmp_path / "x.sat"
    SheetIndex.create(file, SheetEncoder.load(encoder)).close()
    assert exported(sat, "-i", file) == {"sheets": [], "links": []}
    assert sat("graph", "-i", file, "--out", tmp_path / "g.html").code == 0
