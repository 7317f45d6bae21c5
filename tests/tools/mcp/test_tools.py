"""The real tools over MCP: the official client, in memory."""

from __future__ import annotations

import asyncio

import pytest
from mcp import Client

from sat_retriever import SheetTools, index_paths
from sat_retriever.tools.mcp import sheet_server
from tests.tools.mcp.conftest import CALLS, TOOLS
from tests.tools.mcp.test_server import MODES, asked, words


def test_all_tools_are_listed_and_described(tools):
    async def listing():
        async with Client(sheet_server(tools)) as client:
            return (await client.list_tools()).tools

    listed = asyncio.run(listing())
    assert [tool.name for tool in listed] == TOOLS
    for tool in listed:
        assert len(tool.description) > 40
        assert tool.input_schema["type"] == tool.output_schema["type"] == "object"
        assert all(field["description"] for field in tool.input_schema["properties"].values())


@pytest.mark.parametrize("mode", MODES)
def test_text_and_values_say_the_same(tools, mode):
    # The client checks the values of every result against the output schema.
    results = asked(sheet_server(tools), *CALLS, mode=mode)
    assert [result.is_error for result in results] == [False] * len(CALLS)
    found, described, cells, related, status, searched, queried = (
        result.structured_content for result in results
    )
    texts = list(map(words, results))

    assert [sheet["citation"] for sheet in found["sheets"]] == [
        "2024/Sales.xlsx#Q1!A1:C3",
        "2024/Sales.xlsx#Q2!A1:C3",
    ]
    assert all(sheet["citation"] in texts[0] for sheet in found["sheets"])
    (table,) = described["tables"]
    assert table["range"] == "A1:C3"
    assert table["range"] in texts[1]
    assert all(column["name"] in texts[1] for column in table["columns"])
    assert cells["rows"] == [["Region", "Month", "Revenue"], ["North", "January", 120]]
    assert cells["citation"] == "2024/Sales.xlsx#Q1!A1:C2"
    assert all(str(cell) in texts[2] for row in cells["rows"] for cell in row)
    assert {link["sheet"] for link in related["related"]} >= {"2024/Sales.xlsx#Q1"}
    assert all(link["sheet"] in texts[3] for link in related["related"])
    assert status["sheets"] == 4
    assert "sheets 4" in texts[4]
    assert (queried["rows"], queried["citations"]) == ([[200]], ["2024/Sales.xlsx#Q1!A1:C3"])
    assert "| 200 |" in texts[6]
    assert "From 2024/Sales.xlsx#Q1!A1:C3" in texts[6]
    (cell,) = searched["cells"]
    assert cell["value"] == "January"
    assert f"{cell['citation']}: January" in texts[5]


LONG = "x" * 100_000
HOSTILE = [
    ("find_sheets", {}),
    ("find_sheets", {"question": ""}),
    ("find_sheets", {"question": LONG}),
    ("find_sheets", {"question": {"a": 1}}),
    ("find_sheets", {"question": "q", "top_k": 10**30}),
    ("find_sheets", {"question": "q", "top_k": -1}),
    ("find_sheets", {"question": "q", LONG: 1}),
    ("find_sheets", {"question": "q", "self": 1}),
    ("find_sheets", {"question": "q", "path": LONG}),
    ("find_sheets", {"question": "q", "workbook": LONG}),
    ("describe_sheet", {"sheet": "../secret.csv#secret"}),
    ("describe_sheet", {"sheet": LONG}),
    ("read_range", {"sheet": "../secret.csv"}),
    ("read_range", {"sheet": "2024/../../secret.csv#secret"}),
    ("read_range", {"sheet": "/etc/passwd"}),
    ("read_range", {"sheet": "file:///etc/passwd#passwd"}),
    ("read_range", {"sheet": "staff.csv\0#staff"}),
    ("read_range", {"sheet": "staff.csv#staff", "range": "../secret.csv"}),
    ("read_range", {"sheet": "staff.csv#staff", "range": LONG}),
    ("related_sheets", {"sheet": "staff.csv#staff", "limit": 10**9}),
    ("related_sheets", {"sheet": "staff.csv#staff", "link_type": LONG}),
    ("index_status", {"path": "/"}),
]


@pytest.mark.parametrize(
    ("name", "given"), HOSTILE, ids=lambda part: str(part)[:60].replace("\0", "0")
)
def test_hostile_arguments_are_refused_in_few_words_that_give_nothing_away(
    name, given, tools, reports, caplog
):
    (result,) = asked(sheet_server(tools), (name, given))
    assert result.is_error
    said = result.model_dump_json()
    assert len(said) < 3_000
    assert str(reports.parent) not in said
    assert "hush" not in said
    assert "Traceback" not in said
    assert caplog.records == []  # it was foreseen


def test_a_read_of_a_huge_range_is_bounded(tools):
    server = sheet_server(tools)
    (result,) = asked(server, ("read_range", {"sheet": "staff.csv", "range": "A1:XFD1048576"}))
    assert len(result.model_dump_json()) < 3_000
    assert "Ada" in words(result)


def test_a_file_that_is_gone_is_said_without_where_on_this_machine_it_was(tmp_path, index_file):
    folder = tmp_path / "gone"
    folder.mkdir()
    (folder / "rates.csv").write_text("Currency,Rate\nEUR,1\n", encoding="utf-8")
    encoder = index_file.parent / "encoder"
    with index_paths([folder], tmp_path / "own.sat", encoder=encoder) as index:
        (folder / "rates.csv").unlink()
        (result,) = asked(sheet_server(SheetTools(index)), ("read_range", {"sheet": "rates.csv"}))
    assert result.is_error
    assert "rates.csv" in words(result)
    assert str(tmp_path) not in words(result)
