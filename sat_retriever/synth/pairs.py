"""Pair sheets by shared columns, in the form of `train.json`."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

NEGATIVES = 5
"""The negative pairs per positive pair: the release has 2,505 for 501."""
_TRIES = 64  # draws before a negative pair is given up, if nearly all sheets are of one kind

Headers = tuple[tuple[str, str], ...]
"""The id and header of each column, left to right."""


@dataclass(frozen=True, slots=True)
class PairSheet:
    """The data of a sheet for pairing.

    Attributes:
        kind: Kind of the sheet, for example "sales/orders"; only sheets of different kinds are
            negative pairs.
        stem: Original of a fabricated sheet, equal for its source and its target; empty for
            other sheets.
    """

    number: int
    kind: str
    columns: Headers
    stem: str = ""


def train_pairs(sheets: Iterable[PairSheet], chance: random.Random) -> Iterator[dict[str, Any]]:
    """Yield the rows of `train.json`: each positive pair, then five negative ones.

    A positive pair is the source and the target of one sheet. Sheets without a counterpart
    are paired with others of their kind, each at most once. `matched_columns` has their
    headers with equal ids. A negative pair is two sheets of different kinds, drawn uniformly,
    with None for `matched_columns`; there are none if all sheets are of one kind.

    Source: the release (501 positive pairs, 2,505 negative). Departs: negatives of the
    release may be of one kind and differ in company or year (28 of 2,505), although their
    columns are the same; and its rows are shuffled.

    Each source must come before its target. Only numbers, and references to shared kinds and
    columns, are kept of the sheets.
    """
    held = _Held(sheets)
    number = 0
    for first, second in held.positives(chance):
        others = dict(held.columns[second])
        matched = [[header, others[id_]] for id_, header in held.columns[first] if id_ in others]
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


class _Held:
    """The data of all sheets; sheets with equal columns share one description."""

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
        yield from self._pairs
        for places in self._of_kind.values():
            chance.shuffle(places)
            yield from zip(places[::2], places[1::2], strict=False)

    def negatives(self, chance: random.Random) -> Iterator[tuple[int, int]]:
        """Yield positions of sheets of different kinds; fewer than five if hardly any differ."""
        for _ in range(NEGATIVES):
            for _ in range(_TRIES):
                one, other = (chance.randrange(len(self.numbers)) for _ in range(2))
                if self._kinds[one] != self._kinds[other]:
                    yield one, other
                    break
