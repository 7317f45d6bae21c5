"""Text of a found sheet for a language model: its record, or the rows that answer."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, Literal

from sat_retriever.errors import InputError
from sat_retriever.index.index import BoundedFile, SheetIndex
from sat_retriever.records.area import Area, Place, area_of, split_ref
from sat_retriever.records.contents import TextKind
from sat_retriever.records.hits import Answer, Hit, Why
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.text.serialize import Serialization, serialize
from sat_retriever.tools.cells import (
    CellTable,
    TableForm,
    cell_table,
    cell_text,
    estimated_tokens,
    shortened,
)
from sat_retriever.tools.context import header_above, read_sheet, rows_note, with_labels
from sat_retriever.workbook.window import CellValue, Rows

Form = Literal["answer", "record", "markdown", "html"]
_FORMS = ("answer", "record", "markdown", "html")
_File = Callable[[], BoundedFile]
_LEAST_TOKENS = 16
_ROWS = 200  # at most this many rows of a sheet are read
_ABOVE = 2  # rows shown above the first matched one, if that is then shown, too
_BATCH = 256  # sheets that are read at once
_LEAST_ROWS = 4  # columns are left out until so many rows fit


@dataclass(frozen=True, slots=True)
class Content:
    """Form and length of the text of a found sheet.

    Attributes:
        form: "markdown" and "html" show rows of the table that answers below its header, read
            anew from the workbook each time: all rows if they fit, else those from the first
            matched cell on; columns are left out if they do not fit, those that match last; and
            the comments, shapes and charts that match.
            "record" is the text that the Sheet Encoder reads: name and headers. "answer" is
            "markdown" for a sheet whose contents the index keeps, else "record". A sheet whose
            file is gone or cannot be read falls back to its record.
        max_tokens: Largest number of tokens of the text, as `estimated_tokens` counts them.
        digits: Most significant digits of a fraction; None for all.

    Raises:
        InputError: If the form is unknown, `max_tokens` is below 16, or `digits` below 1.
    """

    form: Form = "answer"
    max_tokens: int = 512
    digits: int | None = None

    def __post_init__(self) -> None:
        if self.form not in _FORMS:
            raise InputError(
                f"unknown content form {self.form!r}; choose one of: {', '.join(_FORMS)}"
            )
        if self.max_tokens < _LEAST_TOKENS:
            raise InputError(f"max_tokens is {self.max_tokens}; give {_LEAST_TOKENS} or more")
        if self.digits is not None and self.digits < 1:
            raise InputError(f"digits is {self.digits}; give 1 or more")

    @classmethod
    def of(cls, given: Content | Form | Mapping[str, Any]) -> Content:
        """Return content settings from the name of a form, or from a mapping of the fields.

        Raises:
            InputError: If a field is unknown or its value is invalid.
        """
        if isinstance(given, Content):
            return given
        values = {"form": given} if isinstance(given, str) else dict(given)
        known = [each.name for each in fields(cls)]
        unknown = sorted(str(name) for name in set(values) - set(known))
        if unknown:
            raise InputError(f"content has no {', '.join(unknown)}; it has {', '.join(known)}")
        return cls(**values)

    def table_form(self, hit: Hit) -> TableForm | None:
        """Form of the rows that are shown of a hit; None if its record is."""
        if self.form == "answer":
            return None if hit.record.contents is None else "markdown"
        return None if self.form == "record" else self.form


@dataclass(frozen=True, slots=True)
class SheetText:
    """Text of a found sheet for a language model.

    Attributes:
        cells: The cells that it shows, headers above them left out; none of a record.
    """

    text: str
    cells: Mapping[Place, CellValue] = field(default_factory=dict)


ANSWER = Content()
RECORD = Content("record")
_NOTHING = Why((), (), 0.0, 0.0, 1, None)  # of a sheet that no question found


def hit_text(index: SheetIndex, found: Hit | SheetRecord, content: Content = ANSWER) -> str:
    """The text of a found sheet for a language model.

    Args:
        found: A hit, with the table and the cells that answer, or a sheet, whose main table is
            shown.
    """
    hit = found if isinstance(found, Hit) else Hit(1, 0.0, found, _NOTHING)
    [read] = _readers(index, [hit], content)
    return read().text


def answer_readers(
    index: SheetIndex, answer: Answer, content: Content = ANSWER
) -> list[Callable[[], str]]:
    """Functions that read the texts of all hits for a language model, even from a closed index.

    The first text begins with the answer's heading, if it has any: that nothing here seems to
    answer the query. It is left out where fewer than 16 tokens would stay for the sheet.
    """
    return [partial(_plain, read) for read in text_readers(index, answer, content)]


def _plain(read: Callable[[], SheetText]) -> str:
    return read().text


def text_readers(
    index: SheetIndex, answer: Answer, content: Content = ANSWER
) -> list[Callable[[], SheetText]]:
    """Functions that read the same texts, each with the cells that it shows."""
    readers = _readers(index, answer, content)
    heading = f"{answer.heading}\n\n"
    left = content.max_tokens - estimated_tokens(heading)
    if answer and answer.heading and left >= _LEAST_TOKENS:
        [first] = _readers(index, answer[:1], replace(content, max_tokens=left))
        readers[0] = lambda: replace(read := first(), text=heading + read.text)
    return readers


def sheet_texts(
    index: SheetIndex, content: Content = RECORD
) -> Iterator[tuple[list[SheetRecord], list[str]]]:
    """Yield all sheets of an index in batches, with their texts, for a store of another kind.

    Args:
        content: Form and length of each text. "record" is the text that the Sheet Encoder reads.

    Raises:
        PermissionsError: If the index has permissions, and nobody is named.
    """
    ids = index.sheet_ids()
    for start in range(0, len(ids), _BATCH):
        batch = ids[start : start + _BATCH]
        found = index.records(batch, contents=content.form == "answer")
        records = [found[each] for each in batch if each in found]
        yield records, [hit_text(index, record, content) for record in records]


def _readers(
    index: SheetIndex, hits: Sequence[Hit], content: Content
) -> list[Callable[[], SheetText]]:
    """A function for each hit that returns its text; it needs the index no longer."""
    shown = [hit.sheet_id for hit in hits if content.table_form(hit)]
    files = index.file_finders(shown) if shown else {}
    return [
        partial(_text, hit, content, index.serialization, files.get(hit.sheet_id)) for hit in hits
    ]


def _text(
    hit: Hit, content: Content, serialization: Serialization, file: _File | None
) -> SheetText:
    own = SheetText(shortened(serialize(hit.record, serialization), content.max_tokens))
    form = content.table_form(hit)
    window = _window(file, hit) if form and file else None
    if form is None or window is None:
        return own
    title = shortened(cell_text(hit.citation), content.max_tokens // 2)
    beside = _beside(hit)
    if form == "html":
        title, beside = (html.escape(each, quote=False) for each in (title, beside))
    most = content.max_tokens - estimated_tokens(title)
    beside = shortened(beside, most // 4)
    most -= estimated_tokens(beside)
    note = shortened(rows_note(hit.record, window[1]), most // 4)
    told = window if content.digits is None else (_rounded(window[0], content.digits), window[1])
    table, shown = _shown(hit, told, form, most - estimated_tokens(note))
    note = note and shortened(rows_note(hit.record, shown), most // 4)
    text = "\n\n".join(filter(None, (title, table.text, beside, note)))
    if estimated_tokens(text) > content.max_tokens:
        return own
    rows = window[0][shown.top - window[1].top :][: table.rows]
    return SheetText(
        text,
        {
            (row, shown.left + place): cells[place]
            for row, cells in enumerate(rows, start=shown.top)
            for place in table.places
            if place < len(cells) and cells[place] is not None
        },
    )


def _rounded(rows: Rows, digits: int) -> Rows:
    """The rows with fractions of at most some digits; a number before the point keeps all."""
    return tuple(
        tuple(
            float(f"{value:.{digits}g}")
            if isinstance(value, float) and abs(value) < 10**digits
            else value
            for value in row
        )
        for row in rows
    )


def _beside(hit: Hit) -> str:
    """The matched texts that no cell holds; "" without any."""
    found = [each for each in hit.why.cells if each.kind is not TextKind.CELL]
    return "; ".join(f"{each.place}: {cell_text(each.text)}" for each in found)


def _window(file: _File, hit: Hit) -> tuple[Rows, Area] | None:
    """Cells of the range that answers, from its top, and their place; None if they are not read."""
    area = area_of(hit.range or "")
    if area is None:
        return None
    matched = _first_matched(hit, area)
    near = matched is not None and matched - area.top < _ROWS
    top = area.top if matched is None or near else matched
    place = Area(top, area.left, min(area.bottom, top + _ROWS - 1), area.right)
    try:
        window = read_sheet(file(), hit.record, place)
    except InputError:
        return None
    read = area_of(window.range)
    return (with_labels(hit.record, window), read) if window.rows and read else None


def _shown(
    hit: Hit, window: tuple[Rows, Area], form: TableForm, most: int
) -> tuple[CellTable, Area]:
    """All rows of a window if they fit, else its header and those from the first match on."""
    rows, area = window
    whole = _table(hit, rows, area, form, most)
    matched = _first_matched(hit, area)
    if whole.rows == len(rows) or matched is None:
        return whole, replace(area, bottom=area.top + whole.rows - 1)
    for start in (max(area.top, matched - _ABOVE), matched):
        left = Area(start, area.left, area.bottom, area.right)
        part = _table(hit, rows[start - area.top :], left, form, most)
        if start + part.rows > matched:
            break
    return part, replace(left, bottom=start + part.rows - 1)


def _table(hit: Hit, rows: Rows, area: Area, form: TableForm, most: int) -> CellTable:
    return cell_table(
        rows,
        top=area.top,
        left=area.left,
        form=form,
        max_tokens=most,
        header=header_above(hit.record, area),
        wanted=matched_columns(hit),
        least_rows=_LEAST_ROWS,
    )


def _first_matched(hit: Hit, area: Area) -> int | None:
    """The first row of data with a matched cell in a range; None if no row of data matched."""
    places = (split_ref(each.cell) for each in hit.why.cells if each.is_on_cell)
    rows = [place[0] for place in places if place and area.holds(*place)]
    table = hit.answering
    first = (table.header_row or 0) + table.header_height if table else 0
    return min((row for row in rows if row >= first), default=None)


def matched_columns(hit: Hit) -> set[int]:
    """Columns with a matched cell or header; none of a transposed table, whose headers are rows."""
    places = (split_ref(each.cell) for each in hit.why.cells if each.is_on_cell)
    found = {place[1] for place in places if place}
    table = hit.answering
    area = area_of(table.range) if table and not table.transposed else None
    if table and area:
        found |= {
            area.left + place
            for place, column in enumerate(table.columns)
            if column.name in hit.why.headers
        }
    return found
