"""Sheets, links and rows as files in the published form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sat_retriever.datasets.edges import load_links
from sat_retriever.datasets.sheets import load_sheets
from sat_retriever.errors import OutputError
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import Column, SheetRecord
from sat_retriever.synth.corpusfiles import EdgesFile, SheetsFile, write_rows


def record(sheet: str, *headers: str) -> SheetRecord:
    columns = tuple(Column(header, example="secret 4711") for header in headers)
    return SheetRecord(
        f"a/b.xlsx#{sheet}",
        sheet,
        "b.xlsx",
        "a/b.xlsx",
        columns=columns,
        num_rows=7,
        num_cols=len(headers),
    )


def test_sheets_come_back_with_names_headers_and_shape_and_without_values(tmp_path):
    file = tmp_path / "sheets.json"
    with SheetsFile(file) as sheets:
        sheets.add(0, record("Größe", "Wert [€]", "x"), "Sales Data")
        sheets.add(1, record("two"), "Human Resources")
    assert "secret" not in file.read_text(encoding="utf-8")
    first, second = load_sheets(file)
    assert (first.sheet_id, first.sheet, first.path) == ("0", "Größe", "a/b.xlsx")
    assert [column.name for column in first.columns] == ["Wert [€]", "x"]
    assert (first.num_rows, first.num_cols, second.num_cols) == (7, 2, 0)
    assert second.metadata == {"category": "Human Resources"}


def test_one_sheet_is_one_line_so_that_files_can_be_compared(tmp_path):
    file = tmp_path / "sheets.json"
    with SheetsFile(file) as sheets:
        for number in range(3):
            sheets.add(number, record(f"s{number}"), "")
    lines = file.read_text(encoding="utf-8").splitlines()
    assert [line[:4] for line in lines] == ["{", '"0":', '"1":', '"2":', "}"]
    assert list(json.loads(file.read_text(encoding="utf-8"))) == ["0", "1", "2"]


def test_an_empty_corpus_is_an_empty_object(tmp_path):
    with SheetsFile(tmp_path / "sheets.json"), EdgesFile(tmp_path / "edges.json"):
        pass
    assert json.loads((tmp_path / "sheets.json").read_text()) == {}
    edges = json.loads((tmp_path / "edges.json").read_text())
    assert (edges["edges"], edges["edge_types"], edges["stats"]["total_edges"]) == ([], {}, 0)


def test_links_come_back_with_type_and_direction(tmp_path):
    file = tmp_path / "edges.json"
    number_of = {"a": 4, "b": 2, "c": 3}
    links = [
        Link("a", "b", "formula_reference"),
        Link("b", "a", "join_key"),
        Link("c", "b", "sibling_period"),
    ]
    with EdgesFile(file) as edges:
        edges.add(links, number_of)
    found = load_links(file, known={"2", "3", "4"})
    assert {(link.source, link.target, link.type) for link in found} == {
        ("4", "2", "formula_reference"),
        ("2", "4", "join_key"),
        ("3", "2", "sibling_period"),
    }


def test_the_first_type_of_a_pair_is_the_one_the_published_files_put_first(tmp_path):
    file = tmp_path / "edges.json"
    with EdgesFile(file) as edges:
        edges.add(
            [Link("a", "b", kind) for kind in ("summary_source", "formula_reference", "join_key")],
            {"a": 1, "b": 0},
        )
    content = json.loads(file.read_text())
    assert content["edge_types"] == {"0,1": "join_key"}
    assert content["edge_all_types"]["0,1"] == ["join_key", "formula_reference", "summary_source"]
    assert content["edges"] == [[0, 1]]


def test_of_two_sheets_that_need_each_other_one_direction_is_kept(tmp_path):
    with EdgesFile(tmp_path / "edges.json") as edges:
        edges.add([Link("a", "b", "join_key"), Link("b", "a", "join_key")], {"a": 0, "b": 1})
        assert edges.stats()["edge_type_counts_all"] == {"join_key": 1}
    content = json.loads((tmp_path / "edges.json").read_text())
    assert content["edge_directions"] == {"0,1": {"join_key": {"source": 0, "target": 1}}}


def test_counts_are_those_of_all_groups_together(tmp_path):
    with EdgesFile(tmp_path / "edges.json") as edges:
        edges.add([Link("a", "b", "aggregation")], {"a": 0, "b": 1, "c": 2})
        edges.add([], {"d": 3})
        edges.add([Link("a", "b", "join_key"), Link("a", "b", "aggregation")], {"a": 4, "b": 5})
    stats = json.loads((tmp_path / "edges.json").read_text())["stats"]
    assert stats == {
        "total_edges": 2,
        "total_sheets": 6,
        "connected_sheets": 4,
        "isolated_sheets": 2,
        "edge_type_counts": {"join_key": 1, "aggregation": 1},
        "edge_type_counts_all": {"join_key": 1, "aggregation": 2},
    }


@pytest.mark.parametrize("kind", [SheetsFile, EdgesFile])
def test_after_an_error_neither_file_nor_draft_is_left(kind, tmp_path):
    with pytest.raises(KeyboardInterrupt), kind(tmp_path / "file.json"):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", [SheetsFile, EdgesFile])
def test_a_file_that_was_there_survives_an_error(kind, tmp_path):
    file = tmp_path / "file.json"
    file.write_text("old")
    with pytest.raises(ValueError, match="broken"), kind(file):
        raise ValueError("broken")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("file.json", "old")]


@pytest.mark.parametrize("kind", [SheetsFile, EdgesFile])
def test_a_place_that_cannot_be_written_is_named(kind, tmp_path):
    with pytest.raises(OutputError, match=r"nowhere.*x\.json cannot be written: No such file"):
        kind(tmp_path / "nowhere" / "x.json")


def test_rows_are_a_list_one_a_line(tmp_path):
    file = tmp_path / "rows.json"
    assert write_rows(({"id": n, "text": "ä"} for n in range(2)), file) == 2
    assert file.read_text(encoding="utf-8").splitlines()[1] == '{"id": 0, "text": "ä"},'
    assert json.loads(file.read_text(encoding="utf-8"))[1] == {"id": 1, "text": "ä"}
    assert write_rows([], file) == 0
    assert json.loads(file.read_text()) == []


def test_rows_that_break_off_leave_the_old_file(tmp_path):
    file: Path = tmp_path / "rows.json"
    write_rows([{"id": 0}], file)

    def broken():
        yield {"id": 1}
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_rows(broken(), file)
    assert json.loads(file.read_text()) == [{"id": 0}]
    assert list(tmp_path.iterdir()) == [file]
