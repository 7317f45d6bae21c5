"""Examples that are data: a text and what it means, one a line of a tab-separated file."""

from __future__ import annotations

from tests.places import ROOT


def table(name: str, columns: int) -> list[tuple[str, ...]]:
    """Rows of a file below `tests`, each different; columns that a row lacks are empty."""
    lines = (ROOT / "tests" / name).read_text("utf-8").splitlines()
    rows = [tuple(line.split("\t")) for line in lines if line and not line.startswith("#")]
    assert len({row[0] for row in rows}) == len(rows), f"{name} says one thing twice"
    return [row + ("",) * (columns - len(row)) for row in rows]
