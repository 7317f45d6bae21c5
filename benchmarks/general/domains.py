"""Make corpora of any subject: tables of open databases, kept by made companies over years.

Each company keeps the tables of some databases as workbooks, one a period, named by its own naming
convention. So a subject has as many names, periods and owners as the templates of `sat synth`, but
none of their eleven categories.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Any

from sat_retriever.datasets.dataset import Dataset
from sat_retriever.questions.facts import SheetFacts
from sat_retriever.questions.generate import QueryOptions, make_queries
from sat_retriever.records.links import Link, LinkType
from sat_retriever.records.sheets import Column, SheetRecord
from sat_retriever.synth.house import naming
from sat_retriever.synth.house.when import When
from sat_retriever.synth.words.vocabulary import Vocabulary
from sat_retriever.text.period.periods import SheetPeriod

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SPANS = {"year": (3, 7), "quarter": (4, 9), "month": (4, 12)}  # periods a company keeps
_MOST_TABLES = 8  # of a database


@dataclass(frozen=True, slots=True)
class DomainOptions:
    """The options of a corpus.

    Attributes:
        name: Name of the corpus.
        companies: Names of the companies, one a workbook series.
        conventions: Names of the naming conventions that they draw from.
        years: First and last year.
        queries: Largest number of labelled questions.
        seed: Seed of everything random.
    """

    name: str
    companies: tuple[str, ...]
    conventions: tuple[str, ...]
    years: tuple[int, int]
    queries: int
    seed: int


@dataclass(frozen=True, slots=True)
class _Made:
    """A sheet: its record for an index, and the facts for questions."""

    record: SheetRecord
    facts: SheetFacts
    table: str  # id of the table that it shows


def domain_corpus(tables: Dataset, options: DomainOptions) -> Dataset:
    """Make records, links and questions with complete labels; equal arguments give equal ones.

    Args:
        tables: Open databases as workbooks; links are their declared keys.
        options: Options of the corpus.
    """
    words = Vocabulary.load()
    chance = random.Random(f"domains {options.seed}")
    databases: dict[str, list[SheetRecord]] = {}
    for record in tables.records:
        databases.setdefault(record.workbook, []).append(record)
    series = _series(sorted(databases), options, chance)
    made = [
        sheet
        for database, company in series
        for sheet in _kept(databases[database][:_MOST_TABLES], company, options, words, chance)
    ]
    made = list({each.record.sheet_id: each for each in made}.values())
    links = _links(made, tables.links)
    found = make_queries(
        [each.facts for each in made],
        links,
        number=options.queries,
        seed=options.seed,
        options=QueryOptions.even(),
    )
    return Dataset(
        name=options.name,
        records=tuple(each.record for each in made),
        queries=tuple(each.query for each in found),
        links=tuple(links),
        files=tables.files,
    )


def spoken(name: str) -> str:
    """Return a name of a program in spoken words.

    >>> spoken("StudentAddresses"), spoken("course_arrange"), spoken("college_2")
    ('student addresses', 'course arrange', 'college')
    """
    return " ".join(word.lower() for word in _WORDS.findall(name) if not word.isdigit()) or name


def _series(
    databases: Sequence[str], options: DomainOptions, chance: random.Random
) -> Iterator[tuple[str, str]]:
    """Yield databases with the companies that keep them, one to three per database."""
    for database in databases:
        number = min(chance.choice((1, 2, 2, 3)), len(options.companies))
        for company in chance.sample(options.companies, number):
            yield database, company


def _kept(
    tables: Sequence[SheetRecord],
    company: str,
    options: DomainOptions,
    words: Vocabulary,
    chance: random.Random,
) -> Iterator[_Made]:
    """Yield a company's workbooks of one database, one a period, a tab a table."""
    known = [each for each in words.naming if each["name"] in options.conventions]
    style = naming.Style.chosen(chance.choice(known), words.abbreviations, chance)
    subject = spoken(tables[0].workbook)
    for when in _periods(options.years, chance):
        path = naming.path(style, company, subject.title(), "", when)
        for place, table in enumerate(tables, start=1):
            kind = spoken(table.sheet)
            tab = naming.tab(style, kind.title(), None, "", place)
            yield _sheet(table, path, tab, _About(subject, kind, company, when))


@dataclass(frozen=True, slots=True)
class _About:
    """The subject of a sheet, in spoken words."""

    category: str
    kind: str
    company: str
    when: When


def named_record(table: SheetRecord, path: str, tab: str) -> SheetRecord:
    """Return a table under a company's names, without the content of its cells."""
    return replace(
        table,
        sheet_id=f"{path}#{tab}",
        sheet=tab,
        workbook=path.rpartition("/")[2],
        path=path,
        columns=tuple(Column(column.name) for column in table.columns),
    )


def _sheet(table: SheetRecord, path: str, tab: str, about: _About) -> _Made:
    headers = tuple(column.name.casefold() for column in table.columns)
    record = named_record(table, path, tab)
    facts = SheetFacts(
        sheet_id=record.sheet_id,
        category=about.category,
        kind=about.kind,
        entity=about.company,
        period=_period(about),
        keys=tuple(spoken(name) for name in headers if name.endswith("id"))[:2],
        schema=f"{table.workbook}#{table.sheet}",
        workbook=path,
        columns=headers,
    )
    return _Made(record, facts, table.sheet_id)


def _period(about: _About) -> SheetPeriod:
    family = f"{about.company}/{about.category}/{about.kind}".casefold()
    return about.when.period(family)


def _periods(years: tuple[int, int], chance: random.Random) -> list[When]:
    """Return consecutive years, quarters or months."""
    grain = chance.choice(("year", "year", "quarter", "month"))
    first, last = years
    parts: Mapping[str, Any] = {"year": (0,), "quarter": range(1, 5), "month": range(1, 13)}
    every = [
        When(year, **({} if grain == "year" else {grain: part}))
        for year, part in product(range(first, last + 1), parts[grain])
    ]
    length = min(chance.randint(*_SPANS[grain]), len(every))
    start = chance.randrange(len(every) - length + 1)
    return every[start : start + length]


def _links(made: Sequence[_Made], declared: Sequence[Link]) -> list[Link]:
    """Link declared keys within each workbook, and each period to the one before."""
    by_book: dict[str, dict[str, str]] = {}
    by_family: dict[str, list[str]] = {}
    for each in made:
        book = by_book.setdefault(each.record.path, {})
        book[each.table] = each.record.sheet_id
        if each.facts.period:
            by_family.setdefault(each.facts.period.family, []).append(each.record.sheet_id)
    keys = [
        Link(book[link.source], book[link.target], link.type)
        for book in by_book.values()
        for link in declared
        if link.source in book and link.target in book
    ]
    siblings = [
        Link(later, earlier, LinkType.SIBLING_PERIOD.value)
        for family in by_family.values()
        for earlier, later in pairwise(family)
    ]
    return list(dict.fromkeys((*keys, *siblings)))
