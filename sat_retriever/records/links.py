"""Typed links between sheets, and the table of the properties of each link type."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class LinkKind:
    """Properties of one type of link; a new type adds one such row.

    Attributes:
        meaning: Description of such links, as an item of a list in a sentence.
        says: Phrase for the sheet that the link starts from, and for the sheet that it points
            to; the name of the other sheet follows each.
        colours: Its colour on a light page and on a dark one, as CSS writes colours.
        pull: Weight of the type in the link reranker, 0 or more; see `LinkSettings`.
        directed: False if a link holds both ways; it is then drawn dashed and without an arrow.
        whole_workbook: True if the type links each sheet to every other sheet of its workbook.
            Such a link does not distinguish between the sheets of a workbook: it is counted
            and drawn last, and the graph's channel of this name reads workbooks, not links.
    """

    meaning: str = "links of another type"
    says: tuple[str, str] = ("to", "from")
    colours: tuple[str, str] = ("#c0362c", "#ff8d83")
    pull: float = 0.3
    directed: bool = True
    whole_workbook: bool = False


OTHER_KIND = LinkKind()  # for a type that this package does not find


class LinkType(StrEnum):
    """Types of links that this package finds, in display order; files may hold others.

    Each member is the type's name as a string, with its row of the table as `kind`.

    >>> LinkType.AGGREGATION == "aggregation", LinkType("aggregation").kind.says
    (True, ('sums up', 'is summed up in'))
    """

    _value_: str
    kind: LinkKind

    FORMULA_REFERENCE = (
        "formula_reference",
        LinkKind(
            meaning="formulas that refer to another sheet",
            says=("takes values from", "gives values to"),
            colours=("#1f6feb", "#6ea8ff"),
            pull=1.0,
        ),
    )
    AGGREGATION = (
        "aggregation",
        LinkKind(
            meaning="sums over sheets",
            says=("sums up", "is summed up in"),
            colours=("#d9730d", "#ffa657"),
            pull=0.5,
        ),
    )
    SUMMARY_SOURCE = (
        "summary_source",
        LinkKind(
            meaning="summaries and their sources",
            says=("gathers from", "is gathered in"),
            colours=("#b3209b", "#ee82d8"),
            pull=1.0,
        ),
    )
    JOIN_KEY = (
        "join_key",
        LinkKind(
            meaning="keys that join tables",
            says=("joins to", "is joined from"),
            colours=("#0b8f6a", "#3fcf9f"),
            pull=1.0,
        ),
    )
    SIBLING_PERIOD = (
        "sibling_period",
        LinkKind(
            meaning="other periods of the same report",
            says=("is another period of", "is another period of"),
            colours=("#8a6d00", "#e3c14f"),
            # Neighbouring periods look alike and are seldom asked for together: links of this
            # type lose recall on IndustryTab's validation split.
            pull=0.0,
            directed=False,
        ),
    )
    SAME_WORKBOOK = (
        "same_workbook",
        LinkKind(
            meaning="the same workbook",
            says=("is in a workbook with", "is in a workbook with"),
            colours=("#8b95a5", "#738096"),
            pull=0.0,  # a workbook's sheets pull each other by `LinkSettings.siblings`
            directed=False,
            whole_workbook=True,
        ),
    )

    def __new__(cls, name: str, kind: LinkKind = OTHER_KIND) -> LinkType:
        """Create the member of a row; the default makes `LinkType("join_key")` type-check."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.kind = kind
        return member


def kind_of(name: str) -> LinkKind:
    """The row of a type of link; `OTHER_KIND` for a type that this package does not find.

    >>> kind_of("join_key").says, kind_of("owned by").says
    (('joins to', 'is joined from'), ('to', 'from'))
    """
    return _KINDS.get(name, OTHER_KIND)


def in_order(types: Iterable[str]) -> list[str]:
    """Link types in display order: this package's in their order, then others by name.

    >>> in_order({"zeta", "join_key", "aggregation"})
    ['aggregation', 'join_key', 'zeta']
    """
    places = {name: place for place, name in enumerate(_KINDS)}
    return sorted(types, key=lambda name: (places.get(name, len(places)), name))


_KINDS = {member.value: member.kind for member in LinkType}


@dataclass(frozen=True, slots=True)
class Link:
    """A typed, directed relation between two sheets.

    Attributes:
        source: Id of the sheet that depends.
        target: Id of the sheet that it depends on.
        type: A `LinkType`, or any other name.
        weight: Strength in (0, 1].
        evidence: For example "Summary!B4 =SUM(Q1!B2:B9)".
    """

    source: str
    target: str
    type: str
    weight: float = 1.0
    evidence: str = ""
