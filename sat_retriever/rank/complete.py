"""Decide how many sheets of a ranking form the whole answer."""

from __future__ import annotations

from collections.abc import Sequence

from sat_retriever.errors import InputError
from sat_retriever.records.candidates import Candidate

# Chosen on Spider's training questions and 1K's validation split (benchmarks/LOG.md).
COMPLETE_SHARE = 0.9


def complete_set(
    candidates: Sequence[Candidate], max_k: int = 20, *, share: float = COMPLETE_SHARE
) -> int:
    """Return the number of leading candidates that together answer the query, 0 to `max_k`.

    The answer ends before the first sheet that scores less than a share of the best one. After
    `LinkReranker` the scores take account of links and of the words still missing.

    Args:
        candidates: A ranking, best first.
        max_k: Largest number of sheets.
        share: Share of the best score, in (0, 1].

    Returns:
        The number; 0 if no score is above 0.

    Raises:
        InputError: If `max_k` is less than 1, or `share` is out of its range.

    >>> scores = (0.8, 0.75, 0.5)
    >>> ranking = [Candidate(str(n), n, s, s, s, n, n) for n, s in enumerate(scores, start=1)]
    >>> complete_set(ranking), complete_set(ranking, 1), complete_set(ranking, share=0.6)
    (2, 1, 3)
    """
    if max_k < 1:
        raise InputError(f"max_k is {max_k}; ask for at least 1")
    if not 0 < share <= 1:
        raise InputError(f"share is {share}; give a share above 0, at most 1")
    if not candidates or candidates[0].score <= 0:
        return 0
    least = share * candidates[0].score
    size = 0
    for candidate in candidates[:max_k]:
        if candidate.score < least:
            break
        size += 1
    return size
