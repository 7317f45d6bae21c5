"""Parts of a graph: the neighbourhood of some sheets, or the sheets with the most links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from sat_retriever.records.links import Link, kind_of


def around(sheet_ids: Sequence[str], links: Iterable[Link], hops: int) -> list[str]:
    """The sheets and all sheets at most `hops` links away, in either direction, in id order.

    >>> links = [Link("a", "b", "join_key"), Link("c", "b", "join_key")]
    >>> around(["a"], links, 1), around(["a"], links, 2)
    (['a', 'b'], ['a', 'b', 'c'])
    """
    beside: dict[str, list[str]] = {}
    for link in links:
        beside.setdefault(link.source, []).append(link.target)
        beside.setdefault(link.target, []).append(link.source)
    found = dict.fromkeys(sheet_ids)
    edge = list(found)
    for _ in range(hops):
        if not edge:
            break
        reached = dict.fromkeys(other for sheet in edge for other in beside.get(sheet, ()))
        edge = [sheet for sheet in reached if sheet not in found]
        found.update(dict.fromkeys(edge))
    return sorted(found)


def best_linked(sheet_ids: Sequence[str], links: Iterable[Link], limit: int) -> list[str]:
    """Up to `limit` sheets, those with the most links, in id order.

    Links of types that connect whole workbooks only break ties.

    >>> links = [Link("b", "c", "join_key"), Link("a", "d", "same_workbook")]
    >>> best_linked("abcd", links, 2)
    ['b', 'c']
    """
    if len(sheet_ids) <= limit:
        return sorted(sheet_ids)
    known = set(sheet_ids)
    telling: Counter[str] = Counter()
    near: Counter[str] = Counter()
    for link in links:
        if link.source in known and link.target in known:
            counts = near if kind_of(link.type).whole_workbook else telling
            counts.update((link.source, link.target))
    ranked = sorted(known, key=lambda sheet: (-telling[sheet], -near[sheet], sheet))
    return sorted(ranked[:limit])
