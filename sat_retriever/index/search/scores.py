"""Score one query against every sheet: cosine, names, contents, and all as one score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sat_retriever.index.search.matches import Matches
from sat_retriever.index.search.periods import Periods
from sat_retriever.index.search.query import Query
from sat_retriever.index.search.snapshot import Snapshot
from sat_retriever.index.store.store import Store
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.period.relation import INSIDE
from sat_retriever.text.period.spans import Span

# Share of the cosine in the fused score; the rest is BM25's. Chosen on Spider's training
# questions and 1K's validation split (benchmarks/LOG.md).
DENSE_WEIGHT = 0.4
# Share of its score that documentation keeps, unless the query asks for documentation.
# nDCG@10 on EPS's development questions with 1, .9, .8, .7, .6: .494, .561, .566, .566, .566.
DOCUMENTATION = 0.8
# Largest share of its score that a sheet loses beside its workbook's main sheet. nDCG@10 on EPS's
# development questions with 0, .2, .3, .4: .562, .637, .643, .647; on made questions about values
# of its cells .693, .689, .686, .684 (benchmarks/LOG.md).
BESIDE_MAIN = 0.2
# Share of its score that a sheet keeps if its period lies outside the requested ones; is unknown,
# or only overlaps them; lies within them. Chosen on validation questions (benchmarks/LOG.md).
_TIMES = np.array([0.5, 0.8, 1.0], dtype=np.float32)
_SAME = np.float32(1e-6)  # largest difference of scores with one rank


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Scores of every sheet of a snapshot for one query, each array (n,) float32.

    Attributes:
        snapshot: The sheets.
        fused: Scores that rank candidates; in [-1, 1], or down to -1.5 if periods or a role hold
            back a negative score.
        dense: Cosine of query and sheet token, in [-1, 1].
        matches: What the query's words find: its `names`, `contents` and `together` are BM25 as a
            share of the query's best possible value, in [0, 1].
        time: Share of each fused score that the query's periods leave, in (0, 1]; see
            `held_back`.
        role: Share of each fused score that the sheet's place in its workbook leaves, in (0, 1];
            see `role_factors`.
        token: Query token, shape (d,), unit length.
        asked: The periods that the query names, if they hold sheets back.
        weight: Share of the cosines in `fused`, in [0, 1].
        mean: Mean of `dense` over all sheets, if the snapshot is a part of them.
        wide: Scores of more sheets, with cosines of codes, of which these are the best.
    """

    snapshot: Snapshot
    fused: FloatArray
    dense: FloatArray
    matches: Matches
    time: FloatArray
    role: FloatArray
    token: FloatArray
    asked: tuple[Span, ...]
    weight: float
    mean: float | None = None
    wide: Scores | None = field(default=None, repr=False)

    def weighing(self, dense_weight: float) -> Scores:
        """Return the same scores, fused with another share of the cosines, in [0, 1]."""
        matches = self.matches
        found = fused(
            self.dense,
            matches.together,
            self.time * self.role,
            dense_weight,
        )
        return replace(self, fused=phrases_first(found, matches.phrase), weight=dense_weight)

    def without_times(self) -> Scores:
        """Return the same scores as if the query named no period."""
        return replace(self, time=np.ones_like(self.time), asked=()).weighing(self.weight)

    def within(self, allowed: NDArray[np.int64]) -> Scores:
        """Return the same scores, without periods if no allowed sheet lies within them.

        Args:
            allowed: Row ids of the allowed sheets, ascending.
        """
        if not self.asked:
            return self
        times = self.time[np.isin(self.snapshot.ids, allowed, assume_unique=True)]
        return self if times.max(initial=0) == 1 or not len(times) else self.without_times()

    def exact(self, store: Store, rows: NDArray[np.intp]) -> Scores:
        """Return the scores of some of the sheets, with the cosines of their exact tokens.

        The caller reads the store in the state of the snapshot.

        Args:
            store: Where the tokens are.
            rows: Positions of the sheets, ascending.
        """
        part = self.snapshot.part(rows)
        dense = store.tokens_of(part.ids.tolist(), len(self.token)) @ self.token
        return replace(
            self,
            snapshot=part,
            dense=dense,
            matches=self.matches.part(rows),
            time=self.time[rows],
            role=self.role[rows],
            wide=self,
        ).weighing(self.weight)

    def with_exact(self, parts: Sequence[Scores]) -> Scores:
        """Return the same scores, with the cosines that parts of them have."""
        dense = self.dense.copy()
        for part in parts:
            rows = np.searchsorted(self.snapshot.ids, part.snapshot.ids)
            dense[rows] = part.dense
        return replace(self, dense=dense).weighing(self.weight)

    def candidates(self, sheets: Mapping[str, int], first: int = 1) -> list[Candidate]:
        """Return some sheets as candidates, in their order.

        Their ranks by cosine and by words count the sheets of `wide`, if there are any.

        Args:
            sheets: Position of each sheet by its id.
            first: Rank of the first of them.
        """
        rows = np.fromiter(sheets.values(), dtype=np.intp, count=len(sheets))
        names, contents = self.matches.names, self.matches.contents
        phrase, every = self.matches.phrase, self.wide or self
        columns = (
            self.fused[rows],
            self.dense[rows], _ranks(every.dense, self.dense[rows]),
            names[rows], _ranks(every.matches.names, names[rows]),
            contents[rows], _ranks(every.matches.contents, contents[rows]),
            self.time[rows], self.role[rows],
            np.zeros(len(rows), dtype=np.bool_) if phrase is None else phrase[rows],
            self.matches.together[rows],
        )  # fmt: skip
        values = zip(*(column.tolist() for column in columns), strict=True)
        return [
            Candidate(
                sheet_id=sheet_id,
                rank=rank,
                score=score,
                dense=dense,
                lexical=by_names,
                dense_rank=dense_rank,
                lexical_rank=names_rank if by_names else None,
                time=time,
                contents=by_contents,
                contents_rank=contents_rank if by_contents else None,
                role=role,
                phrase=holds,
                together=both,
            )
            for rank, (sheet_id, (
                score, dense, dense_rank, by_names, names_rank, by_contents, contents_rank,
                time, role, holds, both,
            )) in enumerate(zip(sheets, values, strict=True), first)
        ]  # fmt: skip


def standing(scores: Scores, row: int, allowed: NDArray[np.int64] | None) -> tuple[int, int | None]:
    """Rank of a sheet among those that may be returned, and the position right above it.

    The position is None for the first; equal scores come in the order of sheet ids.

    Args:
        scores: Scores of all n sheets.
        row: Position of the sheet.
        allowed: Row ids that may be returned, ascending; None for all.
    """
    ties, fused = scores.snapshot.tie_rank, scores.fused
    better = (fused > fused[row]) | ((fused == fused[row]) & (ties < ties[row]))
    if allowed is not None:
        better &= np.isin(scores.snapshot.ids, allowed, assume_unique=True)
    found = np.flatnonzero(better)
    if not len(found):
        return 1, None
    last = np.lexsort((-ties[found], fused[found]))[0]
    return len(found) + 1, int(found[last])


def _ranks(scores: FloatArray, own: FloatArray) -> NDArray[np.intp]:
    """Return the ranks of some scores among all n; equal scores share one.

    The last bits of a product depend on the place of a row in its matrix, so they do not count.
    """
    above = np.sort(scores[scores > own.min(initial=np.inf)])
    return 1 + len(above) - np.searchsorted(above, own + _SAME, side="right")


def score_all(snapshot: Snapshot, query: Query, matches: Matches) -> Scores:
    """Return the scores of all sheets of a snapshot.

    Source: paper, section 3.3 (cosine over all tokens). Departs: the score is a convex combination
    with BM25, and with both over contents; and sheets of other periods than the query names,
    documentation and sheets beside a main sheet are held back. A dense weight of 1 gives the
    paper's order where there are none of these.

    Args:
        snapshot: The sheets.
        query: The query.
        matches: What the query's words find.
    """
    token = query.token
    dense = snapshot.tokens @ token
    return Scores(
        snapshot,
        fused=dense,
        dense=dense,
        matches=matches,
        time=time_factors(snapshot.periods, query.asked),
        role=role_factors(snapshot, matches),
        token=token,
        asked=query.asked,
        weight=query.dense_weight,
        mean=None if snapshot.whole is None else float(snapshot.mean_token @ token),
    ).weighing(query.dense_weight)


def phrases_first(scores: FloatArray, phrase: NDArray[np.bool_] | None) -> FloatArray:
    """Scores in which sheets that hold a phrase come before all others, each in their order.

    Args:
        scores: Fused scores, shape (n,).
        phrase: True for the sheets that hold it, shape (n,); None without a phrase that any
            sheet holds.

    >>> phrases_first(np.float32([0.75, -0.5]), np.array([False, True])).tolist()
    [0.25, 0.5]
    """
    return scores if phrase is None else ((scores + 2 * phrase) / 3).astype(np.float32)


def role_factors(snapshot: Snapshot, matches: Matches) -> FloatArray:
    """Share of each sheet's score that its place in its workbook leaves, (n,), in (0, 1].

    Documentation is held back. So is a sheet beside its workbook's main sheet, more the more of
    the query the names of the main sheet cover. Neither is if the query asks for documentation.

    Args:
        snapshot: The sheets.
        matches: What the query's words find.
    """
    factors = np.ones(len(snapshot.ids), dtype=np.float32)
    if not matches.explaining:
        main = snapshot.main
        factors[main.others] -= np.float32(BESIDE_MAIN) * main.best(matches.names)
        factors[snapshot.documentation.rows] *= np.float32(DOCUMENTATION)
    return factors


def time_factors(periods: Periods, asked: Sequence[Span]) -> FloatArray:
    """Return the share of each sheet's score that a query's periods leave, (n,), in (0, 1].

    All shares are 1 if no sheet lies within a requested period: the query's period is then not one
    of the sheets.

    Args:
        periods: Times of the n sheets.
        asked: Requested periods; without any, every score stays as it is.
    """
    lies = periods.lying(asked) if asked else None
    if lies is None or not (lies == INSIDE).any():
        return np.ones(len(periods), dtype=np.float32)
    return _TIMES[lies + 1][periods.codes]


def fused(
    dense: FloatArray,
    words: FloatArray,
    held: FloatArray,
    dense_weight: float,
) -> FloatArray:
    """The score that ranks sheets, shape (n,), in [-1, 1], or lower where it is held back.

    Args:
        dense: Cosine of query and sheet token, (n,).
        words: BM25 over names and contents as a share of the best possible, (n,).
        held: Share of its score that time and role leave a sheet, shape (n,), in (0, 1].
        dense_weight: Share of the cosine, in [0, 1].
    """
    return held_back(fuse(dense, words, dense_weight), held)


def fuse(dense: FloatArray, lexical: FloatArray, dense_weight: float) -> FloatArray:
    """Return the convex combination of the two scores, shape (n,), in [-dense_weight, 1].

    A dense weight of 1 gives the cosines themselves, including negative ones.

    >>> fuse(np.float32([0.5, -0.25]), np.float32([1.0, 0.5]), 0.5).tolist()
    [0.75, 0.125]
    """
    share = np.float32(dense_weight)
    return share * dense + (1 - share) * lexical


def held_back(scores: FloatArray, time: FloatArray) -> FloatArray:
    """Return scores held back by the query's periods, shape (n,); no score rises.

    A score loses the same share of its size whether it is positive or negative, so two sheets with
    equal factors keep their order.

    Args:
        scores: Fused scores, shape (n,).
        time: Factors from `time_factors`, shape (n,), in (0, 1].

    >>> held_back(np.float32([0.5, -0.5, -0.5]), np.float32([0.5, 0.5, 1.0])).tolist()
    [0.25, -0.75, -0.5]
    """
    return scores * np.where(scores < 0, 2 - time, time)


def probabilities(logits: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Return the sigmoid of each logit, the same shape, in [0, 1], without overflow.

    >>> probabilities(np.float32([0.0, -1000.0, 1000.0])).tolist()
    [0.5, 0.0, 1.0]
    """
    near = np.exp(-np.abs(logits.astype(np.float64)))
    found: NDArray[np.float64] = np.where(logits < 0, near, 1.0) / (1 + near)
    return found


def best_rows(scores: Scores, top_k: int, allowed: NDArray[np.int64] | None) -> NDArray[np.intp]:
    """Return the positions of the sheets with the highest fused scores, best first.

    Ties are in the order of sheet ids.

    Args:
        scores: Scores of all n sheets.
        top_k: Largest number of positions.
        allowed: Row ids that may be returned, ascending; None for all.
    """
    snapshot, fused = scores.snapshot, scores.fused
    n = len(fused)
    if allowed is not None:
        outside = np.isin(snapshot.ids, allowed, assume_unique=True, invert=True)
        fused = np.where(outside, np.float32(-np.inf), fused)
    bound = np.partition(fused, n - top_k)[n - top_k] if top_k < n else -np.inf
    found = np.flatnonzero((fused >= bound) & (fused > -np.inf))
    order = np.lexsort((snapshot.tie_rank[found], -fused[found]))
    return found[order[:top_k]]
