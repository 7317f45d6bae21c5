"""Features of a candidate list: numbers that mean the same in every corpus."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sat_retriever.index.search.candidates import CandidateSet
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.contents import Role
from sat_retriever.records.links import Link, LinkType
from sat_retriever.records.tokens import FloatArray

LINKED = (
    LinkType.FORMULA_REFERENCE, LinkType.AGGREGATION, LinkType.SUMMARY_SOURCE,
    LinkType.JOIN_KEY, LinkType.SIBLING_PERIOD,
)  # fmt: skip
"""Types of links that features are made of."""
SPEAKING = 10  # best candidates whose links to the others count
ROLES = tuple(Role)


@dataclass(frozen=True, slots=True)
class CandidateList:
    """One question's k candidates after links, best first, with the facts about them."""

    # The candidates; `score` is the score that the ranking starts from.
    candidates: tuple[Candidate, ...]
    # Their scores before links and reading, (k,); the score itself for an added sheet.
    before: FloatArray
    added: NDArray[np.bool_]
    # Number of each candidate's workbook, (k,), from 0 in the order of the list.
    homes: NDArray[np.intp]
    roles: NDArray[np.intp]  # place of each candidate's role in `ROLES`, (k,)
    sizes: FloatArray  # rows and columns, (k, 2); NaN if unknown
    limits: FloatArray  # weight of each word of the question, (w,); they sum to 1, or w is 0
    shares: FloatArray  # what each word adds to each candidate's score by names, (w, k)
    # Weight of the strongest link of each type, (t, 2, k, k). Entry [t, 0, j, i]: sheet i depends
    # on sheet j. Entry [t, 1, i, j]: the same link from the other end. Links of the `SPEAKING` best
    # alone.
    links: FloatArray
    covered: float  # most of the question that the names of one sheet cover, in [0, 1]
    # Share of the weight of its words that contents have and names have not, in [0, 1].
    alone: float
    named: float  # share of the weight of its words that names have, in [0, 1]
    words: int
    explaining: bool
    dense_weight: float  # share of the cosines in its scores
    contents: bool
    size: int

    def each(self, *names: str) -> FloatArray:
        """Return n attributes of all candidates, (n, k) float32; None becomes NaN."""
        found = [[getattr(each, name) for each in self.candidates] for name in names]
        return np.array(found, dtype=np.float32)


def candidate_list(first: CandidateSet, order: CandidateSet) -> CandidateList:
    """Gather the facts of a list: `first` as Stage 1 found it, `order` after links."""
    found, ids, question = order.candidates, order.ids, order.question
    earlier = {candidate.sheet_id: candidate.score for candidate in first.candidates}
    homes, records, words = order.homes(ids), order.records(), order.word_shares()
    owned = [homes.get(each) or each for each in ids]
    numbers = {home: number for number, home in enumerate(dict.fromkeys(owned))}
    snapshot, matches = question.scores.snapshot, question.scores.matches
    rareness = matches.rareness
    total = rareness.names + rareness.contents or 1.0
    sizes = np.full((len(ids), 2), np.nan, dtype=np.float32)
    roles = np.zeros(len(ids), dtype=np.intp)
    for row, sheet_id in enumerate(ids):
        record = records.get(sheet_id)
        if record is not None:
            rows = np.nan if record.num_rows is None else record.num_rows
            sizes[row], roles[row] = (rows, len(record.columns)), ROLES.index(record.role)
    return CandidateList(
        candidates=found,
        before=np.array([earlier.get(c.sheet_id, c.score) for c in found], dtype=np.float32),
        added=np.array([c.sheet_id not in earlier for c in found]),
        homes=np.array([numbers[home] for home in owned], dtype=np.intp),
        roles=roles,
        sizes=sizes,
        limits=words.limits,
        shares=words.shares,
        links=_weights(ids, order.links(ids[:SPEAKING])),
        covered=matches.covered,
        alone=rareness.contents_alone / total,
        named=rareness.names / total,
        words=len(matches.words),
        explaining=matches.explaining,
        dense_weight=question.dense_weight,
        contents=bool(snapshot.contents),
        size=snapshot.sheets,
    )


def _weights(ids: Sequence[str], links: Sequence[Link]) -> FloatArray:
    place: Mapping[str, int] = {sheet_id: number for number, sheet_id in enumerate(ids)}
    kinds = {kind.value: number for number, kind in enumerate(LINKED)}
    found = np.zeros((len(LINKED), 2, len(ids), len(ids)), dtype=np.float32)
    for link in links:
        source, target = place.get(link.source), place.get(link.target)
        if source is not None and target is not None and source != target and link.type in kinds:
            of_kind = found[kinds[link.type]]
            of_kind[0, target, source] = max(of_kind[0, target, source], link.weight)
            of_kind[1, source, target] = max(of_kind[1, source, target], link.weight)
    return found


_NEAR = 15.0  # how fast a candidate's weight in its workbook's share falls with its gap
_MOST = 10  # neighbours that count
_SPREAD = (-3.0, 5.0)  # standard deviations
_SMALL = 1e-6
_JOINS = LINKED.index(LinkType.JOIN_KEY)
_READ = (
    "score", "dense", "lexical", "contents", "time", "role", "phrase",
    "dense_rank", "lexical_rank", "contents_rank",
)  # fmt: skip
"""Attributes of candidates that features are made of."""


class ListFeatures:
    """The features of one list; each attribute is (k,) float32, and computed once."""

    def __init__(self, known: CandidateList) -> None:
        self.known = known
        self._read: Mapping[str, FloatArray] = dict(zip(_READ, known.each(*_READ), strict=True))
        self.scores = self._read["score"]
        self.size = len(self.scores)
        best, worst = self.scores.max(), self.scores.min()
        self.rank = np.arange(self.size)
        self.gap = best - self.scores
        self.share = (self.scores - worst) / max(float(best - worst), _SMALL)

    def each(self, name: str) -> FloatArray:
        """Return one attribute of all candidates; None is NaN."""
        return self._read[name]

    @cached_property
    def of_contents(self) -> FloatArray:
        """Cosine with tokens of names and contents; NaN in an index without contents."""
        dense = self.each("dense")
        return dense if self.known.contents else np.full_like(dense, np.nan)

    # ---- workbooks

    @cached_property
    def members(self) -> NDArray[np.bool_]:
        """True if a candidate (column) is in a workbook (row), (h, k)."""
        numbers = np.arange(self.known.homes.max() + 1)
        found: NDArray[np.bool_] = numbers[:, None] == self.known.homes[None]
        return found

    def best_of_home(self, values: FloatArray) -> FloatArray:
        """Return the highest value in each candidate's workbook."""
        best = np.where(self.members, values[None], -np.inf).max(axis=1)
        return _f32(best[self.known.homes])

    def sum_of_home(self, values: FloatArray) -> FloatArray:
        """Return the sum of the values in each candidate's workbook."""
        return (self.members @ values)[self.known.homes]

    @cached_property
    def of_home(self) -> FloatArray:
        """Highest score in each candidate's workbook."""
        return self.best_of_home(self.scores)

    @cached_property
    def leader(self) -> NDArray[np.intp]:
        """Place of the best candidate of each candidate's workbook."""
        first = self.members.argmax(axis=1)  # candidates come best first
        found: NDArray[np.intp] = first[self.known.homes]
        return found

    @cached_property
    def best_sibling(self) -> FloatArray:
        """Share of the best other candidate of the workbook; 0 without one."""
        same = np.where(self.members[self.known.homes], self.share[None], 0)
        np.fill_diagonal(same, 0)
        return _f32(same.max(axis=1))

    def mean_of_three(self, values: FloatArray) -> FloatArray:
        """Return the mean of the three highest values in each candidate's workbook."""
        ordered = -np.sort(np.where(self.members, -values[None], np.inf), axis=1)[:, :3]
        found = np.where(np.isfinite(ordered), ordered, 0).sum(axis=1)
        return _f32((found / np.minimum(self.members.sum(axis=1), 3))[self.known.homes])

    # ---- words of names

    @cached_property
    def has(self) -> FloatArray:
        """1 if a candidate's names have a word, (w, k)."""
        return (self.known.shares > 0).astype(np.float32)

    @cached_property
    def home_has(self) -> FloatArray:
        """Number of candidates of each workbook that have a word, (w, h)."""
        return self.has @ self.members.T.astype(np.float32)

    @cached_property
    def home_covered(self) -> FloatArray:
        """Weight of the words that the workbook's candidates have together."""
        return (self.known.limits @ (self.home_has > 0))[self.known.homes]

    @cached_property
    def only_here(self) -> FloatArray:
        """Weight of the words that no other candidate of the workbook has."""
        single = self.has * (self.home_has[:, self.known.homes] == 1)
        return _f32(self.known.limits @ single)

    def added_to(self, places: NDArray[np.intp]) -> FloatArray:
        """Return what a candidate's words add to those of the candidate at a place."""
        return _f32(np.maximum(self.known.shares - self.known.shares[:, places], 0).sum(axis=0))

    # ---- links

    @cached_property
    def speaking(self) -> FloatArray:
        """Weight with which a candidate speaks for its neighbours: its squared share."""
        return np.where(self.rank < SPEAKING, self.share, 0) ** 2

    @cached_property
    def linked(self) -> FloatArray:
        """The strongest link of each kind and end to a candidate that speaks, (t, 2, k)."""
        heard = self.known.links[..., :SPEAKING] * self.speaking[:SPEAKING]
        return _f32(heard.max(axis=3))

    @cached_property
    def degrees(self) -> FloatArray:
        """Number of formula, aggregation and summary links at each end, (2, k) in [0, 1]."""
        count = (self.known.links[:3] > 0).any(axis=0).sum(axis=2)
        return _f32(np.minimum(count, _MOST) / _MOST)

    @cached_property
    def joined(self) -> FloatArray:
        """Sum over joins to candidates that speak, in [0, 1]."""
        joins = self.known.links[_JOINS].max(axis=0)
        return _f32(np.minimum((joins * self.speaking).sum(axis=1), 3) / 3)

    @cached_property
    def linked_to_first(self) -> FloatArray:
        """Weight of the strongest link of another type than sibling periods to the first."""
        return _f32(self.known.links[:4, ..., 0].max(axis=(0, 1)))


Feature = Callable[[ListFeatures], NDArray[np.floating] | float]


def _f32(values: ArrayLike) -> FloatArray:
    return np.asarray(values, dtype=np.float32)


def _standard(values: FloatArray) -> FloatArray:
    """Return values in standard deviations from their mean, in [-1, 1.7]; 0 for NaN."""
    known = values[~np.isnan(values)]
    if not len(known):
        return np.zeros_like(values)
    return _f32(_known((values - known.mean()) / (known.std() + 1e-4)).clip(*_SPREAD) / 3)


def _below_best(values: FloatArray) -> FloatArray:
    return _known(np.fmax.reduce(values) - values)


def _known(values: ArrayLike) -> FloatArray:
    found = _f32(values)
    return np.where(np.isnan(found), np.float32(0), found)


def _of(value: Callable[[CandidateList], float]) -> Feature:
    return lambda x: value(x.known)


def _role(number: int) -> Feature:
    return lambda x: (x.known.roles == number).astype(np.float32)


def _link(kind: int, end: int) -> Feature:
    return lambda x: x.linked[kind, end]


_ENDS = ("source", "target")

FEATURES: Mapping[str, Feature] = {
    # The score that the ranking starts from, and the place in it.
    "score": lambda x: x.scores,
    "gap": lambda x: x.gap,
    "share": lambda x: x.share,
    "one over rank": lambda x: 1 / (1 + x.rank),
    "log of rank": lambda x: np.log1p(x.rank) / 4,
    "lift": lambda x: x.scores - x.known.before,
    "added": lambda x: x.known.added.astype(np.float32),
    # The scores that it is made of.
    "cosine": lambda x: x.each("dense"),
    "cosine gap": lambda x: _below_best(x.each("dense")),
    "cosine standardised": lambda x: _standard(x.each("dense")),
    "words": lambda x: x.each("lexical"),
    "words gap": lambda x: _below_best(x.each("lexical")),
    "words standardised": lambda x: _standard(x.each("lexical")),
    "contents known": lambda x: (~np.isnan(x.of_contents)).astype(np.float32),
    "contents cosine": lambda x: _known(x.of_contents),
    "contents cosine gap": lambda x: _below_best(x.of_contents),
    "contents cosine standardised": lambda x: _standard(x.of_contents),
    "contents words": lambda x: x.each("contents"),
    "contents words gap": lambda x: _below_best(x.each("contents")),
    "time": lambda x: x.each("time"),
    "role factor": lambda x: x.each("role"),
    "phrase": lambda x: x.each("phrase"),
    "one over cosine rank": lambda x: _known(1 / x.each("dense_rank")),
    "one over words rank": lambda x: _known(1 / x.each("lexical_rank")),
    "one over contents rank": lambda x: _known(1 / x.each("contents_rank")),
    # Words of names, in the sheet and in its workbook.
    "covered": lambda x: x.known.limits @ x.has,
    "covered by workbook": lambda x: x.home_covered,
    "covered by workbook gap": lambda x: _below_best(x.home_covered),
    "added to leader": lambda x: x.added_to(x.leader),
    "added to first": lambda x: x.added_to(np.zeros(x.size, dtype=np.intp)),
    "only here": lambda x: x.only_here,
    # The workbook.
    "workbook gap": lambda x: x.scores[0] - x.of_home,
    "gap within workbook": lambda x: x.of_home - x.scores,
    "best sibling": lambda x: x.best_sibling,
    "workbook among best": lambda x: x.sum_of_home((x.rank < _MOST).astype(np.float32)) / _MOST,
    "workbook mass": lambda x: x.sum_of_home(np.exp(-_NEAR * x.gap)) / np.exp(-_NEAR * x.gap).sum(),
    "workbook cosine gap": lambda x: _below_best(x.best_of_home(x.each("dense"))),
    "workbook cosine": lambda x: x.mean_of_three(x.each("dense")),
    "workbook size": lambda x: np.log1p(x.sum_of_home(np.ones(x.size, dtype=np.float32))) / 4,
    "beside first": lambda x: ((x.known.homes == x.known.homes[0]) & (x.rank > 0)).astype("f4"),
    "first": lambda x: (x.rank == 0).astype(np.float32),
    # Links.
    **{
        f"{kind.value} {_ENDS[end]}": _link(number, end)
        for number, kind in enumerate(LINKED)
        for end in (0, 1)
    },
    "sources": lambda x: x.degrees[0],
    "targets": lambda x: x.degrees[1],
    "joined": lambda x: x.joined,
    "linked to first": lambda x: x.linked_to_first,
    # The sheet.
    **{f"role {role.value}": _role(number) for number, role in enumerate(ROLES)},
    "rows": lambda x: _known(np.log1p(x.known.sizes[:, 0])) / 8,
    "columns": lambda x: _known(np.log1p(x.known.sizes[:, 1])) / 4,
    # The question, the same for all candidates.
    "covered by names": _of(lambda known: known.covered),
    "named": _of(lambda known: known.named),
    "in contents alone": _of(lambda known: known.alone),
    "cosine weight": _of(lambda known: known.dense_weight),
    "index with contents": _of(lambda known: float(known.contents)),
    "question words": _of(lambda known: min(known.words, 20) / 20),
    "explaining": _of(lambda known: float(known.explaining)),
    "margin": lambda x: x.gap[1] if x.size > 1 else 0.0,
    "best score": lambda x: x.scores[0],
    "spread": lambda x: x.scores.std(),
    "index size": _of(lambda known: math.log1p(known.size) / 12),
}
"""Every feature by name, in the order of the columns."""


RELATIONS = (*(f"{kind.value} {end}" for kind in LINKED for end in _ENDS), "same workbook")
"""Relations of two candidates, in the order of `ListInputs.relations`."""


@dataclass(frozen=True, slots=True, eq=False)
class ListInputs:
    """The inputs of a model for a list of k candidates, best first."""

    features: FloatArray  # features of each candidate, (k, f), in the order of `FEATURES`
    # Relations of each candidate to the p best ones, (k, p, r), in the order of `RELATIONS`; p is
    # the smaller of k and `SPEAKING`. All are 0 for a sheet and itself.
    relations: FloatArray


def list_inputs(known: CandidateList) -> ListInputs:
    """Return the inputs of a model for a list of at least one candidate, best first."""
    read = ListFeatures(known)
    k, p = read.size, min(read.size, SPEAKING)
    features = np.empty((k, len(FEATURES)), dtype=np.float32)
    for column, feature in enumerate(FEATURES.values()):
        features[:, column] = feature(read)
    links = known.links[..., :p].reshape(-1, k, p)  # (2 t, k, p)
    beside = known.homes[:, None] == known.homes[None, :p]
    relations = np.concatenate([links, beside[None]]).astype(np.float32)
    relations[:, np.arange(p), np.arange(p)] = 0
    return ListInputs(features, np.ascontiguousarray(relations.transpose(1, 2, 0)))
