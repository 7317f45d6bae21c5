"""Totals that a table leaves out are records of the queries whose conditions name them."""

from __future__ import annotations

import time

import pytest
import xlsxwriter

from sat_retriever.tools.sql.query import TableQuery
from tests.builders import indexed

PROFIT = [
    ["Line", "Note", "Amount"],
    ["Goods", "n1", 1210],
    ["Services", "n2", 805],
    ["Net sales", "n3", "=C2+C3"],
    ["Materials", "n4", 433],
    ["Wages", "n5", 291],
    ["Cost of sales", "n6", "=C5+C6"],
    ["Gross profit", "n7", "=C4-C7"],
]
VALUES = {3: 2015, 6: 724, 7: 1291}
NOTES = [["Note", "Topic"], ["n1", "Net sales"], ["n3", "Recognised on delivery"]]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("in")
    with xlsxwriter.Workbook(folder / "year.xlsx") as book:
        for name, rows in (("Profit", PROFIT), ("Notes", NOTES)):
            page = book.add_worksheet(name)
            for number, row in enumerate(rows):
                page.write_row(number, 0, row)
                if str(row[-1]).startswith("="):
                    page.write_formula(number, 2, row[-1], value=VALUES[number])
    with indexed(folder, tmp_path_factory.mktemp("index") / "x.sat") as made:
        yield made


@pytest.fixture
def asked(index):
    return TableQuery.over([index.table("year.xlsx#Profit"), index.table("year.xlsx#Notes")])


NAMED = [
    ("SELECT amount FROM profit WHERE line = 'Net sales'", [(2015,)]),
    ("SELECT amount FROM profit WHERE 'net sales' = lower(line)", [(2015,)]),
    ("SELECT amount FROM profit p WHERE p.note = 'n6'", [(724,)]),
    ("SELECT amount FROM profit WHERE line ILIKE '%of sales'", [(724,)]),
    ("SELECT amount FROM profit WHERE line LIKE 'C%s_ of%'", [(724,)]),
    ("SELECT sum(amount) FROM profit WHERE line IN ('Net sales', 'Wages')", [(2306,)]),
    (
        "SELECT (SELECT amount FROM profit WHERE line = 'Cost of sales') - "
        "(SELECT amount FROM profit AS x WHERE x.line = 'Net sales')",
        [(-1291,)],
    ),
    (
        "SELECT p.amount, n.topic FROM profit p JOIN notes n ON p.note = n.note "
        "WHERE p.line = 'Net sales'",
        [(2015, "Recognised on delivery")],
    ),
]


@pytest.mark.parametrize(("sql", "rows"), NAMED, ids=[sql for sql, _ in NAMED])
def test_a_line_that_sums_up_others_is_found_by_its_name(sql, rows, asked):
    found = asked.run(sql)
    assert list(found.rows) == rows
    assert "Kept, though" in found.note


def test_a_line_that_a_subquery_names_is_no_record_of_the_query_around_it(asked):
    lines = "SELECT sum(amount) FROM profit"
    part = "(SELECT amount FROM profit WHERE line = 'Net sales')"
    assert asked.run(f"{lines} WHERE amount > 10").rows == ((4030,),)
    for condition in (f"amount > 0.001 * {part}", f"amount = {part} OR amount > 10"):
        assert asked.run(f"{lines} WHERE {condition}").rows in (((None,),), ((4030,),))


def test_a_named_line_is_cited_and_told_as_a_sum(asked):
    found = asked.run(NAMED[0][0])
    assert found.citations == ("year.xlsx#Profit!A4:C4",)
    assert found.note == (
        "year.xlsx#Profit: Left out: row 7 (subtotal). "
        "Kept, though it may sum up others: row 4 (subtotal)."
    )


ALONE = [
    ("all records", "SELECT count(*) FROM profit", 5),
    ("a text that is no condition", "SELECT max('Net sales'), count(*) FROM profit", 5),
    (
        "the same table without a condition",
        "SELECT (SELECT amount FROM profit WHERE line = 'Net sales'), count(*) FROM profit",
        5,
    ),
    ("names of records", "SELECT count(*) FROM profit WHERE line IN ('Goods', 'Wages')", 2),
    ("a pattern of records", "SELECT count(*) FROM profit WHERE line LIKE '%s'", 4),
    ("all but a sum", "SELECT count(*) FROM profit WHERE line <> 'Net sales'", 5),
    (
        "another table's column",
        "SELECT count(*) FROM profit p JOIN notes n ON p.note = n.note WHERE n.topic = 'Net sales'",
        1,
    ),
    (
        "a name that is a query's own",
        "WITH profit AS (SELECT 'Net sales' AS line) SELECT count(*) FROM profit "
        "WHERE line = 'Net sales'",
        1,
    ),
]


@pytest.mark.parametrize(("sql", "count"), [x[1:] for x in ALONE], ids=[x[0] for x in ALONE])
def test_no_sum_is_counted_twice(sql, count, asked):
    assert asked.run(sql).rows[0][-1] == count


@pytest.mark.parametrize(
    "then", ["", "item,price\nnut,120\nbolt,35\nTotal,155\n", "item,stock\nnut,9\nTotal,155\n"]
)
def test_a_file_that_has_changed_leaves_the_records_as_they_were(then, tmp_path):
    (tmp_path / "stock.csv").write_text("item,stock\nnut,120\nbolt,35\nTotal,155\n")
    with indexed([tmp_path / "stock.csv"], tmp_path / "x.sat") as made:
        query = TableQuery.over([made.table("stock.csv#stock")])
    sql = "SELECT stock FROM stock WHERE item = 'Total'"
    assert query.run(sql).rows == ((155,),)
    (tmp_path / "stock.csv").write_text(then) if then else (tmp_path / "stock.csv").unlink()
    assert query.run(sql).rows == ()


def test_a_reader_of_the_tables_is_told_which_names_count(asked):
    head = asked.schema.partition("\n")[0]
    assert head.endswith("A sum counts if WHERE names it: 'Net sales', 'Cost of sales'.")


def test_a_pattern_of_many_parts_takes_no_time(tmp_path):
    (tmp_path / "stock.csv").write_text(f"item,stock\nnut,120\n{'a' * 1900},35\nTotal,155\n")
    with indexed([tmp_path / "stock.csv"], tmp_path / "x.sat") as made:
        query = TableQuery.over([made.table("stock.csv#stock")])
    start = time.process_time()
    assert query.run(f"SELECT 1 FROM stock WHERE item LIKE '{'%a' * 40}%b'").rows == ()
    assert time.process_time() - start < 2
