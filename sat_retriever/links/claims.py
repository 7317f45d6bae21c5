"""A workbook's own links, and its sheets' claims about other workbooks, resolved to links.

A workbook's own links are stored and deleted with it. The claims of its sheets about other
workbooks are kept. A reference to a workbook that is not indexed yet therefore becomes a link
when that workbook is indexed, and a mere claim again when it is removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import ClassVar

from sat_retriever.errors import InputError
from sat_retriever.links.copies.claims import CopyClaim
from sat_retriever.links.formula.relations import (
    ExternalReference,
    WorkbookLinks,
    resolve,
    workbook_links,
)
from sat_retriever.links.join.joins import joins_between, workbook_joins
from sat_retriever.links.join.keys import KeyColumn, workbook_keys
from sat_retriever.links.join.pairs import Formulas
from sat_retriever.records.links import Link, LinkType
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.records.structure import ColumnProfile, Reference, Structure, Use
from sat_retriever.text.period.periods import SheetPeriod, period_of


@dataclass(frozen=True, slots=True)
class Claims:
    """Claims of sheets about sheets of other workbooks, resolved once those are indexed."""

    external: tuple[ExternalReference, ...] = ()
    periods: tuple[tuple[str, SheetPeriod], ...] = ()
    keys: tuple[KeyColumn, ...] = ()
    copies: tuple[CopyClaim, ...] = ()


NO_CLAIMS = Claims()


@dataclass(frozen=True, slots=True)
class Discovery:
    """All link information in one workbook: links between its own sheets, claims about others."""

    EMPTY: ClassVar[Discovery]

    links: tuple[Link, ...] = ()
    claims: Claims = NO_CLAIMS


Discovery.EMPTY = Discovery()


def discover(
    records: Sequence[SheetRecord],
    references: Sequence[Reference] = (),
    structure: Structure | None = None,
    profiles: Sequence[ColumnProfile] = (),
) -> Discovery:
    """The links inside one workbook, and its claims; without profiles, headers decide on joins."""
    linked = workbook_links(records, references, structure or Structure())
    formulas = _formulas(linked)
    joins = workbook_joins(records, profiles, formulas)
    claims = claims_of(records, profiles, linked.external, formulas.gathering)
    return Discovery(_strongest_of_pairs((*linked.links, *joins)), claims)


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
    """Claims of sheets: periods, key columns, references; `gathering` sheets gather by formula."""
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


def _strongest_of_pairs(links: Sequence[Link]) -> tuple[Link, ...]:
    """The strongest link of each pair and type; the first of equal ones."""
    best: dict[tuple[str, str, str], Link] = {}
    for link in links:
        key = (link.source, link.target, link.type)
        if key not in best or link.weight > best[key].weight:
            best[key] = link
    return tuple(best.values())


Located = tuple[int, str]  # number and full path of a workbook


def blocks_of(columns: Iterable[KeyColumn]) -> list[str]:
    """The distinct blocks of key columns, in order of appearance."""
    return list(dict.fromkeys(block for column in columns for block in column.blocks))


def join_links(
    columns: Iterable[KeyColumn], others: Sequence[KeyColumn], crowded: Set[str]
) -> list[Link]:
    """Links for joins of key columns that share a block; a `crowded` one has too many for joins."""
    # Sharing a crowded block is no evidence for a join.
    telling = [
        replace(column, blocks=tuple(block for block in column.blocks if block not in crowded))
        for column in columns
    ]
    return joins_between(telling, others)


def meant(
    references: Iterable[ExternalReference],
    places: Mapping[str, str],
    called: Mapping[str, Sequence[Located]],
) -> list[tuple[ExternalReference, int]]:
    """References with the number of the workbook that each most likely means.

    Those that mean none are left out. `places` has the full path of the workbook of each sheet id
    with a file, `called` the workbooks by the `key` of a reference.
    """
    found = (
        (each, _nearest(each, places.get(each.source, ""), called[each.key])) for each in references
    )
    return [(reference, workbook) for reference, workbook in found if workbook is not None]


def external_links(
    found: Iterable[tuple[ExternalReference, int]], records: Mapping[int, Sequence[SheetRecord]]
) -> list[Link]:
    """Links that the results of `meant` resolve to; records of a workbook are in tab order."""
    return [link for reference, workbook in found for link in resolve(reference, records[workbook])]


def _nearest(reference: ExternalReference, place: str, found: Iterable[Located]) -> int | None:
    """Number of the workbook that a reference most likely means; None if there is none.

    Workbooks with the same file name are compared by the length of the path's end that equals the
    reference's, then by nearness to the referring workbook, then by path.
    """
    best: int | None = None
    best_rank = (-1, -1)
    for workbook, path in found:
        same_end = _shared(_parts(reference.file)[::-1], _parts(path)[::-1])
        rank = (same_end, _shared(_parts(place), _parts(path)))
        if rank > best_rank and path != place:
            best, best_rank = workbook, rank
    return best


def _parts(path: str) -> list[str]:
    return [part for part in PurePosixPath(path.replace("\\", "/").casefold()).parts if part != "/"]


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count


MAX_EVIDENCE = 1_000  # characters; evidence found by this package has at most 200
MAX_NAME = 4_000  # characters of a sheet id or a type: no path is longer


def checked_link(link: Link) -> Link:
    r"""Check a link; return it with its evidence on one line and its weight as a plain float.

    A link from a sheet to itself is allowed: tables may refer to themselves.

    Raises:
        InputError: If an end, the type or the evidence is not a text, or is too long, or the
            weight is not above 0 and at most 1.

    >>> checked_link(Link("a#1", "a#2", "join_key", 1, "id\n= id")).evidence
    'id = id'
    """
    for name, most in (("source", MAX_NAME), ("target", MAX_NAME), ("type", MAX_NAME)):
        _check_text(link, name, most)
        if not getattr(link, name):
            raise InputError(f"the {name} of {_shown(link)} is empty; name one")
    _check_text(link, "evidence", MAX_EVIDENCE)
    try:
        weight = float(link.weight)
    except (TypeError, ValueError, OverflowError):
        weight = -1.0
    if not 0 < weight <= 1:  # false for NaN as well
        raise InputError(
            f"the weight of {_shown(link)} is {link.weight!r:.80}; give a number above 0, at most 1"
        )
    return replace(link, weight=weight, evidence=" ".join(link.evidence.split()))


def _check_text(link: Link, name: str, most: int) -> None:
    value = getattr(link, name)
    if not isinstance(value, str):
        raise InputError(f"the {name} of {_shown(link)} is a {type(value).__name__}; give a text")
    if len(value) > most:
        raise InputError(
            f"the {name} of {_shown(link)} has {len(value):,} characters; give at most {most:,}"
        )
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"the {name} of {_shown(link)} is not Unicode ({error.reason}); "
            "replace lone surrogates in it"
        ) from error


def _shown(link: Link) -> str:
    return f"the link from {link.source!r:.80} to {link.target!r:.80}"
