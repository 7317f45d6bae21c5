"""References in the formulas of a sheet: to which cells, names and tables, and how used."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from sat_retriever.links.formula.operands import MAX_FORMULA, Taken, Target
from sat_retriever.records.area import area_of
from sat_retriever.records.structure import RawFormula, Reference, Use

MAX_REFERENCES = 20_000  # per sheet
_MAX_TAKEN_APART = 20_000_000  # characters of distinct formulas per sheet; about 20 s
_MAX_REMEMBERED = 8_000_000  # characters of cached normal forms
_EVIDENCE = 200

# An address that spans its operand from the start, a "!" or a ":" to a ":" or the end, so that
# no part of it can belong to the name of a sheet, range or function.
_ADDRESS = r"\$?(?:[A-Z]{1,2}|[A-W][A-Z]{2}|X[A-E][A-Z]|XF[A-D])\$?[1-9][0-9]{0,5}"
_WHOLE_ADDRESS = re.compile(
    rf"(?<![^(,;{{ +\-*/^&=><%!:]){_ADDRESS}(?=(?::{_ADDRESS})?(?![^,;)}} +\-*/^&=><%]))"
)
_QUOTED = re.compile(r"""("[^"]*"|'[^']*')""")
_OTHER_BRACKET = re.compile(r"\[(?![0-9]+\])")


class Found(NamedTuple):
    """References of a sheet, and the number of formulas that could not be parsed."""

    references: list[Reference]
    unreadable: int


def references_of(
    sheet: str,
    formulas: Iterable[RawFormula],
    *,
    names: frozenset[str] = frozenset(),
    literals: bool = True,
) -> list[Reference]:
    """References of a sheet's formulas to other places, in the order of first use.

    Casefolded defined names and tables in `names` are references even without a sheet. Without
    `literals`, texts and numbers are omitted from the formulas that are kept.

    Returns:
        One reference for each target and use, at most `MAX_REFERENCES`; cells of the same
        sheet and formulas that cannot be parsed give none.
    """
    return find_references(sheet, formulas, names=names, literals=literals).references


def find_references(
    sheet: str,
    formulas: Iterable[RawFormula],
    *,
    names: frozenset[str] = frozenset(),
    literals: bool = True,
) -> Found:
    """As `references_of`, with the number of formulas that could not be parsed."""
    reader = _Reader(sheet, names, literals)
    for cell, text, filled, _kind in formulas:
        if may_refer(text, names):
            reader.add(cell, text, filled)
    return Found([each.reference(sheet) for each in reader.counts.values()], reader.unreadable)


def may_refer(text: str, names: Container[str]) -> bool:
    """True if the formula could refer to another sheet, name or table; may be a false alarm."""
    return bool("!" in text or "[" in text or names or "INDIRECT" in text.upper())


def normal_form(text: str) -> str:
    """The formula with every address replaced by one mark.

    Formulas with equal normal forms refer to the same sheets in the same way. A formula with
    brackets other than `[1]` is returned as it is, because quotes have another meaning in them.

    >>> normal_form("SUM(Q1!B2:B9)*C4") == normal_form("SUM(Q1!D2:D70)*$E$5")
    True
    >>> normal_form("Q1!A1") == normal_form("Q2!A1")
    False
    """
    if "\0" in text or ("[" in text and _OTHER_BRACKET.search(text)):
        return text
    text = f"({text})"  # so that an address at an end looks like any other
    parts = text.split("'")
    if '"' in text or len(parts) % 2 == 0:
        parts = _QUOTED.split(text)
    quoted = "'".join(parts[1::2])
    return f"{''.join(map(_marked, parts[::2]))}\0\0{quoted}"


@lru_cache(maxsize=1 << 10)  # most parts recur: in the row above or in the next column
def _marked(part: str) -> str:
    """A part between quotes, in quotes, with marks for its addresses."""
    return _WHOLE_ADDRESS.sub("\0", f"'{part}'")


@dataclass(slots=True)
class _Count:
    taken: Taken
    cell: str
    formula: str
    cells: int = 0

    def reference(self, sheet: str) -> Reference:
        use, target = self.taken
        formula = self.formula[:_EVIDENCE]
        return Reference(sheet, use, self.cell, formula, self.cells, *target)


_Key = tuple[Use, str, str, str, str]


@dataclass(slots=True)
class _Reader:
    """Counter of references over the formulas of one sheet; caches formulas by normal form."""

    sheet: str
    names: frozenset[str]
    literals: bool
    counts: dict[_Key, _Count] = field(default_factory=dict)
    unreadable: int = 0
    _known: dict[str, tuple[_Count, ...] | None] = field(default_factory=dict)
    _remembered: int = 0
    _taken_apart: int = 0

    def add(self, cell: str, text: str, filled: str | None) -> None:
        form = normal_form(text) if len(text) <= MAX_FORMULA else ""
        counts = self._known.get(form, ())
        if counts == () and form not in self._known:
            counts = self._take_apart(cell, text)
            self._remember(form, counts)
        if counts is None:
            self.unreadable += 1
            return
        cells = 1 if filled is None else _cells(filled)
        for count in counts:
            count.cells += cells

    def _remember(self, form: str, counts: tuple[_Count, ...] | None) -> None:
        self._remembered += len(form)
        if self._remembered > _MAX_REMEMBERED:
            self._known.clear()
            self._remembered = len(form)
        self._known[form] = counts

    def _take_apart(self, cell: str, text: str) -> tuple[_Count, ...] | None:
        """The counts that a formula adds to; None if it cannot be parsed."""
        from sat_retriever.links.formula.tokens import (
            UnreadableFormulaError,
            taken,
            without_literals,
        )

        self._taken_apart += len(text)
        if self._taken_apart > _MAX_TAKEN_APART:
            return None
        try:
            found = taken(text, self.names)
        except UnreadableFormulaError:
            return None
        counts: dict[_Key, _Count] = {}
        own = self.sheet.casefold()
        shown = text if self.literals or not found else without_literals(text)
        for each in found:
            key = _key(each.use, each.target)
            if key[1:] == ("", own, "", "") or (
                key not in self.counts and len(self.counts) >= MAX_REFERENCES
            ):
                continue
            counts[key] = self.counts.setdefault(key, _Count(each, cell, shown))
        return tuple(counts.values())


def _key(use: Use, target: Target) -> _Key:
    folded = (part.casefold() for part in target[:4])
    workbook, first, last, name = folded
    return use, workbook, first, last, name


def _cells(filled: str) -> int:
    area = area_of(filled)
    if area is None:
        return 1
    return area.size
