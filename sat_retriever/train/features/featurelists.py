"""Build the training data of the feature reranker: lists of candidates as users would get them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.metrics.rows import Rows
from sat_retriever.errors import EmptyInputError, InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.rank.features.features import (
    FEATURES,
    RELATIONS,
    SPEAKING,
    ListInputs,
    candidate_list,
    list_inputs,
)
from sat_retriever.rank.links.linkrank import LinkReranker
from sat_retriever.records.files import draft_of
from sat_retriever.records.progress import Progress
from sat_retriever.records.tokens import FloatArray

CANDIDATES = 50
INPUTS = hashlib.sha256(f"{[*FEATURES]} {RELATIONS}".encode()).hexdigest()[:8]
"""Tells lists of other features and relations apart."""
MOST = 66  # candidates of a list: those of Stage 1, and those that links add


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
        """Sixteen hex digits over all of it."""
        digest = hashlib.sha256(f"{self.encoder} {self.serialization} {INPUTS}".encode())
        for name in ("features", "relations", "scores", "mask", "relevant", "positives"):
            digest.update(np.ascontiguousarray(getattr(self, name)).data)
        return digest.hexdigest()[:16]

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
        hits = np.take_along_axis(self.relevant, order, axis=1)
        return [
            {
                "query": place,
                "relevant": int(self.positives[place]),
                "hits": (np.flatnonzero(found) + 1).tolist(),
                "hard": None,
            }
            for place, found in enumerate(hits)
        ]


def feature_lists(
    index: SheetIndex,
    queries: Sequence[Query],
    corpus: str,
    *,
    progress: Progress | None = None,
) -> FeatureLists:
    """Find the candidates of labelled questions in an index, and their features.

    The index's encoder must not have learnt these questions, since its candidates would be better
    than those of a user's questions. Relevant sheets that the index lacks count as missed.

    Raises:
        EmptyInputError: If there is no question, or the index has no sheet.
        EncoderError: If the index's encoder cannot be loaded.
    """
    if not queries or not len(index):
        raise EmptyInputError(f"{corpus} has no questions or no sheets; give some of both")
    shape = (len(queries), MOST)
    features = np.zeros((*shape, len(FEATURES)), dtype=np.float32)
    relations = np.zeros((*shape, SPEAKING, len(RELATIONS)), dtype=np.float16)
    scores = np.zeros(shape, dtype=np.float32)
    mask, relevant = np.zeros(shape, dtype=np.bool_), np.zeros(shape, dtype=np.bool_)
    links = LinkReranker()
    for row, query in enumerate(queries):
        question = index.question(query.text)
        first = index.search.candidate_set(question, index.candidates(question, CANDIDATES))
        order = links.order(first)
        found = order.candidates[:MOST]
        known = candidate_list(first, order.of(found))
        own, gold = slice(0, len(found)), set(query.positives)
        read = list_inputs(known)
        features[row, own], scores[row, own] = read.features, known.each("score")[0]
        relations[row, own, : read.relations.shape[1]] = read.relations
        mask[row, own], relevant[row, own] = True, [each.sheet_id in gold for each in found]
        if progress:
            progress(row + 1, len(queries))
    positives = np.array([len(set(query.positives)) for query in queries], dtype=np.int64)
    return FeatureLists(
        index.fingerprint, index.serialization.fingerprint, features, relations, scores, mask,
        relevant, positives, np.array([corpus] * len(queries)),
    )  # fmt: skip


def joined_lists(parts: Sequence[FeatureLists]) -> FeatureLists:
    """Join the lists of several corpora, in their order.

    Raises:
        EmptyInputError: If there is no part.
        InputError: If their encoders or texts differ.
    """
    if not parts:
        raise EmptyInputError("there are no lists to join; give one or more")
    made_by = {(each.encoder, each.serialization) for each in parts}
    if len(made_by) > 1:
        raise InputError("lists of several encoders or sheet texts; find all with one encoder")
    joined: Mapping[str, NDArray[np.generic]] = {
        name: np.concatenate([getattr(each, name) for each in parts])
        for name in ("features", "relations", "scores", "mask", "relevant", "positives", "corpora")
    }
    return FeatureLists(parts[0].encoder, parts[0].serialization, **joined)  # type: ignore[arg-type]
