"""Replace some of the words that questions quote from their sheets by words of other sheets.

A made question quotes the sheets that answer it; a person's question often does not. Results on
questions in other words show whether a model understands more or only matches words better.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np

from sat_retriever.datasets.labels.query import Query
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.lexical import STOP_WORDS, sheet_texts
from sat_retriever.text.period.spellings import spelled
from sat_retriever.text.segment import stem, words

SHARE = 0.5  # of the quoted words; chosen on development corpora, see the benchmarks' log
_MOST_WORDS = 20_000  # of the sheets, most frequent first
_LOOKED_AT = 8  # nearest words; if all are forms of the word itself, it stays
_SAME_START = 4  # letters at the beginning that two forms of a word share
_WORD = re.compile(r"[^\W\d_]{3,}")

Encode = Callable[[Sequence[str]], FloatArray]


def in_other_words(
    queries: Sequence[Query],
    records: Iterable[SheetRecord],
    encode: Encode,
    *,
    share: float = SHARE,
    seed: int = 0,
) -> tuple[Query, ...]:
    """Replace some of the words that questions quote by their nearest neighbours.

    A word is quoted if a sheet that answers has it, in any form. Its neighbour is the word of
    all sheets with the nearest meaning that is not a form of it. Times, numbers, function
    words, and words of scripts without spaces stay. Labels stay too: a neighbour may fit other
    sheets as well, but equally for all compared models.

    Source: beyond the paper.

    Args:
        queries: Labelled questions.
        records: All sheets; iterated over once.
        encode: Function from words to unit vectors, (n, d); only their similarities count.
        share: Share of the quoted words to replace, in [0, 1].
        seed: Seed of the choice.
    """
    asked = {sheet_id for query in queries for sheet_id in query.positives}
    quotable: dict[str, frozenset[str]] = {}
    counts: Counter[str] = Counter()
    spelling: dict[str, str] = {}
    for record in records:
        found = {word for text in sheet_texts(record) for word in words(text)}
        own = {stem(word): word for word in sorted(found) if _WORD.fullmatch(word)}
        for form, word in own.items():
            spelling.setdefault(form, word)
        counts.update(own.keys())
        if record.sheet_id in asked:
            quotable[record.sheet_id] = frozenset(own)
    most = sorted(counts, key=lambda form: (-counts[form], form))[:_MOST_WORDS]
    chance = random.Random(f"other words {seed}")  # noqa: S311 - repeatable, no secret
    replaced = [_chosen(query, quotable, share, chance) for query in queries]
    forms = sorted({stem(hit.word) for hits in replaced for hit in hits})
    near = _neighbours(forms, {form: spelling[form] for form in most}, encode)
    return tuple(
        replace(query, text=_said(query.text, hits, near))
        for query, hits in zip(queries, replaced, strict=True)
    )


@dataclass(frozen=True, slots=True)
class _Hit:
    """A word of a question to replace."""

    start: int
    end: int
    word: str


def _chosen(
    query: Query, quotable: Mapping[str, Set[str]], share: float, chance: random.Random
) -> list[_Hit]:
    """Choose some of the words that a question quotes."""
    own = frozenset().union(*(quotable.get(sheet_id, ()) for sheet_id in query.positives))
    untimed = set(words(spelled(query.text).rest))
    found = []
    for match in _WORD.finditer(query.text):
        read = words(match.group())  # several or none for signs that only look like letters
        if len(read) != 1 or read[0] in STOP_WORDS or read[0] not in untimed:
            continue
        if stem(read[0]) in own:
            found.append(_Hit(*match.span(), read[0]))
    return [hit for hit in found if chance.random() < share]


def _said(text: str, hits: Sequence[_Hit], near: Mapping[str, str]) -> str:
    """Return a text with those hits replaced that have a neighbour."""
    for hit in reversed(hits):
        text = text[: hit.start] + near.get(stem(hit.word), hit.word) + text[hit.end :]
    return text


def _neighbours(
    forms: Sequence[str], spelling: Mapping[str, str], encode: Encode
) -> dict[str, str]:
    """Map each form to the nearest word of the corpus that is not a form of it, if any."""
    if not forms:
        return {}
    known = list(spelling)
    every = encode([spelling[form] for form in known])
    mine = encode([spelling.get(form, form) for form in forms])
    found = {}
    for form, vector in zip(forms, mine, strict=True):
        nearest = np.argsort(-(every @ vector), kind="stable")[:_LOOKED_AT]
        others = (known[place] for place in nearest)
        other = next((each for each in others if not _alike(each, form)), None)
        if other is not None:
            found[form] = spelling[other]
    return found


def _alike(one: str, other: str) -> bool:
    """True if two stems are likely to be of one word.

    >>> _alike("produc", "product"), _alike("budget", "spend")
    (True, False)
    """
    return one[:_SAME_START] == other[:_SAME_START]
