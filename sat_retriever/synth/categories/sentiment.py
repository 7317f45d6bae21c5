"""Make sheets of short texts with sentiment labels: label codes, training, test, results."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sat_retriever.synth.book.build import looked_up, ratio, summed_by, times, with_chart
from sat_retriever.synth.book.model import Book, Column, Total
from sat_retriever.synth.categories.filing import Filed, Filing, Page, changed, either
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When, some_days

ID = "sentiment"
_SOURCES = ("Forum", "Survey", "Web Shop", "Letter", "Call Notes")
_SIGNS = {"positive": 1, "negative": -1}
_GOOD = ("I would buy it again", "my family loved it", "the staff were kind", "it came early")
_BAD = ("it fell apart", "nobody answered my letters", "the screen cracked", "I expected more")
_PLAIN = ("it works as described", "it is neither good nor bad", "I have no strong opinion")


@dataclass(frozen=True, slots=True)
class _Text:
    """One text with its true label."""

    id: str
    text: str
    label: str
    author: str
    source: str


def books(house: House, years: Sequence[int]) -> Iterator[Book]:
    """Yield the label codes, then for each year training texts, test texts and results."""
    filing = Filing.of(house, ID, "each", "year", "year")
    yield from filing.bound([_codes(filing)])
    for year in sorted(years):
        when = When(year)
        makers = (_train, _test, _summary)
        yield from filing.bound(make(filing, when) for make in makers)


def _labels(house: House) -> tuple[str, ...]:
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
    if label == "mixed":
        return f"{chance.choice(_GOOD)}, but {chance.choice(_BAD)}"
    said = {"positive": _GOOD, "negative": _BAD, "neutral": _PLAIN}
    return chance.choice(said.get(label, (*_GOOD, *_BAD, *_PLAIN)))


def _codes(filing: Filing) -> Filed:
    labels = _labels(filing.house)
    page = filing.page("labels", None, len(labels))
    signs = [_SIGNS.get(label, 0) for label in labels]
    written = [_written(filing.house, label) for label in labels]
    columns = [
        page.column("label", written, key="label", unique=True),
        page.column("meaning", [f"The text is {label}" for label in labels]),
        page.column("polarity", signs, "integer"),
        page.column("weight", [1.0 if sign else 0.5 for sign in signs], "amount"),
    ]
    return page.filed(columns, ("weight",))


def _said(page: Page, texts: Sequence[_Text]) -> list[Column]:
    """Return the columns for number, text and label."""
    labels = [_written(page.house, text.label) for text in texts]
    return [
        page.column("id", [text.id for text in texts]),
        replace(page.column("text", [text.text for text in texts]), placeholder="Post"),
        page.column("label", labels, key="label"),
    ]


def _origin(page: Page, texts: Sequence[_Text], when: When) -> list[Column]:
    """Return the columns for author, date and source."""
    return [
        replace(page.column("author", [text.author for text in texts]), placeholder="Author"),
        page.column("posted", some_days(page.chance("posted", when), when, len(texts)), "date"),
        page.column("source", [text.source for text in texts]),
    ]


def _train(filing: Filing, when: When) -> Filed:
    house, chance = filing.house, filing.chance("train", when)
    texts = _texts(house, when, "train", 1, chance.randint(36, 58))
    page = filing.page("train", when, len(texts))
    coders = house.pool("people", 4)
    columns = [
        *_said(page, texts),
        page.column("score", [round(chance.uniform(0.5, 1), 2) for _ in texts], "amount"),
        page.column("counted", [chance.choice((1, 1, 1, 1, 1, 1, 0)) for _ in texts], "integer"),
        page.column("counted_score", times("score", "counted"), "amount"),
        *_origin(page, texts, when),
        page.column("annotator", [chance.choice(coders) for _ in texts]),
    ]
    return page.filed(columns, ("author", "posted", "source", "annotator"), head=3)


def _test(filing: Filing, when: When) -> Filed:
    """Make the test texts with a model's predictions."""
    house, chance = filing.house, filing.chance("test", when)
    texts = _texts(house, when, "test", 5001, chance.randint(18, 32))
    page, labels = filing.page("test", when, len(texts)), _labels(house)
    said = [text.label if chance.random() < 0.8 else chance.choice(labels) for text in texts]
    hits = [int(one == text.label) for one, text in zip(said, texts, strict=True)]
    columns = [
        *_said(page, texts),
        page.column("predicted", [_written(house, label) for label in said]),
        page.column("score", [round(chance.uniform(0.4, 1), 2) for _ in texts], "amount"),
        page.column("counted", [1] * len(texts), "integer"),
        page.column("agreement", hits, "integer"),
        *_origin(page, texts, when),
    ]
    return page.filed(columns, ("score", "author", "posted", "source"), head=3)


def _summary(filing: Filing, when: When) -> Filed:
    """Sum texts, scores and hits by label."""
    labels = [_written(filing.house, label) for label in _labels(filing.house)]
    page = filing.page("summary", when, len(labels), summary=True)
    train, test, codes = page.at("train", when), page.at("test", when), page.at("labels", None)
    all_texts = Total(train, "counted")
    columns = [
        page.column("label", labels, key="label"),
        page.column("meaning", looked_up(codes, "label", "meaning")),
        page.column("train_texts", summed_by(train, "label", "counted"), "integer"),
        page.column("train_score", summed_by(train, "label", "counted_score"), "amount"),
        page.column("average_score", ratio("train_score", "train_texts"), "amount"),
        page.column("test_hits", summed_by(test, "label", "agreement"), "integer"),
        page.column("test_texts", summed_by(test, "label", "counted"), "integer"),
        page.column("accuracy", ratio("test_hits", "test_texts"), "percent"),
        page.column("train_share", ratio("train_texts", all_texts), "percent"),
    ]
    filed = page.filed(columns, ("meaning", "average_score", "train_share"))
    if filing.has("chart", share=0.4):
        filed = changed(filed, with_chart, "label", "train_texts")
    return filed
