"""Simulate typing errors on a QWERTY keyboard."""

from __future__ import annotations

import random
from collections.abc import Mapping
from types import MappingProxyType

# Rows of keys, each with its offset to the right in key widths.
_LETTERS = (("qwertyuiop", 0.0), ("asdfghjkl", 0.25), ("zxcvbnm", 0.75))
_DIGITS = (("1234567890", 0.0),)
_REACH = 1.3  # key widths; keys within this distance touch


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
"""The keys adjacent to the key of a letter or digit; letters touch letters, digits digits."""


def mistyped(text: str, probability: float, chance: random.Random) -> str:
    """Replace each letter and digit, with a probability, by an adjacent key.

    Case is kept, letters stay letters and digits digits; spaces and marks stay.

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
