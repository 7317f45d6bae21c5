"""A statement answers what DuckDB answers, and the rows that are cited suffice for it."""

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sat_retriever.tools.sql.process import answers_of, fetched

ORDERS = pa.table(
    {
        "customer": ["Ada", "Bob", "Ada", "Eve", None],
        "price": [10.0, 5.5, 7.0, 1.0, 5.5],
        "paid": [False, True, False, True, True],
        "_row": [4, 5, 6, 7, 9],
    }
)
PEOPLE = pa.table(
    {"customer": ["Ada", "Bob", "Zoe"], "city": ["Rome", "Oslo", "Bonn"], "_row": [2, 3, 4]}
)
TABLES = {"orders": ORDERS, "people": PEOPLE}
ASKED = {"rows": 200, "columns": 100}
ALONE = {"threads": 1}  # as the process has it: rows without an order come in one order

STATEMENTS = """
SELECT customer FROM orders GROUP BY ALL
SELECT customer, paid FROM orders GROUP BY ALL
SELECT customer, sum(price) FROM orders GROUP BY ALL
FROM orders GROUP BY ALL
SELECT customer FROM orders GROUP BY customer
SELECT customer, sum(price) FROM orders GROUP BY 1
SELECT customer, paid, sum(price) FROM orders GROUP BY CUBE (1, 2)
SELECT customer, sum(price) FROM orders GROUP BY ROLLUP (customer)
SELECT customer, sum(price) FROM orders GROUP BY GROUPING SETS ((customer), ())
SELECT 1 FROM orders HAVING count(*) > 2
SELECT DISTINCT customer FROM orders
SELECT DISTINCT ON (customer) customer, price FROM orders ORDER BY customer, price
SELECT DISTINCT * FROM people
SELECT customer FROM orders UNION SELECT customer FROM people
SELECT customer FROM orders UNION ALL SELECT customer FROM people
SELECT customer FROM orders EXCEPT SELECT customer FROM people
SELECT customer FROM orders INTERSECT ALL SELECT customer FROM people
(SELECT customer FROM orders) UNION BY NAME (SELECT city FROM people)
SELECT customer, rank() OVER (ORDER BY price) FROM orders
SELECT customer, sum(price) OVER (PARTITION BY customer) FROM orders LIMIT 2
SELECT customer FROM orders ORDER BY lag(price) OVER (ORDER BY _row) LIMIT 2
SELECT customer FROM orders QUALIFY row_number() OVER (PARTITION BY customer ORDER BY price) = 1
SELECT customer FROM orders ORDER BY ALL
SELECT customer FROM orders ORDER BY ALL LIMIT 2
SELECT * FROM orders ORDER BY ALL DESC
SELECT customer, price FROM orders ORDER BY 2, 1
SELECT customer, price FROM orders ORDER BY 2 DESC LIMIT 1 OFFSET 1
SELECT price FROM orders ORDER BY price LIMIT 40 PERCENT
SELECT price FROM orders ORDER BY sum(price) OVER (PARTITION BY customer), price LIMIT 1
SELECT * EXCLUDE (_row, price) FROM orders
SELECT * REPLACE (price * 2 AS price) FROM orders
SELECT * RENAME (price AS paid_price) FROM orders
SELECT COLUMNS('p.*') FROM orders
SELECT max(COLUMNS(*)) FROM orders
SELECT COLUMNS(lambda c: c LIKE 'c%') FROM orders
SELECT #1, #2 FROM orders
SELECT orders FROM orders
SELECT o FROM orders o
SELECT unnest([1, 2]) FROM people
SELECT unnest(list(price)) FROM orders
SELECT geomean(price) FROM orders
SELECT weighted_avg(price, price) FROM orders
SELECT list_aggregate(list(price), 'sum') FROM orders
SELECT list_sum([price, 1]) FROM orders
SELECT count(*) FROM orders
SELECT any_value(customer) FILTER (paid) FROM orders
SELECT a, b FROM orders AS x(a, b)
SELECT a FROM orders AS x(a, _row)
SELECT * FROM orders AS x(a, b, c, d)
SELECT x.a, y.a FROM orders AS x(a) JOIN people AS y(a) ON x.a = y.a
SELECT price, city FROM orders JOIN people USING (customer)
SELECT * FROM orders JOIN people USING (customer)
SELECT * FROM orders JOIN people USING (_row)
SELECT city, price FROM people LEFT JOIN orders USING (customer)
SELECT city, price FROM orders FULL JOIN people USING (customer)
SELECT customer FROM orders SEMI JOIN people USING (customer)
SELECT customer FROM orders ANTI JOIN people USING (customer)
SELECT o.customer, p.city FROM orders o ASOF JOIN people p ON o._row >= p._row
SELECT a.price, b.price FROM orders a JOIN orders b USING (customer)
SELECT o.customer, p.city FROM orders o, people p
SELECT customer, (SELECT max(price) FROM orders) FROM people
SELECT customer, (SELECT max(price) FROM orders i WHERE i.customer = o.customer) FROM orders o
SELECT customer FROM orders WHERE price > (SELECT avg(price) FROM orders)
SELECT customer FROM people p WHERE EXISTS (FROM orders o WHERE o.customer = p.customer)
SELECT customer FROM people WHERE customer NOT IN (SELECT customer FROM orders WHERE paid IS FALSE)
SELECT o.customer, l.city FROM orders o, LATERAL (FROM people p WHERE p.customer = o.customer) l
SELECT city, t FROM people JOIN (SELECT customer, 1 t FROM orders GROUP BY 1) o USING (customer)
FROM orders PIVOT (sum(price) FOR customer IN ('Ada', 'Bob') GROUP BY paid)
UNPIVOT (SELECT customer, city, _row FROM people) ON customer, city
SELECT * FROM orders UNPIVOT (value FOR name IN (customer))
WITH orders AS (SELECT * FROM orders WHERE paid) SELECT customer FROM orders
WITH orders AS (SELECT customer, price AS _row FROM orders) SELECT customer FROM orders
WITH o AS (FROM orders) SELECT o.customer FROM o JOIN orders USING (_row)
WITH a AS (FROM orders), orders AS (SELECT 1 AS x) SELECT * FROM a, orders
WITH RECURSIVE orders AS (SELECT price p FROM orders UNION SELECT 9 FROM orders) FROM orders
WITH ORDERS AS (SELECT 1 AS one) SELECT * FROM orders
SELECT * FROM (WITH people AS (SELECT 1) FROM people) t, people
VALUES (1), (2)
SELECT customer AS _row FROM orders
SELECT customer FROM orders customer
SELECT price FROM orders WHERE false
""".strip().splitlines()  # fmt: skip


def told(sql, tables):
    """The answer of the process to a statement, with the rows behind it if they are known."""
    with duckdb.connect(config=ALONE) as connection:
        for name, table in tables.items():
            connection.register(name, table)
        names = {name: table.column_names for name, table in tables.items()}
        found = {"places": [], "located": ()}
        for part in answers_of(connection, {**ASKED, "sql": sql}, names):
            found |= part
    return found


def own(sql, tables):
    """DuckDB's answer, in any order: names of the columns, rows."""
    with duckdb.connect(config=ALONE) as connection:
        for name, table in tables.items():
            connection.register(name, table)
        connection.execute(sql)
        columns = [column[0] for column in connection.description]
        rows, _ = fetched(connection, 10_000, range(len(columns)))
    return columns, sorted(map(repr, rows))


def is_told_as_duckdb_tells_it(sql):
    answer = told(sql, TABLES)
    expected = own(sql, TABLES)
    assert "rows" in answer, answer
    assert ([name for name, _ in answer["columns"]], sorted(map(repr, answer["rows"]))) == expected
    if "OFFSET" in sql or "PERCENT" in sql:  # they count rows that the answer does not have
        return
    cited = {}
    for name, table in TABLES.items():
        if name in answer["located"]:
            at = answer["located"].index(name)
            kept = [row[at] for row in answer["places"]]
            cited[name] = table.filter(pc.is_in(table["_row"], pa.array(kept, pa.int64())))
        else:
            cited[name] = table if name in answer["used"] else table.slice(0, 0)
    assert own(sql, cited) == expected, f"the cited rows do not suffice: {answer}"


@pytest.mark.parametrize("sql", STATEMENTS)
def test_a_statement_answers_as_in_duckdb(sql):
    is_told_as_duckdb_tells_it(sql)


SOURCES = [
    "orders", "people", "orders o", "orders JOIN people USING (customer)",
    "people LEFT JOIN orders USING (customer)", "(SELECT customer, _row FROM orders) t",
    "(FROM orders WHERE paid) t", "orders AS x(customer)",
    "people SEMI JOIN orders USING (customer)",
]  # fmt: skip
SELECTED = [
    "customer", "customer, 1 AS one", "*", "* EXCLUDE (customer)", "count(*)", "max(customer)",
    "DISTINCT customer", "DISTINCT *", "COLUMNS('c.*')", "rank() OVER (ORDER BY customer)",
    "(SELECT count(*) FROM orders)", "upper(customer) AS u", "DISTINCT ON (customer) customer",
]  # fmt: skip
FILTERS = [
    "", "WHERE customer IS NOT NULL", "WHERE customer IN (SELECT customer FROM people)",
    "WHERE EXISTS (FROM orders i WHERE i.price > 6)", "WHERE customer > 'B'",
]  # fmt: skip
GROUPS = ["", "", "GROUP BY ALL", "GROUP BY customer", "GROUP BY ROLLUP (customer)"]
ORDERS_BY = ["", "ORDER BY ALL", "ORDER BY 1", "ORDER BY ALL LIMIT 2"]
CTES = [
    "", "WITH orders AS (FROM orders WHERE paid)", "WITH people AS (FROM people), z AS (SELECT 1)",
    "WITH orders AS (SELECT DISTINCT customer, _row FROM orders)",
]  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(*map(st.sampled_from, (CTES, SELECTED, SOURCES, FILTERS, GROUPS, ORDERS_BY)))
def test_a_statement_of_any_parts_answers_as_in_duckdb(cte, selected, source, where, by, order):
    sql = f"{cte} SELECT {selected} FROM {source} {where} {by} {order}"
    try:
        own(sql, TABLES)
    except duckdb.Error:
        assert "rows" not in told(sql, TABLES)
        return
    is_told_as_duckdb_tells_it(sql)


def test_rows_are_told_one_by_one_where_each_stands_for_itself():
    for sql, located in (
        ("SELECT customer FROM orders WHERE paid", ["orders"]),
        ("SELECT a FROM orders AS x(a, b)", ["orders"]),
        ("SELECT price, city FROM orders JOIN people USING (customer)", ["orders", "people"]),
        ("SELECT customer FROM orders SEMI JOIN people USING (customer)", ["orders"]),
        ("SELECT p.city FROM people p, (SELECT max(price) FROM orders) m", ["people"]),
        ("SELECT customer FROM orders WHERE price > (SELECT avg(price) FROM orders)", []),
        ("WITH orders AS (FROM orders) SELECT customer FROM orders", []),
    ):
        answer = told(sql, TABLES)
        assert list(answer["located"]) == located, sql


def test_rows_are_not_told_where_they_could_be_others():
    """Of a second run with another answer, or where later rows of a cut answer are equal."""
    assert told("SELECT random(), customer FROM orders", TABLES)["located"] == ()
    for sql in ("SELECT customer FROM orders GROUP BY ALL", "SELECT DISTINCT customer FROM orders"):
        with duckdb.connect(config=ALONE) as connection:
            connection.register("orders", ORDERS)
            asked = {"sql": sql, "rows": 1, "columns": 9}
            parts = list(answers_of(connection, asked, {"orders": ORDERS.column_names}))
        assert [part.get("more") for part in parts] == [True], sql
