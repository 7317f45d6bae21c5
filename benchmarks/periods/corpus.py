"""Make a corpus to ask for times: each company keeps its tables for many periods.

Two companies use each naming convention. Each keeps one table by years, one by quarters and one by
months, and several companies keep the same table. So a question has to match subject, owner and
time, and many sheets differ only by time.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from benchmarks.general.domains import named_record, spoken
from benchmarks.periods.phrases import PHRASES, SPELLINGS
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.datasets.labels import Query
from sat_retriever.questions.attributes import FactIndex
from sat_retriever.questions.facts import Need, SheetFacts
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.synth.house import naming
from sat_retriever.synth.house.when import When
from sat_retriever.synth.words.vocabulary import Vocabulary
from sat_retriever.text.period.periods import period_of, sibling_links
from sat_retriever.text.period.spans import Span, span_of

MOST_POSITIVES = 10
_FRAMES = (
    "Show me all {kind} sheets of {entity} {over}",
    "{entity} {kind} {over}",
    "Which {kind} tables do we have from {entity} {over}?",
)


@dataclass(frozen=True, slots=True)
class SeriesOptions:
    """The options of a corpus.

    Attributes:
        companies: Number of companies per naming convention.
        tables: Number of tables, a third of them by years, by quarters and by months.
        years: First and last year of tables by years; those by quarters and months have fewer.
        seed: Seed of everything random; no other corpus uses it.
    """

    companies: int = 2
    tables: int = 9
    years: tuple[int, int] = (2015, 2024)
    seed: int = 71


@dataclass(frozen=True, slots=True)
class Series:
    """One company's table over time.

    Attributes:
        kind: Content of the table, in spoken words.
        company: Owner of the table.
        grain: "year", "quarter" or "month".
        convention: Naming convention of its files.
        whens: Its periods.
    """

    kind: str
    company: str
    grain: str
    convention: str
    whens: tuple[When, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question that names a time.

    Attributes:
        query: Text and all sheets that answer.
        kind: The way to name time or owner: one of `PHRASES` or `SPELLINGS`.
        span: The time.
        convention: Naming convention of the sheets.
        family: All sheets of the series, including those of other times.
    """

    query: Query
    kind: str
    span: Span
    convention: str
    family: frozenset[str]


@dataclass(frozen=True, slots=True)
class SeriesCorpus:
    """The sheets, their true facts, and questions.

    Attributes:
        dataset: Records, links between periods, and the questions' queries.
        facts: True facts of each sheet, by its id.
        questions: Questions in the order of `dataset.queries`.
    """

    dataset: Dataset
    facts: Mapping[str, SheetFacts]
    questions: tuple[Question, ...]

    @property
    def names_read(self) -> float:
        """Share of the sheets whose names alone give the right period."""
        told = [
            (found := period_of(record)) is not None
            and (truth := self.facts[record.sheet_id].period) is not None
            and (found.grain, found.year, found.part) == (truth.grain, truth.year, truth.part)
            for record in self.dataset.records
        ]
        return sum(told) / len(told)


def read_right(question: Question) -> bool:
    """True if the reader of names finds the meant time in the question's text."""
    found = period_of(SheetRecord("", question.query.text))
    return found is not None and span_of(found) == question.span


def series_corpus(tables: Dataset, options: SeriesOptions) -> SeriesCorpus:
    """Make the corpus; equal arguments give equal ones.

    Args:
        tables: Open databases as workbooks, whose tables the companies keep.
        options: Options of the corpus.
    """
    words, chance = Vocabulary.load(), random.Random(f"periods {options.seed}")
    shown = _tables(tables.records, options.tables, chance)
    records: dict[str, SheetRecord] = {}
    facts: dict[str, SheetFacts] = {}
    series: list[tuple[Series, frozenset[str]]] = []
    for convention, company in _companies(words, options, chance):
        style = naming.Style.chosen(convention, words.abbreviations, chance)
        for grain, number in _kept(shown, chance):
            table = shown[number]
            one = Series(
                spoken(table.sheet), company, grain, convention["name"],
                _periods(grain, options.years),
            )  # fmt: skip
            made = [_sheet(table, one, when, style, number + 1) for when in one.whens]
            records |= {record.sheet_id: record for record, _ in made}
            facts |= {fact.sheet_id: fact for _, fact in made}
            series.append((one, frozenset(record.sheet_id for record, _ in made)))
    questions = tuple(_questions(series, FactIndex.of(tuple(facts.values())), chance))
    periods = [(name, each.period) for name, each in facts.items() if each.period is not None]
    dataset = Dataset(
        name="periods",
        records=tuple(records.values()),
        queries=tuple(question.query for question in questions),
        links=tuple(sibling_links(periods)),
        files=tables.files,
    )
    return SeriesCorpus(dataset, facts, questions)


# ---- inner workings


def _tables(
    records: Sequence[SheetRecord], number: int, chance: random.Random
) -> list[SheetRecord]:
    """Return tables of different databases whose names share no word."""
    order = list(records)
    chance.shuffle(order)
    found: list[SheetRecord] = []
    known: set[str] = set()
    for table in order:
        named = {*spoken(table.sheet).split(), *spoken(table.workbook).split()}
        if len(table.columns) > 2 and not named & known:
            found.append(table)
            known |= named
    return found[:number]


def _companies(
    words: Vocabulary, options: SeriesOptions, chance: random.Random
) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield naming conventions with company names; no two names share a word."""
    firsts, lasts = (
        list(dict.fromkeys(words.lists[name]))
        for name in ("company_first_words", "company_business_words")
    )
    chance.shuffle(firsts)
    chance.shuffle(lasts)
    long = [first for first in firsts if len(first) > 4 and " " not in first]
    number = options.companies * len(words.naming)
    names = [f"{long[n]} {lasts[n % len(lasts)]}" for n in range(number)]
    yield from zip(
        (each for each, _ in product(words.naming, range(options.companies))), names, strict=True
    )


_GRAINS = {"year": (0,), "quarter": range(1, 5), "month": range(1, 13)}
_FEWER = {"year": 0, "quarter": 3, "month": 6}  # number of first years that are left out


def _kept(tables: Sequence[SheetRecord], chance: random.Random) -> Iterator[tuple[str, int]]:
    """Yield places of one table by years, one by quarters and one by months."""
    for place, grain in enumerate(_GRAINS):
        yield grain, chance.choice(range(place, len(tables), len(_GRAINS)))


def _periods(grain: str, years: tuple[int, int]) -> tuple[When, ...]:
    first, last = years
    first = min(last - 1, first + _FEWER[grain])
    return tuple(
        When(number, **({} if grain == "year" else {grain: part}))
        for number, part in product(range(first, last + 1), _GRAINS[grain])
    )


def _sheet(
    table: SheetRecord, series: Series, when: When, style: naming.Style, place: int
) -> tuple[SheetRecord, SheetFacts]:
    subject = spoken(table.workbook)
    path = naming.path(style, series.company, subject.title(), "", when)
    tab = naming.tab(style, series.kind.title(), None, "", place)
    record = named_record(table, path, tab)
    family = f"{series.company}/{series.kind}".casefold()
    facts = SheetFacts(
        record.sheet_id, subject, series.kind, series.company, when.period(family), workbook=path
    )
    return record, facts


def _questions(
    series: Sequence[tuple[Series, frozenset[str]]], index: FactIndex, chance: random.Random
) -> Iterator[Question]:
    """Yield a question for each way to name a time or an owner, once a series if possible."""
    for one, family in series:
        plain = "March 2022" if one.grain == "month" else "2021"
        asked = [(kind, kind, one.company) for kind in PHRASES]
        asked += [(kind, plain, say(one.company)) for kind, say in SPELLINGS.items()]
        for kind, phrase, entity in asked:
            found = _question(one, kind, phrase, entity, index, chance)
            if found is not None and len(found.query.positives) < len(family):
                yield replace(found, family=family)


def _question(
    series: Series, kind: str, named: str, entity: str, index: FactIndex, chance: random.Random
) -> Question | None:
    """Return a question with all its answers; None if it has none or too many."""
    phrase = PHRASES[named]
    span = phrase.draw(chance, series.whens[0].year, series.whens[-1].year)
    if series.grain == "quarter" and not _of_quarters(span):
        return None  # a partly covered quarter is neither right nor wrong
    need = Need(kinds=(series.kind,), entities=(series.company,), spans=(span,))
    positives = index.sheets(need, MOST_POSITIVES)
    if not positives:
        return None
    over = f"{phrase.before} {phrase.text(span)}".strip()
    text = chance.choice(_FRAMES).format(kind=series.kind, entity=entity, over=over)
    return Question(Query(text, positives), kind, span, series.convention, frozenset())


def _of_quarters(span: Span) -> bool:
    return span.first_month % 3 == 1 and span.last_month % 3 == 0
