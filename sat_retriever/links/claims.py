"""A workbook's own links, and the claims of its sheets about sheets of other workbooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from sat_retriever.links.copies.claims import CopyClaim
from sat_retriever.links.formula.external import ExternalReference
from sat_retriever.links.formula.relations import WorkbookLinks, workbook_links
from sat_retriever.links.join.joins import workbook_joins
from sat_retriever.links.join.keys import KeyColumn, workbook_keys
from sat_retriever.links.join.owners import Formulas
from sat_retriever.records.links import Link, LinkType
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.records.structure import ColumnProfile, Reference, Structure, Use
from sat_retriever.text.period.periods import SheetPeriod, period_of


@dataclass(frozen=True, slots=True)
class Claims:
    """Claims of sheets about sheets of other workbooks, resolved once those are indexed.

    Attributes:
        external: References of formulas to other workbooks.
        periods: Period of each sheet that has one, by sheet id.
        keys: Columns that could join with columns elsewhere.
        copies: What copies of the sheets are found by.
    """

    external: tuple[ExternalReference, ...] = ()
    periods: tuple[tuple[str, SheetPeriod], ...] = ()
    keys: tuple[KeyColumn, ...] = ()
    copies: tuple[CopyClaim, ...] = ()


NO_CLAIMS = Claims()


@dataclass(frozen=True, slots=True)
class Discovery:
    """All link information in one workbook, read by itself.

    Attributes:
        links: Links between its own sheets.
        claims: Claims to be resolved with the rest of the corpus.
    """

    links: tuple[Link, ...] = ()
    claims: Claims = NO_CLAIMS


NOTHING = Discovery()


def discover(
    records: Sequence[SheetRecord],
    references: Sequence[Reference] = (),
    structure: Structure | None = None,
    profiles: Sequence[ColumnProfile] = (),
) -> Discovery:
    """The links inside one workbook, and its claims.

    Args:
        records: Its sheets in tab order.
        references: References of its formulas.
        structure: Its declared structure.
        profiles: Sketches of its columns; without them, joins are found by headers alone.
    """
    linked = workbook_links(records, references, structure or Structure())
    formulas = _formulas(linked)
    joins = workbook_joins(records, profiles, formulas)
    claims = claims_of(records, profiles, linked.external, formulas.gathering)
    return Discovery(_strongest((*linked.links, *joins)), claims)


def gathered(discoveries: Iterable[Discovery]) -> Discovery:
    """The links and claims of several workbooks as those of one."""
    each = list(discoveries)
    claims = [x.claims for x in each]
    return Discovery(
        tuple(link for x in each for link in x.links),
        Claims(
            tuple(x for own in claims for x in own.external),
            tuple(x for own in claims for x in own.periods),
            tuple(x for own in claims for x in own.keys),
            tuple(x for own in claims for x in own.copies),
        ),
    )


def without(discovery: Discovery, sheet_ids: Set[str]) -> Discovery:
    """The discovery without the links and claims of the given sheets, which are not stored."""
    claims = discovery.claims
    return Discovery(
        tuple(x for x in discovery.links if not {x.source, x.target} & sheet_ids),
        Claims(
            tuple(x for x in claims.external if x.source not in sheet_ids),
            tuple(x for x in claims.periods if x[0] not in sheet_ids),
            tuple(x for x in claims.keys if x.sheet_id not in sheet_ids),
            tuple(x for x in claims.copies if x.sheet_id not in sheet_ids),
        ),
    )


def claims_of(
    records: Sequence[SheetRecord],
    profiles: Sequence[ColumnProfile] = (),
    external: tuple[ExternalReference, ...] = (),
    gathering: Set[str] = frozenset(),
) -> Claims:
    """Claims of sheets: their periods and key columns, and the given references.

    Args:
        records: The sheets.
        profiles: Profiles of their columns.
        external: References of their formulas to other workbooks.
        gathering: Ids of the sheets whose formulas gather from other sheets.
    """
    periods = ((record.sheet_id, period_of(record)) for record in records)
    dated = tuple((sheet_id, period) for sheet_id, period in periods if period is not None)
    return Claims(external, dated, tuple(workbook_keys(records, profiles, gathering)))


def _formulas(linked: WorkbookLinks) -> Formulas:
    """Sheets that gather from other sheets, and pairs of sheets with lookups."""
    kinds = (LinkType.AGGREGATION, LinkType.SUMMARY_SOURCE)
    inside = (link.source for link in linked.links if link.type in kinds)
    beyond = (x.source for x in linked.external if x.use is Use.AGGREGATE or x.summary)
    joins = ((x.source, x.target) for x in linked.links if x.type == LinkType.JOIN_KEY)
    return Formulas(frozenset((*inside, *beyond)), frozenset(joins))


def _strongest(links: Sequence[Link]) -> tuple[Link, ...]:
    """The strongest link of each pair and type; the first of equal ones."""
    best: dict[tuple[str, str, str], Link] = {}
    for link in links:
        key = (link.source, link.target, link.type)
        if key not in best or link.weight > best[key].weight:
            best[key] = link
    return tuple(best.values())
