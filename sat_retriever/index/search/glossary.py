"""Read a word of a question as a code in names, where the index says that the code stands for it.

`TRA_NEW` is found for *transport*, since sheets with `TRA` in their names say *transport* in their
cells. It is not found for *travel*, which they do not say. Nothing is known beforehand: every index
teaches its own codes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sat_retriever.index.search.snapshot import Snapshot
from sat_retriever.text.lexical import WordScores, limit_of

_SIZES = (3, 4)  # letters of a code, with which the word begins
_LEFT = 2  # letters of the word after them, at least
_LEAST, _MOST = 2, 2_000  # sheets with a code in their names
# Of these sheets, the least share that says the word, and how many times the share of all sheets
# that must be. On real lists shares of .2 to .5 and 1.2 to 2 times give the same rankings; with .1,
# *travel* is read as TRA (benchmarks/LOG.md).
_SHARE = 0.3
_LIFT = 2.0


@dataclass(frozen=True, slots=True)
class Code:
    """A code that stands for a word.

    Attributes:
        text: The code, lower case.
        names: BM25 scores of the sheets with it in their names.
    """

    text: str
    names: WordScores


def codes_of(
    snapshot: Snapshot, word: str, contents: WordScores | None, sheets: float
) -> tuple[Code, ...]:
    """Codes in names that stand for a word of a question.

    Of a part of a large index, all its sheets say what a code stands for.

    Args:
        snapshot: The sheets.
        word: The word, as a stem.
        contents: Its scores in contents; without any, no code is known.
        sheets: Number of all sheets that have it in names or contents.
    """
    if contents is None or not word.isalpha():
        return ()
    whole = snapshot.whole or snapshot
    rare = limit_of(min(_MOST, whole.sheets), whole.sheets)  # a common word is never read
    found = []
    for code in (word[:size] for size in _SIZES if len(word) >= size + _LEFT):
        if whole.lexical.limit(code) < rare:
            continue
        named = whole.lexical.word(code).rows
        if len(named) >= _LEAST:
            said = contents if whole is snapshot else whole.contents.by_word([word]).get(word)
            saying = np.isin(named, () if said is None else said.rows, assume_unique=True)
            saying[whole.lexical.among(word, named).rows] = True
            if saying.mean() >= max(_SHARE, _LIFT * sheets / whole.sheets):
                found.append(Code(code, snapshot.lexical.word(code)))
    return tuple(found)
