"""Draw negatives of a question: random sheets, and hard ones that look relevant but are not."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from types import MappingProxyType

from sat_retriever.questions.attributes import FactIndex
from sat_retriever.questions.facts import SheetFacts
from sat_retriever.text.period.spans import span_of

# Questions by type and dependency type.
QUESTIONS: Mapping[tuple[str, str], int] = MappingProxyType(
    {
        ("semantic_lookup", "none"): 478,
        ("semantic_lookup", "temporal_alignment"): 132,
        ("semantic_lookup", "schema_alignment"): 21,
        ("comparison", "temporal_alignment"): 315,
        ("comparison", "schema_alignment"): 42,
        ("aggregation", "aggregation"): 339,
        ("join_key_reasoning", "join_key"): 257,
        ("formula_tracing", "formula_reference"): 140,
        ("summary_source", "summary_source"): 73,
    }
)

HARD_TYPES = (
    "same_schema_wrong_entity",
    "same_schema_wrong_year",
    "same_workbook_wrong_sheet",
    "same_key_column_unrelated",
    "same_formula_family",
    "same_summary_type",
)

# Hard negatives by question type, in the order of HARD_TYPES.
_HARD = {
    "semantic_lookup": (2848, 891, 93, 1580, 0, 0),
    "join_key_reasoning": (481, 507, 373, 2309, 0, 0),
    "aggregation": (1345, 926, 22, 934, 65, 30),
    "comparison": (836, 657, 2, 617, 0, 0),
    "formula_tracing": (502, 289, 30, 55, 0, 0),
    "summary_source": (307, 64, 0, 80, 0, 145),
}
HARD_NEGATIVES: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        name: MappingProxyType(dict(zip(HARD_TYPES, counts, strict=True)))
        for name, counts in _HARD.items()
    }
)

MOST_HARD = 56  # most hard negatives of a question


_TRIES = 24  # draws for each hard negative wanted
_STARTS = 12  # positives that hard negatives are drawn from


def random_negatives(
    index: FactIndex, positives: Set[str], number: int, rng: random.Random
) -> tuple[str, ...]:
    """Draw `number` sheets that are not positives, or all there are, in the facts' order."""
    places = range(len(index.facts))
    drawn = rng.sample(places, min(len(places), number + len(positives)))
    wrong = [place for place in drawn if index.facts[place].sheet_id not in positives][:number]
    return tuple(index.facts[place].sheet_id for place in sorted(wrong))


@dataclass(frozen=True, slots=True)
class _Look:
    """The places to draw from for one positive, and the test that a drawn sheet must pass."""

    places: Sequence[int]
    fits: Callable[[SheetFacts], bool]


def hard_negatives(
    index: FactIndex,
    positives: Sequence[str],
    number: int,
    shares: Mapping[str, float],
    rng: random.Random,
) -> dict[str, str]:
    """Draw up to `number` hard negatives: their types by sheet id, in the order of `HARD_TYPES`.

    The types are drawn in proportion to their shares; other types make up for a shortage.

    Source: method section 9, the six published types. Departs: formula families and summary
    types come from facts and links, not from names; sheets have the same schema if their
    columns are equal, or if they are of one kind, whatever a company calls its columns.
    """
    starts = [index.place[sheet] for sheet in positives if sheet in index.place]
    starts = rng.sample(starts, min(len(starts), _STARTS))
    search = _Search(index, starts, frozenset(positives), rng)
    total = sum(shares.values()) or 1.0
    wanted = {name: round(number * shares.get(name, 0) / total) for name in HARD_TYPES}
    for name in sorted(HARD_TYPES, key=lambda name: (wanted[name], HARD_TYPES.index(name))):
        search.draw(name, min(wanted[name], number - len(search.found)))
    for name in sorted(HARD_TYPES, key=lambda name: -wanted[name]):
        search.draw(name, number - len(search.found))
    order = {name: place for place, name in enumerate(HARD_TYPES)}
    found = search.found.items()
    return dict(sorted(found, key=lambda item: (order[item[1]], index.place[item[0]])))


@dataclass(frozen=True, slots=True)
class _Search:
    index: FactIndex
    starts: Sequence[int]
    answers: Set[str]
    rng: random.Random
    found: dict[str, str] = field(default_factory=dict)

    def draw(self, name: str, number: int) -> None:
        if number <= 0:
            return
        looks = [
            look for start in self.starts for look in _LOOKS[name](self.index, start) if look.places
        ]
        goal = len(self.found) + number
        for _ in range(_TRIES * number if looks else 0):
            look = self.rng.choice(looks)
            facts = self.index.facts[self.rng.choice(look.places)]
            known = facts.sheet_id in self.answers or facts.sheet_id in self.found
            if not known and look.fits(facts):
                self.found[facts.sheet_id] = name
                if len(self.found) == goal:
                    return


def _wrong_entity(index: FactIndex, start: int) -> Iterator[_Look]:
    """Yield sheets with the same columns or kind and the same period, but another entity."""
    own = index.facts[start]
    span = span_of(own.period) if own.period else None

    def fits(other: SheetFacts) -> bool:
        same = (span_of(other.period) if other.period else None) == span
        return same and other.entity not in ("", own.entity)

    if own.entity:
        yield _Look(_alike(index, own), fits)
        yield _Look(_of_kind(index, own), fits)  # other companies name their columns differently


def _wrong_year(index: FactIndex, start: int) -> Iterator[_Look]:
    """Yield sheets with the same columns or kind and the same entity, but another period."""
    own = index.facts[start]
    if own.period is None:
        return
    places = index.postings.get(("kind", "entity", own.kind, own.entity), ())
    places = places or index.postings.get(("schema", own.schema or own.kind), ())
    span = span_of(own.period)

    def fits(other: SheetFacts) -> bool:
        alike = other.schema == own.schema or other.kind == own.kind
        same = alike and other.entity == own.entity
        return same and other.period is not None and span_of(other.period) != span

    yield _Look(places, fits)


def _wrong_sheet(index: FactIndex, start: int) -> Iterator[_Look]:
    workbook = index.facts[start].workbook
    if workbook:
        yield _Look(index.postings.get(("workbook", workbook), ()), lambda other: True)


def _unrelated_key(index: FactIndex, start: int) -> Iterator[_Look]:
    """Yield sheets of another kind with an equal key column."""
    own = index.facts[start]
    for key in own.keys:
        yield _Look(
            index.postings.get(("key", key.casefold()), ()), lambda other: other.kind != own.kind
        )


def _formula_family(index: FactIndex, start: int) -> Iterator[_Look]:
    """Yield sheets with formula links like the positive's: the same kinds at both ends."""
    own = index.facts[start]
    takers = index.takers.get(own.sheet_id, ())[:_STARTS]
    for taker in takers:
        siblings = _alike(index, index.facts[taker])[:_STARTS]
        yield _Look(_taken(index, siblings, own.kind), lambda other: True)
        yield _Look(siblings, lambda other: True)
    taken = index.taken.get("formula_reference", {})
    siblings = [place for place in _alike(index, own)[:_STARTS] if place in taken]
    if start in taken:
        yield _Look(siblings, lambda other: True)


def _taken(index: FactIndex, takers: Sequence[int], kind: str) -> list[int]:
    """Return the places of a kind that these takers take from by formula."""
    taken = index.taken.get("formula_reference", {})
    ids = (sheet for taker in takers for sheet in taken.get(taker, ()))
    places = (index.place[sheet] for sheet in ids if sheet in index.place)
    return [place for place in places if index.facts[place].kind == kind]


def _summary_type(index: FactIndex, start: int) -> Iterator[_Look]:
    """Yield summaries of the same subject, or of the kind that takes from the positive."""
    own = index.facts[start]
    for taker in index.takers.get(own.sheet_id, ())[:_STARTS]:
        yield _Look(_alike(index, index.facts[taker]), lambda other: other.summary)
    if own.category:
        places = index.postings.get(("category", "entity", own.category, own.entity), ())
        yield _Look(places, lambda other: other.summary)


def _alike(index: FactIndex, own: SheetFacts) -> Sequence[int]:
    """Return sheets with equal columns, and of the same year if it is known."""
    schema = own.schema or own.kind
    if own.period is not None:
        return index.postings.get(("schema", "year", schema, span_of(own.period).last_year), ())
    return index.postings.get(("schema", schema), ())


def _of_kind(index: FactIndex, own: SheetFacts) -> Sequence[int]:
    if own.period is not None:
        return index.postings.get(("kind", "year", own.kind, span_of(own.period).last_year), ())
    return index.postings.get(("kind", own.kind), ())


_LOOKS: Mapping[str, Callable[[FactIndex, int], Iterator[_Look]]] = {
    "same_schema_wrong_entity": _wrong_entity,
    "same_schema_wrong_year": _wrong_year,
    "same_workbook_wrong_sheet": _wrong_sheet,
    "same_key_column_unrelated": _unrelated_key,
    "same_formula_family": _formula_family,
    "same_summary_type": _summary_type,
}
