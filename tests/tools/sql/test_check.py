"""What a statement may read: names mean CTEs only where those are in scope."""

import duckdb
import pytest

from sat_retriever.tools.sql.check import check
from sat_retriever.tools.sql.tree import RefusedStatement

HIDDEN = [
    "WITH x AS (WITH {0} AS (SELECT 1) FROM {0}) FROM {0}",
    "WITH x AS (WITH {0} AS (SELECT 1) FROM {0}) FROM x, {0}",
    "SELECT * FROM (WITH {0} AS (SELECT 1) FROM {0}) t, {0}",
    "SELECT (WITH {0} AS (SELECT 5) FROM {0}), (SELECT count(*) FROM {0})",
    "WITH x AS (FROM {0}), {0} AS (SELECT 1) FROM x",
    "WITH RECURSIVE x AS (FROM {0}), {0} AS (SELECT 1) FROM x",
    "WITH {0} AS (FROM {0}) FROM {0}",
    "WITH RECURSIVE {0} AS (FROM {0} UNION ALL SELECT * FROM {0}) FROM {0} LIMIT 1",
    "(WITH {0} AS (SELECT 1) FROM {0}) UNION ALL (FROM {0})",
    'WITH "{1}" AS (SELECT 1) FROM {0}',
    "WITH {0} AS (SELECT 1) FROM main.{0}",
    "WITH {0} AS (SELECT 1) FROM system.information_schema.{0}",
    "FROM orders WHERE EXISTS (WITH {0} AS (SELECT 1) FROM {0}) AND EXISTS (FROM {0})",
    "SELECT * FROM orders, LATERAL (WITH {0} AS (SELECT 1) FROM {0}) l, {0}",
]


@pytest.mark.parametrize("sql", HIDDEN)
@pytest.mark.parametrize("table", ["sqlite_master", "pg_class", "duckdb_tables", '"x.csv"'])
def test_a_cte_lets_no_other_table_of_its_name_be_read(sql, table):
    written = sql.format(table, table.strip('"').replace("s", "\u017f"))  # another letter s
    with duckdb.connect() as connection, pytest.raises(RefusedStatement, match="there is no table"):
        check(connection, written, {"orders": ("customer", "_row")}, frozenset())
