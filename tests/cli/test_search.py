"""`sat search`: the JSON contract, the table, filters, and what ends it."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from datetime import date

import pytest

from sat_retriever import Hit, Link, SheetEncoder, SheetIndex, SheetRecord
from sat_retriever.cli import terminal
from sat_retriever.cli.hits import print_hits
from sat_retriever.encoder.onnx.device import gpu_count
from sat_retriever.index.search.search import SheetSearch
from sat_retriever.records.contents import CellText
from sat_retriever.records.hits import Why
from tests.cli.conftest import MARKUP, command, run_sat
from tests.cli.terminals import in_terminal

HIT_KEYS = set(
    "sheet_id rank score workbook path sheet range header_row columns visibility why".split()
)
WHY_KEYS = {"words", "headers", "dense", "lexical", "links", "via"}


def test_json_is_the_query_and_its_hits(index_file, sat):
    run = sat("search", "revenue by region", "--index", index_file, "--json")
    answer = json.loads(run.out)
    assert run.code == 0
    assert run.err == ""
    assert list(answer) == ["query", "times", "confidence", "answered", "note", "hits"]
    assert answer["times"] == {"label": "", "counted_from_today": [], "spans": []}
    assert answer["query"] == "revenue by region"
    assert len(answer["hits"]) == 5
    for rank, hit in enumerate(answer["hits"], start=1):
        assert hit["rank"] == rank
        assert set(hit) >= HIT_KEYS
        assert set(hit["why"]) >= WHY_KEYS


def test_the_best_hit_says_where_the_table_is_and_why_it_was_found(index_file, sat):
    run = sat("search", "revenue by region", "-i", index_file, "-k", 1, "--json")
    (hit,) = json.loads(run.out)["hits"]
    assert hit["sheet_id"] == "sales/2024.xlsx#Q1"
    assert (hit["workbook"], hit["path"], hit["sheet"]) == ("2024.xlsx", "sales/2024.xlsx", "Q1")
    assert (hit["range"], hit["header_row"], hit["visibility"]) == ("A1:C2", 1, "visible")
    assert [column["name"] for column in hit["columns"]] == ["Region", "Month", "Revenue"]
    assert hit["why"]["words"] == ["revenue", "region"]
    assert hit["why"]["headers"] == ["Region", "Revenue"]
    assert 0 < hit["why"]["lexical"] <= 1
    assert -1 <= hit["why"]["dense"] <= 1
    assert hit["why"]["links"] == []


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("sales of the last three years", 'times: 2021 to 2023 (from "last three years")'),
        ("sales Starting in 2021", "times: 2021 or later"),
        ("ventas del año pasado", 'times: 2023 (from "año pasado")'),
        ("sales by last name", ""),
    ],
)
def test_the_times_it_understood_are_one_line(query, said, index_file, sat):
    run = sat("search", query, "-i", index_file, "--today", "2024-05-10")
    assert run.code == 0
    lines = [line for line in run.out.splitlines() if line.startswith("times:")]
    assert lines == ([said] if said else [])


def test_json_has_the_times_as_fields(index_file, sat):
    run = sat("search", "sales last quarter", "-i", index_file, "--json", "--today", "2024-05-10")
    assert json.loads(run.out)["times"] == {
        "label": 'January to March 2024 (from "last quarter")',
        "counted_from_today": ["last quarter"],
        "spans": [{"first_year": 2024, "last_year": 2024, "first_month": 1, "last_month": 3}],
    }


def test_last_year_counts_from_the_present_day_if_no_other_is_given(index_file, sat):
    before = date.today()
    label = json.loads(sat("search", "sales last year", "-i", index_file, "--json").out)["times"]
    after = date.today()
    assert label["spans"][0]["first_year"] in {before.year - 1, after.year - 1}


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_time_that_no_sheet_is_of_is_said_beside_the_answer(form, index_file, sat):
    missing = sat("search", "revenue 2023", "-i", index_file, *form)
    assert missing.err == "No sheet searched is named for 2023; check what times these hold.\n"
    assert missing.code == 0
    assert "Revenue" in missing.out
    assert sat("search", "revenue 2024", "-i", index_file, *form).err == ""
    none = sat("search", "revenue 2023", "-i", index_file, "--min-score", 2, *form)
    assert "2023" not in none.err


FILTERS = [
    (["--workbook", "staff.csv"], {"staff.csv#staff"}),
    (["--path", "sales/*", "--visibility", "hidden"], {"sales/2024.xlsx#Rates"}),
    (["--visibility", "hidden"], {"sales/2024.xlsx#Rates"}),
    (["--format", "CSV", "--workbook", "staff.csv"], {"staff.csv#staff"}),
    (["--format", "ods"], set()),
    (["--period", "2023"], set()),
    (["--role", "chart"], set()),
    (["--before", "2001-01-01"], set()),
    (["--after", "2001-01-01", "--workbook", "staff.csv"], {"staff.csv#staff"}),
    (["--after", "2001", "--before", "2999-12", "--workbook", "staff.csv"], {"staff.csv#staff"}),
    (["--after", "2001-01-01T08:30", "--workbook", "staff.csv"], {"staff.csv#staff"}),
    (["--after", "2001-01-01T08:30:00+02:00", "--format", "csv", "--before", "2001-02"], set()),
    (["--min-score", "0.99"], set()),
    (["--where", "team=finance"], set()),
]


@pytest.mark.parametrize(("options", "expected"), FILTERS, ids=" ".join)
def test_filters_hold_for_every_hit(options, expected, index_file, sat):
    run = sat("search", "rate", "--index", index_file, "--json", *options)
    assert run.code == 0
    assert {hit["sheet_id"] for hit in json.loads(run.out)["hits"]} == expected


def test_the_table_names_sheet_workbook_range_and_reason(index_file, sat):
    run = sat("search", "currency rate", "--index", index_file, "-k", 1)
    assert run.code == 0
    for part in ("Rates (hidden)", "sales/2024.xlsx", "A1:B2", "currency, rate", "header row 1"):
        assert part in run.out
    assert max(map(len, run.out.splitlines())) <= 100


def test_a_table_in_a_pipe_has_no_escape_codes_and_no_blanks_at_the_ends_of_lines(index_file):
    run = run_sat("search", "rate", "--index", index_file)
    assert run.code == 0
    assert "\x1b" not in run.out
    assert [line for line in run.out.splitlines() if line.endswith(" ")] == []


def test_an_id_that_the_table_breaks_is_given_in_one_line(capsys):
    folder = "reports_of_all_regions_and_branches/"
    records = [
        SheetRecord(f"{path}#Q1", "Q1", "a.xlsx", path)
        for path in (3 * folder + "a.xlsx", "a.xlsx")
    ]
    why = Why((), (), 0.5, 0.5, 1, 1)
    print_hits("q", [Hit(rank, 0.5, record, why) for rank, record in enumerate(records, start=1)])
    shown = capsys.readouterr().out
    assert shown.endswith(f"\n\nids in full, for sat show:\n1  {3 * folder}a.xlsx#Q1\n")
    print_hits("q", [Hit(1, 0.5, records[1], why)])
    assert "ids in full" not in capsys.readouterr().out


def test_markup_and_escapes_in_names_are_shown_not_obeyed(index_file, sat):
    shown = run_sat("search", "red", "--index", index_file, "-k", 1, FORCE_COLOR="1")
    assert "[red]x[link=evil]" in shown.out
    assert "\x1b[31m" not in shown.out.replace("\x1b[31m[0m", "")
    assert "\x1b]8;" not in shown.out  # no link
    answer = json.loads(sat("search", "red", "--index", index_file, "--json").out)
    assert MARKUP in [hit["sheet"] for hit in answer["hits"]]


def test_nothing_found_is_said_and_is_a_success(index_file, sat):
    run = sat("search", "rate", "--index", index_file, "--format", "ods")
    assert run.code == 0
    assert run.out == "no sheets\n"
    assert run.err == "No sheet meets format 'ods'; there are csv, xlsx.\n"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--path", "2024.xlsx"), "near it are 'sales/2024.xlsx'"),
        (("--path", "Sales/*"), "near it are 'sales/2024.xlsx'"),
        (("--path", "none/*"), "paths begin with 'sales/'"),
        (("--workbook", "2023.xlsx"), "near it are '2024.xlsx'"),
        (("--visibility", "very_hidden"), "there are visible, hidden"),
        (("--path", "staff*", "--format", "xlsx"), "path 'staff*', format 'xlsx'"),
        (("--path", "x/*", "--format", "ods"), "No sheet meets format 'ods'"),
        (("--min-score", "9"), "No sheet scores 9 or more; the best scores"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_the_condition_that_no_sheet_meets_is_named_with_what_there_is(
    options, says, index_file, sat
):
    run = sat("search", "rate", "--index", index_file, *options)
    assert (run.code, run.out) == (0, "no sheets\n")
    assert says in run.err
    told = json.loads(sat("search", "rate", "--index", index_file, *options, "--json").out)
    assert told["note"] == run.err.strip()


def test_words_that_were_read_otherwise_are_told(transit_file, sat):
    run = sat("search", "vehicel costs", "--index", transit_file)
    assert run.err == "Searched for 'vehicle' instead of 'vehicel'.\n"
    assert sat("search", "vehicle costs", "--index", transit_file).err == ""


def test_an_empty_index_says_so(tmp_path, encoder, sat):
    file = tmp_path / "x.sat"
    SheetIndex.create(file, SheetEncoder.load(encoder)).close()
    run = sat("search", "rate", "--index", file)
    assert (run.out, run.err) == ("no sheets\n", "The index is empty.\n")


@pytest.mark.parametrize(
    "words", [("search", "rate"), ("search", "rate", "--json"), ("graph",)], ids=" ".join
)
def test_a_reader_that_stops_early_ends_it_quietly(words, index_file):
    line = command(*words, "--index", index_file)
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()  # sooner than any head -1
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=30) == 0
    assert err == b""


def test_json_is_valid_whatever_the_terminals_encoding(tmp_path, encoder):
    (tmp_path / "销售 😀.csv").write_text("客户,金额\na,1\n", encoding="utf-8")
    file = tmp_path / "x.sat"
    run = run_sat("index", tmp_path, "--index", file, "--model", encoder, PYTHONIOENCODING="ascii")
    assert run.code == 0
    answer = run_sat("search", "客户", "-i", file, "--json", PYTHONIOENCODING="ascii")
    assert json.loads(answer.out)["hits"][0]["sheet"] == "销售 😀"
    assert run_sat("search", "客户", "-i", file, PYTHONIOENCODING="ascii").code == 0


VIA = Link("a.xlsx#Summary", "a.xlsx#Q1", "formula_reference", 0.9, "Summary!B4 =SUM(Q1!B2:B9)")


@pytest.fixture
def lifted(monkeypatch):
    """Every candidate is said to be lifted by the same link, as a reranker would say it."""
    found = SheetSearch.found

    def candidates(self, *arguments, **options):
        best = found(self, *arguments, **options)
        return best.of(replace(one, via=VIA) for one in best.candidates)

    monkeypatch.setattr(SheetSearch, "found", candidates)


@pytest.mark.usefixtures("lifted")
def test_the_link_that_lifted_a_sheet_is_named_in_both_forms(index_file, sat):
    (hit,) = json.loads(sat("search", "rate", "-i", index_file, "-k", 1, "--json").out)["hits"]
    assert hit["why"]["via"] == {
        "from": VIA.source,
        "to": VIA.target,
        "type": VIA.type,
        "evidence": VIA.evidence,
    }
    shown = " ".join(sat("search", "rate", "-i", index_file, "-k", 1).out.split())
    assert "via formula_reference from a.xlsx#Summary" in shown
    assert VIA.evidence in shown


def test_a_sheet_that_no_link_lifted_says_nothing_of_links(index_file, sat):
    run = sat("search", "currency rate", "-i", index_file, "-k", 1, "--json")
    assert json.loads(run.out)["hits"][0]["why"]["via"] is None
    assert "via" not in sat("search", "currency rate", "-i", index_file, "-k", 1).out


@pytest.mark.parametrize(
    ("sheet", "said"),
    [("Q1", "via formula_reference from Summary"), ("Summary", "via formula_reference to Q1")],
)
def test_a_link_within_a_workbook_is_told_by_the_name_of_the_other_sheet(sheet, said, capsys):
    record = SheetRecord(f"a.xlsx#{sheet}", sheet, "a.xlsx", "a.xlsx")
    other = SheetRecord("b.xlsx#Keys", "Keys", "b.xlsx", "b.xlsx")
    links = (Link(record.sheet_id, other.sheet_id, "join_key", 0.5, "e"),)
    why = Why((), (), 0.5, 0.5, 1, 1, links, VIA)
    print_hits("q", [Hit(1, 0.5, record, why), Hit(2, 0.4, other, replace(why, via=None))])
    shown = " ".join(capsys.readouterr().out.split())
    assert said in shown
    assert "linked with 2" in shown and "linked with 1" in shown


@pytest.mark.parametrize("width", [40, 80, 100, 120, 250])
def test_the_link_and_its_evidence_take_one_line_each(width, capsys, monkeypatch):
    monkeypatch.setattr(terminal, "_PIPE_WIDTH", width)
    far = f"reports/{'a folder of a folder/' * 6}Sales West 2024.xlsx#Year to date"
    evidence = f"Summary!B4 =SUM('[{far}]Year'!B2:B5)"
    record = SheetRecord("a.xlsx#Q1", "Q1", "a.xlsx", "a.xlsx")
    via = Link("a.xlsx#Q1", far, "formula_reference", 0.9, evidence)
    print_hits("q", [Hit(1, 0.5, record, Why(("rate",), (), 0.5, 0.5, 1, 1, (), via))])
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= width for line in lines)
    (link,) = [row for row, line in enumerate(lines) if " via " in line]
    end = next((row for row, line in enumerate(lines) if not line), len(lines))
    assert end - link == 2  # the link, the evidence, and nothing of either below
    assert "…" in lines[link] and "…" in lines[link + 1]
    if width >= 100:
        assert "via formula_reference to …" in lines[link]
        assert lines[link].endswith("#Year to date")


def test_up_to_three_matched_cells_are_shown_and_the_range_that_answers(transit_file, sat):
    run = sat("search", "people of town 444", "-i", transit_file, "-k", 1, "--reranker", "none")
    assert "B446: Town 444" in run.out
    assert "A436:C456" in run.out and "of A1:C601" in run.out
    many = sat("search", "bus tram ferry subway car", "-i", transit_file, "--reranker", "none")
    shown = [line.strip() for line in many.out.splitlines()]
    assert sum(line.startswith(("A10:", "A11:", "A12:", "A13:")) for line in shown) == 3


def test_json_carries_cells_table_and_citation(transit_file, sat):
    run = sat("search", "cost of a ferry", "-i", transit_file, "--json", "--reranker", "none")
    hits = {hit["sheet"]: hit for hit in json.loads(run.out)["hits"]}
    assert hits["Data"]["citation"] == "Transit.xlsx#Data!A9:B13"
    assert hits["Data"]["why"]["cells"][0] == {"cell": "A12", "text": "Ferry", "kind": "cell"}
    assert isinstance(hits["Data"]["table"], int)


def test_words_of_the_question_are_marked_in_a_terminal_only(transit_file, sat):
    asked = ("search", "cost of a ferry", "-i", transit_file, "--reranker", "none")
    shown = in_terminal(*asked, output=True).out
    assert "\x1b[4mFerry\x1b[0m" in shown
    assert "\x1b[4mTrips" not in shown
    assert "\x1b" not in sat(*asked).out


def test_escapes_in_cells_are_shown_not_obeyed(capsys):
    record = SheetRecord("a#b", "b")
    why = Why((), (), 0.5, 0.5, 1, 1, cells=(CellText("A1", MARKUP + "\n\x07end"),))
    print_hits("q", [Hit(1, 0.5, record, why)])
    shown = capsys.readouterr().out
    assert "A1: [red]x[link=evil]" in shown
    assert "\x1b" not in shown and "\x07" not in shown


def test_hits_that_are_only_near_stand_below_a_line_that_says_so(index_file, sat):
    strange = "which goalkeeper of Real Madrid saved most penalties?"
    run = sat("search", strange, "-i", index_file)
    assert run.out.startswith("Nothing here seems to answer this; the nearest sheets are:")
    assert "sales/2024.xlsx" in run.out
    told = json.loads(sat("search", strange, "-i", index_file, "--json").out)
    assert (told["answered"], 0 < told["confidence"] < 0.5, len(told["hits"])) == (False, True, 5)
    near = json.loads(sat("search", "revenue by region", "-i", index_file, "--json").out)
    assert near["answered"]
    assert near["confidence"] > told["confidence"]
    assert "Nothing here" not in sat("search", "revenue by region", "-i", index_file).out


def test_a_device_that_is_not_there_is_an_error_that_says_what_to_do(index_file, sat):
    assert sat("search", "salary", "-i", index_file, "--device", "cpu").code == 0
    assert sat("search", "salary", "-i", index_file, "--device", "gpu").code == 2
    if gpu_count():
        pytest.skip("there is a CUDA device here")
    run = sat("search", "salary", "-i", index_file, "--device", "cuda")
    assert run.code == 1
    assert "CUDA" in run.err
    assert "choose device 'cpu'" in run.err
