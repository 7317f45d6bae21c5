"""Texts outside the tables of a sheet: captions, notes, and comments, shapes and charts."""

from __future__ import annotations

import datetime as dt
import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sat_retriever.records.area import Area, split_ref
from sat_retriever.records.contents import CellText, TextKind
from sat_retriever.workbook.tables.identifying import fair_sample, says_something
from sat_retriever.workbook.values.cells import Cells, Kind, plain_text

MAX_NOTE = 500  # characters kept of a text outside the tables: a long paragraph
NOTE_ROOM = 32 << 10  # bytes of a sheet's notes and captions together: some five printed pages
MAX_NOTES = 20_000  # cells outside the tables that are looked at: a hostile sheet has millions
REACH = 2  # rows across which a caption belongs to a table: one blank row may lie between
TITLE_ROWS = 3  # rows of texts above a table of which the first is its caption
BESIDE = 2  # columns left of a table at which its caption may start

_CAPTION = re.compile(
    r"(?:table|tab\.|tabelle|tableau|tabla|tabella|figure|fig\.|abbildung|exhibit|chart)\s*"
    r"[\dIVXA-Z]{1,4}(?!\w)",
    re.IGNORECASE,
)
# Bytes of these texts of a sheet together, beside those of its cells: some two printed pages.
BESIDE_ROOM = 16 << 10
_KINDS = tuple(TextKind)


@dataclass(frozen=True, slots=True)
class Note:
    """A text outside of all tables, and its cell, 0-based."""

    row: int
    col: int
    text: str


def texts_outside(cells: Cells, tables: Sequence[Area]) -> list[Note]:
    """Texts and dates in cells outside of the tables, top down.

    Of the same text only the first is told. They fit into `NOTE_ROOM`; of more, a fair
    sample is told.
    """
    outside = (cells.kinds == Kind.TEXT) | (cells.kinds == Kind.DATE)
    for area in tables:
        outside[area.part] = False
    places = np.flatnonzero(outside)
    if len(places) > MAX_NOTES:
        places = places[np.linspace(0, len(places) - 1, MAX_NOTES).astype(np.int64)]
    rows, cols = np.unravel_index(places, outside.shape)
    found: dict[str, Note] = {}
    for row, col in zip(rows.tolist(), cols.tolist(), strict=True):
        value = cells.value(row, col)
        day = value.date() if isinstance(value, dt.datetime) else value
        text = plain_text(day)[:MAX_NOTE].rstrip()
        if text not in found and says_something(text):
            found[text] = Note(row, col, text)
    texts = list(found)
    [kept] = fair_sample([texts], NOTE_ROOM)
    return [found[texts[position]] for position in kept]


def caption_of(notes: Sequence[Note], cells: Cells, area: Area) -> Note | None:
    """The caption of a table: the text directly above it, or a numbered one directly below.

    Of texts in several rows above, without a gap, one that is numbered ("Table 3: …") is it, or
    else the first of the last three rows; of several in a row the leftmost. An address of a page is
    no caption. `notes` are texts outside of tables that are no other table's caption, top down.
    """
    near = [note for note in notes if _is_at(note, cells, area)]
    above: list[Note] = []
    row = area.top
    for note in sorted(near, key=lambda note: (-note.row, note.col)):
        if note.row >= area.top:
            continue
        if row - note.row > (REACH if row == area.top else 1):
            break
        above.append(note)
        row = note.row
    numbered = list(filter(_is_numbered, above))
    if numbered or not above:
        below = (note for note in near if 0 < note.row - area.bottom <= REACH)
        return next(iter(numbered), None) or next(filter(_is_numbered, below), None)
    titles = [note for note in above if "://" not in note.text]
    first = max((note.row for note in titles[-1:]), default=0)
    first = max(first, above[0].row - TITLE_ROWS + 1)
    return next((note for note in titles if note.row == first), None)


def _is_numbered(note: Note) -> bool:
    return _CAPTION.match(note.text) is not None


def _is_at(note: Note, cells: Cells, area: Area) -> bool:
    """True if a text stands in the columns of a table, merged cells counted, or right before."""
    if area.left - BESIDE <= note.col <= area.right:
        return True
    return cells.anchors.get((note.row, area.left)) == (note.row, note.col)


def texts_beside(
    texts: Sequence[CellText], room: int = BESIDE_ROOM, told: Iterable[str] = ()
) -> list[CellText]:
    """The texts that fit into some room, top down, each on one line and only once.

    A long text is cut into several of `MAX_NOTE` characters. Where not all fit, comments, shapes
    and charts take turns, and of each kind a fair sample is kept. Of too many texts, some from all
    over them count.
    """
    step = -(-len(texts) // MAX_NOTES) or 1
    known = dict.fromkeys(told)
    found: dict[TextKind, dict[str, CellText]] = {kind: {} for kind in _KINDS}
    for each in texts[::step]:
        for text in _lines(each.text):
            if text not in known and says_something(text):
                known[text] = None
                found[each.kind][text] = CellText(each.cell, text, each.kind)
    groups = [list(of_kind.values()) for of_kind in found.values()]
    kept = fair_sample([[each.text for each in group] for group in groups], room)
    chosen = [groups[number][place] for number, places in enumerate(kept) for place in places]
    return in_order(chosen)


def in_order(texts: Iterable[CellText]) -> list[CellText]:
    """Texts top down; of those at the same cell the earlier ones first."""
    return sorted(texts, key=lambda each: split_ref(each.cell) or (0, 0))


def _lines(text: str) -> list[str]:
    r"""A text on one line, or on several that are as long as a note may be.

    >>> _lines("Scrappage of vehicles\n by age"), [len(each) for each in _lines("word " * 180)]
    (['Scrappage of vehicles by age'], [499, 399])
    """
    line = " ".join(text[: 2 * BESIDE_ROOM].split())
    if len(line) <= MAX_NOTE:
        return [line]
    return textwrap.wrap(line, MAX_NOTE, break_on_hyphens=False)
