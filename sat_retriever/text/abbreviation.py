"""Tell whether a name abbreviates another: "EVCAP-A", "EV Charging Availability Parameters"."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from sat_retriever.records.sheets import SheetRecord
from sat_retriever.text.lexical import STOP_WORDS

MIN_WORDS = 2
"""Words that an abbreviation stands for, at least."""
MIN_SHARE = 0.6
"""Share of a name's words that an abbreviation of it stands for, at least."""
LONGEST_PART = 4
"""Letters of one word in an abbreviation, at most."""
MIN_CAPITALS = 2
"""Capital letters of an abbreviation: "BNoEVC" is one, "Mar" is a month."""
MOST_WORDS = 32
"""Words of a name that are looked at."""

_SEPARATORS = re.compile(r"[\W_]+")


@lru_cache(maxsize=64)
def _words(whole: str) -> tuple[str, ...]:
    """The words of a name in small letters; a question is compared with many abbreviations."""
    return tuple(each.casefold() for each in _SEPARATORS.split(whole) if each)[:MOST_WORDS]


def forms_of(query: str) -> tuple[str, ...]:
    """The forms of a question that a name may abbreviate: whole, and without common words.

    >>> forms_of("what is the average vehicle lifetime")
    ('what is the average vehicle lifetime', 'average vehicle lifetime')
    """
    telling = " ".join(word for word in query.split() if word.casefold() not in STOP_WORDS)
    return tuple(dict.fromkeys((query, telling)))


def initials_of(whole: str) -> str:
    """The first letters of all words, small.

    >>> initials_of("Annual Improvement in Battery Capacity by Vehicle Type")
    'aiibcbvt'
    """
    return "".join(word[0] for word in _words(whole))


def is_main(record: SheetRecord) -> bool:
    """True if a sheet's name abbreviates its workbook's: it holds what the workbook is about."""
    return abbreviates(record.sheet, record.workbook_name)


def abbreviates(name: str, whole: str) -> bool:
    """True if the first word of a name is made of the beginnings of another name's words.

    The parts come in the order of the words, up to four letters each. After its first letter a
    part has small letters, unless it is a whole word: "DATA" does not abbreviate *Daily Tariffs*.
    Words may be left out, as long as the parts stand for two words or more, and for three fifths
    of them. At least two letters of the abbreviation are capitals.

    Args:
        name: A name, for example a sheet's.
        whole: What it may abbreviate, for example the workbook's name.

    >>> abbreviates("EVCAP-A", "EV Charging Availability Parameters")
    True
    >>> abbreviates("BNoGP", "BAU Number of Gas Pumps"), abbreviates("Gas", "Gas Prices")
    (True, False)
    """
    short = next(filter(None, _SEPARATORS.split(name)), "")
    letters = short.casefold()
    if sum(map(str.isupper, short)) < MIN_CAPITALS or len(letters) > LONGEST_PART * MOST_WORDS:
        return False
    words = _words(whole)
    if not any(word.startswith(letters[0]) for word in words):
        return False

    @cache
    def most(start: int, word: int) -> int:
        """Most words that the letters from a place on stand for; below 0 if they fit none."""
        if start == len(letters):
            return 0
        if word == len(words):
            return -len(words) - 1
        best = most(start, word + 1)
        for size in range(1, LONGEST_PART + 1):
            if letters[start : start + size] != words[word][:size] or size > len(words[word]):
                break
            if size == len(words[word]) or size == 1 or short[start + 1 : start + size].islower():
                best = max(best, 1 + most(start + size, word + 1))
        return best

    return most(0, 0) >= max(MIN_WORDS, MIN_SHARE * len(words))
