"""What `sat bench` shows: how far it is, the main table, and what is to be known of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from sat_retriever.cli.terminal import counted, grid, plain, stderr, stdout

if TYPE_CHECKING:
    from sat_retriever.evaluation.bench import Bench
    from sat_retriever.evaluation.timing import Told

_ANY = 10_000  # columns, more than a table has
_WARNINGS = ("Only", "Left out", "Merged")


@contextmanager
def progress_bar(first: str) -> Iterator[Told]:
    """A progress bar on standard error, shown in a terminal only.

    Args:
        first: What is being done until something is told.
    """
    console = stderr()
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    off = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=off) as bar:
        tasks = {"": bar.add_task(first, total=None)}

        def advance(what: str, done: int, total: int) -> None:
            if what not in tasks:  # a new one: the time left is counted from its start
                for each in tasks.values():
                    bar.remove_task(each)
                tasks.clear()
                tasks[what] = bar.add_task(plain(what).plain, total=total)
            bar.update(tasks[what], completed=done)

        yield advance


def asked_of(found: Bench, about: dict[str, Any]) -> str:
    """How many questions of which file were asked, and of what."""
    number = counted(len(found.queries), "question")
    return f"{number} of {about['labels']}, {counted(about['sheets'], 'sheet')} in {about['index']}"


def print_table(found: Bench, about: dict[str, Any], remarks: Sequence[str]) -> None:
    """The main table on standard output, and below it what its reader has to know."""
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
