"""The one place that chooses a store, and SQL nowhere else."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import sat_retriever

PACKAGE = Path(sat_retriever.__file__).parent
STORE = PACKAGE / "index" / "store"
TABLES = PACKAGE / "tools" / "sql", PACKAGE / "tools" / "engine", PACKAGE / "cli" / "sql.py"
"""Where queries over found tables are run, written and shown; DuckDB answers them."""
STATEMENT = re.compile(
    r"\b(SELECT\b.+\bFROM|INSERT (OR \w+ )?INTO|DELETE FROM|UPDATE \w+ SET|PRAGMA \w+|"
    r"CREATE (VIRTUAL )?(TABLE|INDEX)|BEGIN IMMEDIATE)\b",
    re.DOTALL,
)


WORDS = re.compile(
    "SELECT|INSERT|DELETE|UPDATE|PRAGMA|CREATE|BEGIN|sqlite3|psycopg|SqliteStore|PostgresStore"
)


def modules() -> Iterator[tuple[Path, ast.Module]]:
    """Modules in which a statement, the driver or the class could be."""
    for file in sorted(PACKAGE.rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        if WORDS.search(text):
            yield file, ast.parse(text)


def imported(module: ast.Module) -> set[str]:
    found = set()
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


def test_only_what_opens_a_store_imports_its_class():
    users = [
        file
        for file, module in modules()
        if any(x.endswith((".SqliteStore", ".PostgresStore")) for x in imported(module))
    ]
    restricted = STORE / "restricted.py", STORE / "postgres" / "restricted.py"
    assert sorted(users) == sorted([STORE / "opening.py", *restricted])


def test_no_module_outside_the_store_has_sql():
    """Apart from queries over found tables and their examples, where no driver is."""
    statements, drivers, servers = [], [], []
    for file, module in modules():
        if not {file, *file.parents}.isdisjoint(TABLES):
            assert "sqlite3" not in imported(module)
            continue
        texts = [n.value for n in ast.walk(module) if isinstance(n, ast.Constant)]
        if any(isinstance(text, str) and STATEMENT.search(text) for text in texts):
            statements.append(file)
        if "sqlite3" in imported(module):
            drivers.append(file)
        if any(x.startswith("psycopg") for x in imported(module)):
            servers.append(file)
    assert {file.parent for file in statements} == {STORE, STORE / "postgres"}
    assert {file for file in drivers if file.parent != STORE} == {
        STORE / "postgres" / "migrating.py"
    }
    assert {file.parent for file in servers} == {STORE / "postgres"}
