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
    examples,
    plain,
    print_json,
    skipped_table,
    stdout,
)
from sat_retriever.index import SheetIndex
from sat_retriever.jsonform import to_json

EXAMPLES = examples(
    "sat status --index reports.sat",
    "sat status --index reports.sat --skipped",
    "sat status --index reports.sat --json",
)


def status(
    file: IndexOption = DEFAULT_INDEX,
    *,
    list_skipped: Annotated[
        bool, typer.Option("--skipped", help="List every file and sheet that was skipped.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show what is in an index: counts, encoder, and what could not be read."""
    with SheetIndex.open(file) as opened:
        facts = dict(opened.status())
        skipped = [skip for state in opened.workbooks() for skip in state.skipped]
    facts["skipped"] = dict(Counter(skip.reason.value for skip in skipped).most_common())
    if as_json:
        listed = {"skipped_files": to_json(skipped)} if list_skipped else {}
        print_json({**facts, **listed})
        return
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for key, value in facts.items():
        table.add_row(key, plain(_text(value)))
    stdout().print(table)
    if list_skipped and skipped:
        stdout().print()
        stdout().print(skipped_table(skipped))


def _text(value: object) -> str:
    """A value in words.

    >>> _text({"xlsx": 1200, "": True}), _text({})
    ('xlsx: 1,200, none: yes', 'none')
    """
    if isinstance(value, dict):
        return ", ".join(f"{key or 'none'}: {_text(item)}" for key, item in value.items()) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)
