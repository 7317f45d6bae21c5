"""The sheets that a question is scored against in a large index: the best by each part of a score.

Every sheet is scored while there are few. Of many, each part of the score names its best sheets:
the cosines of names and of contents, and the words of both; of all sheets, of those that meet the
filters, and among these of those within the periods asked for. Sheets in this pool have the same
scores as if all were scored. A sheet outside is among the best of no part.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sat_retriever.index.mapped import is_large
from sat_retriever.index.matches import asked_phrases, respelled, with_phrases
from sat_retriever.index.snapshot import Snapshot
from sat_retriever.index.store.opening import Store
from sat_retriever.index.tokens import nearest
from sat_retriever.period.relation import INSIDE
from sat_retriever.period.spans import Span
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.contents import asked_words
from sat_retriever.text.lexical import WordScores, query_words

Rows = NDArray[np.intp]
Mask = NDArray[np.bool_]

MOST_ASKED = 500  # candidates for which a pool has room; for more, every sheet is scored
WORDED = 4_096  # sheets by words, of names and of contents
_LED = 4_096  # sheets whose documentation is in the pool
_STEPS = 1_024  # in which scores are counted
_SAMPLE = 65_536  # sheets whose scores say how high those of the best are


def pool_of(
    store: Store,
    snapshot: Snapshot,
    query: str,
    token: FloatArray,
    asked: Sequence[Span],
    allowed: Mask | None = None,
) -> Rows:
    """Positions of the sheets to score for a query, ascending; the caller reads the store.

    Args:
        store: Where the sheets are.
        snapshot: All n sheets.
        query: The query.
        token: Its token, (d,), unit length.
        asked: The periods that it names.
        allowed: True for the sheets that meet the filters, (n,); None without filters. Where these
            leave few sheets, all of them are in the pool.
    """
    if allowed is not None and not is_large(int(np.count_nonzero(allowed))):
        return np.flatnonzero(allowed)
    masks = _masks(snapshot, asked, allowed)
    read_as = respelled(store, snapshot, query)
    names = [snapshot.lexical.word(word) for word in dict.fromkeys(query_words(read_as))]
    contents = list(snapshot.contents.by_word(asked_words(read_as)).values())
    phrases = asked_phrases(snapshot, query)
    found = [
        *nearest(snapshot.tokens, token, masks),
        *_near_by_contents(snapshot, token, masks),
        *worded(names, len(snapshot.ids), masks),
        *worded(contents, len(snapshot.ids), masks),
        *([with_phrases(snapshot, phrases)[:WORDED]] if phrases else []),
    ]
    return _with_leaders(snapshot, found, allowed)


def _masks(snapshot: Snapshot, asked: Sequence[Span], allowed: Mask | None) -> list[Mask | None]:
    """The sheets among which the best are looked for: those allowed, and those in time."""
    if not asked:
        return [allowed]
    inside = snapshot.columns.periods.lying(asked) == INSIDE
    return [allowed, inside if allowed is None else inside & allowed]


def _near_by_contents(
    snapshot: Snapshot, token: FloatArray, masks: Sequence[Mask | None]
) -> list[Rows]:
    """Positions of the sheets whose contents are nearest within each mask."""
    if not len(snapshot.with_contents):
        return []
    places = snapshot.with_contents
    of_contents = [None if mask is None else mask[places] for mask in masks]
    return [places[rows] for rows in nearest(snapshot.contents_tokens, token, of_contents)]


def worded(words: Sequence[WordScores], sheets: int, masks: Sequence[Mask | None]) -> list[Rows]:
    """Positions of the sheets whose words score highest within each mask, 4,096 or a few more.

    Every word is added up: passing over common ones, as MaxScore does, saves less than it costs to
    look them up for the sheets in play (benchmarks/LOG.md). Scores are compared in a thousand
    steps.

    Args:
        words: Scores of each word.
        sheets: Number of all sheets, n.
        masks: Sheets among which to look, each (n,); None for all.
    """
    known = [word for word in words if len(word.rows)]
    if not known:
        return []
    total = np.zeros(sheets, dtype=np.float32)
    for word in known:
        total[word.rows] += word.scores
    step = np.float32(sum(word.limit for word in known) / _STEPS)
    found = []
    for mask in masks:
        there = total >= max(_sampled(total, mask, step), step)
        rows = np.flatnonzero(there if mask is None else there & mask)
        found.append(_best_of(rows, total[rows], step))
    return found


def _sampled(total: FloatArray, mask: Mask | None, step: np.float32) -> np.float32:
    """A score that about twice 4,096 sheets within a mask reach, from some of them."""
    stride = max(1, len(total) // _SAMPLE)
    some = total[::stride]
    some = some if mask is None else some[mask[::stride]]
    return _least(some[some > 0], step, max(1, 2 * WORDED // stride))


def _least(scores: FloatArray, step: np.float32, most: int) -> np.float32:
    """The highest multiple of a step that so many scores reach; 0 if fewer are above 0."""
    counts = np.bincount((scores / step).astype(np.int32), minlength=1)
    at = int(np.searchsorted(np.cumsum(counts[::-1]), most))
    return np.float32(max(len(counts) - 1 - at, 0)) * step


def _best_of(rows: Rows, scores: FloatArray, step: np.float32) -> Rows:
    """The best 4,096 of some sheets, and those that score like the last of them if there is room.

    Thousands of sheets may share a score; partitioning them costs far more than the rest.
    """
    if len(rows) <= WORDED:
        return rows
    least = _least(scores, step, WORDED)
    kept = np.flatnonzero(scores >= least)
    if len(kept) > 2 * WORDED:
        surely = scores[kept] >= least + step
        last = kept[~surely]
        order = np.argsort(-scores[last], kind="stable")
        kept = np.concatenate((kept[surely], last[order[: 2 * WORDED - np.count_nonzero(surely)]]))
    return rows[kept]


def _with_leaders(snapshot: Snapshot, found: Sequence[Rows], allowed: Mask | None) -> Rows:
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
