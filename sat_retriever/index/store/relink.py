"""Links across workbooks, found anew where sheets came or went; the caller owns the transaction.

A workbook's own links go and come with it. What its sheets claim about other workbooks
stays in the file, so that a reference to a workbook that is not there yet becomes a
link on the day it is indexed, and is a claim again when it goes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import PurePosixPath

from sat_retriever.index.store.links import LinkTables, Origin
from sat_retriever.links.claims import NOTHING, Discovery, without
from sat_retriever.links.formula.external import ExternalReference, resolve
from sat_retriever.links.join.joins import joins_between
from sat_retriever.links.join.keys import BLOCK_LIMIT, KeyColumn
from sat_retriever.period.periods import sibling_links
from sat_retriever.records.sheets import SheetRecord


@contextmanager
def relinked(
    tables: LinkTables, going: Sequence[str], coming: Discovery = NOTHING
) -> Iterator[set[str]]:
    """Around the moment when sheets are deleted, stored, or both: links follow.

    Gives a set, to which the ids of the coming sheets are added that are not stored.

    Args:
        tables: Where links are kept.
        going: Sheets that are there now and will be deleted.
        coming: What is known of the sheets that will be stored.
    """
    tables.make_stale(going)
    tables.drop_found(going)
    coming_blocks = (block for column in coming.claims.keys for block in column.blocks)
    blocks = list(dict.fromkeys((*tables.blocks_of(going), *coming_blocks)))
    crowded = tables.crowded(blocks, BLOCK_LIMIT)
    left_out: set[str] = set()
    yield left_out
    _connect(tables, without(coming, left_out) if left_out else coming)
    for block in sorted(crowded ^ tables.crowded(blocks, BLOCK_LIMIT)):
        # Too common to say anything, or no longer: the links it gave are found anew.
        _rejoin(tables, tables.sheets_in(block, BLOCK_LIMIT))


def _connect(tables: LinkTables, coming: Discovery) -> None:
    """Link sheets that were just stored, with each other and with those of other workbooks."""
    tables.put(coming.links, Origin.OWN)
    tables.put_claims(coming.claims)
    tables.make_stale([sheet_id for sheet_id, _period in coming.claims.periods])
    connect_externals(tables, list(dict.fromkeys(x.source for x in coming.claims.external)))
    _join(tables, coming.claims.keys)


def connect_externals(tables: LinkTables, sources: Sequence[str]) -> None:
    """Resolve anew every reference of some sheets to other workbooks."""
    tables.drop_from(sources, Origin.EXTERNAL)
    references = tables.references_of(sources)
    places = tables.places(sources)
    called = {key: tables.workbooks_called(key) for key in {each.key for each in references}}
    for reference in references:
        target = _nearest(reference, places.get(reference.source, ""), called[reference.key])
        tables.put(resolve(reference, target), Origin.EXTERNAL)


def connect_family(tables: LinkTables, family: str) -> None:
    """Link the sheets of one family over time anew."""
    members = tables.family(family)
    tables.drop_among([sheet_id for sheet_id, _period in members], Origin.PERIOD)
    tables.put(sibling_links(members), Origin.PERIOD)
    tables.settle(family)


def _rejoin(tables: LinkTables, sheet_ids: Sequence[str]) -> None:
    """Find the joins of some sheets with other workbooks anew."""
    tables.drop_among(sheet_ids, Origin.JOIN)
    _join(tables, tables.keys_of(sheet_ids))


def _join(tables: LinkTables, columns: Sequence[KeyColumn]) -> None:
    blocks = list(dict.fromkeys(block for column in columns for block in column.blocks))
    crowded = tables.crowded(blocks, BLOCK_LIMIT)
    others = tables.key_columns(block for block in blocks if block not in crowded)
    # A few of them may be of a crowded block, too, which is no reason to join.
    telling = [
        replace(column, blocks=tuple(block for block in column.blocks if block not in crowded))
        for column in columns
    ]
    tables.put(joins_between(telling, others), Origin.JOIN)


def _nearest(
    reference: ExternalReference, place: str, found: Iterable[tuple[str, list[SheetRecord]]]
) -> list[SheetRecord]:
    """Records of the workbook that a reference most likely means; none if there is none.

    Of several with its file name the one whose path ends most like the reference's
    does, then the one nearest to the sheet that refers, then the first by path.
    """
    best: list[SheetRecord] = []
    best_rank = (-1, -1)
    for path, records in found:
        same_end = _shared(_parts(reference.file)[::-1], _parts(path)[::-1])
        rank = (same_end, _shared(_parts(place), _parts(path)))
        if rank > best_rank and path != place:
            best, best_rank = records, rank
    return best


def _parts(path: str) -> list[str]:
    return [part for part in PurePosixPath(path.replace("\\", "/").casefold()).parts if part != "/"]


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """How many leading parts are equal."""
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count
