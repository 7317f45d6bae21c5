"""Score one query against every sheet: cosine, names, contents, and all as one score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from sat_retriever.index.search.fusion import fused, phrases_first, time_factors
from sat_retriever.index.search.matches import Matches
from sat_retriever.index.search.snapshot import Snapshot
from sat_retriever.index.store.store import Store
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.lexical import rarity
from sat_retriever.text.period.spans import Span

# Share of its score that documentation keeps, unless the query asks for documentation.
# nDCG@10 on EPS's development questions with 1, .9, .8, .7, .6: .494, .561, .566, .566, .566.
DOCUMENTATION = 0.8
# Largest share of its score that a sheet loses beside its workbook's main sheet. nDCG@10 on EPS's
# development questions with 0, .2, .3, .4: .562, .637, .643, .647; on made questions about values
# of its cells .693, .689, .686, .684 (benchmarks/LOG.md).
BESIDE_MAIN = 0.2
_SAME = np.float32(1e-6)  # largest difference of scores with one rank


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """Everything beside a sheet that its score depends on."""

    text: str  # the query, without lone surrogates
    token: FloatArray = field(repr=False)  # its token (d,) float32, unit length
    asked: tuple[Span, ...]  # the periods that it names and that count
    dense_weight: float  # share of the cosine in scores, in [0, 1]


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Scores of every sheet of a snapshot for one query, each array (n,) float32."""

    snapshot: Snapshot
    # Scores that rank candidates; in [-1, 1], or down to -1.5 if periods or a role hold back a
    # negative score.
    fused: FloatArray
    dense: FloatArray  # cosine of query and sheet token, in [-1, 1]
    # The sheets that the query's words find; its `names`, `contents` and `together` are BM25 as a
    # share of the query's best possible value, in [0, 1].
    matches: Matches
    time: FloatArray  # share of each fused score that the query's periods leave, in (0, 1]
    role: FloatArray  # share that the sheet's place in its workbook leaves, in (0, 1]
    token: FloatArray  # query token, shape (d,), unit length
    asked: tuple[Span, ...]  # the periods that the query names, if they hold sheets back
    weight: float  # share of the cosines in `fused`, in [0, 1]
    mean: float | None = None  # mean of `dense` over all sheets, if the snapshot is a part of them
    # Scores of more sheets, with cosines of codes, of which these are the best.
    wide: Scores | None = field(default=None, repr=False)

    def weighing(self, dense_weight: float) -> Scores:
        """The same scores, fused with another share of the cosines, in [0, 1]."""
        held = self.time * self.role
        found = fused(self.dense, self.matches.together, held, dense_weight)
        scores = phrases_first(found, self.matches.phrase)
        return replace(self, fused=scores, weight=dense_weight)

    def without_times(self) -> Scores:
        """The same scores as if the query named no period."""
        return replace(self, time=np.ones_like(self.time), asked=()).weighing(self.weight)

    def within(self, allowed: NDArray[np.int64]) -> Scores:
        """The same scores, without periods if no sheet of some ascending row ids lies in them."""
        if not self.asked:
            return self
        times = self.time[np.isin(self.snapshot.ids, allowed, assume_unique=True)]
        return self if times.max(initial=0) == 1 or not len(times) else self.without_times()

    def exact(self, store: Store, rows: NDArray[np.intp]) -> Scores:
        """Scores, by exact cosines, of sheets at ascending positions, in the snapshot's state."""
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
        """The same scores, with the cosines that parts of them have."""
        dense = self.dense.copy()
        for part in parts:
            rows = np.searchsorted(self.snapshot.ids, part.snapshot.ids)
            dense[rows] = part.dense
        return replace(self, dense=dense).weighing(self.weight)

    def candidates(self, sheets: Mapping[str, int], first: int = 1) -> list[Candidate]:
        """Sheets as candidates, in their order, given the position of each by its id.

        Ranks by cosine and by words count the sheets of `wide`, if there are any. The rank of the
        first candidate is `first`.
        """
        rows = np.fromiter(sheets.values(), dtype=np.intp, count=len(sheets))
        found, every = self.matches, self.wide or self
        ranks = (
            _ranks(every.dense, self.dense[rows]),
            _ranks(every.matches.names, found.names[rows]),
            _ranks(every.matches.contents, found.contents[rows]),
        )
        return [
            Candidate(
                sheet_id=sheet_id,
                rank=rank,
                score=float(self.fused[row]),
                dense=float(self.dense[row]),
                lexical=float(found.names[row]),
                dense_rank=int(dense_rank),
                lexical_rank=int(names_rank) if found.names[row] else None,
                time=float(self.time[row]),
                contents=float(found.contents[row]),
                contents_rank=int(contents_rank) if found.contents[row] else None,
                role=float(self.role[row]),
                phrase=found.phrase is not None and bool(found.phrase[row]),
                together=float(found.together[row]),
            )
            for rank, (sheet_id, row, dense_rank, names_rank, contents_rank) in enumerate(
                zip(sheets, rows, *ranks, strict=True), first
            )
        ]


def rank_of(scores: Scores, row: int, allowed: NDArray[np.int64] | None) -> tuple[int, int | None]:
    """Rank of the sheet at a position, and the position right above it; None for the first.

    Equal scores come in the order of sheet ids. Only sheets of the ascending row ids `allowed`
    count; None allows all.
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
    """Ranks of some scores among all n; equal scores share one.

    The last bits of a product depend on the place of a row in its matrix, so they do not count.
    """
    above = np.sort(scores[scores > own.min(initial=np.inf)])
    return 1 + len(above) - np.searchsorted(above, own + _SAME, side="right")


def score_all(snapshot: Snapshot, query: Query, matches: Matches) -> Scores:
    """Score all sheets of a snapshot.

    Source: paper, section 3.3 (cosine over all tokens). Departs: the score is a convex combination
    with BM25, and with both over contents; and sheets of other periods than the query names,
    documentation and sheets beside a main sheet are held back. A dense weight of 1 gives the
    paper's order where there are none of these.
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


def role_factors(snapshot: Snapshot, matches: Matches) -> FloatArray:
    """Share of each sheet's score that its place in its workbook leaves, (n,), in (0, 1].

    Documentation is held back. So is a sheet beside its workbook's main sheet, more the more of
    the query the names of the main sheet cover. Neither is if the query asks for documentation.
    """
    factors = np.ones(len(snapshot.ids), dtype=np.float32)
    if not matches.explaining:
        main = snapshot.main
        factors[main.others] -= np.float32(BESIDE_MAIN) * main.best(matches.names)
        factors[snapshot.documentation.rows] *= np.float32(DOCUMENTATION)
    return factors


def best_rows(scores: Scores, top_k: int, allowed: NDArray[np.int64] | None) -> NDArray[np.intp]:
    """Positions of the `top_k` sheets with the highest fused scores, best first.

    Ties are in the order of sheet ids. Only the ascending row ids `allowed` count; None allows all.
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


@dataclass(frozen=True, slots=True)
class Evidence:
    """Two signs that sheets hold an answer; more of each is a stronger sign.

    Attributes:
        fit: Share of the query that the words of the best sheet cover, in [0, 1], plus the excess
            of its cosine over the mean of all sheets.
        surprise: How much rarer than by chance a sheet has its words: 0 if one sheet of all
            would have them, were they strewn over the sheets; 1 if one of that many squared would.
    """

    fit: float
    surprise: float


NO_EVIDENCE = Evidence(0.0, -1.0)


def evidence(scores: Scores, rows: NDArray[np.intp], counted: int | None = None) -> Evidence:
    """Evidence among the sheets at some ascending positions of a snapshot.

    If the snapshot is a part, with the best, of the sheets that count, `counted` is their number.
    How many of them have a word is then taken in proportion from all sheets, and the mean cosine is
    that of all.
    """
    if not len(rows):
        return NO_EVIDENCE
    number = len(rows) if counted is None else counted
    part = None if counted is None else counted / scores.snapshot.sheets
    covered, rare = _words(scores.matches, rows, len(scores.dense), number, part)
    dense = scores.dense[rows]
    mean = dense.mean(dtype=np.float64) if scores.mean is None else scores.mean
    fits = covered[rows] + dense - mean
    best = int(fits.argmax())
    return Evidence(
        fit=float(fits[best]),
        surprise=float(rare[rows[best]]) / float(np.log(max(2, number))) - 1,
    )


def _words(
    matches: Matches, rows: NDArray[np.intp], sheets: int, counted: int, part: float | None
) -> tuple[FloatArray, FloatArray]:
    """Share of the query that every sheet covers, and rareness of its words there, each (n,).

    Each word counts as much as it tells by itself (`rarity`), also a word that no sheet has. It is
    covered as far as the sheet's better score for it, by names or by contents, comes to the most
    possible. A sheet that holds a phrase of the query covers all of it. The rareness is the sum of
    log(m / df) over the words that a sheet has; of m sheets that count df have the word.
    """
    covered, rare = np.zeros((2, sheets), dtype=np.float32)
    share = np.zeros(sheets, dtype=np.float32)  # of one word; zeros between words
    counts = np.zeros(sheets, dtype=np.bool_)
    counts[rows] = True
    total = 0.0
    for word in matches.found:
        telling = rarity(word.word)
        total += telling
        having = word.better(share)
        covered[having] += np.float32(telling) * share[having]
        share[having] = 0
        number = np.count_nonzero(counts[having]) if part is None else word.sheets * part
        rare[having] += np.float32(np.log(counted / max(round(number), 1)))
    if total:
        covered /= np.float32(total)
    if matches.phrase is not None:
        covered[matches.phrase] = 1
    return covered, rare
