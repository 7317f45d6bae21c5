"""A corpus to ask questions about: its facts, its vocabulary, and the sheets to start from."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from sat_retriever.questions.attributes import FactIndex
from sat_retriever.questions.facts import Need, SheetFacts
from sat_retriever.questions.synonyms import Wordings
from sat_retriever.text.period.spans import span_of

Groups = list[list[list[int]]]  # places by kind, then by entity


@dataclass(slots=True)
class Turn:
    """A round-robin walk over nested lists, in which each part is equally frequent."""

    groups: Groups
    rng: random.Random
    outer: int = 0
    inner: dict[int, int] = field(default_factory=dict)
    innermost: dict[tuple[int, int], int] = field(default_factory=dict)

    def next(self) -> int:
        """Return the next place: of the next kind, its next entity and that entity's next sheet."""
        kind = self.outer
        self.outer = (kind + 1) % len(self.groups)
        entities = self.groups[kind]
        entity = self.inner.get(kind, self._anywhere(entities))
        self.inner[kind] = (entity + 1) % len(entities)
        places = entities[entity]
        place = self.innermost.get((kind, entity), self._anywhere(places))
        self.innermost[kind, entity] = (place + 1) % len(places)
        return places[place]

    def _anywhere(self, parts: Sequence[object]) -> int:
        return self.rng.randrange(len(parts))


@dataclass(slots=True)
class Scene:
    """A corpus, and the walks over it, to the sheets `about`; None visits all."""

    index: FactIndex
    wordings: Wordings
    rng: random.Random
    about: frozenset[str] | None = None
    _pools: dict[str, Groups] = field(default_factory=dict)
    _turns: dict[object, Turn] = field(default_factory=dict)
    _years: dict[Need, tuple[int, ...]] = field(default_factory=dict)

    def start(self, purpose: object, pool: str) -> SheetFacts | None:
        """Return the next sheet to start from for a purpose; None if the pool is empty."""
        turn = self._turns.get(purpose)
        if turn is None:
            groups = self.pool(pool)
            turn = Turn(groups, self.rng, self.rng.randrange(len(groups)) if groups else 0)
            self._turns[purpose] = turn
        return self.index.facts[turn.next()] if turn.groups else None

    def pool(self, name: str) -> Groups:
        """Return places by kind and entity, shuffled.

        Args:
            name: "all", "keyed" (with key columns), or types of links joined by "+":
                the sheets that take from others by such links.
        """
        if name not in self._pools:
            found: dict[str, dict[str, list[int]]] = {}
            for place in self._members(name):
                facts = self.index.facts[place]
                if self.about is not None and facts.sheet_id not in self.about:
                    continue
                found.setdefault(facts.kind, {}).setdefault(facts.entity, []).append(place)
            groups = [list(entities.values()) for entities in found.values()]
            self.rng.shuffle(groups)
            for entities in groups:
                self.rng.shuffle(entities)
                for places in entities:
                    self.rng.shuffle(places)
            self._pools[name] = groups
        return self._pools[name]

    def _members(self, name: str) -> Sequence[int]:
        facts = self.index.facts
        if name == "all":
            return range(len(facts))
        if name == "keyed":
            return [place for place, each in enumerate(facts) if each.keys and each.kind]
        taking = {place for kind in name.split("+") for place in self.index.taken.get(kind, {})}
        return sorted(place for place in taking if facts[place].kind)

    def subject(self, sheet: SheetFacts, rng: random.Random) -> Need | None:
        """Return the sheet's kind, or sometimes its category; None if neither has a phrase."""
        kind = bool(sheet.kind and self.wordings.kinds.get(sheet.kind))
        category = bool(sheet.category and self.wordings.categories.get(sheet.category))
        if category and (not kind or rng.random() < 0.2):
            return Need(categories=(sheet.category,))
        return Need(kinds=(sheet.kind,)) if kind else None

    def years(self, need: Need) -> tuple[int, ...]:
        """Return the years of the sheets of a need without spans, ascending."""
        if need not in self._years:
            places = self.index.places(need) or ()
            periods = (self.index.facts[place].period for place in places)
            found = {span_of(period).last_year for period in periods if period is not None}
            self._years[need] = tuple(sorted(found - {0}))
        return self._years[need]

    def rival(self, need: Need, entity: str, rng: random.Random) -> str:
        """Return another entity that may have such sheets; empty if none is found."""
        values = need.kinds or need.categories
        attribute = "kind" if need.kinds else "category"
        postings = [self.index.postings.get((attribute, value), ()) for value in values]
        for _ in range(12):
            places = rng.choice(postings) if postings else ()
            if places:
                other = self.index.facts[rng.choice(places)].entity
                if other and other != entity:
                    return other
        return ""
