"""Links between workbooks, from what their sheets claim about each other.

A workbook's own links come and go with it. The claims of its sheets on other workbooks are
kept, so that a reference to a workbook that is not indexed yet becomes a link on the day it
is, and is a claim again when that workbook goes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from sat_retriever.links.formula.external import ExternalReference, resolve
from sat_retriever.links.join.joins import joins_between
from sat_retriever.links.join.keys import KeyColumn
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import SheetRecord

Located = tuple[str, list[SheetRecord]]  # full path of a workbook, and its records in tab order


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks of key columns that a change to the corpus touches, as they are before it.

    Attributes:
        names: The blocks.
        crowded: Those of them with too many columns to join by.
    """

    names: tuple[str, ...]
    crowded: Set[str]

    def turned(self, crowded: Set[str]) -> list[str]:
        """Blocks to join anew: they are too common now and were not before, or the other way.

        Args:
            crowded: Those of `names` with too many columns after the change.
        """
        return sorted(self.crowded ^ crowded)


def blocks_of(columns: Iterable[KeyColumn]) -> list[str]:
    """Every block of some key columns once, in their order."""
    return list(dict.fromkeys(block for column in columns for block in column.blocks))


def join_links(
    columns: Iterable[KeyColumn], others: Sequence[KeyColumn], crowded: Set[str]
) -> list[Link]:
    """Joins of key columns with those of other workbooks.

    Args:
        columns: The columns.
        others: Every column that shares a block with one of them.
        crowded: Blocks with too many columns to join by.
    """
    # Columns that share a crowded block, too, are no better for it.
    telling = [
        replace(column, blocks=tuple(block for block in column.blocks if block not in crowded))
        for column in columns
    ]
    return joins_between(telling, others)


def external_links(
    references: Iterable[ExternalReference],
    places: Mapping[str, str],
    called: Mapping[str, Sequence[Located]],
) -> list[Link]:
    """Links that references to other workbooks stand for.

    Args:
        references: What sheets take from other workbooks.
        places: Full path of the workbook of each of these sheets; none for one without a file.
        called: Workbooks by case-folded file name, which is the `key` of a reference.
    """
    links: list[Link] = []
    for reference in references:
        place = places.get(reference.source, "")
        links += resolve(reference, _nearest(reference, place, called[reference.key]))
    return links


def _nearest(
    reference: ExternalReference, place: str, found: Iterable[Located]
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
