"""Draw the Cross-Encoder's pairs, and choose the weight of the Stage 1 score beside its logit."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sat_retriever.errors import InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.rank.cross_encoder import blended
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.serialize import serialize
from sat_retriever.train.data.trainingdata import NO_SHEET, QueryRows, TrainingData, ranked_metrics
from sat_retriever.train.encoder.mining import draw_negatives, draw_positives
from sat_retriever.train.loop.parallel import in_shares
from sat_retriever.train.loop.task import MEASURE
from sat_retriever.train.settings import CrossEncoderTraining

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class FoundSheets:
    """The sheets that Stage 1 found for m questions, best first; no relevant sheet is added."""

    rows: Rows  # of the sheets, (m, k), padded with `NO_SHEET`
    cosines: FloatArray  # (m, k) float32, 0 where there is no sheet


@dataclass(frozen=True, slots=True)
class PairCandidates:
    """The candidates of training and validation questions, and their provenance."""

    train: FoundSheets  # without held-out sheets
    validation: FoundSheets  # from all sheets
    encoder: str  # fingerprint; the cosines come from it
    serialization: str  # fingerprint of the texts of the sheets
    dense_weight: float  # share of the cosine in the score that ranked them

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits over encoder, texts and sheets found."""
        digest = hashlib.sha256(json.dumps([self.encoder, self.serialization]).encode("utf-8"))
        for found in (self.train, self.validation):
            digest.update(json.dumps(found.rows.shape).encode("utf-8"))
            digest.update(found.rows.tobytes())
        return digest.hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Pairs:
    """The p pairs of an epoch, question by question."""

    questions: Rows  # place of each pair's question, (p,)
    sheets: Rows  # row of each pair's sheet, (p,)
    relevant: NDArray[np.bool_]  # (p,)

    def __len__(self) -> int:
        return len(self.questions)


def pair_candidates(
    data: TrainingData, seen: SheetIndex, whole: SheetIndex, settings: CrossEncoderTraining
) -> PairCandidates:
    """Find the candidates of every question, through the index as in a search.

    `seen` is an index of the sheets that training may see, `whole` of all. Of several processes,
    each finds the candidates of its share of the questions and gets those of all.

    Raises:
        InputError: If the indexes do not have the data's sheets and texts, or differ in
            encoder or serialization.
    """
    for name in ("fingerprint", "serialization"):
        if getattr(seen, name) != getattr(whole, name):
            raise InputError(
                f"{seen.path} and {whole.path} differ in {name}; write both indexes with the "
                "same encoder and serialization"
            )
    allowed = np.isin(np.arange(len(data.sheet_ids)), data.seen)
    share = whole.dense_weight if settings.dense_weight is None else settings.dense_weight
    train = _found(data, data.train, seen, settings.candidates, share)
    if not allowed[train.rows[train.rows != NO_SHEET]].all():
        raise InputError(
            f"{seen.path} holds sheets of {data.name} that are held out from training; give an "
            "index of those that training may see"
        )
    validation = _found(data, data.validation, whole, settings.candidates, share)
    texts = whole.serialization.fingerprint
    return PairCandidates(train, validation, whole.fingerprint, texts, share)


def draw_pairs(
    questions: QueryRows, found: FoundSheets, settings: CrossEncoderTraining, epoch: int
) -> Pairs:
    """Draw the pairs of an epoch: relevant sheets, and found sheets that are not relevant.

    A question has the same numbers of pairs in every epoch: min(positives, relevant sheets) and
    min(negatives, found sheets that are not relevant). Relevant sheets are drawn from all relevant
    ones, found or not. Draws are without replacement and depend on seed, epoch and the question's
    place.

    Source: paper, appendix (Cross-Encoder); it does not say how the pairs are chosen.
    """
    seed = (settings.seed, epoch)
    relevant = draw_positives(questions.positives, settings.positives, (*seed, 0))
    # The padding is no sheet, so it is no negative either.
    never = [(*gold, NO_SHEET) for gold in questions.positives]
    wrong = draw_negatives(found.rows, never, settings.negatives, "random", (*seed, 1))
    sheets = np.concatenate([relevant, wrong], axis=1)  # (m, positives + negatives)
    places, columns = np.nonzero(sheets != NO_SHEET)
    return Pairs(places, sheets[places, columns], columns < settings.positives)


def _found(
    data: TrainingData, questions: QueryRows, index: SheetIndex, count: int, dense_weight: float
) -> FoundSheets:
    """Find the candidates of some questions and check the texts of their sheets."""
    row_of = {sheet_id: row for row, sheet_id in enumerate(data.sheet_ids)}

    def of(texts: Sequence[str]) -> Iterator[Sequence[Candidate]]:
        for text in texts:
            yield index.candidates(index.question(text, dense_weight=dense_weight), count)

    lists = in_shares(questions.texts, of, index.device)
    _check_texts(data, row_of, lists, index)
    width = max(map(len, lists), default=0)
    rows = np.full((len(lists), width), NO_SHEET, dtype=np.int64)  # (m, k)
    cosines = np.zeros((len(lists), width), dtype=np.float32)
    for place, candidates in enumerate(lists):
        rows[place, : len(candidates)] = [row_of[each.sheet_id] for each in candidates]
        cosines[place, : len(candidates)] = [each.dense for each in candidates]
    return FoundSheets(rows, cosines)


def _check_texts(
    data: TrainingData,
    row_of: dict[str, int],
    lists: Sequence[Sequence[Candidate]],
    index: SheetIndex,
) -> None:
    wanted = sorted({candidate.sheet_id for candidates in lists for candidate in candidates})
    for sheet_id, record in index.records(wanted).items():
        row = row_of.get(sheet_id)
        if row is None or serialize(record, index.serialization) != data.sheets[row]:
            raise InputError(
                f"the sheet {sheet_id!r} of {index.path} is not in {data.name}, or has another "
                "text there; index the same sheets with the same serialization"
            )


@dataclass(frozen=True, slots=True)
class Blend:
    """The chosen weight of the Stage 1 score, and its result."""

    weight: float
    ndcg: dict[float, float]  # mean NDCG@5 over the questions, by weight
    ranked: Rows  # rows of sheets at that weight, best first, (m, k), padded


def choose_blend(
    logits: FloatArray,
    found: FoundSheets,
    questions: QueryRows,
    sheet_ids: Sequence[str],
    weights: Sequence[float],
) -> Blend:
    """Choose the weight with the highest mean NDCG@5; the smallest among equals.

    The score is the logit, (m, k), plus the weight times the cosine; ties are in the order of sheet
    ids.

    Source: paper, appendix (Cross-Encoder).
    """
    rankings = {w: _ranked(logits, found, sheet_ids, w) for w in sorted(weights)}
    measured = {
        w: ranked_metrics(each, questions, (MEASURE,))[MEASURE] for w, each in rankings.items()
    }
    best = max(measured, key=lambda w: measured[w])  # of equals the first, as weights ascend
    return Blend(best, measured, rankings[best])


def _ranked(
    logits: FloatArray, found: FoundSheets, sheet_ids: Sequence[str], weight: float
) -> Rows:
    """Return the sheets of each question by logit + w · cosine, best first, (m, k)."""
    there = found.rows != NO_SHEET
    scores = np.where(there, blended(logits, found.cosines, weight), -np.inf)
    tie = np.empty(len(sheet_ids), dtype=np.int64)
    tie[sorted(range(len(sheet_ids)), key=lambda row: sheet_ids[row])] = np.arange(len(sheet_ids))
    order = np.lexsort((tie[found.rows], -scores), axis=1)
    ranked: Rows = np.take_along_axis(found.rows, order, axis=1)
    return ranked
