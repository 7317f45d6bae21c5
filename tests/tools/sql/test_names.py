"""Names of tables and columns: readable, different, and never in need of quotation marks."""

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever import ColumnKind, TypedColumn, TypedTable
from sat_retriever.records.area import Area
from sat_retriever.tools.sql.names import RESERVED, sql_name, sql_tables


def table(sheet_id, *columns):
    made = tuple(TypedColumn(name, ColumnKind.EMPTY, ()) for name in columns)
    return TypedTable(sheet_id, Area(1, 1, 1, len(columns)), made, ())


WRITTEN = (  # a name, written as a column and as a table
    "SELECT a, {0} FROM t",
    "SELECT {0}, a FROM t WHERE {0} = 1 ORDER BY {0}",
    "SELECT sum({0}) FROM t GROUP BY {0}",
    "SELECT x.{0} FROM t x JOIN t y ON x.{0} = y.{0}",
    "SELECT {0}.a FROM {0} WHERE a = 1",
    "SELECT x.a FROM t JOIN {0} x ON t.a = x.a",
)


def test_the_reserved_words_are_those_that_duckdb_reads_otherwise():
    with duckdb.connect() as connection:
        words = connection.sql("SELECT keyword_name FROM duckdb_keywords()").fetchall()

        def is_name(word: str) -> bool:
            connection.execute(f'CREATE OR REPLACE TABLE t (a int, "{word}" int)')
            connection.execute(f'CREATE OR REPLACE TABLE "{word}" (a int)')
            try:
                return all(connection.execute(each.format(word)) for each in WRITTEN)
            except duckdb.Error:
                return False
            finally:
                connection.execute(f'DROP TABLE "{word}"')

        assert {word for (word,) in words if not is_name(word)} == RESERVED
        assert [word for word in sorted(RESERVED) if not is_name(sql_name(word))] == []


@given(st.lists(st.text(min_size=1, max_size=80), min_size=1, max_size=4))
def test_any_name_can_be_written_without_quotation_marks(parts):
    name = sql_name(*parts)
    found = duckdb.sql(f"SELECT 1 AS {name}").columns
    assert found == [name]


@pytest.mark.parametrize(
    ("ids", "names"),
    [
        (["a/Sales.xlsx#North", "a/Sales.xlsx#South"], ["north", "south"]),
        (["a/Sales.xlsx#May", "a/Costs.xlsx#May"], ["sales_may", "costs_may"]),
        (["a/Sales.xlsx#Sheet1", "staff.csv#staff"], ["sales_sheet1", "staff"]),
        (["a.xlsx#Q1", "a.xlsx#Q1"], ["a_q1", "a_q1_2"]),
        (["a.xlsx#2024", "a.xlsx#Order"], ["a_2024", "order_"]),
    ],
)
def test_tables_are_named_by_sheet_and_by_workbook_where_that_says_too_little(ids, names):
    assert [each.name for each in sql_tables([table(each, "x") for each in ids])] == names


def test_columns_have_different_names_and_none_hides_the_row():
    [found] = sql_tables([table("a.csv#a", "Price (EUR)", "price eur", "_row", "%")])
    assert found.columns == ("price_eur", "price_eur_2", "row", "unnamed")
    assert found.schema(9).splitlines()[1::4] == [
        "  price_eur empty: Price (EUR)",
        "  _row integer: row on the sheet",
    ]


def test_a_header_of_any_length_and_lines_takes_one_short_line():
    [found] = sql_tables([table("a.csv#a", "x\n" * 9_000)])
    assert len(found.lines) == 2
    assert len(found.lines[0]) < 300
