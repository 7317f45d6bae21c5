"""Copies on the command line: folded, counted, listed on demand."""

import json

import pytest


@pytest.fixture
def file(tmp_path, encoder, sat):
    """An index of four versions of sales and another sheet."""
    rows = "\n".join(f"item {n},{n * 13 % 97 + 1},{n * 7 + 1}" for n in range(30))
    (tmp_path / "data").mkdir()
    for name in ("Sales_draft", "Sales_v1", "Sales_v2", "Sales_final"):
        place = tmp_path / "data" / f"{name}.csv"
        place.write_text(f"Item,Units,Cost\n{rows}\n{name},1,2")
    (tmp_path / "data" / "Staff.csv").write_text("Name,Salary\nAda,36\nBo,41")
    made = tmp_path / "a.sat"
    assert sat("index", tmp_path / "data", "-i", made, "--model", encoder).code == 0
    return made


def hits(run):
    return json.loads(run.out)["hits"]


def test_search_shows_the_newest_and_counts_the_others(file, sat):
    run = sat("search", "sales", "-i", file, "--reranker", "none", "-k", 2)
    assert "and 3 older copies" in run.out
    found = hits(sat("search", "sales", "-i", file, "--reranker", "none", "-k", 2, "--json"))
    assert [hit["copies"]["number"] for hit in found] == [3, 0]


def test_search_shows_every_copy_on_demand(file, sat):
    line = ("search", "sales", "-i", file, "--reranker", "none", "-k", 4, "--json")
    assert sum("Sales" in hit["sheet_id"] for hit in hits(sat(*line, "--all-copies"))) == 4


def test_show_lists_the_copies_of_a_sheet(file, sat):
    run = sat("show", "Sales_v2.csv", "-i", file)
    assert "and 3 other copies:" in run.out
    assert "Sales_final.csv#Sales_final" in run.out
    shown = json.loads(sat("show", "Sales_v2.csv", "-i", file, "--json").out)
    assert shown["copies"]["Sales_v2.csv#Sales_v2"]["newer"] == 1
