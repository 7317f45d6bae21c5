"""Rows of cells as a Markdown or HTML table for a language model, bounded in tokens."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Literal

from sat_retriever.area import column_letters

TableForm = Literal["markdown", "html"]
CellValue = str | int | float | bool | None
Row = Sequence[CellValue]

MAX_CELL_CHARS = 200
_PIECE = re.compile(r"\d{1,3}|[A-Za-z]{1,4}|[^\sA-Za-z\d]")
_SPACE = re.compile(r"\s+")


def estimated_tokens(text: str) -> int:
    """About how many tokens a language model makes of a text, rather too many than too few.

    Four letters, three digits, or one other character that is no blank count as one.

    >>> estimated_tokens("Revenue 2024 | 1.5")
    8
    """
    return sum(1 for _ in _PIECE.finditer(text))


def shortened(text: str, max_tokens: int) -> str:
    """The beginning of a text, within a number of tokens.

    >>> shortened("Revenue by region", 3), shortened("Revenue", 3)
    ('Revenue …', 'Revenue')
    """
    if estimated_tokens(text) <= max_tokens:
        return text
    end = 0
    for count, piece in enumerate(_PIECE.finditer(text), start=1):
        if count >= max_tokens:
            break
        end = piece.end()
    return f"{text[:end].rstrip()} …"


def cell_table(
    rows: Sequence[Row], *, top: int, left: int, form: TableForm, max_tokens: int
) -> tuple[str, int]:
    """A table with the sheet's own row numbers and column letters, and how many rows it has.

    Rows are left out at the end, never cells; the first row is always there.

    Args:
        rows: Cells, row by row.
        top: Number of the first row on its sheet.
        left: Number of the first column.
        form: Markdown or HTML.
        max_tokens: Most tokens of the table.

    >>> print(cell_table([["Region", None]], top=3, left=2, form="markdown", max_tokens=99)[0])
    |  | B | C |
    |---|---|---|
    | 3 | Region |  |
    """
    width = max((len(row) for row in rows), default=0)
    letters = [column_letters(left + place) for place in range(width)]
    line = _markdown_row if form == "markdown" else _html_row
    head = [line(["", *letters])]
    head += ["|" + "---|" * (width + 1)] if form == "markdown" else []
    left_over = max_tokens - sum(map(estimated_tokens, head))
    body: list[str] = []
    for number, row in enumerate(rows, start=top):
        text = line([str(number), *map(cell_text, row)])
        left_over -= estimated_tokens(text)
        if body and left_over < 0:
            break
        body.append(text)
    lines = [*head, *body]
    table = "\n".join(lines if form == "markdown" else ["<table>", *lines, "</table>"])
    return table, len(body)


def cell_text(value: CellValue) -> str:
    r"""A cell as one line of text.

    >>> cell_text(None), cell_text(True), cell_text(0.1), cell_text("two\nlines")
    ('', 'TRUE', '0.1', 'two lines')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    text = _SPACE.sub(" ", str(value)).strip()
    return text if len(text) <= MAX_CELL_CHARS else f"{text[: MAX_CELL_CHARS - 1]}…"


def _markdown_row(cells: Sequence[str]) -> str:
    escaped = (cell.replace("\\", "\\\\").replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"


def _html_row(cells: Sequence[str]) -> str:
    marked = (f"<td>{html.escape(cell, quote=False)}</td>" for cell in cells)
    return f"<tr>{''.join(marked)}</tr>"
