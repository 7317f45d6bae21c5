"""Text of a found sheet for a language model: its record, or its first rows."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Literal

from sat_retriever.errors import InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.area import Area, area_of
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.text.serialize import serialize
from sat_retriever.tools.cells import cell_table, cell_text, estimated_tokens, shortened
from sat_retriever.workbook.window import read_range

Form = Literal["record", "markdown", "html"]
_FORMS = ("record", "markdown", "html")
_LEAST_TOKENS = 16
_ROWS = 200  # at most this many rows of a sheet are read


@dataclass(frozen=True, slots=True)
class Content:
    """Form and length of the text of a found sheet.

    Attributes:
        form: "record" is the text that the Sheet Encoder reads: name and headers. "markdown" and
            "html" show the first rows of the main table, header included, read anew from the
            workbook each time; columns at the right are left out if they do not fit. A sheet
            whose file is gone or cannot be read falls back to its record.
        max_tokens: Largest number of tokens of the text, as `estimated_tokens` counts them.

    Raises:
        InputError: If the form is unknown, or `max_tokens` is below 16.
    """

    form: Form = "record"
    max_tokens: int = 512

    def __post_init__(self) -> None:
        if self.form not in _FORMS:
            raise InputError(
                f"unknown content form {self.form!r}; choose one of: {', '.join(_FORMS)}"
            )
        if self.max_tokens < _LEAST_TOKENS:
            raise InputError(f"max_tokens is {self.max_tokens}; give {_LEAST_TOKENS} or more")


RECORD = Content()


def hit_text(index: SheetIndex, record: SheetRecord, content: Content = RECORD) -> str:
    """The text of a found sheet for a language model.

    Args:
        index: Index in which it was found.
        record: The sheet.
        content: Form and length of the text.
    """
    own = shortened(serialize(record, index.serialization), content.max_tokens)
    if content.form == "record":
        return own
    place = _top(record)
    if place is None:
        return own
    try:
        file, within = index.bounded_file_of(record.sheet_id)
        window = read_range(file, record.sheet, place, within=within)
    except InputError:
        return own
    if not window.rows or (area := area_of(window.range)) is None:
        return own
    title = shortened(cell_text(record.citation), content.max_tokens // 2)
    if content.form == "html":
        title = html.escape(title, quote=False)
    table = cell_table(
        window.rows,
        top=area.top,
        left=area.left,
        form=content.form,
        max_tokens=content.max_tokens - estimated_tokens(title),
    )
    text = f"{title}\n\n{table.text}"
    return text if estimated_tokens(text) <= content.max_tokens else own


def _top(record: SheetRecord) -> Area | None:
    """The first rows of the main table, or of the used range."""
    area = area_of(record.main_range or "")
    if area is None:
        return None
    bottom = min(area.bottom, area.top + _ROWS - 1)
    return Area(area.top, area.left, bottom, area.right)
