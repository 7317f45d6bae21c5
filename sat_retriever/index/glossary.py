"""Read a word of a question as a code in names, where the index says that the code stands for it.

`TRA_NEW` is found for *transport*, since sheets with `TRA` in their names say *transport* in their
cells. It is not found for *travel*, which they do not say. Nothing is known beforehand: every index
teaches its own codes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sat_retriever.index.snapshot import Snapshot
from sat_retriever.text.lexical import WordScores

_SIZES = (3, 4)  # letters of a code, with which the word begins
_LEFT = 2  # letters of the word after them, at least
_SHEETS = (
    2,
    2_000,
)  # sheets with a code in their names, from which and up to which it is looked at
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
    snapshot: Snapshot, word: str, names: WordScores | None, contents: WordScores | None
) -> tuple[Code, ...]:
    """Codes in names that stand for a word of a question.

    Of a part of a large index, all its sheets say what a code stands for; of a word that more than
    some ten thousand sheets have, none is known.

    Args:
        snapshot: The sheets.
        word: The word, as a stem.
        names: Its scores in names, if a sheet has it there.
        contents: The same in contents; without any, no code is known.
    """
    if contents is None or not word.isalpha():
        return ()
    whole = snapshot.whole or snapshot
    found = []
    for size in _SIZES:
        named = whole.lexical.word(word[:size]) if len(word) >= size + _LEFT else None
        if named is not None and _SHEETS[0] <= len(named.rows) <= _SHEETS[1]:
            said = [] if names is None else [whole.lexical.word(word).rows]
            said += [contents.rows if whole is snapshot else whole.contents.having([word])]
            saying = np.unique(np.concatenate(said))
            share = float(np.isin(named.rows, saying, assume_unique=True).mean())
            if share >= max(_SHARE, _LIFT * len(saying) / max(whole.sheets, 1)):
                found.append(Code(word[:size], snapshot.lexical.word(word[:size])))
    return tuple(found)
