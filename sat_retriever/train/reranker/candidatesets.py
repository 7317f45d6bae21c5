"""Build the training data of the graph: the candidates that users would get for the queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.metrics.rows import Rows
from sat_retriever.errors import InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.search.question import Question
from sat_retriever.rank.graph.channels import LEARNT, link_types
from sat_retriever.rank.graph.graph import build_graph, started
from sat_retriever.rank.graph.spec import GraphSpec
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.links import Link
from sat_retriever.records.progress import Progress
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.records.tokens import FloatArray
from sat_retriever.train.data.trainingdata import defined_metrics
from sat_retriever.train.reranker.lists import gathered, hash_of, ranked_rows
from sat_retriever.train.settings import RerankerTraining

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class CandidateBatch:
    """The candidates of some questions, padded to the same k."""

    query: FloatArray  # (b, d) float32
    tokens: FloatArray  # of the n distinct sheets in these lists, (n, d) float32
    rows: NDArray[np.int64]  # place of each candidate in `tokens`, (b, k); padding has any place
    scores: FloatArray  # of Stage 1, (b, k) float32
    features: FloatArray  # further inputs of the scorer, (b, k, f) float32
    relations: FloatArray  # (b, c, k, k) float32; 0 for those that the model makes
    mask: Flags  # False for padding, (b, k)
    relevant: Flags  # (b, k)


@dataclass(frozen=True, slots=True)
class CandidateSets:
    """The candidates of b questions, best first; no relevant sheet is added.

    With c given relations it takes about `2 c k²` bytes per question: 20 kB for c = 4 and k = 50,
    so 280 MB for 14,000 questions. The token table is extra, one row per sheet. `relations` are the
    given ones, in the order of the spec's channels without those that the model makes: exact for
    links, to 0.05 % otherwise.
    """

    spec: GraphSpec  # how the candidates were found, and what the sets hold
    sheet_ids: tuple[str, ...]  # of the n sheets that are candidates anywhere, ascending
    table: FloatArray  # their tokens, (n, d) float32
    queries: FloatArray  # tokens, (b, d) float32
    rows: NDArray[np.int32]  # place in the table, (b, k); -1 for padding
    scores: FloatArray  # of Stage 1, (b, k) float32
    features: FloatArray  # further inputs of the scorer, (b, k, f) float32
    relations: NDArray[np.float16]  # (b, c', k, k)
    relevant: Flags  # (b, k)
    hard: Flags  # annotated hard negatives, (b, k)
    positives: NDArray[np.int64]  # relevant sheets of each question, found or not, (b,)
    judged: Flags  # questions with annotated hard negatives, (b,)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits over all inputs of a training on these sets."""
        arrays = (
            self.table, self.queries, self.rows, self.scores, self.features, self.relations,
            self.relevant, self.hard, self.positives, self.judged,
        )  # fmt: skip
        return hash_of([asdict(self.spec), self.sheet_ids], arrays)

    def batch(self, items: NDArray[np.int64]) -> CandidateBatch:
        """Return some of the questions as inputs of a model."""
        places = self.rows[items]  # (b, k)
        mask = places >= 0
        b, k = places.shape
        sheets, rows = np.unique(places, return_inverse=True)  # -1 selects the last sheet
        relations = np.zeros((b, len(self.spec.channels), k, k), dtype=np.float32)
        relations[:, given(self.spec.channels)] = self.relations[items]
        return CandidateBatch(
            query=self.queries[items],
            tokens=self.table[sheets],
            rows=rows.reshape(b, k),
            scores=self.scores[items],
            features=self.features[items],
            relations=relations,
            mask=mask,
            relevant=self.relevant[items],
        )

    def narrowed(self, settings: RerankerTraining) -> CandidateSets:
        """Return the same questions with the candidates and channels that some settings name.

        Sets with the most candidates and all channels thus serve trainings with fewer of either. An
        InputError if these sets lack an input of the training.
        """
        spec, share = self.spec, settings.dense_weight
        wanted = replace(
            spec, start=settings.start,
            dense_weight=spec.dense_weight if share is None else share,
            candidates=settings.candidates, features=settings.features,
            channels=settings.channels if settings.layers else (), layers=settings.layers,
        )  # fmt: skip
        if wanted == spec:
            return self
        fewer = wanted.candidates < spec.candidates and spec.start != "links"
        same = replace(
            wanted, channels=spec.channels, layers=spec.layers,
            candidates=spec.candidates if fewer else wanted.candidates,
        )  # fmt: skip
        if same != spec or not set(wanted.channels) <= set(spec.channels):
            raise InputError(
                "the candidate sets were built with other settings than the training's "
                f"({spec} against {wanted}); build them with candidate_sets and these settings"
            )
        held = [spec.channels[place] for place in given(spec.channels)]
        kept = [held.index(wanted.channels[place]) for place in given(wanted.channels)]
        k = wanted.candidates if fewer else self.rows.shape[1]
        return replace(
            self,
            spec=wanted,
            rows=self.rows[:, :k],
            scores=self.scores[:, :k],
            features=self.features[:, :k],
            relations=self.relations[:, kept, :k, :k],
            relevant=self.relevant[:, :k],
            hard=self.hard[:, :k],
        )


def given(channels: Sequence[str]) -> list[int]:
    """Return the places of the relations that come with the candidates, not from the model.

    >>> given(("semantic", "schema", "query", "shape"))
    [1, 3]
    """
    return [place for place, channel in enumerate(channels) if channel not in LEARNT]


def candidate_sets(
    index: SheetIndex,
    queries: Sequence[Query],
    settings: RerankerTraining,
    *,
    progress: Progress | None = None,
) -> CandidateSets:
    """Find connected candidates, see `gathered`; relevant sheets outside the index are missed."""
    share = settings.dense_weight
    spec = GraphSpec(
        encoder=index.fingerprint,
        serialization=index.serialization.fingerprint,
        width=index.encoder.width,
        start=settings.start,
        dense_weight=index.dense_weight if share is None else share,
        candidates=settings.candidates,
        features=settings.features,
        channels=settings.channels if settings.layers else (),
        layers=settings.layers,
    )
    types = link_types(spec.channels)
    links: defaultdict[str, list[Link]] = defaultdict(list)
    for link in index.all_links():
        if link.type in types:
            links[link.source].append(link)
    records: dict[str, SheetRecord] = {}

    def read(question: Question, first: Sequence[Candidate]) -> _Found:
        """Connect the candidates as in `candidate_graph`, but fetch each record once."""
        found = started(index.search.candidate_set(question, first), spec)
        ids = tuple(candidate.sheet_id for candidate in found)
        records.update(index.records([sheet_id for sheet_id in ids if sheet_id not in records]))
        own = [link for sheet_id in ids for link in links[sheet_id]]
        graph = build_graph(question.token, index.search.tokens(ids), found, records, own, spec)
        relations = graph.relations[given(spec.channels)].astype(np.float16)
        return _Found(question.token, ids, graph.scores, graph.features, relations)

    lists = gathered(
        index, queries, spec.candidates, read, dense_weight=spec.dense_weight, progress=progress
    )
    return _stacked(index, queries, spec, lists)


@dataclass(frozen=True, slots=True)
class _Found:
    """The k candidates of one question, with the parts of their graph that are kept."""

    query: FloatArray  # (d,)
    sheet_ids: tuple[str, ...]
    scores: FloatArray  # (k,)
    features: FloatArray  # (k, f)
    relations: NDArray[np.float16]  # (c', k, k)


def _stacked(
    index: SheetIndex, queries: Sequence[Query], spec: GraphSpec, found: Sequence[_Found]
) -> CandidateSets:
    sheet_ids = tuple(sorted({sheet_id for one in found for sheet_id in one.sheet_ids}))
    place = {sheet_id: row for row, sheet_id in enumerate(sheet_ids)}
    b, k = len(found), max(len(one.sheet_ids) for one in found)
    rows = np.full((b, k), -1, dtype=np.int32)
    scores = np.zeros((b, k), dtype=np.float32)
    features = np.zeros((b, k, len(spec.features)), dtype=np.float32)
    relations = np.zeros((b, len(given(spec.channels)), k, k), dtype=np.float16)
    relevant, hard = np.zeros((b, k), dtype=np.bool_), np.zeros((b, k), dtype=np.bool_)
    for row, (one, query) in enumerate(zip(found, queries, strict=True)):
        size = len(one.sheet_ids)
        rows[row, :size] = [place[sheet_id] for sheet_id in one.sheet_ids]
        scores[row, :size], features[row, :size] = one.scores, one.features
        relations[row, :, :size, :size] = one.relations
        relevant[row, :size] = [sheet_id in query.positives for sheet_id in one.sheet_ids]
        hard[row, :size] = [sheet_id in query.hard_negatives for sheet_id in one.sheet_ids]
    return CandidateSets(
        spec=spec,
        sheet_ids=sheet_ids,
        table=index.search.tokens(sheet_ids),
        queries=np.stack([one.query for one in found]),
        rows=rows,
        scores=scores,
        features=features,
        relations=relations,
        relevant=relevant,
        hard=hard,
        positives=np.array([len(set(query.positives)) for query in queries], dtype=np.int64),
        judged=np.array([bool(query.hard_negatives) for query in queries]),
    )


# ---- measures

CANDIDATE_METRICS = (
    "NDCG@5", "Recall@5", "Hit@5", "MRR@5", "HN-FPR@1", "NDCG@10", "Recall@10", "AllRelevant@10",
)  # fmt: skip
_MOST_SHEETS = 20  # most sheets in a complete answer
_SHARES = tuple(round(0.05 * step, 2) for step in range(1, 20))  # .05 ... .95


def candidate_metrics(sets: CandidateSets, logits: FloatArray) -> dict[str, float]:
    """Return means over the questions with candidates ranked by logits."""
    return defined_metrics(candidate_rows(sets, logits), CANDIDATE_METRICS)


def candidate_rows(sets: CandidateSets, logits: FloatArray) -> Rows:
    """Return one row a question, with candidates ranked by logits, (b, k).

    Ties are in the order of sheet ids. Relevant sheets that are not candidates count as missed.
    """
    order = candidate_order(sets, logits)
    first = np.take_along_axis(sets.hard, order[:, :1], axis=1)[:, 0].tolist()
    hard = [own if judged else None for own, judged in zip(first, sets.judged, strict=True)]
    return ranked_rows(order, sets.relevant, sets.positives.tolist(), hard)


def candidate_order(sets: CandidateSets, logits: FloatArray) -> NDArray[np.intp]:
    """Return the places of candidates, best first, (b, k); padding comes last."""
    falling = np.where(sets.rows >= 0, -logits.astype(np.float64), np.inf)
    order: NDArray[np.intp] = np.lexsort((sets.rows, falling), axis=1)  # the last key has priority
    return order


def complete_share(sets: CandidateSets, logits: FloatArray) -> float:
    """Return the share of the best score that gives the best complete answers, in (0, 1).

    The score is the sigmoid of the logit. An answer holds the candidates with at least that share
    of the question's best score, at most 20. The share with the best mean F1 wins; among equals
    the higher one, which gives shorter answers.
    """
    order = candidate_order(sets, logits)
    hits = np.take_along_axis(sets.relevant, order, axis=1)[:, :_MOST_SHEETS]
    ranked = np.take_along_axis(np.where(sets.rows >= 0, logits, -np.inf), order, axis=1)
    scores = (1 / (1 + np.exp(-ranked.astype(np.float64))))[:, :_MOST_SHEETS]
    means = []
    for share in _SHARES:
        taken = (scores >= share * scores[:, :1]) & np.isfinite(ranked[:, :_MOST_SHEETS])
        right = (hits & taken).sum(axis=1)
        means.append(float((2 * right / (taken.sum(axis=1) + sets.positives)).mean()))
    best = max(zip(means, _SHARES, strict=True))
    return best[1]
