"""SQL over real tables: right answers with citations; refused, wrong and endless queries."""

import datetime as dt
import json

import duckdb
import pytest

from sat_retriever import EmptyInputError, InputError
from sat_retriever.errors import QueryError
from sat_retriever.records.typedtable import ROW
from sat_retriever.tools.sql import process, query
from sat_retriever.tools.sql.ask import QueryLimits
from sat_retriever.tools.sql.query import TableQuery
from sat_retriever.tools.sql.tree import MAX_MESSAGE
from tests.builders import indexed, save_book


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("in")
    orders = [["Orders of 2024"], [], ["Customer", "Day", "Price (EUR)", "Paid"]]
    sold = [("Ada", 10), ("Bob", 5.5), ("Ada", 7), ("Eve", 1)]
    for number, (customer, price) in enumerate(sold, start=1):
        orders.append([customer, dt.datetime(2024, 1, number), price, number % 2 == 0])
    orders.append(["Total", None, 23.5, None])
    people = [["Name", "City"], ["Ada", "Rome"], ["Bob", "Oslo"], ["Zoe", "Bonn"]]
    save_book(folder / "shop.xlsx", Orders=orders, People=people)
    file = tmp_path_factory.mktemp("index") / "x.sat"
    with indexed(folder, file) as made:
        yield made


@pytest.fixture(scope="module")
def asked(index):
    return TableQuery.over([index.table("shop.xlsx#Orders"), index.table("shop.xlsx#People")])


@pytest.fixture
def here(asked, monkeypatch):
    """The tables asked in this process: what a statement means does not need one of its own."""

    def answer(sql, tables, limits, now):
        with duckdb.connect(":memory:", config=process._CONFIG) as connection:
            for table in tables:
                found = table.table.to_arrow()
                connection.register(table.name, found.rename_columns([ROW, *table.columns]))
            process._set_clock(connection, now.date().isoformat(), now.time().isoformat())
            connection.execute("SET lock_configuration = true")
            names = {table.name: [*table.columns, ROW] for table in tables}
            request = {"sql": sql, "rows": limits.rows, "columns": limits.columns}
            found = {"places": [], "located": []}
            for part in process.answers_of(connection, request, names):
                found |= json.loads(json.dumps(part))
        return found

    monkeypatch.setattr(query, "ask", answer)
    return asked


ANSWERS = [
    ("SELECT sum(price_eur) FROM orders", [(23.5,)], ["shop.xlsx#Orders!A3:D8"]),
    (
        "SELECT customer, day FROM orders WHERE paid ORDER BY day DESC",
        [("Eve", "2024-01-04"), ("Bob", "2024-01-02")],
        ["shop.xlsx#Orders!A5:D5,A7:D7"],
    ),
    (
        "SELECT o.price_eur, p.city FROM Orders o JOIN people p ON o.customer = p.name "
        "WHERE p.city = 'Rome' ORDER BY o._row LIMIT 5",
        [(10.0, "Rome"), (7.0, "Rome")],
        ["shop.xlsx#Orders!A4:D4,A6:D6", "shop.xlsx#People!A2:B2"],
    ),
    (
        "SELECT name, price_eur FROM people LEFT JOIN orders ON name = customer "
        "WHERE city = 'Bonn'",
        [("Zoe", None)],
        ["shop.xlsx#People!A4:B4", "shop.xlsx#Orders!A3:D8"],
    ),
    (
        "WITH rich AS (SELECT customer, sum(price_eur) AS s FROM orders GROUP BY 1) "
        "SELECT customer FROM rich WHERE s > 15",
        [("Ada",)],
        ["shop.xlsx#Orders!A3:D8"],
    ),
    (
        "SELECT DISTINCT customer FROM orders ORDER BY 1 LIMIT 1",
        [("Ada",)],
        ["shop.xlsx#Orders!A3:D8"],
    ),
    ("FROM people SELECT count(*)", [(3,)], ["shop.xlsx#People!A1:B4"]),
    ("SELECT _row FROM people WHERE city LIKE 'O%'", [(3,)], ["shop.xlsx#People!A3:B3"]),
    (
        "SELECT day FROM orders WHERE day LIKE '2024-01-%3' OR price_eur NOT ILIKE '%.0'",
        [("2024-01-02",), ("2024-01-03",)],
        ["shop.xlsx#Orders!A5:D6"],
    ),
    (
        "SELECT count(*) FROM orders WHERE day ILIKE '2024/_1%' ESCAPE '/'",
        [(0,)],
        ["shop.xlsx#Orders!A3:D8"],
    ),
    ("SELECT 1 + 1;", [(2,)], []),
    ("SELECT [1, 2], {'a': 1.5}, DATE '2024-01-02', 1e400", None, []),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "rows", "citations"), ANSWERS, ids=[x[0][:40] for x in ANSWERS])
def test_a_query_is_answered_with_the_ranges_that_it_came_from(sql, rows, citations, asked):
    found = asked.run(sql)
    assert list(found.rows) == (rows or [("[1, 2]", '{"a": 1.5}', "2024-01-02", "inf")])
    assert list(found.citations) == citations
    assert found.complete


def test_what_the_table_leaves_out_is_said_beside_the_answer(asked):
    found = asked.run("SELECT count(*) FROM orders")
    assert found.note == "shop.xlsx#Orders: Left out: row 8 (total)."


@pytest.mark.parametrize(
    ("condition", "note"),
    [
        ("customer = 'Adda'", "orders.customer has no 'Adda'; it has 'Ada'."),
        ("customer ILIKE '%ada lovelace%'", "has no '%ada lovelace%'; it has 'Ada'."),
        (
            f"customer = '{'y' * 70}'",
            f"has no '{'y' * 70}'; its values are such as 'Ada', 'Bob', 'Eve'.",
        ),
        ("customer = 'Zzyzx'", "has no 'Zzyzx'; its values are such as 'Ada', 'Bob', 'Eve'."),
        (
            "day LIKE '%/01/2024'",
            "its values are such as '2024-01-01', '2024-01-02', '2024-01-03'.",
        ),
        ("customer = 'Ada' AND price_eur > 99", ""),
        ("day = '2024-01-01' AND price_eur > 99", ""),
        ("price_eur = '10' AND customer = 'Eve'", ""),
        ("year(day) = 2023 AND strftime(day, '%Y') = '2023'", ""),
        ("date_trunc('month', day) = '2023-01-01'", ""),
        ("day >= '2025-01-01' AND customer <> 'Zoe'", ""),
        ("lower(customer) = 'ada' AND price_eur > 99", ""),
    ],
)
def test_a_text_that_no_record_has_is_told_with_the_nearest_ones(condition, note, here):
    said = here.run(f"SELECT price_eur FROM orders WHERE {condition}").note
    assert said.endswith(note) if note else "has no" not in said


WRONG = [
    ("SELECT price FROM orders", "There is no column 'price'; did you mean price_eur?"),
    ("SELECT o.town FROM people o", "There is no column 'town'"),
    ("SELECT * FROM order_s", "there is no table 'order_s'; did you mean 'orders'?"),
    ("SELECT sum(customer) FROM orders", "Tables: orders(customer, day, price_eur, paid, _row)"),
    ("SELECT o.name FROM orders o", "'name' is a column of people: read it from there"),
    ("SELECT * FROM orders WHERE day = 'May 2024'", "write a day as DATE '2024-05-31'"),
    ("SELECT CAST(customer AS DOUBLE) FROM orders", "TRY_CAST gives NULL for the others"),
    ("SELECT year(customer) FROM orders", "TRY_CAST(x AS DATE) reads them"),
    ("SELECT * FROM orders WHERE customer = \"Ada\"", "'Ada' is a text of customer: texts stand"),
    ("SELECT * FROM orders WHERE price_eur = 'five'", "holds no texts; look for the text"),
    ("SELECT sum(customer) FROM orders", "TRY_CAST(x AS DOUBLE) reads them"),
    ("SELECT customer, sum(price_eur) FROM orders", "GROUP BY ALL groups by"),
    ("SELECT customer FROM orders WHERE sum(price_eur) > 1", "HAVING compares results"),
    ("SELECT orders.customer FROM orders o", "has an alias is called by that alone"),
    ("SELEC 1", "syntax error at or near"),
    ("SELECT", "without selection list"),
    ("", "the SQL is empty"),
    ("-- nothing", "0 statements; give one SELECT"),
    ("SELECT 1; SELECT 2", "2 statements; give one SELECT"),
    ("SELECT 1; DROP TABLE orders", "2 statements"),
    ("DROP VIEW orders", "DROP is not allowed"),
    ("CREATE TABLE t AS SELECT 1", "CREATE is not allowed"),
    ("INSERT INTO orders VALUES (1)", "INSERT is not allowed"),
    ("COPY orders TO 'x.csv'", "COPY is not allowed"),
    ("ATTACH 'x.db'", "ATTACH is not allowed"),
    ("INSTALL httpfs", "LOAD is not allowed"),
    ("SET memory_limit = '9GB'", "SET is not allowed"),
    ("PRAGMA database_list", "not allowed"),
    ("UPDATE EXTENSIONS", "this kind of statement is not allowed; only one SELECT is"),
    ("EXPLAIN SELECT 1", "EXPLAIN is not allowed"),
    ("CALL pragma_version()", "CALL is not allowed"),
    ("SELECT * FROM read_csv('/etc/passwd')", "'read_csv' is not allowed"),
    ("SELECT * FROM read_text('/etc/passwd')", "'read_text' is not allowed"),
    ("SELECT * FROM glob('/*')", "'glob' is not allowed"),
    ("SELECT * FROM '/etc/passwd'", "there is no table '/etc/passwd'"),
    ("SELECT * FROM 'https://example.com/x.csv'", "there is no table"),
    ("SELECT * FROM query('SELECT 1')", "'query' is not allowed"),
    ("SELECT * FROM arrow_scan(1, 2, 3)", "'arrow_scan' is not allowed"),
    ("SELECT * FROM duckdb_settings()", "'duckdb_settings' is not allowed"),
    ("SELECT * FROM information_schema.tables", "no table 'information_schema.tables'"),
    ("SELECT * FROM main.orders", "no table 'main.orders'"),
    ("SELECT * FROM sqlite_master", "no table 'sqlite_master'"),
    ("SELECT * FROM (DESCRIBE orders)", "ask without SQL for the names of tables and columns"),
    ("SUMMARIZE orders", "ask without SQL for the names of tables and columns"),
    ("SHOW TABLES", "ask without SQL for the names of tables and columns"),
    ("PIVOT orders ON customer USING sum(price_eur)", "name the values, as in FROM t PIVOT"),
    ("SELECT * FROM orders NATURAL JOIN people", "name the columns, as in JOIN … USING (x)"),
    ("SELECT user FROM orders", "there is no column 'user'"),
    ("SELECT current_schema", "there is no column 'current_schema'"),
    ("SELECT current_user()", "'current_user' is not allowed: it tells of the program"),
    ("SELECT GetEnv('HOME')", "'getenv' is not allowed: it tells of the program"),
    ("SELECT system.main.getenv('HOME')", "'getenv' is not allowed"),
    ("SELECT pg_get_viewdef(1)", "'pg_get_viewdef' is not allowed"),
    ("SELECT pg_catalog.format_type(1, 2)", "'format_type' is not allowed"),
    ("SELECT get_block_size('memory')", "'get_block_size' is not allowed"),
    ("SELECT json_serialize_plan('FROM pg_class')", "'json_serialize_plan' is not allowed"),
    ("SELECT pg_sleep(1000)", "'pg_sleep' is not allowed"),  # a macro that calls what is refused
    ("SELECT setseed(0.5)", "'setseed' is not allowed"),
    ("SELECT * FROM histogram('orders', 'paid')", "'histogram' is not allowed"),
    ("SELECT * FROM query_table('orders')", "'query_table' is not allowed"),
    ("SELECT current_setting('home_directory')", "'current_setting' is not allowed"),
    ("SELECT (SELECT max(content) FROM read_text('/etc/passwd'))", "'read_text' is not allowed"),
    ("SELECT 1 WHERE EXISTS (FROM read_blob('/etc/passwd'))", "'read_blob' is not allowed"),
    ("WITH orders AS (SELECT * FROM read_csv('x')) FROM orders", "'read_csv' is not allowed"),
    ("WITH x AS (WITH pg_class AS (SELECT 1) FROM pg_class) FROM pg_class", "no table 'pg_class'"),
    (f"SELECT {'1+' * 11_000}1", "characters; give at most 20,000"),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "said"), WRONG, ids=[x[0][:40] for x in WRONG])
def test_what_is_wrong_or_not_allowed_is_said(sql, said, here):
    with pytest.raises((QueryError, EmptyInputError)) as error:
        here.run(sql)
    assert said in str(error.value)
    assert "sat_retriever" not in str(error.value)


def test_a_cte_is_known_where_it_is_in_scope_only(here):
    for sql, used in (
        ("WITH people AS (FROM orders) SELECT count(*) FROM People", ["orders"]),
        ("WITH people AS (SELECT 1), x AS (FROM people) FROM x", []),
        ("WITH people AS (FROM people) SELECT count(*) FROM people", ["people"]),
        ("SELECT * FROM (WITH people AS (SELECT 1) FROM people) t, people", ["people"]),
        ("WITH x AS (FROM people), people AS (SELECT 1) FROM x, people", ["people"]),
        ("WITH people(a) AS (VALUES (1)) SELECT (SELECT max(a) FROM people) FROM people", []),
        ("WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 3) FROM t", []),
        (
            "WITH RECURSIVE people AS (SELECT _row AS n FROM people UNION ALL "
            "SELECT n + 9 FROM people WHERE n < 5) FROM people",
            ["people"],
        ),
    ):
        assert [source.name for source in here.run(sql).sources] == used, sql


def test_the_clock_stands_still_at_the_day_of_the_asker(asked):
    dated = TableQuery(asked.tables, today=dt.date(2024, 1, 3))
    sql = (
        "SELECT customer FROM orders WHERE day < current_date AND day < today() AND day < now() "
        "AND day < current_timestamp AND ago(INTERVAL 1 DAY) >= day + INTERVAL 1 DAY"
    )
    found = dated.run(sql)
    assert found.rows == (("Ada",),)
    assert found.citations == ("shop.xlsx#Orders!A4:D4",)
    assert found.note.startswith("current_date is 2024-01-03 here.")
    clocks = "now(), current_timestamp, localtimestamp, get_current_timestamp()"
    [moments] = dated.run(f"SELECT {clocks}").rows
    assert all(moment.startswith("2024-01-03 ") for moment in moments), moments
    assert "current_date" not in dated.run("SELECT DATE '2024-01-01'").note
    today = asked.run("SELECT today()").rows[0][0]
    assert dt.date.fromisoformat(today) - dt.date.today() in (dt.timedelta(), dt.timedelta(-1))


@pytest.mark.parametrize(
    ("sql", "whole"),
    [
        ("SELECT DISTINCT * FROM orders", True),
        ("SELECT count(*) FROM (SELECT DISTINCT o.* FROM orders o)", True),
        ("FROM people GROUP BY ALL", True),
        ("FROM people EXCEPT FROM people", True),
        ("WITH x AS (SELECT 1) FROM people UNION FROM people", True),
        ("FROM orders PIVOT (sum(price_eur) FOR customer IN ('Ada'))", True),
        ("SELECT DISTINCT * EXCLUDE (_row) FROM orders", False),
        ("SELECT DISTINCT orders.* EXCLUDE (orders._row) FROM orders", False),
        ("SELECT DISTINCT customer FROM orders", False),
        ("SELECT DISTINCT ON (customer) * FROM orders", False),
        ("SELECT * FROM orders", False),
        ("FROM people UNION ALL FROM people", False),
        ("WITH people AS (SELECT 1) SELECT DISTINCT * FROM people", False),
        ("SELECT DISTINCT * FROM (SELECT name FROM people)", False),
        ("FROM orders PIVOT (sum(price_eur) FOR customer IN ('Ada') GROUP BY paid)", False),
        ("UNPIVOT people ON name, city", False),
    ],
)
def test_it_is_said_where_the_column_of_rows_keeps_equal_records_apart(sql, whole, here):
    assert ("* EXCLUDE (_row)" in here.run(sql).note) == whole


def test_durations_and_long_decimals_are_told_as_they_are(here):
    for sql, told in (
        ("SELECT age(TIMESTAMP '2024-03-01', TIMESTAMP '2022-01-31')", "2 years 1 month 1 day"),
        ("SELECT INTERVAL 1 YEAR", "1 year"),
        ("SELECT max(day)::TIMESTAMP - min(day) FROM orders -- end;", "3 days"),
        ("SELECT {'a': [INTERVAL 1 MONTH]};", '{"a": ["1 month"]}'),
        ("SELECT INTERVAL 36 HOUR", "36:00:00"),
        ("SELECT 0.1::DECIMAL(9, 4)", 0.1),
        ("SELECT 12345678901234567890.123456789::DECIMAL(38, 9)", "12345678901234567890.123456789"),
    ):
        assert here.run(sql).rows == ((told,),), sql
    found = here.run("SELECT customer, age(day, DATE '2023-01-01') AS a, 1 AS a FROM orders")
    assert found.columns == ("customer", "a", "a")
    assert found.types[1] == "INTERVAL"
    assert found.rows[1] == ("Bob", "1 year 1 day", 1)
    assert found.citations == ("shop.xlsx#Orders!A4:D7",)
    with pytest.raises(QueryError, match=r"sum\(epoch\(x\)\)"):
        here.run("SELECT sum(age(day)) FROM orders")


def test_a_moment_with_a_zone_is_told_in_utc(asked):
    [[moment]] = asked.run("SELECT TIMESTAMP '2024-01-01 01:30' AT TIME ZONE 'Europe/Berlin'").rows
    assert moment == "2024-01-01 00:30:00+00:00"


@pytest.mark.parametrize("sql", ["SELECT repeat('x', 3000000)::INTEGER", f'FROM "{"x" * 19_000}"'])
def test_a_message_is_bounded_whatever_value_it_repeats(sql, here):
    with pytest.raises(QueryError) as error:
        here.run(sql)
    assert len(str(error.value)) < 2 * MAX_MESSAGE


ENDLESS = [
    ("SELECT count(*) FROM range(1000000000) a, range(1000) b", "more than 1 seconds"),
    (
        "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT max(n) FROM t",
        "more",
    ),
    ("SELECT repeat('x', 3000000000)", "more than 64 MiB of memory"),
    ("SELECT list(range) FROM range(1000000000)", "more than"),
    ("SELECT string_agg(repeat('x', 1000000) || range) FROM range(100000)", "more than"),
    (f"SELECT {'(' * 3000}1{')' * 3000}", "expression depth"),
    (f"SELECT {'(1 + ' * 450}1{')' * 450}", "nested too deeply"),
]


@pytest.mark.parametrize(("sql", "said"), ENDLESS, ids=[x[0][:40] for x in ENDLESS])
def test_a_query_without_end_is_ended_within_its_limits(sql, said, asked):
    limited = TableQuery(asked.tables, QueryLimits(seconds=1, memory_mb=64))
    with pytest.raises(QueryError, match=said):
        limited.run(sql)


def test_many_rows_are_cut_and_said(asked):
    found = TableQuery(asked.tables, QueryLimits(rows=3)).run("SELECT * FROM range(1000)")
    assert len(found.rows) == 3
    assert not found.complete
    assert found.note == "Only the first 3 rows are shown."


def test_rows_that_are_too_long_together_are_counted_as_they_are_shown(asked):
    limited = TableQuery(asked.tables, QueryLimits(rows=9_000))
    found = limited.run("SELECT repeat('x', 2000) FROM range(9000)")
    assert 1_000 < len(found.rows) < 9_000
    assert found.note == f"Only the first {len(found.rows):,} rows are shown."


def test_many_columns_are_cut_and_said(asked):
    cut = TableQuery(asked.tables, QueryLimits(columns=2))
    found = cut.run("SELECT * FROM people WHERE name < 'C'")
    assert (found.columns, found.rows) == (("name", "city"), (("Ada", "Rome"), ("Bob", "Oslo")))
    assert not found.complete
    assert found.note.startswith("Only the first 2 of 3 columns are shown, up to city; name those")
    assert found.citations == ("shop.xlsx#People!A2:B3",)
    assert cut.schema.splitlines()[:4] == [
        "orders: 4 rows of shop.xlsx#Orders!A3:D8. Left out: row 8 (total). "
        "A sum counts if WHERE names it: 'Total'.",
        "  customer text: Customer, e.g. 'Ada'",
        "  day date: Day, e.g. '2024-01-01'",
        "  _row integer: row on the sheet",
    ]
    assert cut.schema.splitlines()[4].startswith("  and 2 more columns; find others by a part of")
    with pytest.raises(QueryError, match=r"orders\(customer, day, 2 more, _row\)"):
        cut.run("SELECT x FROM orders")
    with pytest.raises(InputError, match="columns is 0"):
        QueryLimits(columns=0)


def test_a_long_text_is_cut(asked):
    [[text]] = asked.run("SELECT repeat('ä', 5000)").rows
    assert (len(text), text[-1]) == (2000, "…")


def test_limits_and_tables_are_checked_before_anything_runs(index):
    table = index.table("shop.xlsx#People")
    with pytest.raises(EmptyInputError):
        TableQuery.over([])
    with pytest.raises(InputError, match="at most 20"):
        TableQuery.over([table] * 21)
    with pytest.raises(InputError, match="6 cells together"):
        TableQuery.over([table], QueryLimits(cells=5))
    with pytest.raises(InputError, match="seconds is 0"):
        QueryLimits(seconds=0)


def test_a_process_that_fails_is_not_said_to_be_slow(asked, monkeypatch, tmp_path):
    monkeypatch.setattr(
        "sat_retriever.tools.sql.ask._environment", lambda: {"PYTHONPATH": str(tmp_path)}
    )
    (tmp_path / "duckdb.py").write_text("raise RuntimeError('no database')", encoding="utf-8")
    with pytest.raises(QueryError, match=r"could not be run: .*Error"):
        asked.run("SELECT 1")


def test_the_process_can_open_no_file_even_if_a_statement_got_through(tmp_path):
    """The system refuses what the allow-list would let pass."""
    import subprocess
    import sys

    code = (
        "import duckdb, pyarrow, json\n"
        "from sat_retriever.tools.sql.process import _limit, _CONFIG\n"
        "c = duckdb.connect(':memory:')\n"  # without its own sandbox
        "_limit({'memory_mb': 256, 'seconds': 5})\n"
        "read = \"SELECT * FROM read_text('/etc/hostname')\"\n"
        "for sql in (read, \"COPY (SELECT 1) TO 'x.csv'\"):\n"
        "    try:\n        c.execute(sql); print('ran')\n"
        "    except Exception as error:\n        print(type(error).__name__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.stdout.split() == ["IOException", "IOException"], done
    assert list(tmp_path.iterdir()) == []


JOINED = "FROM orders o JOIN people p ON o.customer = p.name"
REPEATED = [  # query, records of people that are added up, and how often in all
    (f"SELECT sum(length(p.city)) {JOINED}", (2, 3)),
    (f"SELECT round(avg(length(city)) * 2, 1) {JOINED} WHERE o.price_eur > 6", (1, 2)),
    (f"SELECT o.paid AS x, sum(length(city)) {JOINED} GROUP BY x ORDER BY 2 LIMIT 1", (2, 3)),
    (f"SELECT o.customer, sum(length(city)) {JOINED} GROUP BY ALL", (2, 3)),
    ("SELECT sum(length(city)) FROM people, orders", (3, 12)),
    ("SELECT sum(length(city)) FROM people LEFT JOIN orders ON price_eur > 6", (3, 6)),
    ("WITH x AS (FROM people) SELECT sum(length(x.city)) FROM orders, x", None),  # not looked at
    (f"SELECT sum(o.price_eur) {JOINED}", None),  # each once
    (f"SELECT o._row, sum(length(city)) {JOINED} GROUP BY 1", None),  # once in each group
    (f"SELECT o.price_eur, sum(length(city)) {JOINED} GROUP BY o.price_eur", None),
    (f"SELECT sum(length(p.city) * o.price_eur) {JOINED}", None),  # a product belongs to a pair
    (f"SELECT max(length(p.city)), count(p.name), count(*) {JOINED}", None),
    (f"SELECT sum(DISTINCT length(p.city)) {JOINED}", None),
    ("SELECT sum(length(city)) FROM people SEMI JOIN orders ON customer = name", None),
    ("SELECT sum(length(city)) FROM people LEFT JOIN orders ON price_eur > 100", None),
    (f"SELECT (SELECT sum(length(city)) FROM people), sum(o.price_eur) {JOINED}", None),
    (f"SELECT sum(length(p.city)) OVER () {JOINED}", None),
]


@pytest.mark.parametrize(("sql", "counts"), REPEATED)
def test_records_that_a_join_adds_up_more_than_once_are_told(here, sql, counts):
    found = here.run(sql)
    assert found.repeated == (() if counts is None else ("people",))
    told = "The join repeats records of people: it adds up {} of them {} times."
    assert ("repeats" in found.note) == (counts is not None)
    assert counts is None or told.format(*counts) in found.note


@pytest.mark.parametrize("place", [0, 9])
def test_a_place_to_group_by_that_is_none_is_told_by_duckdb(here, place):
    with pytest.raises(QueryError, match="GROUP BY"):
        here.run(f"SELECT sum(length(city)) {JOINED} GROUP BY {place}")


def test_an_answer_stands_where_its_repeated_records_cannot_be_counted(here):
    found = here.run(f"SELECT o.*, sum(length(city)) {JOINED} GROUP BY ALL")
    assert (len(found.rows), found.repeated) == (3, ())
