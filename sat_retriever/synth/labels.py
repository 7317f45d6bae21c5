"""Make the labelled queries of a corpus from the truth about its sheets."""

from __future__ import annotations

import json
import math
import random
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import islice

from sat_retriever.errors import InputError
from sat_retriever.questions.contents.draw import KINDS
from sat_retriever.questions.contents.make import Contents, content_queries
from sat_retriever.questions.facts import SheetFacts
from sat_retriever.questions.generate import Made, make_queries
from sat_retriever.questions.synonyms import Wordings
from sat_retriever.records.jsonform import record_from_json, to_json
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.synth.words.vocabulary import Vocabulary


def asks(text: str) -> Mapping[str, float]:
    """Return the share in (0, 1] of queries of each kind about contents; an InputError for others.

    >>> asks("value=.2, note=.1"), sum(asks(".5").values())
    ({'value': 0.2, 'note': 0.1}, 0.5)
    """
    found: dict[str, float] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        kind, _, share = part.rpartition("=")
        kinds = KINDS if not kind and "," not in text else (kind.strip(),)
        for each in kinds:
            if each not in KINDS:
                raise InputError(
                    f"asks is {text!r}: {part!r} is no share of a kind; write, for example, "
                    f"value=.2,note=.1 with {', '.join(KINDS)}, or one share for all of them"
                )
            found[each] = _share(share, text) / len(kinds)
    if sum(found.values()) > 1 + 1e-9:
        raise InputError(f"asks is {text!r}: the shares add up to more than 1; lower them")
    return {kind: share for kind, share in found.items() if share}


def _share(text: str, whole: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = math.nan
    if not 0 <= share <= 1:
        raise InputError(f"asks is {whole!r}: a share is a number from 0 to 1, not {text!r}")
    return share


class Told(AbstractContextManager["Told"]):
    """Records with their contents, kept in a temporary file and read anew at each iteration."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 - closed below

    def add(self, record: SheetRecord) -> None:
        """Keep a record."""
        self._file.seek(0, 2)
        self._file.write(json.dumps(to_json(record, compact=True)) + "\n")

    def __iter__(self) -> Iterator[SheetRecord]:
        self._file.seek(0)
        for line in self._file:
            yield record_from_json(json.loads(line))

    def __exit__(self, *_: object) -> None:
        self._file.close()


def corpus_queries(
    facts: Sequence[SheetFacts],
    links: Sequence[Link],
    vocabulary: Vocabulary,
    number: int,
    seed: int,
) -> Iterator[Made]:
    """Yield labelled queries about names, headers, periods and links."""
    wordings = Wordings(
        kinds={
            kind.asked[0]: kind.asked
            for words in vocabulary.categories.values()
            for kind in words.kinds.values()
        },
        categories={words.asked[0]: words.asked for words in vocabulary.categories.values()},
    )
    return make_queries(facts, links, wordings=wordings, number=number, seed=seed)


def with_asked(
    made: Iterable[Made], contents: Contents, shares: Mapping[str, float], number: int, seed: int
) -> list[Made]:
    """Return queries of which some are about contents, in random order."""
    numbers = {kind: round(share * number) for kind, share in shares.items()}
    found = content_queries(contents, numbers, seed)[:number]
    found += islice(made, number - len(found))
    random.Random(f"asked {seed}").shuffle(found)  # noqa: S311 - repeatable, no secret
    return found
