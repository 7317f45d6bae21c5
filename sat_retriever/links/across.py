"""Links between workbooks, resolved from the claims of their sheets about each other.

A workbook's own links are stored and deleted with it. The claims of its sheets about other
workbooks are kept. A reference to a workbook that is not indexed yet therefore becomes a link
when that workbook is indexed, and a mere claim again when it is removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import PurePosixPath

from sat_retriever.links.formula.external import ExternalReference, resolve
from sat_retriever.links.join.joins import joins_between
from sat_retriever.links.join.keys import KeyColumn
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import SheetRecord

Located = tuple[int, str]  # number and full path of a workbook


def blocks_of(columns: Iterable[KeyColumn]) -> list[str]:
    """The distinct blocks of key columns, in order of appearance."""
    return list(dict.fromkeys(block for column in columns for block in column.blocks))


def join_links(
    columns: Iterable[KeyColumn], others: Sequence[KeyColumn], crowded: Set[str]
) -> list[Link]:
    """Links for joins of key columns with those of other workbooks.

    Args:
        columns: The columns.
        others: Every column that shares a block with one of them.
        crowded: Blocks that have too many columns for joins.
    """
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

    Those that mean none are left out.

    Args:
        references: References of sheets to other workbooks.
        places: Full path of the workbook of each sheet id; sheets without a file have none.
        called: Workbooks by case-folded file name, the `key` of a reference.
    """
    found = (
        (each, _nearest(each, places.get(each.source, ""), called[each.key])) for each in references
    )
    return [(reference, workbook) for reference, workbook in found if workbook is not None]


def external_links(
    found: Iterable[tuple[ExternalReference, int]], records: Mapping[int, Sequence[SheetRecord]]
) -> list[Link]:
    """Links that references to other workbooks resolve to.

    Args:
        found: The result of `meant`.
        records: Records of the workbooks in tab order, by number.
    """
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
    """Number of equal leading parts."""
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count
