"""Make labelled questions about a corpus; the answers are known by construction."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from sat_retriever.datasets.labels import Query
from sat_retriever.errors import InputError
from sat_retriever.questions.attributes import FactIndex
from sat_retriever.questions.facts import Asked, Need, SheetFacts, Sources
from sat_retriever.questions.grammar import Grammar
from sat_retriever.questions.negatives import (
    HARD_NEGATIVES,
    HARD_TYPES,
    MOST_HARD,
    QUESTIONS,
    hard_negatives,
    random_negatives,
)
from sat_retriever.questions.scene import Scene
from sat_retriever.questions.sentences import Draft, spoken
from sat_retriever.questions.shapes import ATTRIBUTE_SHAPES, LINK_SHAPES, Shape
from sat_retriever.questions.synonyms import Wordings
from sat_retriever.records.links import Link

_SHAPES = (*ATTRIBUTE_SHAPES, *LINK_SHAPES)
_TRIES = 400  # start sheets that are tried before a type is given up
_MAX_DESCRIBED = 12


@dataclass(frozen=True, slots=True)
class QueryOptions:
    """The proportions and bounds of a set of questions.

    Source: the published questions' proportions and counts, `published.py`.

    Attributes:
        shares: Proportions by query type and dependency type.
        hard_shares: Proportions of hard negative types, by query type.
        max_positives: Most positives; a question with more is left out, never cut.
        usual_positives: Number of positives above which a question becomes rarer.
        max_phrasings: Most questions of one type with the same answer, each in other words.
        min_hard: Hard negatives of a question with few positives; a question with more
            positives gets as many, up to `max_hard`, as far as there are enough.
        grammar: Rules of all texts; None for the packaged rules.
        about: Ids of the only sheets that may be positives; None for any.
    """

    shares: Mapping[tuple[str, str], float] = field(default_factory=lambda: QUESTIONS)
    hard_shares: Mapping[str, Mapping[str, float]] = field(default_factory=lambda: HARD_NEGATIVES)
    max_positives: int = 200
    usual_positives: int = 20
    max_phrasings: int = 3
    min_hard: int = 6
    max_hard: int = MOST_HARD
    grammar: Grammar | None = None
    about: frozenset[str] | None = None

    @classmethod
    def even(cls) -> QueryOptions:
        """Return options with equal shares for all types, for a corpus with unknown questions."""
        hard = {name: dict.fromkeys(HARD_TYPES, 1.0) for name in HARD_NEGATIVES}
        return cls(shares=dict.fromkeys(QUESTIONS, 1.0), hard_shares=hard)


@dataclass(frozen=True, slots=True)
class Made:
    """One question and the words that a rewording must keep.

    Attributes:
        fixed: Names, times and keys in the text, as it spells them.
        asked: The predicate that its positives satisfy; None if it was made otherwise.
        meant: The sheets that its words describe: its positives, or the sheets that take from
            them.
    """

    query: Query
    fixed: tuple[str, ...]
    asked: Asked | None = None
    meant: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """The key columns that the text names."""
        return self.asked.keys if isinstance(self.asked, Need) else ()


def make_queries(
    facts: Sequence[SheetFacts],
    links: Sequence[Link] = (),
    *,
    wordings: Wordings | None = None,
    number: int,
    seed: int = 0,
    options: QueryOptions | None = None,
) -> Iterator[Made]:
    """Yield questions whose positives are all sheets that answer them.

    Equal arguments give equal questions. The share of a type that the corpus does not allow (no
    links, no periods) goes to the other types. If no more distinct questions can be made, there
    are fewer than `number`.
    """
    options = options or QueryOptions()
    if number < 0 or options.max_positives < 1 or options.max_phrasings < 1:
        raise InputError(
            f"number ({number}) must not be negative, and max_positives "
            f"({options.max_positives}) and max_phrasings ({options.max_phrasings}) at least 1"
        )
    index = FactIndex.of(facts, links)
    rng = random.Random(f"queries {seed}")  # noqa: S311 - repeatable, no secret
    scene = Scene(index, (wordings or Wordings()).clear(index), rng, options.about)
    maker = _Maker(scene, options.grammar or Grammar.load(), options, rng)
    return islice(_spread(maker, options.shares), number)


def _spread(maker: _Maker, shares: Mapping[tuple[str, str], float]) -> Iterator[Made]:
    """Yield questions of all types, always from the type furthest behind its share."""
    waiting = {name: share for name, share in shares.items() if share > 0}
    made: Counter[tuple[str, str]] = Counter()
    while waiting:
        name = min(waiting, key=lambda name: (made[name] + 1) / waiting[name])
        found = maker.make(name)
        if found is None:
            del waiting[name]
            continue
        made[name] += 1
        yield found


@dataclass(slots=True)
class _Maker:
    scene: Scene
    grammar: Grammar
    options: QueryOptions
    rng: random.Random
    _asked: Counter[Asked] = field(default_factory=Counter)
    _answers: Counter[tuple[str, tuple[str, ...]]] = field(default_factory=Counter)
    _texts: set[str] = field(default_factory=set)

    def make(self, types: tuple[str, str]) -> Made | None:
        shapes = [shape for shape in _SHAPES if (shape.query_type, shape.dependency_type) == types]
        weights = [shape.weight for shape in shapes]
        again: list[tuple[Draft, tuple[str, ...]]] = []
        for _ in range(_TRIES if shapes else 0):
            [shape] = self.rng.choices(shapes, weights)
            found = self._draft(shape)
            if found is None:
                continue
            if self._asked[found[0].asked] or self._unusual(found[1]):
                again.append(found)
                continue
            made = self._finished(*found)
            if made is not None:
                return made
        # no new, usual question: take unusual ones, then reword those asked least
        again.sort(key=lambda found: self._asked[found[0].asked])
        made_again = (self._finished(*found) for found in again)
        return next((made for made in made_again if made is not None), None)

    def _unusual(self, positives: Sequence[str]) -> bool:
        return self.rng.random() * len(positives) > self.options.usual_positives

    def _draft(self, shape: Shape) -> tuple[Draft, tuple[str, ...]] | None:
        """Draft a need of some shape with all its positives; None if it cannot be asked."""
        sheet = self.scene.start(shape, shape.pool)
        if sheet is None:
            return None
        asked = shape.build(self.scene, sheet, self.rng)
        if asked is None:
            return None
        positives = self.scene.index.sheets(asked, self.options.max_positives)
        if positives is None or not self._wanted(positives, shape):
            return None
        if not self._fits(asked, positives, shape):
            return None
        draft = Draft(shape.query_type, shape.dependency_type, asked, shape.rule, shape.latest)
        return draft, positives

    def _wanted(self, positives: tuple[str, ...], shape: Shape) -> bool:
        """True if a question may have this answer and has not had it too often."""
        about = self.options.about
        inside = about is None or about.issuperset(positives)
        often = self._answers[shape.query_type, positives] >= self.options.max_phrasings
        return inside and len(positives) >= shape.at_least and not often

    def _fits(self, asked: Asked, positives: Sequence[str], shape: Shape) -> bool:
        """True if everything that the text will name is part of the answer."""
        index = self.scene.index
        if isinstance(asked, Sources):
            described = index.places(asked.of, _MAX_DESCRIBED)
            return described is not None and len(described) > 0
        if shape.entities:
            entities = {index.facts[index.place[sheet]].entity for sheet in positives}
            if len(entities - {""}) < shape.entities:
                return False
        return all(index.any(part) for part in _parts(asked))

    def _finished(self, draft: Draft, positives: tuple[str, ...]) -> Made | None:
        """Write the draft as a new text, with its negatives; None if the text is not new."""
        single = self._single(draft, positives)
        said = spoken(self.grammar, self.scene.wordings, draft, single=single, rng=self.rng)
        if said is None or said.text.casefold() in self._texts:
            return None
        self._texts.add(said.text.casefold())
        self._asked[draft.asked] += 1
        self._answers[draft.query_type, positives] += 1
        number = min(max(self.options.min_hard, len(positives)), self.options.max_hard)
        shares = self.options.hard_shares.get(draft.query_type, {})
        index = self.scene.index
        hard = hard_negatives(index, positives, number, shares, self.rng)
        query = Query(
            text=said.text,
            positives=positives,
            negatives=random_negatives(index, set(positives), len(positives), self.rng),
            hard_negatives=tuple(hard),
            hard_negative_types=hard,
            query_type=draft.query_type,
            dependency_type=draft.dependency_type,
        )
        return Made(query, said.fixed, draft.asked, self._meant(draft, positives))

    def _meant(self, draft: Draft, positives: tuple[str, ...]) -> tuple[str, ...]:
        if isinstance(draft.asked, Sources):
            return self.scene.index.sheets(draft.asked.of) or ()
        return positives

    def _single(self, draft: Draft, positives: Sequence[str]) -> bool:
        """True if the text refers to one sheet; never true if there are more."""
        if isinstance(draft.asked, Sources):
            return len(self._meant(draft, ())) == 1
        return len(positives) == 1 and self.rng.random() < 0.6


def _parts(need: Need) -> Iterator[Need]:
    """Yield the need for each thing that it names; each part must have an answer."""
    for kind in need.kinds if len(need.kinds) > 1 else ():
        yield replace(need, kinds=(kind,))
    for entity in need.entities if len(need.entities) > 1 else ():
        yield replace(need, entities=(entity,))
    for span in need.spans:
        if len(need.spans) > 1:
            yield replace(need, spans=(span,))
        if span.first_year != span.last_year:
            for year in (span.first_year, span.last_year):
                yield replace(need, spans=(replace(span, first_year=year, last_year=year),))
