"""Typed links between a workbook's sheets, from its references and declared sources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sat_retriever.links.formula.scope import between, file_key
from sat_retriever.links.formula.tally import (
    Book,
    End,
    Shown,
    Tally,
    lookup_weight,
    strength,
    summary_weight,
)
from sat_retriever.records.links import Link, LinkType
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.records.structure import Reference, Structure, Use


@dataclass(frozen=True, slots=True)
class ExternalReference:
    """A reference of a sheet's formulas to another workbook."""

    source: str
    file: str  # the workbook as the referring one writes it: a name, path or URL, decoded
    sheet: str  # sheet there; the first one of a 3-D range; empty for a name
    last: str  # last sheet of a 3-D range; empty for a single sheet
    name: str  # defined name or table there, if the formulas refer to one
    use: Use
    weight: float  # strength in (0, 1], by the number of cells
    evidence: str
    summary: float = 0.0  # weight of its summary link in (0, 1]; 0 if the sheet is not a summary
    # True if a pivot table, chart or list of choices refers to it, not a formula.
    declared: bool = False

    @property
    def key(self) -> str:
        """The file name by which workbooks are looked up."""
        return file_key(self.file)


def resolve(reference: ExternalReference, records: Sequence[SheetRecord]) -> list[Link]:
    """Links from a reference to its workbook's sheets; none for a name, which only that defines."""
    links = []
    for record in _meant_sheets(reference, records):
        for kind, weight in _link_types(reference):
            links.append(Link(reference.source, record.sheet_id, kind, weight, reference.evidence))
    return links


def _meant_sheets(
    reference: ExternalReference, records: Sequence[SheetRecord]
) -> list[SheetRecord]:
    if not reference.sheet:
        return []
    places = {record.sheet.casefold(): place for place, record in enumerate(records)}
    span = between(places, len(records), reference.sheet, reference.last)
    return [records[place] for place in span if records[place].sheet_id != reference.source]


def _link_types(reference: ExternalReference) -> list[tuple[str, float]]:
    found = [] if reference.declared else [(LinkType.FORMULA_REFERENCE, reference.weight)]
    if reference.use is Use.AGGREGATE:
        found.append((LinkType.AGGREGATION, reference.weight))
    if reference.use is Use.LOOKUP:
        looked_up = reference.weight if reference.declared else lookup_weight(reference.weight)
        found.append((LinkType.JOIN_KEY, looked_up))
    if reference.summary > 0:
        found.append((LinkType.SUMMARY_SOURCE, reference.summary))
    return [(kind.value, weight) for kind, weight in found]


MAX_LINKS = 5_000  # per workbook
MAX_LINKS_OF_SHEET = 500
MAX_EXTERNAL = 5_000  # per workbook
_ORDER = {kind.value: place for place, kind in enumerate(LinkType)}


@dataclass(frozen=True, slots=True)
class WorkbookLinks:
    """Links between a workbook's sheets, in tab order, and its references to other workbooks."""

    links: tuple[Link, ...] = ()
    external: tuple[ExternalReference, ...] = ()


def workbook_links(
    records: Sequence[SheetRecord], references: Iterable[Reference], structure: Structure
) -> WorkbookLinks:
    """Typed links inside one workbook, and its references to others.

    Every reference of a formula gives a `formula_reference`, a total also an `aggregation`, a
    lookup also a `join_key`. Pivot tables, charts and consolidations aggregate; lists of choices
    join. A sheet that totals or shows cells of two or more sheets summarises them
    (`summary_source`); looking up or calculating with their cells does not count as
    summarising. `tally.py` defines the weights.

    Returns:
        At most one link for each pair of sheets and type; the strongest links, at most
        `MAX_LINKS_OF_SHEET` per source and `MAX_LINKS` in all.
    """
    book = Book.of(records, structure)
    for reference in references:
        book.add_reference(reference)
    for source in structure.sources:
        book.add_source(source)
    links = [link for tally in book.tallies.values() for link in _links(book, tally)]
    external = [each for tally in book.tallies.values() for each in _external(book, tally)]
    return WorkbookLinks(tuple(_strongest(book, links)), tuple(external[:MAX_EXTERNAL]))


def _links(book: Book, tally: Tally) -> Iterator[Link]:
    uses = tally.uses()
    summary = _summary_weights(uses)
    for end, by_use in uses.items():
        if not isinstance(end, int):
            continue
        target = book.records[end].sheet_id
        for kind, weight, evidence in _types(by_use, summary.get(end, 0.0)):
            yield Link(tally.source.sheet_id, target, kind.value, weight, evidence)


def _types(by_use: dict[Use, Shown], summary: float) -> Iterator[tuple[LinkType, float, str]]:
    formulas = [shown for shown in by_use.values() if shown.cells]
    if formulas:
        best = max(formulas, key=lambda shown: shown.cells)
        weight = strength(sum(shown.cells for shown in formulas))
        yield LinkType.FORMULA_REFERENCE, weight, best.formula()
    totals, lookups = by_use.get(Use.AGGREGATE), by_use.get(Use.LOOKUP)
    if totals is not None:
        yield LinkType.AGGREGATION, totals.strength(), totals.evidence()
    if summary:
        gathering = (by_use[use] for use in (Use.AGGREGATE, Use.VALUE) if use in by_use)
        evidence = next(each.gathering_evidence() for each in gathering if each.gathering() > 0)
        yield LinkType.SUMMARY_SOURCE, summary, evidence
    if lookups is not None:
        if lookups.cells:  # stronger than any list of choices
            yield LinkType.JOIN_KEY, lookup_weight(strength(lookups.cells)), lookups.formula()
        else:
            yield LinkType.JOIN_KEY, lookups.declared, lookups.evidence()


def _summary_weights(uses: dict[End, dict[Use, Shown]]) -> dict[End, float]:
    """Summary weight of each sheet gathered from; empty if there are fewer than two."""
    nothing = Shown()
    gathered = {
        end: (
            by_use.get(Use.AGGREGATE, nothing).gathering(),
            by_use.get(Use.VALUE, nothing).gathering(),
        )
        for end, by_use in uses.items()
    }
    gathered = {end: kinds for end, kinds in gathered.items() if any(kinds)}
    if len(gathered) < 2:
        return {}
    return {end: summary_weight(len(gathered), *kinds) for end, kinds in gathered.items()}


def _external(book: Book, tally: Tally) -> Iterator[ExternalReference]:
    summary = _summary_weights(tally.uses())
    for (end, use), shown in tally.shown.items():
        if isinstance(end, int):
            continue
        yield ExternalReference(
            tally.source.sheet_id,
            end.workbook,
            end.first,
            end.last,
            end.name,
            use,
            shown.strength(),
            shown.evidence(),
            summary=0.0 if use is Use.LOOKUP else summary.get(end, 0.0),
            declared=not shown.cells,
        )


def _strongest(book: Book, links: list[Link]) -> list[Link]:
    """The strongest links within the limits, in tab order of source and target, then by type."""
    order = {record.sheet_id: place for place, record in book.records.items()}

    def place(link: Link) -> tuple[int, int, int]:
        return order[link.source], order[link.target], _ORDER[link.type]

    kept: list[Link] = []
    of_sheet: dict[str, int] = {}
    for link in sorted(links, key=lambda link: (-link.weight, place(link))):
        of_sheet[link.source] = of_sheet.get(link.source, 0) + 1
        if of_sheet[link.source] <= MAX_LINKS_OF_SHEET and len(kept) < MAX_LINKS:
            kept.append(link)
    return sorted(kept, key=place)
