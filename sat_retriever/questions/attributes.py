"""Index sheets by attribute, to find the sheets of a need without reading all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from sat_retriever.errors import InputError
from sat_retriever.questions.facts import Asked, Need, SheetFacts, Sources
from sat_retriever.records.links import Link
from sat_retriever.text.period.spans import Span, span_of

_PAIRS = (
    ("kind", "entity"),
    ("kind", "year"),
    ("entity", "year"),
    ("category", "entity"),
    ("category", "year"),
    ("schema", "year"),
)
_SINGLE = ("kind", "category", "entity", "year", "workbook", "schema")


@dataclass(frozen=True, slots=True)
class FactIndex:
    """An index of the facts about all sheets, by value.

    Attributes:
        facts: Facts of all sheets; a place is a position in this tuple.
        postings: Ascending places by attribute names and values: ("kind", "payroll") or
            ("kind", "entity", "payroll", "Acme").
        taken: Ids of the sheets that a sheet takes from, by link type and place, in link order.
        takers: Places of the sheets that take from a sheet by formula, by sheet id.
        joined: Kinds that have a key, by entity and key; by ("", key) over all entities.
    """

    facts: tuple[SheetFacts, ...]
    place: Mapping[str, int]
    postings: Mapping[tuple[object, ...], Sequence[int]]
    taken: Mapping[str, Mapping[int, Sequence[str]]]
    takers: Mapping[str, Sequence[int]]
    joined: Mapping[tuple[str, str], Sequence[str]]

    @classmethod
    def of(cls, facts: Sequence[SheetFacts], links: Sequence[Link] = ()) -> FactIndex:
        """Index facts and links; an InputError if a sheet's id is missing or not unique."""
        place = {each.sheet_id: number for number, each in enumerate(facts)}
        if len(place) < len(facts) or "" in place:
            raise InputError("every sheet's facts need a unique sheet id")
        postings: dict[tuple[object, ...], list[int]] = {}
        joined: dict[tuple[str, str], dict[str, None]] = {}
        for number, each in enumerate(facts):
            for posting in _posted(each):
                postings.setdefault(posting, []).append(number)
            for key_name in each.keys if each.kind else ():
                for entity in dict.fromkeys((each.entity, "")):
                    joined.setdefault((entity, key_name), {})[each.kind] = None
        taken: dict[str, dict[int, list[str]]] = {}
        takers: dict[str, list[int]] = {}
        for link in links:
            taker = place.get(link.source)
            if taker is not None and link.source != link.target:
                ids = taken.setdefault(link.type, {}).setdefault(taker, [])
                if link.target not in ids:
                    ids.append(link.target)
                if link.type == "formula_reference":
                    takers.setdefault(link.target, []).append(taker)
        kinds = {key: tuple(sorted(names)) for key, names in joined.items()}
        return cls(tuple(facts), place, postings, taken, takers, kinds)

    def sheets(self, asked: Asked, limit: int | None = None) -> tuple[str, ...] | None:
        """Return the ids of all requested sheets, in the facts' order; None if more than `limit`.

        Linked sheets without facts come last.
        """
        if isinstance(asked, Need):
            places = self.places(asked, limit)
            return None if places is None else tuple(self.facts[at].sheet_id for at in places)
        takers = self.places(asked.of, None if limit is None else 10 * limit)
        if takers is None:
            return None
        found = dict.fromkeys(self._taken(takers, asked))
        order = sorted(found, key=lambda sheet: self.place.get(sheet, len(self.facts)))
        return None if limit is not None and len(order) > limit else tuple(order)

    def _taken(self, takers: Sequence[int], asked: Sources) -> Iterator[str]:
        for taker in takers:
            for kind in asked.types:
                yield from self.taken.get(kind, {}).get(taker, ())
            if asked.itself:
                yield self.facts[taker].sheet_id

    def places(self, need: Need, limit: int | None = None) -> list[int] | None:
        """Return the places of all sheets with the needed attributes; None if more than `limit`."""
        found: list[int] = []
        for at in self._candidates(need):
            if need.holds(self.facts[at]):
                found.append(at)
                if limit is not None and len(found) > limit:
                    return None
        return sorted(found)

    def any(self, need: Need) -> bool:
        """True if some sheet has the needed attributes."""
        return any(need.holds(self.facts[at]) for at in self._candidates(need))

    def categories_of(self, kind: str) -> set[str]:
        """Return the categories of a kind's sheets; "" is one of them if a sheet has none."""
        return {self.facts[at].category for at in self.postings.get(("kind", kind), ())}

    def _candidates(self, need: Need) -> Iterator[int]:
        """Yield the possible places, each once, from the shortest postings with all of them."""
        values: dict[str, Sequence[object]] = {
            "kind": need.kinds,
            "category": need.categories,
            "entity": need.entities,
            "year": _years(need.spans),
        }
        given = {name: value for name, value in values.items() if value}
        ways = [[(name, value) for value in given[name]] for name in given]
        ways += [[("key", key.casefold())] for key in need.keys]
        for first, second in _PAIRS:
            if first in given and second in given:
                pairs = product(dict.fromkeys(given[first]), dict.fromkeys(given[second]))
                ways.append([(first, second, *pair) for pair in pairs])  # type: ignore[misc]
        if not ways:
            yield from range(len(self.facts))
            return
        best = min(ways, key=lambda way: sum(len(self.postings.get(key, ())) for key in way))
        for key in dict.fromkeys(best):
            yield from self.postings.get(key, ())


def _years(spans: Sequence[Span]) -> list[int]:
    """Return all years of the spans; empty if a span is open."""
    if any(not span.first_year for span in spans):
        return []
    years = (number for span in spans for number in range(span.first_year, span.last_year + 1))
    return list(dict.fromkeys(years))


def _posted(facts: SheetFacts) -> Iterator[tuple[object, ...]]:
    values: dict[str, object] = {
        "kind": facts.kind,
        "category": facts.category,
        "entity": facts.entity,
        "workbook": facts.workbook,
        "schema": facts.schema or facts.kind,
    }
    if facts.period is not None:
        # a span of years is found by its last year, because it must lie within the requested spans
        values["year"] = span_of(facts.period).last_year
    for name in _SINGLE:
        if values.get(name) not in ("", None):
            yield name, values[name]
    for first, second in _PAIRS:
        if values.get(first) not in ("", None) and values.get(second) not in ("", None):
            yield first, second, values[first], values[second]
    for key in dict.fromkeys((*map(str.casefold, facts.keys), *facts.columns)):
        yield "key", key
