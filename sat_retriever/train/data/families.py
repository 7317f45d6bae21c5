"""Group sheets into families: the same headers, or one series over time."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator

from sat_retriever.index.index import SheetIndex
from sat_retriever.questions.spokennames import header_words
from sat_retriever.records.grouping import connected
from sat_retriever.records.links import Link, LinkType
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.text.period.periods import period_of
from sat_retriever.train.data.reading import read_records

_WORD = re.compile(r"[^\W\d_]")


def families_of(index: SheetIndex) -> list[list[str]]:
    """Return the families among all sheets of an index; see `families`."""
    return families(read_records(index), index.all_links())


def families(records: Iterable[SheetRecord], links: Iterable[Link] = ()) -> list[list[str]]:
    """Group sheet ids by family; each sheet is in exactly one family.

    Two sheets are of one family, directly or through others, if they have the same set of headers,
    if their names differ only by a period, or if a link says that one is the other for another
    period. Headers are compared without case, word joiners and numbers: "Sales_2023" equals
    "sales 2024". The rule does not depend on how a corpus names its sheets.

    Source: paper, appendix (grouped evaluation). Departs: there, a family follows from
    IndustryTab's names.

    Args:
        records: The sheets.
        links: Links between them; links of other types are ignored.

    Returns:
        Families ordered by their smallest sheet id, the ids of each ascending.
    """
    return sorted(sorted(group) for group in connected(_shared(records, links)))


def _shared(
    records: Iterable[SheetRecord], links: Iterable[Link]
) -> Iterator[tuple[str, Iterable[Hashable]]]:
    """Yield each sheet id with the keys that it shares with its family."""
    known = set()
    for record in records:
        known.add(record.sheet_id)
        yield record.sheet_id, _keys(record)
    for link in links:
        ends = (link.source, link.target)
        if link.type == LinkType.SIBLING_PERIOD and known.issuperset(ends):
            yield from ((end, [ends]) for end in ends)


def _keys(record: SheetRecord) -> Iterator[Hashable]:
    """Yield the keys that a sheet shares with its family."""
    headers = frozenset(header_words(column.name) for column in record.columns) - {""}
    if headers:
        yield "headers", headers
    period = period_of(record)
    if period is not None and _WORD.search(period.family):  # not a name that is only a period
        yield "series", period.family
