"""Slips of the finger on a QWERTY keyboard."""

from __future__ import annotations

import random
from collections.abc import Mapping
from types import MappingProxyType

# Rows of keys, each with how far it is shifted to the right, in widths of a key.
_LETTERS = (("qwertyuiop", 0.0), ("asdfghjkl", 0.25), ("zxcvbnm", 0.75))
_DIGITS = (("1234567890", 0.0),)
_REACH = 1.3  # widths of a key: the keys that touch


def _neighbours(rows: tuple[tuple[str, float], ...]) -> dict[str, str]:
    keys = {
        key: (place + shift, float(row))
        for row, (letters, shift) in enumerate(rows)
        for place, key in enumerate(letters)
    }
    return {
        key: "".join(
            other
            for other, (left, top) in keys.items()
            if other != key and (x - left) ** 2 + (y - top) ** 2 <= _REACH**2
        )
        for key, (x, y) in keys.items()
    }


NEIGHBOURS: Mapping[str, str] = MappingProxyType(_neighbours(_LETTERS) | _neighbours(_DIGITS))
"""Keys that touch a letter's or digit's key; letters touch letters, digits touch digits."""


def mistyped(text: str, probability: float, chance: random.Random) -> str:
    """The text with each letter and digit replaced, with a probability, by a neighbour.

    Case is kept, and letters stay letters and digits digits; spaces and marks stay.

    Source: paper, appendix on pair generation, string noise with probability 0.20.

    >>> mistyped("Total 7", 0, random.Random(1)), NEIGHBOURS["a"], NEIGHBOURS["1"]
    ('Total 7', 'qwsz', '2')
    """
    letters = []
    for letter in text:
        near = NEIGHBOURS.get(letter.lower(), "")
        if near and chance.random() < probability:
            slip = chance.choice(near)
            letters.append(slip.upper() if letter.isupper() else slip)
        else:
            letters.append(letter)
    return "".join(letters)
