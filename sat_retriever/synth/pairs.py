"""Pairs of sheets with the columns they share, as `train.json` has them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

NEGATIVES = 5
"""Negative pairs a positive one: the release has 2,505 for 501."""
_TRIES = 64  # draws before a negative pair is given up, in a corpus of nearly one kind

Headers = tuple[tuple[str, str], ...]
"""Id and header of each column, left to right."""


@dataclass(frozen=True, slots=True)
class PairSheet:
    """What a pair needs to know of a sheet.

    Attributes:
        number: The sheet's number in `sheets.json`.
        kind: Equal for sheets of one kind, "sales/orders": those of different kinds are
            no pair.
        columns: Ids and headers of its columns.
        stem: Equal for the source and the target of one sheet; empty if it has no such
            counterpart.
    """

    number: int
    kind: str
    columns: Headers
    stem: str = ""


def train_pairs(sheets: Iterable[PairSheet], chance: random.Random) -> Iterator[dict[str, Any]]:
    """Rows of `train.json`: each positive pair, and after it five negative ones.

    Positive are the source and the target of one sheet; sheets without a counterpart are
    paired two by two with others of their kind, each at most once. `matched_columns` has
    their headers of equal ids. Negative are two sheets of different kinds, drawn evenly,
    with None for columns; where all sheets are of one kind there are none.

    Source: the release (501 positive pairs, 2,505 negative). Departs: there negatives may
    be of one kind and differ in company or year (28 of 2,505), although their columns are
    the same; and its rows are shuffled.

    Args:
        sheets: All sheets of the corpus, each source before its target; held of each are its
            number and references to its kind and columns, which sheets share.
        chance: Pairs sheets of a kind, and draws negatives.
    """
    held = _Held(sheets)
    number = 0
    for first, second in held.positives(chance):
        matched = _matched(held.columns[first], held.columns[second])
        if not matched:
            continue
        pairs = [(first, second), *held.negatives(chance)]
        for place, (one, other) in enumerate(pairs):
            yield {
                "id": number,
                "sheet_id_1": held.numbers[one],
                "sheet_id_2": held.numbers[other],
                "matched_columns": None if place else matched,
                "label": int(place == 0),
            }
            number += 1


def _matched(first: Headers, second: Headers) -> list[list[str]]:
    others: Mapping[str, str] = dict(second)
    return [[header, others[column]] for column, header in first if column in others]


class _Held:
    """All sheets, those of equal columns with one description.

    Args:
        sheets: The sheets.
    """

    def __init__(self, sheets: Iterable[PairSheet]) -> None:
        self.numbers: list[int] = []
        self.columns: list[Headers] = []
        self._kinds: list[str] = []
        self._pairs: list[tuple[int, int]] = []
        self._of_kind: dict[str, list[int]] = {}
        known: dict[Headers, Headers] = {}
        kinds: dict[str, str] = {}
        waiting: dict[str, int] = {}
        for place, sheet in enumerate(sheets):
            self.numbers.append(sheet.number)
            self.columns.append(known.setdefault(sheet.columns, sheet.columns))
            self._kinds.append(kinds.setdefault(sheet.kind, sheet.kind))
            if not sheet.stem:
                self._of_kind.setdefault(sheet.kind, []).append(place)
            elif sheet.stem in waiting:
                self._pairs.append((waiting.pop(sheet.stem), place))
            else:
                waiting[sheet.stem] = place

    def positives(self, chance: random.Random) -> Iterator[tuple[int, int]]:
        """Places of sheets that are pairs."""
        yield from self._pairs
        for places in self._of_kind.values():
            chance.shuffle(places)
            yield from zip(places[::2], places[1::2], strict=False)

    def negatives(self, chance: random.Random) -> Iterator[tuple[int, int]]:
        """Places of sheets of different kinds; fewer than five pairs where hardly any differ."""
        for _ in range(NEGATIVES):
            for _ in range(_TRIES):
                one, other = (chance.randrange(len(self.numbers)) for _ in range(2))
                if self._kinds[one] != self._kinds[other]:
                    yield one, other
                    break
