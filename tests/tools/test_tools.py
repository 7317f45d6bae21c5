import json
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from datetime import date

import openpyxl
import pytest

from sat_retriever import InputError, LinkType, SheetIndex, SheetRecord, SheetTools
from sat_retriever.records.contents import CellText, SheetContents
from sat_retriever.records.hits import NOTHING
from sat_retriever.records.links import Link
from sat_retriever.tools import cellsearch, naming, sheettools
from sat_retriever.tools.cells import estimated_tokens
from tests.builders import indexed, save_book, transit
from tests.fakes import HashedEncoder
from tests.places import ROOT

NAMES = [
    "find_sheets", "describe_sheet", "read_range", "related_sheets", "index_status",
    "search_cells", "query_tables",
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two workbooks: quarters with a summary over them, and a wide, long sheet."""
    folder = tmp_path_factory.mktemp("tools") / "books"
    quarters = {
        f"Q{number}": [["Region", "Revenue"], *([f"Region {n}", n * number] for n in range(3))]
        for number in (1, 2)
    }
    sums = [[name, f"=SUM('{name}'!B2:B4)"] for name in quarters]
    save_book(folder / "Sales.xlsx", Summary=[["Quarter", "Revenue"], *sums], **quarters)
    wide = [[f"value {row} " + "x" * 300] * 130 for row in range(300)]
    save_book(folder / "Staff.xlsx", Staff=[[f"Column {n}" for n in range(130)], *wide])
    return folder


@pytest.fixture(scope="module")
def tools(folder, tmp_path_factory):
    with indexed(folder, tmp_path_factory.mktemp("index") / "i.sat") as index:
        yield SheetTools(index)


def test_found_sheets_have_an_id_a_citation_and_a_reason(tools):
    found = tools.find_sheets("revenue by region in Q2")
    first = found.sheets[0]
    assert (first.sheet, first.citation) == ("Sales.xlsx#Q2", "Sales.xlsx#Q2!A1:B4")
    assert first.columns == ("Region", "Revenue")
    assert "words" in first.why
    assert str(found).startswith("1. Sales.xlsx#Q2!A1:B4\n   columns: Region, Revenue\n   cells: ")
    assert [each.rank for each in found.sheets] == [1, 2, 3, 4]
    assert len(tools.find_sheets("revenue", top_k=2).sheets) == 2
    only = tools.find_sheets("revenue", workbook="Staff.xlsx").sheets
    assert {each.sheet for each in only} == {"Staff.xlsx#Staff"}
    assert "No sheet was found" in str(tools.find_sheets("revenue", path="2024/*"))


def test_found_sheets_say_that_none_is_of_the_time_asked_for(tmp_path):
    (tmp_path / "books").mkdir()
    for number, month in enumerate(("Jan", "Feb")):
        file = tmp_path / "books" / f"Sales {month} 2024.csv"
        file.write_text(f"Region,Sales\nNorth,{number}\n", encoding="utf-8")
    with indexed(tmp_path / "books", tmp_path / "i.sat") as index:
        tools = SheetTools(index)
        found = tools.find_sheets("all sales of 2023")
        assert len(found.sheets) == 2
        note = "No sheet searched is named for 2023; check what times these hold."
        assert str(found).splitlines()[-1] == note == found.to_dict()["note"]
        for question in ("all sales of 2024", "all sales"):
            said = tools.find_sheets(question)
            assert (said.note, "named for" in str(said)) == ("", False)
        only = tools.find_sheets("sales of February", path="*Jan*")
        assert "February" in only.note
        assert tools.find_sheets("sales of 2023", path="none/*").note == (
            "No sheet meets path 'none/*'."
        )


def test_found_sheets_say_when_nothing_seems_to_hold_the_data(tools):
    strange = tools.find_sheets("which goalkeeper of Real Madrid saved most penalties?")
    assert str(strange).splitlines()[0] == strange.heading == NOTHING
    assert strange.sheets
    found = tools.find_sheets("revenue by region")
    assert (found.heading, "Nothing here" in str(found)) == ("", False)
    assert found.to_dict()["confidence"] > strange.to_dict()["confidence"]


def test_found_sheets_say_the_times_that_were_understood(tmp_path):
    (tmp_path / "books").mkdir()
    for year in (2022, 2023):
        file = tmp_path / "books" / f"Sales {year}.csv"
        file.write_text("Region,Sales\nNorth,1\n", encoding="utf-8")
    with indexed(tmp_path / "books", tmp_path / "i.sat") as index:
        for day, first in ((date(2024, 5, 10), 2023), (date(2023, 5, 10), 2022)):
            found = SheetTools(index, today=day).find_sheets("sales last year")
            assert found.sheets[0].sheet.startswith(f"Sales {first}.csv")
            assert found.times == found.to_dict()["times"] == f'{first} (from "last year")'
            assert f'Times understood: {first} (from "last year")' in str(found)
        assert "Times" not in str(SheetTools(index).find_sheets("sales"))


def test_the_tool_for_links_names_every_type_and_what_it_means(tools):
    (tool,) = (each for each in tools.tools() if each.name == "related_sheets")
    for kind in LinkType:
        assert kind.value in tool.meanings["link_type"]
        assert kind.kind.meaning in tool.description


def test_a_description_has_the_tables_and_counts_the_links(tools):
    described = tools.describe_sheet("Sales.xlsx#Summary")
    [table] = described.tables
    assert (table.range, table.header_row, table.rows) == ("A1:B3", 1, 2)
    assert [column.name for column in table.columns] == ["Quarter", "Revenue"]
    assert described.links["aggregation"] == 2
    assert "- Quarter: text, such as Q1" in str(described)
    wide = tools.describe_sheet("Staff.xlsx#Staff").tables[0]
    assert (len(wide.columns), wide.more_columns) == (60, 70)


def test_cells_come_with_row_numbers_column_letters_and_a_citation(tools):
    found = tools.read_range("Sales.xlsx#Q2", "B2:B3")
    assert (found.citation, found.rows, found.complete) == (
        "Sales.xlsx#Q2!B2:B3", ((0,), (2,)), True,
    )  # fmt: skip
    assert "|  | B |\n|---|---|\n| 1 | Revenue |\n| 2 | 0 |\n| 3 | 2 |" in str(found)
    assert (found.header, found.header_row) == (("Revenue",), 1)
    assert tools.read_range("Sales.xlsx#Q2").range == "A1:B4"  # the main table
    formulas = tools.read_range("Sales.xlsx#Summary", "B2", formulas=True)
    assert formulas.rows == (("=SUM('Q1'!B2:B4)",),)
    nothing = tools.read_range("Sales.xlsx#Q2", "Z1:Z9")
    assert (nothing.rows, "This range is empty" in nothing.note) == ((), True)


def test_empty_cells_that_have_formulas_are_noted_as_far_as_they_are_answered(tools):
    found = tools.read_range("Sales.xlsx#Summary")
    assert "Empty cells that have formulas: 2 (no value or an empty text is saved)" in found.note
    assert found.note in str(found)
    assert "formulas" not in tools.read_range("Sales.xlsx#Summary", "A1:B1").note
    assert tools.read_range("Sales.xlsx#Summary", formulas=True).note == ""
    few = SheetTools(tools.index, None, max_tokens=48).read_range("Sales.xlsx#Summary")
    assert (few.range, "have formulas: 1 " in few.note) == ("A1:B2", True)


def test_a_long_or_wide_range_is_cut_says_so_and_can_be_gone_on_with(tools):
    found = tools.read_range("Staff.xlsx#Staff")
    assert not found.complete
    assert "ask for the other cells next" in found.note
    assert found.range == "A1:DZ1"  # the header alone fits
    wide = tools.read_range("Staff.xlsx#Staff", "A2:DZ301")
    assert (wide.complete, len(wide.rows)) == (False, 1)
    assert 20 < len(wide.rows[0]) < 130
    assert wide.citation.endswith(f"!{wide.range}") and f"| {wide.rows[0][-1]} |" in str(wide)
    assert max(map(len, wide.rows[0])) <= 200
    after = tools.read_range("Staff.xlsx#Staff", "A3:B7")
    assert (after.complete, after.rows[0][0].split()[1]) == (True, "1")
    for answer in (found, wide, after):
        assert estimated_tokens(str(answer)) < sheettools.MAX_TOKENS + 100
    narrow = tools.read_range("Staff.xlsx#Staff", "A1:A301")
    assert estimated_tokens(str(narrow)) < sheettools.MAX_TOKENS + 200


def test_answers_are_bounded_whatever_the_headers_are(tmp_path):
    (tmp_path / "books").mkdir()
    for number in range(50):
        header = f"価格{number}" + "長い見出し" * 60
        lines = (",".join([each] * 80) for each in (header, "1"))
        (tmp_path / "books" / f"{number}.csv").write_text("\n".join(lines), encoding="utf-8")
    with indexed(tmp_path / "books", tmp_path / "i.sat") as index:
        tools = SheetTools(index)
        found = tools.find_sheets("価格", top_k=50)
        assert f"Only the first {len(found.sheets)} of 50 sheets fit here." in found.note
        described = tools.describe_sheet("3.csv")
        assert len(described.tables[0].columns) + described.tables[0].more_columns == 80
        cells = tools.search_cells("長い見出し", limit=200)
        query = tools.query_tables(["3.csv"])
        for answer in (found, described, cells, query, tools.read_range("3.csv")):
            assert tokens_of(answer) < 6_000


def tokens_of(answer):
    """Those of the longer form of an answer: its text, or its values."""
    values = json.dumps(answer.to_dict(), ensure_ascii=False)
    return max(estimated_tokens(str(answer)), estimated_tokens(values))


def test_many_links_and_sheets_are_bounded_as_text_and_as_values(tmp_path):
    for number in range(60):
        rows = [["Name", "Share"], *[[f"n{row}", row] for row in range(5)]]
        sheets = {f"S{sheet}": rows for sheet in range(4)}
        save_book(tmp_path / "books" / f"{number}.xlsx", **sheets)
    with indexed(tmp_path / "books", tmp_path / "i.sat") as index:
        links = [Link("0.xlsx#S0", each, "formula", 0.5) for each in index.sheet_ids()[1:240]]
        tools = SheetTools(index)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(SheetIndex, "links", lambda _index, _ids: links)
            related = tools.related_sheets("0.xlsx#S0", limit=200)
        found = tools.find_sheets("share by name", top_k=50)
        assert 40 < len(related.related) < 200 == 200 and related.total == len(links)
        assert "more links are not listed" in str(related)
        for answer in (related, found):
            assert tokens_of(answer) < 6_000


def test_links_are_told_from_the_side_of_the_sheet_that_was_asked_about(tools):
    ways = {(link.way, link.sheet) for link in tools.related_sheets("Sales.xlsx#Q1").related}
    assert ("is summed up in", "Sales.xlsx#Summary") in ways
    sums = tools.related_sheets("Sales.xlsx#Summary", link_type="aggregation", limit=1)
    assert (sums.total, len(sums.related), sums.related[0].way) == (2, 1, "sums up")
    assert "1 more links" in str(sums)
    assert "SUM" in sums.related[0].evidence


def test_the_status_counts_what_can_be_searched(tools, folder):
    (folder / "torn.xlsx").write_bytes(b"PK\x03\x04 torn")
    try:
        tools.index.sync(folder)
        status = tools.index_status()
        assert (status.workbooks, status.sheets) == (3, 4)
        assert status.skipped == {"damaged": 1}
        assert str(folder) not in json.dumps(status.to_dict())
    finally:
        (folder / "torn.xlsx").unlink()


@pytest.mark.parametrize("name", ["Sales.xlsx#Q1", " Sales.xlsx#Q1 ", "Sales.xlsx#Q1!A1:B4"])
def test_a_sheet_is_known_by_its_id_or_by_a_citation(tools, name):
    assert tools.describe_sheet(name).sheet == "Sales.xlsx#Q1"


def test_a_citation_names_its_cells_too_unless_others_are_asked_for(tools):
    assert tools.read_range("Sales.xlsx#Q1!B2:B3").range == "B2:B3"
    assert tools.read_range("Sales.xlsx#Q1!B2:B3", "A1").range == "A1:A1"


def test_whatever_is_printed_of_a_sheet_finds_it_again(tmp_path):
    names = ["Q1 ", "Q3  2024", "Q2\u00a02024", "a!b", "x#y", "'z'", "!", "Sum!A1"]
    folder = tmp_path / ("long " * 40) / "books"
    folder.mkdir(parents=True)
    book = openpyxl.Workbook()
    book.remove(book.active)
    for number, name in enumerate(names):
        sheet = book.create_sheet()
        sheet._WorkbookChild__title = name  # openpyxl refuses what other programs write
        sheet.append(["Region", f"Number {number}"])
        sheet.append(["North", number])
    book.save(folder / "S.xlsx")
    with indexed(tmp_path, tmp_path / "i.sat") as index:
        tools = SheetTools(index)
        found = tools.find_sheets("region", top_k=20)
        assert len(found.sheets) == len(names)
        printed = [line.split(". ", 1)[1] for line in str(found).splitlines() if line[0].isdigit()]
        for each, citation in zip(found.sheets, printed, strict=True):
            for name in (each.sheet, each.citation, citation):
                assert tools.read_range(name).sheet == each.sheet, name


def test_a_workbook_of_one_sheet_stands_for_it_and_one_of_several_is_asked_about(tools):
    assert tools.describe_sheet("Staff.xlsx").sheet == "Staff.xlsx#Staff"
    with pytest.raises(InputError, match=r"is 3 sheets; name one of them: 'Sales\.xlsx#Q1'"):
        tools.describe_sheet("Sales.xlsx")


@pytest.mark.parametrize("compared", [0, 20_000])
def test_a_sheet_that_is_not_there_is_answered_with_the_nearest_names(tools, compared, monkeypatch):
    monkeypatch.setattr(naming, "_COMPARED", compared)
    with pytest.raises(InputError, match=r"did you mean .*'Sales\.xlsx#Q1'"):
        tools.read_range("Sales.xlsx#Q11")


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("find_sheets", {"question": " "}, "question is empty"),
        ("find_sheets", {"question": "x" * 4_001}, "give at most 4,000"),
        ("find_sheets", {"question": "x", "top_k": 51}, "from 1 to 50"),
        ("find_sheets", {"question": "x", "top_k": "many"}, "find_sheets: top_k: .*integer"),
        ("find_sheets", {}, "question: Field required"),
        ("find_sheets", {"question": "x", "k": 3}, "k: Extra inputs"),
        ("find_sheets", {"question": "x", "path": "\ud800"}, "path has characters"),
        ("describe_sheet", {"sheet": "\ud800"}, "describe_sheet: sheet|sheet has characters"),
        ("describe_sheet", {"sheet": "a\0b"}, "sheet has characters that are not text"),
        ("read_range", {"sheet": "Sales.xlsx#Q1", "range": "all"}, "such as A1:D20"),
        ("read_range", {"sheet": "../../../etc/passwd"}, "no workbook or sheet"),
        ("related_sheets", {"sheet": "Sales.xlsx#Q1", "link_type": "x"}, "formula_reference, agg"),
        ("related_sheets", {"sheet": "Sales.xlsx#Q1", "limit": 0}, "limit is 0"),
    ],
)
def test_wrong_arguments_are_refused_in_words_that_a_model_can_act_on(
    tools, name, arguments, message
):
    [tool] = [tool for tool in tools.tools() if tool.name == name]
    with pytest.raises(InputError, match=message):
        tool.run(**arguments)


@pytest.mark.parametrize("sheets", ["Sales.xlsx#Q1", '["Sales.xlsx#Q1"]', ["Sales.xlsx#Q1"]])
def test_lists_may_be_texts_and_null_is_the_default(tools, sheets):
    made = {tool.name: tool for tool in tools.tools()}
    found = made["search_cells"].run(text="Region 1", sheets=sheets, limit=None)
    assert [each.citation for each in found.cells] == ["Sales.xlsx#Q1!A3"]
    assert made["query_tables"].run(sheets=sheets, sql=None, totals=None).tables.startswith("q1:")
    assert made["find_sheets"].run(question="revenue", top_k=None, workbook=None, path=None)


def test_the_guide_and_the_page_for_agents_name_tools_and_arguments_as_they_are(tools):
    made = {tool.name: f"{tool.name}({', '.join(tool.meanings)})" for tool in tools.tools()}
    guide = (ROOT / "docs" / "guides" / "mcp.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+\(.*?\))` \|", guide, re.MULTILINE) == list(made.values())
    page = (ROOT / "examples" / "AGENTS.md").read_text(encoding="utf-8")
    arguments = {name for tool in tools.tools() for name in tool.meanings}
    assert set(re.findall(r"`([a-z]+(?:_[a-z]+)*)`", page)) <= made.keys() | arguments


# Keywords of JSON Schema that the vendors take for the arguments of functions, and their limits, as
# their pages tell them and as version 0.7.1 of the converter `lang_schema` sums them up:
# platform.openai.com/docs/guides/structured-outputs/supported-schemas
OPENAI = {
    "type", "description", "properties", "required", "additionalProperties", "items", "anyOf",
    "enum", "const", "$ref", "$defs",
}  # fmt: skip
# platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations
ANTHROPIC = {
    "type", "description", "properties", "required", "additionalProperties", "items", "anyOf",
    "allOf", "enum", "const", "default", "$ref", "$defs", "definitions", "format", "pattern",
    "minItems",
}  # fmt: skip
MOST_TOOLS, MOST_UNIONS, MOST_OPTIONAL = 20, 16, 24  # of Anthropic, for all tools of a request
# ai.google.dev/gemini-api/docs/structured-output
GEMINI = {
    "type", "title", "description", "enum", "properties", "required", "additionalProperties",
    "items", "prefixItems", "minItems", "maxItems", "minimum", "maximum", "format", "anyOf",
    "$ref", "$defs",
}  # fmt: skip
MOST_PROPERTIES = 100  # of OpenAI, in one schema


def schemas(schema):
    """A schema and all within it."""
    yield schema
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    for each in [*inner, *filter(None, [schema.get("items")])]:
        yield from schemas(each)


@pytest.mark.parametrize("strict", [True, False])
def test_the_schemas_of_arguments_keep_the_rules_of_the_vendors_strict_modes(tools, strict):
    unions = optional = 0
    for tool in tools.tools():
        whole = tool.parameters(strict=strict)
        assert whole["type"] == "object" and "anyOf" not in whole
        for each in schemas(whole):
            assert set(each) <= OPENAI & ANTHROPIC & GEMINI
            assert isinstance(each.get("type", ""), str) and ("type" in each) != ("anyOf" in each)
            if each.get("type") == "object":
                assert each["additionalProperties"] is False
            unions += "anyOf" in each
        needed = {n for n, field in tool.arguments.model_fields.items() if field.is_required()}
        assert set(whole.get("required", ())) == (set(whole["properties"]) if strict else needed)
        for name, each in whole["properties"].items():
            assert (name in needed) != ({"type": "null"} in each.get("anyOf", ()))
        assert len(whole["properties"]) <= MOST_PROPERTIES
        optional += len(whole["properties"]) - len(whole.get("required", ()))
    assert len(tools.tools()) <= MOST_TOOLS
    assert unions <= MOST_UNIONS and optional <= MOST_OPTIONAL


def test_only_files_under_the_indexed_folder_are_opened(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "books")
    with indexed(tmp_path / "books", tmp_path / "i.sat") as index:
        file = tmp_path / "books" / "Sales.xlsx"
        shutil.move(file, tmp_path / "Sales.xlsx")
        file.symlink_to(tmp_path / "Sales.xlsx")
        with pytest.raises(InputError, match="outside the folder that was indexed"):
            SheetTools(index).read_range("Sales.xlsx#Q1")


def test_every_tool_has_a_description_and_arguments_with_meanings(tools):
    made = tools.tools()
    assert [tool.name for tool in made] == NAMES
    for tool in made:
        schema = tool.arguments.model_json_schema()
        assert len(tool.description) > 50
        assert "Raises" not in tool.description
        assert set(schema["properties"]) == set(tool.meanings)
        assert all(len(each["description"]) > 20 for each in schema["properties"].values())


def test_results_are_the_same_as_plain_values(tools):
    for tool, arguments in zip(
        tools.tools(),
        [
            {"question": "revenue"},
            *[{"sheet": "Sales.xlsx#Q1"}] * 3,
            {},
            {"text": "Region 1"},
            {"sheets": ["Sales.xlsx#Q1"], "sql": "FROM q1"},
        ],
        strict=True,
    ):
        told = tool.run(**arguments).to_dict()
        assert json.loads(json.dumps(told)) == told


def test_parallel_calls_give_what_one_after_the_other_gives(tools):
    questions = [f"revenue of region {n % 7} in Q{n % 3}" for n in range(12)]
    serial = [tools.find_sheets(question) for question in questions]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(tools.find_sheets, questions * 3)) == serial * 3


def test_an_index_can_be_named_by_its_path(tools):
    assert SheetTools(tools.index.path, None).index_status().sheets == 4
    with pytest.raises(InputError, match="max_tokens is 0"):
        SheetTools(tools.index, max_tokens=0)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Tools over an index that keeps contents."""
    file = transit(tmp_path_factory.mktemp("kept"))
    with SheetIndex.open(file, HashedEncoder()) as index:
        yield SheetTools(index)


def test_found_sheets_name_the_table_that_answers_and_the_matched_cells(kept):
    [first, *_] = kept.find_sheets("people of town 444").sheets
    assert (first.citation, first.cells) == ("Transit.xlsx#Cities!A436:C456", ("B446: Town 444",))
    assert "   cells: B446: Town 444\n" in str(kept.find_sheets("people of town 444"))


def test_rows_that_a_citation_names_come_below_their_headers(kept):
    found = kept.read_range("Transit.xlsx#Cities!A436:C456")
    assert (found.header, found.header_row) == (("Code", "City", "People"), 1)
    assert found.rows[10] == ("C-0444", "Town 444", 444)
    lines = str(found).splitlines()
    assert lines[4] == "| 1 | Code | City | People |"
    assert lines[5] == "| 436 | C-0434 | Town 434 | 434 |"
    part = kept.read_range("Transit.xlsx#Cities", "B446:D447")
    assert part.header == ("City", "People")  # no cell of D is used
    assert kept.read_range("Transit.xlsx#Cities").header == ()


def test_what_a_model_sees_of_cells_is_bounded(tmp_path):
    with SheetIndex.create(tmp_path / "i.sat", HashedEncoder()) as index:
        long = [CellText(f"A{n}", f"harbour{n} " + "x" * 900) for n in range(1, 50)]
        record = SheetRecord("a#b", "b", contents=SheetContents(tuple(long)))
        index.add_records([record])
        question = " ".join(f"harbour{n}" for n in range(1, 50))
        [found] = SheetTools(index, None).find_sheets(question).sheets
        assert len(found.cells) == 3
        assert max(map(len, found.cells)) < 70


def test_tables_are_queried_after_their_names_were_asked_for(tools):
    named = tools.query_tables(["Sales.xlsx#Q1", "Sales.xlsx#Q2!A1:B4"])
    assert str(named).splitlines()[:4] == [
        "q1: 3 rows of Sales.xlsx#Q1!A1:B4",
        "  region text: Region, e.g. 'Region 0'",
        "  revenue number: Revenue, e.g. 0",
        "  _row integer: row on the sheet",
    ]
    sql = "SELECT region, q2.revenue - q1.revenue AS more FROM q1 JOIN q2 USING (region) ORDER BY 2"
    found = tools.query_tables(["Sales.xlsx#Q1", "Sales.xlsx#Q2"], sql)
    assert found.rows == (("Region 0", 0), ("Region 1", 1), ("Region 2", 2))
    assert str(found).splitlines() == [
        "| region | more |",
        "|---|---|",
        "| Region 0 | 0 |",
        "| Region 1 | 1 |",
        "| Region 2 | 2 |",
        "",
        "From Sales.xlsx#Q1!A2:B4, Sales.xlsx#Q2!A2:B4",
    ]
    nothing = tools.query_tables(["Sales.xlsx#Q1"], "SELECT * FROM q1 WHERE revenue > 9")
    assert str(nothing).startswith("The query gives no row.")


@pytest.mark.parametrize(
    ("sql", "hinted"),
    [
        ("SELECT count(*) FROM q1 WHERE region = 'REGION 1'", True),
        ("SELECT * FROM q1 WHERE region IN ('region 1')", True),
        ("SELECT count(*) FROM q1 WHERE region = 'Region 1'", False),
        ("SELECT count(*) FROM q1 WHERE lower(region) = 'region 1'", False),
        ("SELECT count(*) FROM q1 WHERE region = 'Region 7'", False),
    ],
)
def test_a_query_that_finds_nothing_says_if_a_text_is_there_in_other_case(tools, sql, hinted):
    note = tools.query_tables(["Sales.xlsx#Q1"], sql).note
    assert ("but 'Region 1': compare lower(region), or by ILIKE." in note) == hinted


def test_a_long_answer_of_a_query_is_cut_and_says_so(tools):
    found = SheetTools(tools.index, max_tokens=200).query_tables(
        ["Staff.xlsx#Staff"], "SELECT column_0, column_1 FROM staff"
    )
    assert 0 < len(found.rows) < 5
    assert not found.complete
    assert f"Only the first {len(found.rows)} rows fit here." in found.note
    assert estimated_tokens(str(found)) < 400


def test_an_answer_about_a_wide_table_is_bounded_and_says_what_is_left_out(tmp_path):
    header = ",".join(f"Reading of place {place}" for place in range(3_000))
    (tmp_path / "wide.csv").write_text(f"{header}\n{'1,' * 2_999}1\n", encoding="utf-8")
    with indexed(tmp_path, tmp_path / "i.sat") as index:
        tools = SheetTools(index, None, max_tokens=500)
        named = str(tools.query_tables(["wide.csv"]))
        found = tools.query_tables(["wide.csv"], "SELECT * FROM wide")
        other = tools.query_tables(["wide.csv"], "SELECT COLUMNS('_2999') FROM wide")
        with pytest.raises(InputError) as error:
            tools.query_tables(["wide.csv"], "SELECT x FROM wide")
    assert max(estimated_tokens(text) for text in (named, str(found))) < 700
    assert "more columns; find others by a part of their names with SELECT COLUMNS(" in named
    assert "Only the first 100 of 3,001 columns are shown, up to reading_of_place_99;" in found.note
    assert f"Only the first {len(found.columns)} columns fit here" in found.note
    assert len(found.rows[0]) == len(found.columns)
    assert not found.complete
    assert (other.columns, other.rows) == (("reading_of_place_2999",), ((1,),))
    assert len(str(error.value)) < 4_000


def test_a_wrong_query_or_sheet_is_said_in_words(tools, folder, tmp_path):
    for tables, sql, said in (
        ([], "SELECT 1", "there is no table to query"),
        (["Sale.xlsx#Q1"], "", "did you mean 'Sales.xlsx#Q1'"),
        (["Sales.xlsx#Q1!Z9:Z99"], "", "its tables: 0 (A1:B4)"),
        (["Sales.xlsx#Q1"], "SELECT revenu FROM q1", "did you mean revenue?"),
        (["Sales.xlsx#Q1"], "COPY q1 TO 'x.csv'", "COPY is not allowed"),
        (["Sales.xlsx#Q1"] * 21, "", "at most 20"),
    ):
        with pytest.raises(InputError) as error:
            tools.query_tables(tables, sql)
        assert said in str(error.value)
    shutil.copytree(folder, tmp_path / "books")
    with indexed(tmp_path / "books", tmp_path / "i.sat") as index:
        shutil.rmtree(tmp_path / "books")
        with pytest.raises(InputError, match="is gone; index its folder again") as error:
            SheetTools(index).query_tables(["Sales.xlsx#Q1"])
    assert str(tmp_path) not in str(error.value)


def test_without_duckdb_the_tool_is_not_offered(tools, monkeypatch):
    monkeypatch.setattr(sheettools, "can_query", lambda: False)
    assert [tool.name for tool in tools.tools()] == NAMES[:-1]


def test_cells_that_hold_a_text_are_found_in_what_the_index_keeps(tools):
    found = tools.search_cells("region 1")
    assert [each.citation for each in found.cells] == ["Sales.xlsx#Q1!A3", "Sales.xlsx#Q2!A3"]
    assert found.complete
    assert str(found).splitlines()[0] == "Sales.xlsx#Q1!A3: Region 1"
    assert "Name sheets to search all their cells" in found.note
    assert [each.value for each in tools.search_cells("quarter").cells] == ["Quarter"]
    assert str(tools.search_cells("no such text")).startswith("No cell has 'no such text'.")


def test_all_cells_of_named_sheets_are_read_for_a_number(tools):
    found = tools.search_cells("4.0", ["Sales.xlsx#Q2", "Sales.xlsx#Q1"])
    assert [(each.citation, each.value) for each in found.cells] == [("Sales.xlsx#Q2!B4", 4)]
    assert (found.complete, found.note) == (True, "")


def test_many_cells_are_cut_and_a_long_sheet_says_that_it_was_not_read_whole(tools, monkeypatch):
    found = tools.search_cells("value 7", ["Staff.xlsx#Staff"], limit=5)
    assert [each.citation for each in found.cells][:2] == [
        "Staff.xlsx#Staff!A9",
        "Staff.xlsx#Staff!B9",
    ]
    assert (len(found.cells), found.complete) == (5, False)
    assert found.note == "Only the first 5 cells are listed."
    assert len(found.cells[0].value) <= 200
    monkeypatch.setattr(cellsearch, "MAX_READ", 100)
    found = tools.search_cells("value 299", ["Staff.xlsx#Staff"])
    assert (found.cells, found.complete) == ((), False)
    assert "too large to be read to its end" in found.note


def test_a_wrong_search_for_cells_is_said_in_words(tools):
    for arguments, said in (
        ((" ",), "text is empty"),
        (("x", ["Sale.xlsx#Q1"]), "did you mean"),
        (("x", ["Sales.xlsx#Q1"] * 21), "at most 20"),
        (("x", None, 0), "limit is 0"),
    ):
        with pytest.raises(InputError) as error:
            tools.search_cells(*arguments)
        assert said in str(error.value)


def test_an_index_of_names_says_that_headers_alone_were_searched(folder, tmp_path):
    with SheetIndex.create(tmp_path / "i.sat", HashedEncoder(), contents="names") as index:
        index.sync(folder)
        assert "keeps no cells" in SheetTools(index).search_cells("Region 1").note
