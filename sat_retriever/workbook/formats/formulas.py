"""Messages about the formulas of a sheet: in full, and reduced to their references."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from sat_retriever.links.formula.formulas import references_of
from sat_retriever.records.area import area_of
from sat_retriever.records.jsonform import Json
from sat_retriever.records.sheets import SkipReason
from sat_retriever.records.structure import RawFormula, Reference
from sat_retriever.workbook.budget import Budget
from sat_retriever.workbook.formats.cellformulas import formula_cells
from sat_retriever.workbook.messages import formulas_to_json, references_to_json, skip
from sat_retriever.workbook.request import Request

MAX_REFERENCES_OF_SHEET = 2_000
MAX_REFERENCES = 20_000  # per workbook
_FORMULA_BATCH = 5_000
_CLOCK = 256  # formulas between two checks of the clock


def formula_count(formulas: Iterable[RawFormula]) -> int:
    """Number of cells that have a formula; one that fills a range counts in each of its cells.

    >>> formula_count([("A1", "B1", None, "normal"), ("A2", "B2", "A2:A9", "shared")])
    9
    """
    count = 0
    for _cell, _text, filled, _kind in formulas:
        area = area_of(filled) if filled else None
        count += (area.bottom - area.top + 1) * (area.right - area.left + 1) if area else 1
    return count


@dataclass(slots=True)
class Formulas:
    """Reader of the formulas of one workbook within their limits.

    Attributes:
        request: Parts of the workbook to read.
        names: Casefolded names and tables of the workbook.
        budget: Budget with the number of formulas that may still be parsed.
    """

    request: Request
    names: frozenset[str]
    budget: Budget
    _formulas_left: int = field(init=False)
    _references_left: int = MAX_REFERENCES

    def __post_init__(self) -> None:
        self._formulas_left = self.request.limits.formulas

    def messages(self, sheet: str, formulas: Sequence[RawFormula]) -> Generator[Json, None, bool]:
        """Yield the requested formulas, references, or cells with formulas of a sheet.

        Returns:
            True if all formulas were inspected.
        """
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
