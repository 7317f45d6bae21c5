"""Output of `sat bench`: the main table, and notes on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from sat_retriever.cli.terminal import counted, grid, plain, stdout

if TYPE_CHECKING:
    from sat_retriever.evaluation.bench import Bench

_ANY = 10_000  # columns, more than a table has
_WARNINGS = ("Only", "Left out", "Merged")


def asked_of(found: Bench, about: dict[str, Any]) -> str:
    """The number of questions, their file, and the index they were asked of."""
    number = counted(len(found.queries), "question")
    return f"{number} of {about['labels']}, {counted(about['sheets'], 'sheet')} in {about['index']}"


def print_table(found: Bench, about: dict[str, Any], remarks: Sequence[str]) -> None:
    """Print the main table on standard output, with notes below it."""
    from sat_retriever.evaluation.maintable import notes

    console = stdout()
    console.print(plain(asked_of(found, about)), style="bold")
    console.print()
    console.print(_table(found))
    console.print()
    for note in (*notes(found), *remarks):
        console.print(plain(note), style="yellow" if note.startswith(_WARNINGS) else "dim")


def _table(found: Bench) -> Table:
    from sat_retriever.evaluation.maintable import COLUMNS, cells, signed

    table = grid("method", *(column.title for column in COLUMNS))
    for column in table.columns[1:]:
        column.justify, column.no_wrap = "right", True
    if len(found.scored) > 1:
        table.add_column("Δ NDCG@5", header_style="dim")
    for scored, row in zip(found.scored, cells(found), strict=True):
        shown = [Text(cell.text, style="bold" if cell.best else "") for cell in row]
        ahead = [signed(scored.difference)] if len(found.scored) > 1 else []
        table.add_row(plain(scored.name), *shown, *ahead)
    console = stdout()
    if (
        console.measure(table, options=console.options.update(max_width=_ANY)).maximum
        > console.width
    ):
        table.padding = (0, 1, 0, 0)
    return table
