"""How telling a word of a question is, whatever the index: rare in English, or common."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

_LIST = "common_words.txt"  # made by `python -m benchmarks run common_words`
_LEAST = 0.05
_NUMBER = 0.8  # a year, a code: its absence tells nearly as much as that of a name
# Zipf values (log10 of occurrences in a billion words) of a word that tells nothing, and of one
# that tells all. Words that are not on the list are names and terms: they tell all.
_EVERYWHERE, _RARE = 7.0, 2.5


def rarity(word: str) -> float:
    """How telling a stem is, in [0.05, 1]: 1 for names and terms, little for common words.

    >>> [round(rarity(word), 2) for word in ("total", "kauna", "2023")]
    [0.36, 1.0, 0.8]
    """
    if any(map(str.isdigit, word)):
        return _NUMBER
    zipf = _common().get(word, _RARE)
    return min(max((_EVERYWHERE - zipf) / (_EVERYWHERE - _RARE), _LEAST), 1.0)


@cache
def _common() -> Mapping[str, float]:
    """Zipf value of each common stem."""
    lines = files(__package__).joinpath(_LIST).read_text(encoding="utf-8").splitlines()
    found = {}
    for line in lines:
        if not line.startswith("#"):
            zipf, *stems = line.split()
            found.update(dict.fromkeys(stems, float(zipf)))
    return found
