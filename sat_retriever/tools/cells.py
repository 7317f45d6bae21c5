"""Rows of cells as a Markdown or HTML table for a language model, limited in tokens."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from sat_retriever.records.area import column_letters
from sat_retriever.text.numbers import decimal_text
from sat_retriever.text.oneline import one_line
from sat_retriever.workbook.window import CellValue

TableForm = Literal["markdown", "html"]
Row = Sequence[CellValue]

Line = Callable[[Sequence[str]], str]

MAX_CELL_CHARS = 200
_FRAME_TOKENS = 9  # for <table> and </table>
_RULE_TOKENS = 4  # for |---
# Many models (Qwen, Gemma) read numbers digit by digit, and a blank before a digit by itself.
_PIECE = re.compile(r"\d|[A-Za-z]{1,4}|[^\sA-Za-z\d]|\s(?=[\d\s])")


def estimated_tokens(text: str) -> int:
    """Estimated number of tokens of a text for a language model, rather too high than too low.

    Up to four letters, a digit, a blank before a digit or a blank, and any other character that is
    not blank count as one token each.

    >>> estimated_tokens("Revenue 2024 | 1.5")
    12
    """
    return sum(1 for _ in _PIECE.finditer(text))


def shortened(text: str, max_tokens: int) -> str:
    """The beginning of a text, within a limit in tokens.

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


def fitting(sizes: Iterable[int], max_tokens: int) -> int:
    """Number of the first sizes in tokens that fit in a limit, at least one if there is any.

    >>> fitting([2, 2, 1], 4)
    2
    """
    number = 0
    for number, size in enumerate(sizes, start=1):
        max_tokens -= size
        if max_tokens < 0:
            return max(1, number - 1)
    return number


@dataclass(frozen=True, slots=True)
class CellTable:
    """A table as text.

    Attributes:
        places: Columns that it shows, each by its place from 0.
    """

    text: str
    rows: int
    places: tuple[int, ...]
    header: bool = False

    @property
    def columns(self) -> int:
        """Number of columns."""
        return len(self.places)


def cell_table(
    rows: Sequence[Row],
    *,
    top: int,
    left: int,
    form: TableForm,
    max_tokens: int,
    header: tuple[int, Row] | None = None,
    wanted: Collection[int] = (),
    least_rows: int = 1,
) -> CellTable:
    """A table with the sheet's own row numbers and column letters, within a limit in tokens.

    Columns are left out until the first rows fit, then rows at the end. The first column stays,
    then the wanted ones, then others from the left. The first cell is always there, even if it
    exceeds the limit.

    Args:
        header: Number and cells of a row further up that names the columns; left out if the
            first row would not fit below it.
        least_rows: Rows that have to fit, if there are so many.

    >>> print(cell_table([["Region", None]], top=3, left=2, form="markdown", max_tokens=99).text)
    |  | B | C |
    |---|---|---|
    | 3 | Region |  |
    """
    line = markdown_row if form == "markdown" else _html_row
    texts = [list(map(cell_text, row)) for row in rows]
    width = max(map(len, texts), default=0)
    order = sorted(range(width), key=lambda place: (place > 0, left + place not in wanted, place))
    named_cells = [list(map(cell_text, header[1]))] if header else []
    places: list[int] = []
    for rows_shown in (least_rows, 1):  # rather fewer rows than no column that is wanted
        sample = [*named_cells, *texts[:rows_shown]]
        places = _fitting(sample, top, left, order, line, max_tokens - _FRAME_TOKENS)
        if {left + place for place in places}.issuperset(_among(wanted, left, width)):
            break
    texts = [[row[place] for place in places if place < len(row)] for row in texts]
    head = [line(["", *(column_letters(left + place) for place in places)])]
    head += ["|" + "---|" * (len(places) + 1)] if form == "markdown" else []
    left_over = max_tokens - _FRAME_TOKENS - sum(map(estimated_tokens, head))
    named = _header_line(header, texts, top, places, line, left_over)
    head += [named] if named else []
    left_over -= estimated_tokens(named)
    body: list[str] = []
    for number, row in enumerate(texts, start=top):
        text = line([str(number), *row])
        left_over -= estimated_tokens(text)
        if body and left_over < 0:
            break
        body.append(text)
    lines = [*head, *body] if form == "markdown" else ["<table>", *head, *body, "</table>"]
    return CellTable("\n".join(lines), len(body), tuple(places), bool(named))


def _header_line(
    header: tuple[int, Row] | None,
    texts: Sequence[Sequence[str]],
    top: int,
    places: Sequence[int],
    line: Line,
    max_tokens: int,
) -> str:
    """The line of a header from further up; empty without one, or if it and a row do not fit."""
    if header is None or not texts:
        return ""
    cells = (header[1][place] for place in places if place < len(header[1]))
    named = line([str(header[0]), *map(cell_text, cells)])
    first = line([str(top), *texts[0]])
    return named if estimated_tokens(named) + estimated_tokens(first) <= max_tokens else ""


def _among(wanted: Collection[int], left: int, width: int) -> set[int]:
    """The wanted columns that the rows have, and the second one, so that a row says something."""
    return {column for column in (*wanted, left + 1) if left <= column < left + width}


def _fitting(
    sample: Sequence[Sequence[str]],
    top: int,
    left: int,
    order: Sequence[int],
    line: Line,
    max_tokens: int,
) -> list[int]:
    """Columns that fit in the line of letters and some rows, at least one if any, in order.

    Args:
        sample: The rows, with the header's if it is further up.
        order: Places of all columns, those that matter most first.
    """
    used = estimated_tokens(line([""])) + len(sample) * estimated_tokens(line([str(top)]))
    empty = estimated_tokens(line([""]))
    markup = estimated_tokens(line(["", ""])) - empty
    fitting: list[int] = []
    for place in order:
        cells = [column_letters(left + place), *(row[place] for row in sample if place < len(row))]
        # The text and markup of a cell in each row, and its part of the line between them.
        used += sum(estimated_tokens(line([cell])) - empty + markup for cell in cells)
        used += _RULE_TOKENS
        if fitting and used > max_tokens:
            break
        fitting.append(place)
    return sorted(fitting)


def cell_text(value: CellValue) -> str:
    r"""A cell as one line of text.

    >>> cell_text(None), cell_text(True), cell_text(0.1 + 0.2), cell_text("two\nlines")
    ('', 'TRUE', '0.3', 'two lines')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    text = decimal_text(value) if isinstance(value, float) else one_line(str(value))
    return text if len(text) <= MAX_CELL_CHARS else f"{text[: MAX_CELL_CHARS - 1]}…"


def markdown_row(cells: Sequence[str]) -> str:
    r"""Cells as one line of a Markdown table.

    >>> markdown_row(["a|b", "c"])
    '| a\\|b | c |'
    """
    escaped = (cell.replace("\\", "\\\\").replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"


def _html_row(cells: Sequence[str]) -> str:
    marked = (f"<td>{html.escape(cell, quote=False)}</td>" for cell in cells)
    return f"<tr>{''.join(marked)}</tr>"
