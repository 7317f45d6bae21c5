"""Rows that are no records: each command that shows a table tells them, or brings totals back."""

import json

import pytest

from sat_retriever import SheetEncoder, SheetIndex
from tests.builders import LEFT_OUT, MESSY, messy_index


@pytest.fixture(scope="module")
def messy(tmp_path_factory, encoder):
    return messy_index(tmp_path_factory.mktemp("messy"), SheetEncoder.load(encoder))


def test_show_tells_them_and_that_headings_are_a_column(messy, sat):
    run = sat("show", MESSY, "--index", messy)
    told = f"{LEFT_OUT} The column Section has the heading above each record."
    assert told in " ".join(run.out.split())
    (table,) = json.loads(sat("show", MESSY, "--index", messy, "--json").out)["sheets"][0]["tables"]
    assert table["left_out"][2] == {"row": 7, "reason": "subtotal", "text": "Subtotal"}
    assert (table["num_left_out"], table["doubtful"][0]["row"]) == (5, 11)


def test_an_index_of_names_tells_the_rows_without_their_texts(tmp_path, encoder, sat):
    file = messy_index(tmp_path, SheetEncoder.load(encoder), contents="names")
    run = sat("show", MESSY, "--index", file, "--json")
    (table,) = json.loads(run.out)["sheets"][0]["tables"]
    assert {each["text"] for each in (*table["left_out"], *table["doubtful"])} == {""}
    assert table["num_left_out"] == 5
    assert LEFT_OUT in " ".join(sat("show", MESSY, "--index", file).out.split())


def test_table_keeps_its_output_clean_and_tells_them_on_standard_error(messy, sat):
    run = sat("export", MESSY, "--index", messy, "--rows")
    lines = run.out.splitlines()
    assert lines[0] == "_row,Region,Product,Units,Revenue,Section"
    assert lines[2] == "5,North,Pears,7,71.25,Retail"
    assert [line.split(",")[0] for line in lines[1:]] == ["4", "5", "6", "9", "10", "11", "12"]
    assert run.err.startswith(f"7 records of {MESSY}!A1:D13. {LEFT_OUT} Units: ")


def test_totals_come_back_in_table_and_sql(messy, sat):
    run = sat("export", MESSY, "--index", messy, "--rows", "--totals")
    places = [int(line.split(",")[0]) for line in run.out.splitlines()[1:]]
    assert places == [4, 5, 6, 7, 9, 10, 11, 12, 13]
    assert "subtotal" not in run.err
    sql = "SELECT sum(revenue) AS s FROM sales WHERE _row <> 11"
    for more, said in (((), 602.0), (("--totals",), 2436.25)):
        run = sat("sql", sql, "-s", MESSY, "--index", messy, "--json", *more)
        assert json.loads(run.out)["rows"] == [[said]]


def test_sql_tells_them_with_the_names_and_with_the_answer(messy, sat):
    run = sat("sql", "-s", MESSY, "--index", messy)
    head = f"sales: 7 rows of {MESSY}!A1:D13. {LEFT_OUT} A sum counts if WHERE names it: "
    assert run.out.startswith(head)
    listed = "  section text: Section, the heading above the record, one of 'Retail', 'Wholesale'"
    assert run.out.splitlines()[-2] == listed
    run = sat("sql", "SELECT count(*) FROM sales", "-s", MESSY, "--index", messy)
    assert run.err.splitlines()[-1] == f"{MESSY}: {LEFT_OUT}"


def test_ask_shows_a_model_what_was_left_out_and_how_to_run_its_query(messy, sat):
    run = sat("ask", "revenue by region", "--index", messy)
    assert LEFT_OUT in run.out
    assert "--totals" not in run.err
    run = sat("ask", "revenue by region", "--index", messy, "--totals")
    assert "| Subtotal |" not in run.out and "9 rows of" in run.out
    assert f"'{MESSY}!A1:D13' --totals --index" in run.err


def test_search_tells_them_of_the_table_that_answers(messy, sat):
    (hit,) = json.loads(sat("search", "revenue", "--index", messy, "--json").out)["hits"]
    assert hit["table_note"].startswith(LEFT_OUT)


def test_cells_have_the_labels_that_are_merged_over_them(messy, sat):
    run = sat("cells", f"{MESSY}!A5:B8", "--index", messy)
    lines = [line.split() for line in run.out.splitlines()]
    assert lines[2:4] == [["5", "North", "Pears"], ["6", "North", "Plums"]]
    told = [
        "Not records: row 7 (subtotal), row 8 (section).",
        "Merged labels are repeated in each of their rows: A4.",
    ]
    assert run.err.splitlines() == told
    said = json.loads(sat("cells", f"{MESSY}!A5:A6", "--index", messy, "--json").out)
    assert (said["rows"], said["note"]) == ([["North"], ["North"]], told[1])


def test_of_many_rows_the_first_are_kept_and_the_number_of_the_others_is_told(
    tmp_path, encoder, sat
):
    (tmp_path / "in").mkdir()
    lines = ["Region,Amount"]
    for number in range(1, 121):
        lines += [f"Town {number},{7 * number}", f"Village {number},{3 * number}"]
        lines.append(f"Subtotal,{10 * number}")
    (tmp_path / "in" / "long.csv").write_text("\n".join(lines), encoding="utf-8")
    file = tmp_path / "x.sat"
    with SheetIndex.create(file, SheetEncoder.load(encoder)) as index:
        index.sync(tmp_path / "in")
    told = " ".join(sat("show", "long.csv#long", "--index", file).out.split())
    assert "Left out: rows 4, 7, 10, 13," in told
    assert "and 89 more (subtotals), and 20 more rows." in told
    (table,) = json.loads(sat("show", "long.csv#long", "--index", file, "--json").out)["sheets"][0][
        "tables"
    ]
    assert (len(table["left_out"]), table["num_left_out"]) == (100, 120)
    run = sat("export", "long.csv#long", "--index", file)
    assert run.err.endswith("and 109 more (subtotals).\n")
    run = sat("cells", "long.csv#long!A290:B310", "--index", file)
    assert run.err.endswith("301 (subtotals). More of these rows may be no records.\n")
    run = sat("cells", "long.csv#long!A320:B330", "--index", file)
    assert run.err == "Some of these rows may be no records.\n"
