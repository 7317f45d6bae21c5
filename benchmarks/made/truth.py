"""Compare records and links of an index with the truth of the generator of its workbooks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sat_retriever.records.links import Link, LinkType
from sat_retriever.records.sheets import Column, SheetRecord, Table
from sat_retriever.synth.unit import MadeSheet, MadeUnit

TYPES = frozenset(
    {
        LinkType.FORMULA_REFERENCE,
        LinkType.AGGREGATION,
        LinkType.SUMMARY_SOURCE,
        LinkType.JOIN_KEY,
        LinkType.SIBLING_PERIOD,
    }
)
INFERRED = "join_key inferred"
FIELDS = (
    "sheet",
    "workbook",
    "path",
    "columns",
    "num_rows",
    "num_cols",
    "range",
    "header_row",
    "visibility",
    "format",
    "tables",
)

End = tuple[str, str, str]
"""Source, target and type of a link."""


@dataclass(slots=True)
class Tally:
    """The result of the comparison so far.

    Attributes:
        sheets: Number of sheets by group (category, naming convention).
        equal: Number of sheets with an equal record by group.
        fields: Number of sheets with another value by field.
        both: Number of links in both by type.
        missed: Number of links that the index lacks by type.
        extra: Number of links that only the index has by type.
        wrong: Number of missed or extra links by the source's groups, without inferred joins.
        differences: All differences in words, each beginning with its kind.
    """

    sheets: Counter[str] = field(default_factory=Counter)
    equal: Counter[str] = field(default_factory=Counter)
    fields: Counter[str] = field(default_factory=Counter)
    both: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    extra: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)

    def add_sheet(self, sheet: MadeSheet, found: SheetRecord | None) -> None:
        """Compare one sheet."""
        groups = _groups(sheet)
        self.sheets.update(groups)
        different = differing(sheet.record, found)
        if not different:
            self.equal.update(groups)
        self.fields.update(different)
        self.differences += (f"{name} {told(sheet.record, found, name)}" for name in different)

    def add_links(self, unit: MadeUnit, found: Iterable[Link]) -> None:
        """Compare the links that start at a unit's sheets.

        Joins that no formula shows are inferred; they are counted separately.
        """
        said, keys, there = ends(unit.links), ends(unit.keys), ends(found)
        groups = {sheet.record.sheet_id: _groups(sheet) for sheet in unit.sheets}
        for end in sorted(said | keys | there):
            inferred = end[2] == LinkType.JOIN_KEY and end not in said
            name = INFERRED if inferred else end[2]
            if end in there and end in said | keys:
                self.both[name] += 1
                continue
            word, which = ("extra", self.extra) if end in there else ("missed", self.missed)
            which[name] += 1
            self.differences.append(f"{word}-{name} {end[0]} -> {end[1]}")
            if not inferred:
                self.wrong.update(groups[end[0]])


def _groups(sheet: MadeSheet) -> tuple[str, str]:
    return f"category {sheet.category}", f"convention {sheet.convention}"


def ends(links: Iterable[Link]) -> set[End]:
    """Return ends and types of the links that are compared."""
    return {(link.source, link.target, link.type) for link in links if link.type in TYPES}


def differing(true: SheetRecord, found: SheetRecord | None) -> list[str]:
    """Return the fields in which a record differs from the truth; "record" if it is missing."""
    if found is None:
        return ["record"]
    tables = tuple(
        _comparable(same, table) for same, table in zip(true.tables, found.tables, strict=False)
    )
    found = replace(
        found,
        columns=comparable(true.columns, found.columns),
        tables=tables + found.tables[len(tables) :],
    )
    return [name for name in FIELDS if getattr(true, name) != getattr(found, name)]


def comparable(true: Sequence[Column], found: Sequence[Column]) -> tuple[Column, ...]:
    """Return the found columns, without the examples that the truth leaves open.

    What an encoder reads in place of an example is not compared.
    """
    if len(true) != len(found):
        return tuple(found)
    return tuple(
        replace(column, example=same.example and column.example, encoded=same.encoded)
        for same, column in zip(true, found, strict=True)
    )


def _comparable(true: Table, found: Table) -> Table:
    return replace(found, columns=comparable(true.columns, found.columns))


def told(true: SheetRecord, found: SheetRecord | None, name: str) -> str:
    """Describe a difference: the first table or column that differs, or the whole field."""
    if found is None:
        return f"{true.sheet_id}: there is no record"
    one, other = getattr(true, name), getattr(found, name)
    if name == "tables" and len(one) == len(other):
        compared = [_comparable(a, b) for a, b in zip(one, other, strict=True)]
        one, other = _first_different(one, compared)
        rest = replace(one, columns=()), replace(other, columns=())
        one, other = rest if rest[0] != rest[1] else (one.columns, other.columns)
    if isinstance(one, tuple) and len(one) == len(other) and isinstance(one[0], Column):
        one, other = _first_different(one, comparable(one, other))
    return f"{true.sheet_id}: {one!r:.200} IS {other!r:.200}"


def _first_different(true: Sequence[Any], found: Sequence[Any]) -> tuple[Any, Any]:
    return next((a, b) for a, b in zip(true, found, strict=True) if a != b)
