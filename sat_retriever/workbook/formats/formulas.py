"""Formulas of a sheet: messages about them, their cells, and references in their notation."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice

from openpyxl.formula.tokenizer import TokenizerError
from openpyxl.formula.translate import Translator, TranslatorError

from sat_retriever.links.formula.formulas import references_of
from sat_retriever.records.area import Area, Place, area_of, column_letters, split_ref
from sat_retriever.records.jsonform import Json
from sat_retriever.records.sheets import SkipReason
from sat_retriever.records.structure import RawFormula, Reference
from sat_retriever.workbook.limits import Budget, CutShort
from sat_retriever.workbook.messages import (
    MAX_CELLS,
    Request,
    formulas_to_json,
    references_to_json,
    skip,
)
from sat_retriever.workbook.opening.package import (
    Attributes,
    BadXmlError,
    feed,
    guarded_parser,
    local,
)

MAX_REFERENCES_OF_SHEET = 2_000
MAX_REFERENCES = 20_000  # per workbook
_FORMULA_BATCH = 5_000
_CLOCK = 256  # formulas between two checks of the clock
MAX_TEXT = 8_192  # characters of a reference; Excel's limit for a formula

_PLAIN = re.compile(r"[^\W\d]\w*")
_LIKE_ADDRESS = re.compile(r"[A-Za-z]{1,3}[0-9]+|[Rr][0-9]*(?:[Cc][0-9]*)?|[Cc][0-9]*")


def formula_count(formulas: Iterable[RawFormula]) -> int:
    """Number of cells that have a formula; one that fills a range counts in each of its cells.

    >>> formula_count([("A1", "B1", None, "normal"), ("A2", "B2", "A2:A9", "shared")])
    9
    """
    count = 0
    for _cell, _text, filled, _kind in formulas:
        area = area_of(filled) if filled else None
        count += area.size if area else 1
    return count


@dataclass(slots=True)
class Formulas:
    """Reader of the formulas of one workbook within their limits."""

    request: Request
    names: frozenset[str]
    budget: Budget
    _formulas_left: int = field(init=False)
    _references_left: int = MAX_REFERENCES

    def __post_init__(self) -> None:
        self._formulas_left = self.request.limits.formulas

    def messages(self, sheet: str, formulas: Sequence[RawFormula]) -> Generator[Json, None, bool]:
        """Yield the requested formulas, references or places; return True if all were inspected."""
        if self.request.formulas:
            yield from self._raw(sheet, formulas)
        elif self.request.window is not None and self.request.window.table is None:
            yield {"computed": formula_cells(formulas, self.request.window.area)}
        if not self.request.links or not formulas:
            return True
        cut: list[tuple[str, SkipReason]] = []
        allowed = self._allowed(formulas, cut)
        literals = self.request.privacy.literals  # without it, no cell content is kept
        found = references_of(sheet, allowed, names=self.names, literals=literals)
        kept = found[: min(MAX_REFERENCES_OF_SHEET, self._references_left)]
        self._references_left -= len(kept)
        if kept:
            yield {"references": references_to_json(sheet, kept)}
        yield from self._cut(sheet, found, kept, cut)
        return not cut

    def _raw(self, sheet: str, formulas: Sequence[RawFormula]) -> Iterator[Json]:
        kept = min(len(formulas), self._formulas_left)
        self._formulas_left -= kept
        for start in range(0, kept, _FORMULA_BATCH):
            batch = formulas[start : min(start + _FORMULA_BATCH, kept)]
            yield {"formulas": formulas_to_json(sheet, batch)}
        if kept < len(formulas):
            limit = self.request.limits.formulas
            message = f"Only the first {limit:,} formulas of the workbook are kept."
            yield skip(self.request, SkipReason.TOO_LARGE, message, sheet)

    def _allowed(
        self, formulas: Sequence[RawFormula], cut: list[tuple[str, SkipReason]]
    ) -> Iterator[RawFormula]:
        for number, formula in enumerate(formulas):
            if self.budget.formulas <= 0:
                cut.append((formula[0], SkipReason.TOO_LARGE))
                return
            if number % _CLOCK == 0 and self.budget.late():
                cut.append((formula[0], SkipReason.TIMEOUT))
                return
            self.budget.formulas -= 1
            yield formula

    def _cut(
        self,
        sheet: str,
        found: list[Reference],
        kept: list[Reference],
        cut: list[tuple[str, SkipReason]],
    ) -> Iterator[Json]:
        if len(kept) < len(found):
            message = (
                f"Only the first {len(kept):,} of {len(found):,} references of its formulas are"
                f" kept; the limit is {MAX_REFERENCES_OF_SHEET:,} per sheet and"
                f" {MAX_REFERENCES:,} per workbook."
            )
            yield skip(self.request, SkipReason.TOO_LARGE, message, sheet)
        for cell, reason in cut:
            limits = self.request.limits
            why = f"the limit is {limits.formulas:,} formulas per workbook"
            if reason is SkipReason.TIMEOUT:
                why = limits.why_cut(reason)
            message = f"Its formulas from {cell} on were not inspected: {why}."
            yield skip(self.request, reason, message, sheet)


def cell_formulas(
    formulas: Iterable[RawFormula], area: Area, owners: Mapping[Place, Place] | None = None
) -> list[RawFormula]:
    """One plain formula for each cell of an area that has one, at most `MAX_CELLS` of them.

    A formula that fills a range is moved to each of its cells, as if copied. If it cannot be
    parsed, only its first cell gets it. `owners` tells whose formula a cell has, if known from the
    sheet: a cell in the middle of a filled range may have been overwritten with a value.

    >>> cell_formulas([("B1", "A1*2", "B1:B3", "shared")], Area(2, 1, 9, 9))
    [('B2', 'A2*2', None, 'normal'), ('B3', 'A3*2', None, 'normal')]
    """
    own = dict(_by_range(formulas, area) if owners is None else _by_owner(formulas, owners))
    moved = ((_address(place), formula) for place, formula in own.items())
    return [
        (cell, text, None, "normal")
        for cell, formula in moved
        if (text := _moved(formula, cell)) is not None
    ]


def formula_cells(formulas: Iterable[RawFormula], area: Area) -> list[Place]:
    """The cells of an area that have a formula, in as many first rows as an answer can hold.

    >>> formula_cells([("B1", "A1*2", "B1:B3", "shared")], Area(2, 1, 9, 9))
    [(2, 2), (3, 2)]
    """
    parts = list(islice(_filled(formulas, area), MAX_CELLS))
    if not parts:
        return []
    tops, lefts, _bottoms, rights = zip(*parts, strict=True)
    last = min(tops) + max(1, MAX_CELLS // (max(rights) - min(lefts) + 1)) - 1
    places = (
        (row, col)
        for top, left, bottom, right in parts
        for row in range(top, min(bottom, last) + 1)
        for col in range(left, right + 1)
    )
    return list(dict.fromkeys(islice(places, MAX_CELLS)))


def formula_owners(chunks: Iterator[bytes], area: Area) -> dict[Place, Place]:
    """Map the first `MAX_CELLS` cells with a formula in an area to the cells that own it."""
    found: dict[Place, Place] = {}
    masters: dict[str, Place] = {}  # by the number of a shared formula
    at: Place = (0, 0)

    def start(name: str, attributes: Attributes) -> None:
        nonlocal at
        tag = local(name)
        if tag == "row":
            number = attributes.get("r", "")
            at = (int(number) if number.isdecimal() else at[0] + 1, 0)
        elif tag == "c":
            at = split_ref(attributes.get("r", "")) or (at[0], at[1] + 1)
        elif tag == "f":
            owner = at
            if attributes.get("t") == "shared" and "si" in attributes:
                owner = masters.setdefault(attributes["si"], at)
            if len(found) < MAX_CELLS and area.holds(*at):
                found[at] = owner

    parser = guarded_parser("of a worksheet")
    parser.StartElementHandler = start
    with suppress(BadXmlError, CutShort):
        feed(parser, chunks)
    return found


def _by_owner(
    formulas: Iterable[RawFormula], owners: Mapping[Place, Place]
) -> Iterator[tuple[Place, RawFormula]]:
    by_cell = {formula[0]: formula for formula in formulas}
    for place, owner in owners.items():
        formula = by_cell.get(_address(owner))
        if formula is not None:
            yield place, formula


def _by_range(formulas: Iterable[RawFormula], area: Area) -> Iterator[tuple[Place, RawFormula]]:
    left = MAX_CELLS
    for formula in formulas:
        cell, _text, ref, kind = formula
        filled = area_of(ref or cell) if kind == "shared" else area_of(cell)
        if filled is None:
            continue
        for row in range(max(filled.top, area.top), min(filled.bottom, area.bottom) + 1):
            for col in range(max(filled.left, area.left), min(filled.right, area.right) + 1):
                if left == 0:
                    return
                left -= 1
                yield (row, col), formula


def _filled(formulas: Iterable[RawFormula], area: Area) -> Iterator[tuple[int, int, int, int]]:
    """Top, left, bottom and right of each formula's cells in an area; a million take seconds."""
    for cell, _text, ref, kind in formulas:
        place = split_ref(cell)
        if place is None:
            continue
        if place[0] > area.bottom:  # formulas are in row order
            return
        top, left = bottom, right = place
        filled = area_of(ref) if kind == "shared" and ref else None
        if filled is not None:
            top, left = max(filled.top, area.top), max(filled.left, area.left)
            bottom, right = min(filled.bottom, area.bottom), min(filled.right, area.right)
        if area.top <= top <= bottom and area.left <= left <= right <= area.right:
            yield top, left, bottom, right


def _moved(formula: RawFormula, cell: str) -> str | None:
    origin, text, _ref, _kind = formula
    if cell == origin:
        return text
    try:
        return str(Translator(f"={text}", origin=origin).translate_formula(cell))[1:]
    except (TokenizerError, TranslatorError, IndexError, ValueError):
        return None


def _address(place: Place) -> str:
    return f"{column_letters(place[1])}{place[0]}"


def reference_text(place: str, sheet: str = "", *, last: str = "", workbook: str = "") -> str:
    """A reference to cells or to a name.

    >>> reference_text("A1:B2", "Data"), reference_text("A1", "Q1"), reference_text("rate")
    ('Data!A1:B2', "'Q1'!A1", 'rate')
    >>> reference_text("A1", "Jan", last="Dec"), reference_text("A1", "Q 1", workbook="../b.xlsx")
    ('Jan:Dec!A1', "'[../b.xlsx]Q 1'!A1")
    >>> reference_text("rate", workbook="../b.xlsx")
    "'../b.xlsx'!rate"
    """
    if not sheet and not workbook:
        return place
    file = workbook.replace("[", "%5B").replace("]", "%5D")
    if not sheet:
        return f"{_quoted(file)}!{place}"
    sheets = [each for each in (sheet, last) if each]
    whole = ":".join(sheets)
    if not workbook and all(
        _PLAIN.fullmatch(each) and not _LIKE_ADDRESS.fullmatch(each) for each in sheets
    ):
        return f"{whole}!{place}"
    return f"{_quoted(f'[{file}]{whole}' if file else whole)}!{place}"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
