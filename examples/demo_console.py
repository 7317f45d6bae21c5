"""Format the demo's output: headings, columns, scores, names of sheets."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sat_retriever import SheetRecord


def title(console: Console, text: str, note: str = "") -> None:
    """Print an empty line, and a heading with a remark beside it."""
    console.print()
    line = Text(text, style="bold magenta")
    if note:
        line.append(f"  {note}", style="dim not bold")
    console.print(line)


def grid(*widths: int) -> Table:
    """Return a table without lines; its columns keep their width between questions."""
    table = Table.grid(padding=(0, 1))
    for width in widths:
        table.add_column(width=width, overflow="fold")
    return table


def bar(score: float) -> Text:
    """Return a score in [0, 1] as a number and up to five blocks."""
    blocks = max(0, min(5, round(5 * score)))
    return Text.assemble((f"{score:.2f} ", "bold"), ("━" * blocks, "green"))


def name(record: SheetRecord) -> tuple[Text, Text]:
    """Return a sheet's name, and its workbook's path."""
    sheet = plain(record.sheet)
    sheet.stylize("bold")
    return sheet, plain(record.path)


def plain(text: str) -> Text:
    """Return text of a file without markup and control characters."""
    return Text("".join(char if char.isprintable() else " " for char in text))
