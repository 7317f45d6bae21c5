"""`sat status`: what is in an index, and what did not get in."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import typer
from rich.table import Table

from sat_retriever.cli.terminal import (
    DEFAULT_INDEX,
    IndexOption,
    JsonOption,
    plain,
    print_json,
    stdout,
)
from sat_retriever.index import SheetIndex
from sat_retriever.types import Skipped, to_json

EXAMPLES = """Show what is in an index: counts, encoder, and what could not be read.

[bold]Examples[/bold]

  sat status --index reports.sat

  sat status --index reports.sat --skipped

  sat status --index reports.sat --json
"""


def status(
    file: IndexOption = DEFAULT_INDEX,
    *,
    list_skipped: Annotated[
        bool, typer.Option("--skipped", help="List every file and sheet that was skipped.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show what is in an index."""
    with SheetIndex.open(file) as opened:
        facts = dict(opened.status())
        skipped = [skip for state in opened.workbooks() for skip in state.skipped]
    facts["skipped"] = dict(Counter(skip.reason.value for skip in skipped).most_common())
    if as_json:
        listed = {"skipped_files": to_json(skipped)} if list_skipped else {}
        print_json({**facts, **listed})
        return
    grid = Table(show_header=False, box=None)
    grid.add_column(style="bold")
    grid.add_column(overflow="fold")
    for key, value in facts.items():
        grid.add_row(key, plain(_text(value)))
    stdout().print(grid)
    if list_skipped:
        _print_skipped(skipped)


status.__doc__ = EXAMPLES


def _text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key or 'none'}: {item}" for key, item in value.items()) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _print_skipped(skipped: list[Skipped]) -> None:
    grid = Table()
    for title in ("file", "sheet", "reason", "what it means"):
        grid.add_column(title, overflow="fold")
    for skip in skipped:
        grid.add_row(
            plain(skip.path), plain(skip.sheet or ""), skip.reason.value, plain(skip.message)
        )
    stdout().print(grid)
