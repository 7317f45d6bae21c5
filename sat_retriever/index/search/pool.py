"""The sheets that a question is scored against in a large index: the best by each part of a score.

Every sheet is scored while there are few. Of many, each part of the score names its best sheets:
the cosine, and the words of names and of contents; of all sheets, of those that meet the
filters, and among these of those within the periods asked for. Sheets in this pool have the same
scores as if all were scored. A sheet outside is among the best of no part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sat_retriever.index.search.columns import is_large
from sat_retriever.index.search.fusion import covered_by_names, word_of_contents
from sat_retriever.index.search.matches import (
    asked_phrases,
    find_matches,
    having_of,
    idf_of,
    rareness_of,
    respelled,
    with_phrases,
)
from sat_retriever.index.search.scores import Query, Scores, best_rows, score_all
from sat_retriever.index.search.snapshot import Snapshot
from sat_retriever.index.search.tokens import TokenTable
from sat_retriever.index.store.store import Store
from sat_retriever.text.contents import asked_words
from sat_retriever.text.lexical import byte_weights, query_words
from sat_retriever.text.period.spans import Span

EXACT = 128  # sheets that are scored with their exact tokens, or twice as many as are asked for
_POOLED = 2_048  # beyond so many exact sheets, all are scored by codes first
_AT_ONCE = 32_768  # sheets for which words are added up at once, in the processor's cache
Rows = NDArray[np.intp]
Impacts = NDArray[np.uint16]
"""How much of the words of a query every sheet has, in steps of 1/65,025 of the most possible."""
Chosen = NDArray[np.bool_]
WORDED = 1_024  # sheets by words, or one in so many of a very large index, up to as many more:
_WORDED_OF, _MOST_WORDED = 192, 8
# In names and contents together, more sheets have about the same of a question's words.
_BOTH_OF, _MOST_BOTH = 96, 16
_LED = 4_096  # sheets whose documentation is in the pool
_SAMPLE = 16_384  # sheets that say how much of the words the best have


def best_scores(
    store: Store,
    snapshot: Snapshot,
    query: Query,
    count: int,
    allowed: NDArray[np.int64] | None = None,
    known: Scores | None = None,
) -> Scores:
    """Exact scores of the `count` best sheets of a large index; the caller reads the store.

    A few thousand sheets, among which the best are, are scored with the codes of their tokens. The
    best of these are scored again with the tokens themselves. The row ids `allowed` that meet the
    filters ascend; `known` are scores without filters, which say how much of the query names cover.

    Source: the two steps are those of Jégou, Tavenard, Douze and Amsaleg (2011), "Searching in one
    billion vectors: re-rank with source coding".
    """
    mask = None
    if allowed is not None:
        mask = np.zeros(len(snapshot.ids), dtype=np.bool_)
        mask[np.searchsorted(snapshot.ids, allowed)] = True
    wide = snapshot
    if count <= _POOLED:
        wide = snapshot.part(pool_of(store, snapshot, query, mask))
    matches = find_matches(store, wide, query.text, None if known is None else known.matches)
    scores = score_all(wide, query, matches)
    if allowed is not None:
        scores = scores.within(allowed)
    return scores.exact(store, np.sort(best_rows(scores, count, allowed)))


def chosen_scores(
    store: Store, snapshot: Snapshot, query: Query, rows: NDArray[np.intp], best: Scores
) -> Scores:
    """Exact scores of the sheets at some ascending positions, where the best say what counts."""
    every = with_leaders(snapshot, [rows])
    part = snapshot.part(every)
    matches = find_matches(store, part, query.text, best.matches)
    scores = score_all(part, replace(query, asked=best.asked), matches)
    return scores.exact(store, np.searchsorted(every, rows))


def pool_of(store: Store, snapshot: Snapshot, query: Query, allowed: Chosen | None = None) -> Rows:
    """Positions of the sheets to score for a query, ascending; the caller reads the store.

    `allowed` is True for the sheets that meet the filters, (n,). Where these leave few sheets, all
    of them are in the pool.
    """
    if allowed is not None and not is_large(int(np.count_nonzero(allowed))):
        return np.flatnonzero(allowed)
    masks = _masks(snapshot, query.asked, allowed)
    read_as = respelled(store, snapshot, query.text)
    phrases = asked_phrases(snapshot, query.text)
    found = []
    if isinstance(snapshot.tokens, TokenTable):
        alone = query.dense_weight == 1  # without words to help, every cosine is compared
        found += snapshot.tokens.nearest(query.token, masks, all_cells=alone)
    found += [
        *_worded(snapshot, read_as, masks),
        *([with_phrases(snapshot, phrases)[:WORDED]] if phrases else []),
    ]
    return with_leaders(snapshot, found, allowed)


def _masks(
    snapshot: Snapshot, asked: tuple[Span, ...], allowed: Chosen | None
) -> list[Chosen | None]:
    """The sheets among which the best are looked for: those allowed, and those in time."""
    if not asked:
        return [allowed]
    in_time = snapshot.in_time(asked)
    in_time = in_time if allowed is None else in_time & allowed
    # If no sheet is of these times, they hold back none.
    return [allowed, in_time] if in_time.any() else [allowed]


def _worded(snapshot: Snapshot, read_as: str, masks: Sequence[Chosen | None]) -> list[Rows]:
    """Positions of the sheets that have most of a question's words: in names, and in both places.

    Names say how much words in contents count; see `matches.find_matches`. All words are added up:
    passing over common ones, as MaxScore does, saves less than it costs to look them up for the
    sheets in play (benchmarks/LOG.md).
    """
    names, contents, size = snapshot.lexical, snapshot.contents, len(snapshot.ids)
    words = tuple(query_words(read_as))
    in_names = {word: limit for word in words if (limit := names.limit(word))}
    by_names = _summed(in_names, names.shares, size)
    asked = asked_words(read_as) if snapshot.has_contents else ()
    in_contents = {word: limit for word in asked if (limit := contents.limit(word))}
    if not in_contents:
        return worded(by_names, masks, _most(size, _WORDED_OF, _MOST_WORDED))
    best = float(by_names.max(initial=0)) / 255**2
    covered = covered_by_names(best, rareness_of(snapshot, words, asked))
    most = round(255 * word_of_contents(covered))

    def better(word: str) -> NDArray[np.uint8]:
        if word not in in_contents:
            return names.shares(word)
        own = contents.shares(word, most)
        return np.maximum(own, names.shares(word), out=own) if word in in_names else own

    idfs = {}
    for word in in_names | in_contents:
        having = having_of(snapshot, word, in_names=word in words, in_contents=word in asked)
        idfs[word] = idf_of(having, snapshot.sheets)
    return [
        *worded(_summed(idfs, better, size), masks, _most(size, _BOTH_OF, _MOST_BOTH)),
        # Evidence counts contents in full, and ranks are by either alone.
        *worded(by_names, masks, WORDED),
        *worded(_summed(in_contents, contents.shares, size), masks, WORDED),
    ]


def _summed(
    weights: Mapping[str, float], shares: Callable[[str], NDArray[np.uint8]], size: int
) -> Impacts:
    """How much of some words every sheet has, (size,)."""
    total = np.zeros(size, dtype=np.uint16)
    product = np.empty(_AT_ONCE, dtype=np.uint16)
    for word, weight in zip(weights, byte_weights([*weights.values()]), strict=True):
        found = shares(word)
        for start in range(0, size, _AT_ONCE):
            some = total[start : start + _AT_ONCE]
            own = found[start : start + _AT_ONCE]
            some += np.multiply(own, np.uint16(weight), out=product[: len(some)])
    return total


def _most(size: int, one_of: int, times: int) -> int:
    return max(WORDED, min(size // one_of, times * WORDED))


def worded(total: Impacts, masks: Sequence[Chosen | None], most: int) -> list[Rows]:
    """Positions of the sheets that have most of some words within each mask: as many or some more.

    `total` is how much of the words every sheet has, (n,). Before the last mask, which is of the
    times asked for, few sheets are among the best: `WORDED` count.
    """
    stride = max(1, len(total) // _SAMPLE)
    found = []
    for mask in masks:
        wanted = most if mask is masks[-1] else min(most, WORDED)
        own = total if mask is None else total * mask
        # About twice so many reach it, as some of them say.
        bound = _least(own[::stride], max(1, 2 * wanted // stride))
        rows = np.flatnonzero(own >= max(bound, 1))
        found.append(_most_of(rows, own[rows], wanted))
    return found


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
    """Sheets to score, with those that their documentation speaks for, and their lead sheets.

    Lead sheets decide scores of others, so they are in the pool whether they may be found or not.
    """
    wanted = distinct(found)
    if snapshot.documentation:
        led = snapshot.documentation.led_by(wanted)
        led = led[:_LED] if allowed is None else led[allowed[led]][:_LED]
        wanted = distinct([wanted, led])
    for leading in (snapshot.documentation, snapshot.main):
        if leading:
            wanted = distinct([wanted, leading.leaders_of(wanted)])
    return wanted


def distinct(found: Sequence[Rows]) -> Rows:
    """Positions in any of some lists, ascending; `np.unique` takes several times as long."""
    rows = np.sort(np.concatenate(found))
    return rows[np.flatnonzero(np.diff(rows, prepend=-1))]
