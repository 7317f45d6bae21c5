"""Find and draw the Cross-Encoder's pairs, and choose the weight of the score beside its logit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from sat_retriever.datasets.labels import Query
from sat_retriever.errors import InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.rank.cross_encoder import blended
from sat_retriever.records.progress import Progress
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.serialize import serialize
from sat_retriever.train.data.trainingdata import NO_SHEET, QueryRows, ranked_metrics
from sat_retriever.train.encoder.mining import draw_negatives, draw_positives
from sat_retriever.train.loop.task import MEASURE
from sat_retriever.train.reranker.lists import gathered, hash_of
from sat_retriever.train.settings import CrossEncoderTraining

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class PairLists:
    """The candidates of m questions, best first, as texts; no relevant sheet is added.

    A row is a place among the sheets, which are all candidates and all labelled ones.
    """

    encoder: str  # fingerprint; the cosines come from it
    serialization: str  # fingerprint of the texts of the sheets
    dense_weight: float  # share of the cosine in the score that ranked the candidates
    sheets: tuple[str, ...]  # texts, in the order of sheet ids
    questions: QueryRows
    rows: Rows  # of the candidates, (m, k), padded with `NO_SHEET`
    cosines: FloatArray  # (m, k) float32, 0 where there is no sheet

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits over all inputs of a training on these lists."""
        known = [self.encoder, self.serialization, self.sheets, asdict(self.questions)]
        return hash_of(known, (self.rows, self.cosines))


def pair_lists(
    index: SheetIndex,
    queries: Sequence[Query],
    settings: CrossEncoderTraining,
    *,
    progress: Progress | None = None,
) -> PairLists:
    """Find the candidates of labelled questions in an index, and their texts; see `gathered`."""
    weight = index.dense_weight if settings.dense_weight is None else settings.dense_weight
    lists = gathered(
        index, queries, settings.candidates,
        lambda _, found: [(each.sheet_id, each.dense) for each in found],
        dense_weight=weight, progress=progress,
    )  # fmt: skip
    labelled = {each for query in queries for each in (*query.positives, *query.hard_negatives)}
    records = index.records(sorted(labelled.union(each for found in lists for each, _ in found)))
    ids = sorted(records)
    row_of = {sheet_id: row for row, sheet_id in enumerate(ids)}
    for query in queries:
        if missing := set(query.positives) - row_of.keys():
            raise InputError(
                f"the question {query.text[:60]!r} has a relevant sheet {min(missing)!r} that is "
                f"not in {index.path}; index it, or leave the question out"
            )
    shape = (len(lists), max(map(len, lists)))
    rows, cosines = np.full(shape, NO_SHEET, dtype=np.int64), np.zeros(shape, dtype=np.float32)
    for place, found in enumerate(lists):
        rows[place, : len(found)] = [row_of[sheet_id] for sheet_id, _ in found]
        cosines[place, : len(found)] = [cosine for _, cosine in found]
    gold, hard = (
        tuple(tuple(sorted({row_of[each] for each in own if each in row_of})) for own in sheets)
        for sheets in ([q.positives for q in queries], [q.hard_negatives for q in queries])
    )
    return PairLists(
        index.fingerprint, index.serialization.fingerprint, weight,
        tuple(serialize(records[each], index.serialization) for each in ids),
        QueryRows(tuple(query.text for query in queries), gold, hard), rows, cosines,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pairs:
    """The p pairs of an epoch, question by question."""

    questions: Rows  # place of each pair's question, (p,)
    sheets: Rows  # row of each pair's sheet, (p,)
    relevant: NDArray[np.bool_]  # (p,)

    def __len__(self) -> int:
        return len(self.questions)


def draw_pairs(lists: PairLists, settings: CrossEncoderTraining, epoch: int) -> Pairs:
    """Draw the pairs of an epoch: relevant sheets, and candidates that are not relevant.

    A question has the same numbers of pairs in every epoch: min(positives, relevant sheets) and
    min(negatives, candidates that are not relevant). Relevant sheets are drawn from all relevant
    ones, found or not. Draws are without replacement and depend on seed, epoch and the question's
    place.

    Source: paper, appendix (Cross-Encoder); it does not say how the pairs are chosen.
    """
    gold, seed = lists.questions.positives, (settings.seed, epoch)
    relevant = draw_positives(gold, settings.positives, (*seed, 0))
    # The padding is no sheet, so it is no negative either.
    never = [(*rows, NO_SHEET) for rows in gold]
    wrong = draw_negatives(lists.rows, never, settings.negatives, "random", (*seed, 1))
    sheets = np.concatenate([relevant, wrong], axis=1)  # (m, positives + negatives)
    places, columns = np.nonzero(sheets != NO_SHEET)
    return Pairs(places, sheets[places, columns], columns < settings.positives)


@dataclass(frozen=True, slots=True)
class Blend:
    """The chosen weight of the Stage 1 score, and its result."""

    weight: float
    ndcg: dict[float, float]  # mean NDCG@5 over the questions, by weight
    ranked: Rows  # rows of sheets at that weight, best first, (m, k), padded


def choose_blend(logits: FloatArray, lists: PairLists, weights: Sequence[float]) -> Blend:
    """Choose the weight with the highest mean NDCG@5; the smallest among equals.

    The score is the logit, (m, k), plus the weight times the cosine; ties are in the order of sheet
    ids.

    Source: paper, appendix (Cross-Encoder).
    """
    rankings: dict[float, Rows] = {}
    for weight in sorted(weights):
        scores = blended(logits, lists.cosines, weight)
        scores = np.where(lists.rows == NO_SHEET, -np.inf, scores)
        order = np.lexsort((lists.rows, -scores), axis=1)  # the last key has priority
        rankings[weight] = np.take_along_axis(lists.rows, order, axis=1)
    measured = {
        weight: ranked_metrics(each, lists.questions, (MEASURE,))[MEASURE]
        for weight, each in rankings.items()
    }
    best = max(measured, key=lambda weight: measured[weight])  # of equals the first: ascending
    return Blend(best, measured, rankings[best])
