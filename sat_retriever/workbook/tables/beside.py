"""Texts of a sheet that no cell holds, within bounds: comments, shapes, titles of charts."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from sat_retriever.records.area import split_ref
from sat_retriever.records.contents import CellText, TextKind
from sat_retriever.workbook.tables.identifying import says_something
from sat_retriever.workbook.tables.notes import MAX_NOTE, MAX_NOTES
from sat_retriever.workbook.tables.sampling import fair_sample

BESIDE_ROOM = 16 << 10
"""Bytes of these texts of a sheet together, beside those of its cells: some two printed pages."""
_KINDS = tuple(TextKind)


def texts_beside(
    texts: Sequence[CellText], room: int = BESIDE_ROOM, told: Iterable[str] = ()
) -> list[CellText]:
    """The texts that fit into some room, top down, each on one line and only once.

    A long text is cut into several of `MAX_NOTE` characters. Where not all fit, comments, shapes
    and charts take turns, and of each kind a fair sample is kept.

    Args:
        texts: The texts as they are written; of too many, some from all over them count.
        room: Bytes that they may take.
        told: Texts that are told already.
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
