"""Names and contents, words and cosine as one score: how much each counts for a question.

A word counts by the better of its two places, names or contents. What it counts in contents one
fact decides: how much of a question the names of a single sheet cover. Where they cover much, a
sheet is asked for by its name, and names decide; where they cover little, contents do. The cosine
is that of names and contents as one text. An index without contents scores as if there were no
such thing.
"""

from __future__ import annotations

from dataclasses import dataclass

# What a word in contents counts, of what it counts in names, where names cover nothing. nDCG@10 on
# the validation sets of real lists changes by less than .01 from .5 to .7 (benchmarks/LOG.md).
WORD_OF_CONTENTS = 0.6
# Most of the cosine in an index with contents, whatever the encoder; .6 differs by less than .01
# on the validation sets of real lists, .7 takes .017 on one of them (benchmarks/LOG.md).
_DENSE_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class Rareness:
    """Sums of the idf of a question's words, each 0 or more.

    Attributes:
        names: Of the words that names of sheets have.
        contents: Of the words that contents have.
        contents_alone: Of the words that contents have and names have not.
    """

    names: float
    contents: float
    contents_alone: float


def word_of_contents(covered: float) -> float:
    """What a word in contents counts, of what it counts in names, for one question.

    Args:
        covered: What `covered_by_names` gives for the question, in [0, 1].

    >>> word_of_contents(0.5)
    0.3
    """
    return WORD_OF_CONTENTS * (1 - covered)


def covered_by_names(best: float, rareness: Rareness) -> float:
    """Most of a question that the names of one sheet cover, in [0, 1].

    Args:
        best: BM25 over names of the sheet that has most, as a share of the best possible.
        rareness: Rareness of the question's words.

    >>> covered_by_names(0.5, Rareness(names=3.0, contents=1.0, contents_alone=1.0))
    0.375
    """
    total = rareness.names + rareness.contents_alone
    return best * rareness.names / total if total else 0.0


def dense_weight_with(noted: float, *, contents: bool) -> float:
    """Share of the cosine in the scores of an index, in [0, 1], if a question asks for none.

    With contents it is 0.5 at most; the cosine alone stays alone.

    Args:
        noted: Share without contents, which the index notes, in [0, 1].
        contents: True if a sheet of it has contents.

    >>> [dense_weight_with(noted, contents=True) for noted in (0.2, 0.7, 1.0)]
    [0.2, 0.5, 1.0]
    """
    return noted if noted == 1 or not contents else min(noted, _DENSE_WEIGHT)
