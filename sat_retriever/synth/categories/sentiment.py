"""Make sheets of short texts with sentiment labels: label codes, training, test, results."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from sat_retriever.synth.book.model import Book
from sat_retriever.synth.categories.filing import Filed, Filing, Rows
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When, some_days

_SOURCES = ("Forum", "Survey", "Web Shop", "Letter", "Call Notes")
_SIGNS = {"positive": 1, "negative": -1}
_GOOD = ("I would buy it again", "my family loved it", "the staff were kind", "it came early")
_BAD = ("it fell apart", "nobody answered my letters", "the screen cracked", "I expected more")
_PLAIN = ("it works as described", "it is neither good nor bad", "I have no strong opinion")


def books(house: House, years: Sequence[int]) -> Iterator[Book]:
    """Yield the label codes, then for each year training texts, test texts and results."""
    filing = Filing.of(house, "sentiment", "each", "year", "year")
    labels = house.vocabulary.lists["sentiments"]
    signs = [_SIGNS.get(label, 0) for label in labels]
    codes = {
        "meaning": [f"The text is {label}" for label in labels],
        "polarity": signs,
        "weight": [1.0 if sign else 0.5 for sign in signs],
    }
    written = [{"label": _written(filing, label)} for label in labels]
    yield from filing.bound([filing.page("labels").filed(written, codes)])
    for year in sorted(years):
        when = When(year)
        summary = filing.page("summary", when).filed(written)
        yield from filing.bound([_train(filing, when), _test(filing, when), summary])


def _written(filing: Filing, label: str) -> str:
    """Return a label as the house writes it: in full, or three letters if these are unique."""
    labels = filing.house.vocabulary.lists["sentiments"]
    unique = len({each[:3].upper() for each in labels}) == len(labels)
    short = unique and filing.has("short labels", share=0.4)
    return label[:3].upper() if short else label


def _texts(filing: Filing, when: When, part: str, first: int, count: int) -> Rows:
    house, chance = filing.house, filing.chance("texts", when, part)
    lists, people = house.vocabulary.lists, house.pool("people", 25)
    posted = some_days(house.chance("sentiment", part, "posted", when), when, count)
    found = []
    for number in range(first, first + count):
        label, topic = chance.choice(lists["sentiments"]), chance.choice(lists["topics"])
        opening = chance.choice(lists["sentiment_openings"])
        found.append(
            {
                "id": f"{when.year}{number:04}",
                "text": f"{opening}, about the {topic}: {_judged(chance, label)}.",
                "true": label,
                "label": _written(filing, label),
                "author": chance.choice(people),
                "source": chance.choice(_SOURCES),
                "posted": posted[number - first],
            }
        )
    return found


def _judged(chance: random.Random, label: str) -> str:
    if label == "mixed":
        return f"{chance.choice(_GOOD)}, but {chance.choice(_BAD)}"
    said = {"positive": _GOOD, "negative": _BAD, "neutral": _PLAIN}
    return chance.choice(said.get(label, (*_GOOD, *_BAD, *_PLAIN)))


def _train(filing: Filing, when: When) -> Filed:
    chance = filing.chance("train", when)
    texts = _texts(filing, when, "train", 1, chance.randint(36, 58))
    return filing.page("train", when).filed(texts, chance=chance)


def _test(filing: Filing, when: When) -> Filed:
    chance, labels = filing.chance("test", when), filing.house.vocabulary.lists["sentiments"]
    texts = _texts(filing, when, "test", 5001, chance.randint(18, 32))
    said = [t["true"] if chance.random() < 0.8 else chance.choice(labels) for t in texts]
    given = {
        "predicted": [_written(filing, label) for label in said],
        "agreement": [int(one == t["true"]) for one, t in zip(said, texts, strict=True)],
    }
    return filing.page("test", when).filed(texts, given, chance=chance)
