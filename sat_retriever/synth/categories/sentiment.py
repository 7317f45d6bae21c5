"""Make sheets of short texts with sentiment labels: label codes, training, test, results."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sat_retriever.synth.book.model import (
    Book,
    Chart,
    Column,
    Combine,
    Lookup,
    Own,
    Recipe,
    SheetAt,
    Total,
    TotalWhere,
    Value,
)
from sat_retriever.synth.categories.filing import Filed, Filing, Mode, arranged, either, noted
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When, some_days

ID = "sentiment"
_MODES: tuple[Mode, ...] = ("each", "year", "year")
_SOURCES = ("Forum", "Survey", "Web Shop", "Letter", "Call Notes")
_SIGNS = {"positive": 1, "negative": -1}
_GOOD = ("I would buy it again", "my family loved it", "the staff were kind", "it came early")
_BAD = ("it fell apart", "nobody answered my letters", "the screen cracked", "I expected more")
_PLAIN = ("it works as described", "it is neither good nor bad", "I have no strong opinion")


@dataclass(frozen=True, slots=True)
class _Text:
    """One text.

    Attributes:
        id: Number of the text.
        text: The text itself.
        label: Its true label.
        author: Author of the text.
        source: Source of the text.
    """

    id: str
    text: str
    label: str
    author: str
    source: str


def books(house: House, years: Sequence[int]) -> Iterator[Book]:
    """Yield the label codes, then for each year training texts, test texts and results."""
    filing = Filing(house, ID, house.chance(ID, "filing").choice(_MODES))
    yield from filing.bound([_codes(filing)])
    for year in sorted(years):
        when = When(year)
        makers = (_train, _test, _summary)
        yield from filing.bound(make(filing, when) for make in makers)


def _labels(house: House) -> tuple[str, ...]:
    """Return the sentiments that label the texts."""
    return house.vocabulary.lists["sentiments"]


def _written(house: House, name: str) -> str:
    """Return a label as the house writes it: in full, or three letters if these are unique."""
    short = {label[:3].upper() for label in _labels(house)}
    if len(short) == len(_labels(house)) and either(house, ID, "short labels", share=0.4):
        return name[:3].upper()
    return name


def _texts(house: House, when: When, part: str, first: int, count: int) -> tuple[_Text, ...]:
    """Draw the texts of a year, which agree with their labels."""
    chance = house.chance(ID, "texts", when, part)
    lists, labels = house.vocabulary.lists, _labels(house)
    people = house.pool("people", 25)
    found = []
    for number in range(first, first + count):
        label, topic = chance.choice(labels), chance.choice(lists["topics"])
        opening = chance.choice(lists["sentiment_openings"])
        found.append(
            _Text(
                f"{when.year}{number:04}",
                f"{opening}, about the {topic}: {_judged(chance, label)}.",
                label,
                chance.choice(people),
                chance.choice(_SOURCES),
            )
        )
    return tuple(found)


def _judged(chance: random.Random, label: str) -> str:
    """Draw a judgement that agrees with a label."""
    if label == "mixed":
        return f"{chance.choice(_GOOD)}, but {chance.choice(_BAD)}"
    said = {"positive": _GOOD, "negative": _BAD, "neutral": _PLAIN}
    return chance.choice(said.get(label, (*_GOOD, *_BAD, *_PLAIN)))


def _codes(filing: Filing) -> Filed:
    kind, house = filing.kind("labels"), filing.house
    labels = _labels(house)
    signs = [_SIGNS.get(label, 0) for label in labels]
    columns = [
        kind.column(
            "label", [_written(house, label) for label in labels], key="label", unique=True
        ),
        kind.column("meaning", [f"The text is {label}" for label in labels]),
        kind.column("polarity", signs, "integer"),
        kind.column("weight", [1.0 if sign else 0.5 for sign in signs], "amount"),
    ]
    return filing.sheet("labels", None, arranged(kind, columns, ("weight",)))


def _said(filing: Filing, kind_id: str, texts: Sequence[_Text]) -> list[Column]:
    """Return the columns for number, text and label."""
    kind = filing.kind(kind_id)
    labels = [_written(filing.house, text.label) for text in texts]
    said = kind.column("text", [text.text for text in texts])
    return [
        kind.column("id", [text.id for text in texts]),
        replace(said, placeholder="Post"),
        kind.column("label", labels, key="label"),
    ]


def _origin(filing: Filing, kind_id: str, texts: Sequence[_Text], when: When) -> list[Column]:
    """Return the columns for author, date and source."""
    kind = filing.kind(kind_id)
    author = kind.column("author", [text.author for text in texts])
    return [
        replace(author, placeholder="Author"),
        kind.column("posted", some_days(kind.chance("posted", when), when, len(texts)), "date"),
        kind.column("source", [text.source for text in texts]),
    ]


def _train(filing: Filing, when: When) -> Filed:
    """Make the labelled training texts; some do not count, such as duplicates."""
    kind, house = filing.kind("train"), filing.house
    chance = house.chance(ID, "train", when)
    count = chance.randint(36, 58)
    texts = _texts(house, when, "train", 1, count)
    coders = house.pool("people", 4)
    taken = Combine("*", Own("score"), Own("counted"))
    columns = [
        *_said(filing, "train", texts),
        kind.column("score", [round(chance.uniform(0.5, 1), 2) for _ in texts], "amount"),
        kind.column("counted", [chance.choice((1, 1, 1, 1, 1, 1, 0)) for _ in texts], "integer"),
        kind.column("counted_score", [taken] * count, "amount"),
        *_origin(filing, "train", texts, when),
        kind.column("annotator", [chance.choice(coders) for _ in texts]),
    ]
    return filing.sheet(
        "train", when, arranged(kind, columns, ("author", "posted", "source", "annotator"), head=3)
    )


def _test(filing: Filing, when: When) -> Filed:
    """Make the test texts with a model's predictions."""
    kind, house = filing.kind("test"), filing.house
    chance, labels = house.chance(ID, "test", when), _labels(house)
    texts = _texts(house, when, "test", 5001, chance.randint(18, 32))
    said = [text.label if chance.random() < 0.8 else chance.choice(labels) for text in texts]
    hits = [int(one == text.label) for one, text in zip(said, texts, strict=True)]
    columns = [
        *_said(filing, "test", texts),
        kind.column("predicted", [_written(house, label) for label in said]),
        kind.column("score", [round(chance.uniform(0.4, 1), 2) for _ in texts], "amount"),
        kind.column("counted", [1] * len(texts), "integer"),
        kind.column("agreement", hits, "integer"),
        *_origin(filing, "test", texts, when),
    ]
    optional = ("score", "author", "posted", "source")
    return filing.sheet("test", when, arranged(kind, columns, optional, head=3))


def _summary(filing: Filing, when: When) -> Filed:
    """Sum texts, scores and hits by label."""
    kind, house, own = filing.kind("summary"), filing.house, filing.place("summary", when)
    labels = [_written(house, label) for label in _labels(house)]
    count = len(labels)
    train, test = (filing.place(part, when).at(own) for part in ("train", "test"))

    def by_label(at: SheetAt, column: str) -> list[Value | Recipe]:
        return [TotalWhere(at, column, "label", "label")] * count

    def share(part: str, whole: Recipe) -> list[Value | Recipe]:
        return [Combine("/", Own(part), whole)] * count

    codes = filing.place("labels", None).at(own)
    columns = [
        kind.column("label", labels, key="label"),
        kind.column("meaning", [Lookup(codes, "label", "label", "meaning")] * count),
        kind.column("train_texts", by_label(train, "counted"), "integer"),
        kind.column("train_score", by_label(train, "counted_score"), "amount"),
        kind.column("average_score", share("train_score", Own("train_texts")), "amount"),
        kind.column("test_hits", by_label(test, "agreement"), "integer"),
        kind.column("test_texts", by_label(test, "counted"), "integer"),
        kind.column("accuracy", share("test_hits", Own("test_texts")), "percent"),
        kind.column("train_share", share("train_texts", Total(train, "counted")), "percent"),
    ]
    optional = ("meaning", "average_score", "train_share")
    filed = filing.sheet("summary", when, arranged(kind, columns, optional), summary=True)
    if either(house, ID, "chart", share=0.4):
        charts = (Chart(SheetAt(filed[2].name), "label", "train_texts"),)
        filed = noted(filed, lambda sheet: replace(sheet, charts=charts))
    return filed
