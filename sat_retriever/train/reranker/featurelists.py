"""Build the training data of the feature reranker: lists of candidates as users would get them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.metrics.rows import Rows
from sat_retriever.errors import EmptyInputError, InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.search.question import Question
from sat_retriever.rank.features.features import (
    FEATURES,
    RELATIONS,
    SPEAKING,
    ListInputs,
    candidate_list,
    list_inputs,
)
from sat_retriever.rank.links.linkrank import LinkReranker
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.files import draft_of
from sat_retriever.records.progress import Progress
from sat_retriever.records.tokens import FloatArray
from sat_retriever.train.reranker.lists import gathered, hash_of, ranked_rows

CANDIDATES = 50
INPUTS = hashlib.sha256(f"{[*FEATURES]} {RELATIONS}".encode()).hexdigest()[:8]
"""Tells lists of other features and relations apart."""
MOST = 66  # candidates of a list: those of Stage 1, and those that links add
_ARRAYS = ("features", "relations", "scores", "mask", "relevant", "positives")
# Ids, scores, features and relations of one question's candidates.
_Found = tuple[list[str], FloatArray, FloatArray, NDArray[np.float16]]


@dataclass(frozen=True, slots=True, eq=False)
class FeatureLists:
    """The candidates of b questions after links, best first; no relevant sheet is added."""

    encoder: str  # fingerprint; it found them
    serialization: str  # fingerprint of the sheet texts
    features: FloatArray  # (b, k, f) float32; 0 for padding
    relations: NDArray[np.float16]  # of each to the p best, (b, k, p, r); 0 for padding
    scores: FloatArray  # after links, (b, k) float32; 0 for padding
    mask: NDArray[np.bool_]  # False for padding, (b, k)
    relevant: NDArray[np.bool_]  # (b, k)
    positives: NDArray[np.int64]  # relevant sheets of each question, found or not, (b,)
    corpora: NDArray[np.str_]  # name of each question's corpus, (b,)

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits over all inputs of a training on these lists."""
        known = [self.encoder, self.serialization, INPUTS]
        return hash_of(known, (getattr(self, name) for name in _ARRAYS))

    def save(self, file: Path) -> None:
        """Write the lists into a new file."""
        with draft_of(file) as draft, draft.open("wb") as out:
            np.savez_compressed(
                out, **{each.name: getattr(self, each.name) for each in fields(self)}
            )

    @classmethod
    def load(cls, file: Path) -> FeatureLists:
        """Read a file that `save` wrote."""
        with np.load(file, allow_pickle=False) as stored:
            arrays = {each.name: stored[each.name] for each in fields(cls)}
        return cls(str(arrays.pop("encoder")), str(arrays.pop("serialization")), **arrays)

    def inputs(self) -> Iterator[ListInputs]:
        """Yield what a model reads of each question's candidates, without padding."""
        for features, relations, mask in zip(self.features, self.relations, self.mask, strict=True):
            k = int(mask.sum())
            yield ListInputs(features[:k], relations[:k, :k].astype(np.float32))

    def lists(self) -> list[FloatArray]:
        """Return the features of each question's candidates, (k, f) each, without padding."""
        return [each.features for each in self.inputs()]

    def rows(self, values: FloatArray) -> Rows:
        """Return one row a question for the scorer, with candidates ranked by values, (b, k)."""
        falling = np.where(self.mask, -values.astype(np.float64), np.inf)
        order = np.argsort(falling, axis=1, kind="stable")
        return ranked_rows(order, self.relevant, self.positives.tolist())


def feature_lists(
    index: SheetIndex,
    queries: Sequence[Query],
    corpus: str = "",
    *,
    progress: Progress | None = None,
) -> FeatureLists:
    """Find the candidates of labelled questions in an index, and their features; see `gathered`.

    The index's encoder should not have learnt these questions, since its candidates would be better
    than those of a user's questions. Relevant sheets that the index lacks count as missed.
    """
    links = LinkReranker(index)

    def read(question: Question, first: Sequence[Candidate]) -> _Found:
        order = links.order(question, first)
        found = order.candidates[:MOST]
        known = candidate_list(index, question, first, replace(order, candidates=found))
        inputs = list_inputs(known)
        ids = [each.sheet_id for each in found]
        return ids, known.each("score")[0], inputs.features, inputs.relations.astype(np.float16)

    lists = gathered(index, queries, CANDIDATES, read, progress=progress)
    shape = (len(lists), MOST)
    features = np.zeros((*shape, len(FEATURES)), dtype=np.float32)
    relations = np.zeros((*shape, SPEAKING, len(RELATIONS)), dtype=np.float16)
    scores = np.zeros(shape, dtype=np.float32)
    mask, relevant = np.zeros(shape, dtype=np.bool_), np.zeros(shape, dtype=np.bool_)
    for row, (query, (ids, own_scores, own, related)) in enumerate(
        zip(queries, lists, strict=True)
    ):
        here = slice(0, len(ids))
        scores[row, here], features[row, here] = own_scores, own
        relations[row, here, : related.shape[1]] = related
        mask[row, here], relevant[row, here] = True, [each in query.positives for each in ids]
    positives = np.array([len(set(query.positives)) for query in queries], dtype=np.int64)
    return FeatureLists(
        index.fingerprint, index.serialization.fingerprint, features, relations, scores, mask,
        relevant, positives, np.array([corpus] * len(queries)),
    )  # fmt: skip


def joined_lists(parts: Sequence[FeatureLists]) -> FeatureLists:
    """Join the lists of several corpora, in their order."""
    if not parts:
        raise EmptyInputError("there are no lists to join; give one or more")
    made_by = {(each.encoder, each.serialization) for each in parts}
    if len(made_by) > 1:
        raise InputError("lists of several encoders or sheet texts; find all with one encoder")
    joined: Mapping[str, NDArray[np.generic]] = {
        name: np.concatenate([getattr(each, name) for each in parts])
        for name in (*_ARRAYS, "corpora")
    }
    return FeatureLists(parts[0].encoder, parts[0].serialization, **joined)  # type: ignore[arg-type]
