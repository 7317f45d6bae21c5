"""Types of links in words: what each says of the two sheets, and their order in lists."""

from __future__ import annotations

from collections.abc import Iterable

from sat_retriever.records.links import LinkType

# What a link says of the sheet it starts from, and of the one it points to. The direction of
# the last two says nothing: they hold both ways.
_WAYS = {
    LinkType.FORMULA_REFERENCE.value: ("takes values from", "gives values to"),
    LinkType.AGGREGATION.value: ("sums up", "is summed up in"),
    LinkType.SUMMARY_SOURCE.value: ("gathers from", "is gathered in"),
    LinkType.JOIN_KEY.value: ("joins to", "is joined from"),
    LinkType.SIBLING_PERIOD.value: ("is another period of",) * 2,
    LinkType.SAME_WORKBOOK.value: ("is in a workbook with",) * 2,
}


def ways_of(kind: str) -> tuple[str, str]:
    """What a type of link says of its source, and of its target; equal if it has no direction.

    >>> ways_of("aggregation"), ways_of("owned by")
    (('sums up', 'is summed up in'), ('to', 'from'))
    """
    return _WAYS.get(kind, ("to", "from"))


def in_order(types: Iterable[str]) -> list[str]:
    """Types of links: ours in their order, then others by name.

    >>> in_order({"zeta", "join_key", "aggregation"})
    ['aggregation', 'join_key', 'zeta']
    """
    own = [kind.value for kind in LinkType]
    return sorted(types, key=lambda kind: (own.index(kind) if kind in own else len(own), kind))
