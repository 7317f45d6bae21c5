"""The sheets that a question is scored against in a large index: the best by each part of a score.

Every sheet is scored while there are few. Of many, each part of the score names its best sheets:
the cosine, and the words of names and of contents; of all sheets, of those that meet the
filters, and among these of those within the periods asked for. Sheets in this pool have the same
scores as if all were scored. A sheet outside is among the best of no part.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sat_retriever.index.search.mapped import is_large
from sat_retriever.index.search.matches import asked_phrases, respelled, with_phrases
from sat_retriever.index.search.query import Query
from sat_retriever.index.search.snapshot import Snapshot
from sat_retriever.index.search.tokens import Mask, Tokens, TokenTable
from sat_retriever.index.store.store import Store
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.contents import asked_words
from sat_retriever.text.lexical import Impacts, impacts, query_words
from sat_retriever.text.period.spans import Span

Rows = NDArray[np.intp]
Chosen = NDArray[np.bool_]

WORDED = 1_024  # sheets by words, of names and of contents, or more of a very large index:
_WORDED_OF = 192  # one in so many, up to
_MOST_WORDED = 8_192
_LED = 4_096  # sheets whose documentation is in the pool
_SAMPLE = 16_384  # sheets that say how much of the words the best have


def pool_of(store: Store, snapshot: Snapshot, query: Query, allowed: Chosen | None = None) -> Rows:
    """Positions of the sheets to score for a query, ascending; the caller reads the store.

    Args:
        store: Where the sheets are.
        snapshot: All n sheets.
        query: The query.
        allowed: True for the sheets that meet the filters, (n,); None without filters. Where these
            leave few sheets, all of them are in the pool.
    """
    if allowed is not None and not is_large(int(np.count_nonzero(allowed))):
        return np.flatnonzero(allowed)
    token, masks = query.token, _masks(snapshot, query.asked, allowed)
    read_as = respelled(store, snapshot, query.text)
    phrases = asked_phrases(snapshot, query.text)
    alone = query.dense_weight == 1  # without words to help, every cosine is compared
    found = [
        *_near(snapshot.tokens, token, masks, all_cells=alone),
        *worded(snapshot.lexical.impacts(list(dict.fromkeys(query_words(read_as)))), masks),
        *_worded_by_contents(snapshot, read_as, masks),
        *([with_phrases(snapshot, phrases)[:WORDED]] if phrases else []),
    ]
    return with_leaders(snapshot, found, allowed)


def _masks(snapshot: Snapshot, asked: Sequence[Span], allowed: Chosen | None) -> list[Mask | None]:
    """The sheets among which the best are looked for: those allowed, and those in time."""
    within = None if allowed is None else allowed.__getitem__
    if not asked:
        return [within]

    def in_time(rows: Rows) -> NDArray[np.bool_]:
        found = snapshot.periods.inside(asked, rows)
        return found if within is None else found & within(rows)

    return [within, in_time]


def _near(
    tokens: Tokens, token: FloatArray, masks: Sequence[Mask | None], *, all_cells: bool
) -> list[Rows]:
    if not isinstance(tokens, TokenTable):
        return []
    return tokens.nearest(token, masks, all_cells=all_cells)


def _worded_by_contents(
    snapshot: Snapshot, read_as: str, masks: Sequence[Mask | None]
) -> list[Rows]:
    """Positions of the sheets whose contents have most of a query's words within each mask."""
    if not snapshot.contents:
        return []
    words = snapshot.contents.by_word(asked_words(read_as))
    return worded(impacts(list(words.values()), len(snapshot.ids)), masks)


def worded(total: Impacts, masks: Sequence[Mask | None]) -> list[Rows]:
    """Positions of the sheets that have most of some words within each mask: `WORDED` or some more.

    All words are added up: passing over common ones, as MaxScore does, saves less than it costs to
    look them up for the sheets in play (benchmarks/LOG.md).

    Args:
        total: How much of the words every sheet has, (n,).
        masks: Sheets among which to look; None for all.
    """
    most = max(WORDED, min(len(total) // _WORDED_OF, _MOST_WORDED))
    found = []
    for mask in masks:
        rows = np.flatnonzero(total >= max(_sampled(total, mask, most), 1))
        rows = rows if mask is None else rows[mask(rows)]
        found.append(_most_of(rows, total[rows], most))
    return found


def _sampled(total: Impacts, mask: Mask | None, most: int) -> int:
    """A number that about twice so many sheets within a mask reach, from some of them."""
    stride = max(1, len(total) // _SAMPLE)
    some = total[::stride]
    if mask is not None:
        some = some[mask(np.arange(0, len(total), stride))]
    return _least(some, max(1, 2 * most // stride))


def _least(numbers: Impacts, most: int) -> int:
    """The highest number above 0 that so many reach; 0 if fewer are above 0."""
    counts = np.bincount(numbers)
    counts[:1] = 0
    at = int(np.searchsorted(np.cumsum(counts[::-1]), most))
    return max(len(counts) - 1 - at, 0)


def _most_of(rows: Rows, numbers: Impacts, most: int) -> Rows:
    """The best of some sheets, and those with the last one's number if there is room."""
    if len(rows) <= most:
        return rows
    least = _least(numbers, most)
    kept = np.flatnonzero(numbers >= least)
    if len(kept) > 2 * most:
        surely = numbers[kept] > least
        last = kept[~surely]
        kept = np.concatenate((kept[surely], last[: 2 * most - np.count_nonzero(surely)]))
    return rows[kept]


def with_leaders(snapshot: Snapshot, found: Sequence[Rows], allowed: Chosen | None = None) -> Rows:
    """The sheets with those that documentation in the pool speaks for, and their leading sheets.

    Leading sheets decide scores of others, so they are in the pool whether they may be found or
    not.
    """
    wanted = np.zeros(len(snapshot.ids), dtype=np.bool_)
    for rows in found:
        wanted[rows] = True
    if snapshot.documentation:
        led = snapshot.documentation.led_by(np.flatnonzero(wanted))
        wanted[led[:_LED] if allowed is None else led[allowed[led]][:_LED]] = True
    for leading in (snapshot.documentation, snapshot.main):
        if leading:
            wanted[leading.leaders_of(np.flatnonzero(wanted))] = True
    return np.flatnonzero(wanted)
