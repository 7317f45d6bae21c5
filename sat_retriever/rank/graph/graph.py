"""Build the graph of one query's candidates: tokens, scores, features and typed relations."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sat_retriever.errors import EmptyInputError, InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.search.fusion import fuse, fused
from sat_retriever.index.search.question import Question
from sat_retriever.rank.graph.channels import facts, link_types, relations
from sat_retriever.rank.graph.spec import GraphSpec
from sat_retriever.rank.links import LinkReranker
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.filters import Filters
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.records.tokens import FloatArray

MAX_ENTRIES = 2**25  # numbers in the relations of one graph: 128 MiB; the model needs more


@dataclass(frozen=True, slots=True)
class CandidateGraph:
    """One query's candidates, best first, as inputs of the reranker.

    Attributes:
        candidates: The k sheets; `score` is s, `rank` counts from 1.
        query: Query token (d,), unit length.
        tokens: Sheet tokens (k, d), rows of unit length.
        scores: Stage 1 scores s (k,), descending.
        features: Further inputs of the scorer (k, f), each in [-1, 1].
        relations: Fixed relations (c, k, k), entry [r, i, j] = "j speaks to i", in [0, 1]. The
            model normalises them and removes the diagonal. Relations that depend on learned
            states ("semantic", "query") are zero here.
    """

    candidates: tuple[Candidate, ...]
    query: FloatArray
    tokens: FloatArray
    scores: FloatArray
    features: FloatArray
    relations: FloatArray


def candidate_graph(
    index: SheetIndex,
    question: Question,
    candidates: Sequence[Candidate],
    spec: GraphSpec,
    filters: Filters | None = None,
) -> CandidateGraph:
    """Connect one query's candidates by typed relations, as inputs of a trained reranker.

    Source: paper, section 3.4 and appendix A (candidate graph). Departs: depending on the spec,
    other scores than the cosine rank the candidates, and links can add further ones.

    Args:
        index: Source of the candidates.
        question: The question that they were found for.
        candidates: The result of Stage 1, in any order, each once; at least one. Sheets that were
            removed from the index since are ignored.
        spec: The inputs of the reranker.
        filters: Conditions on sheets that links add.

    Raises:
        EmptyInputError: If there is no candidate.
        InputError: If there are too many candidates for the relations to fit in memory: more
            than 5,792 divided by the square root of the number of channels.
    """
    found = started(index, question, candidates, spec, filters)
    found, records, tokens = _present(index, found)
    ids, types = [candidate.sheet_id for candidate in found], link_types(spec.channels)
    links = index.links_between(ids, ids, types) if types else []
    return build_graph(question.token, tokens, found, records, links, spec)


def _present(
    index: SheetIndex, found: Sequence[Candidate]
) -> tuple[list[Candidate], dict[str, SheetRecord], FloatArray]:
    """Return the candidates that are still in the index, with their records and tokens."""
    while True:
        records = index.records([candidate.sheet_id for candidate in found])
        left = ranked(candidate for candidate in found if candidate.sheet_id in records)
        try:
            return left, records, index.tokens([candidate.sheet_id for candidate in left])
        except InputError:  # removed after its record was read: the next pass drops it
            found = left


def started(
    index: SheetIndex,
    question: Question,
    candidates: Sequence[Candidate],
    spec: GraphSpec,
    filters: Filters | None = None,
) -> list[Candidate]:
    """Return candidates with the score s that a reranker starts from, best first, with new ranks.

    Ties are in the order of sheet ids.
    """
    dense, _lexical = _parts(candidates)
    words = np.array([candidate.together for candidate in candidates], dtype=np.float32)
    held = np.array([each.time * each.role for each in candidates], dtype=np.float32)
    weight = 1.0 if spec.start == "dense" else spec.dense_weight
    scores = fused(dense, words, held, weight).tolist()
    scored = [replace(each, score=score) for each, score in zip(candidates, scores, strict=True)]
    if spec.start == "links":
        return LinkReranker(index).rerank(question.weighing(spec.dense_weight), scored, filters)
    return ranked(sorted(scored, key=lambda candidate: (-candidate.score, candidate.sheet_id)))


def ranked(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return the candidates with ranks from 1, in their order."""
    return [
        candidate if candidate.rank == rank else replace(candidate, rank=rank)
        for rank, candidate in enumerate(candidates, start=1)
    ]


def build_graph(
    query: FloatArray,
    tokens: FloatArray,
    candidates: Sequence[Candidate],
    records: Mapping[str, SheetRecord],
    links: Sequence[Link],
    spec: GraphSpec,
) -> CandidateGraph:
    """Build the graph of candidates from given parts; `candidate_graph` fetches these.

    Args:
        query: Query token (d,), unit length.
        tokens: Tokens of the candidates (k, d), in their order.
        candidates: The k candidates from `started`.
        records: Their records, and possibly others.
        links: Links between them, and possibly others.
        spec: The inputs of the reranker.

    Raises:
        EmptyInputError: If there is no candidate.
        InputError: If there are too many for their relations; see `MAX_ENTRIES`.
    """
    if not candidates:
        raise EmptyInputError("there are no candidates to connect; give one or more")
    most = math.isqrt(MAX_ENTRIES // max(len(spec.channels), 1))
    if len(candidates) > most and spec.channels:
        raise InputError(
            f"{len(candidates):,} candidates are too many for a graph of {len(spec.channels)} "
            f"channels; ask for {most:,} sheets at most"
        )
    dense, lexical = _parts(candidates)
    fused = fuse(dense, lexical, spec.dense_weight)
    by_name = {"lexical": lexical, "dense": dense, "fused": fused}
    features = np.empty((len(candidates), len(spec.features)), dtype=np.float32)  # (k, f)
    for column, name in enumerate(spec.features):
        features[:, column] = by_name[name]
    return CandidateGraph(
        candidates=tuple(candidates),
        query=query,
        tokens=tokens,
        scores=np.array([c.score for c in candidates], dtype=np.float32),
        features=features,
        relations=relations(spec.channels, facts(candidates, records, links)),
    )


def _parts(candidates: Sequence[Candidate]) -> tuple[FloatArray, FloatArray]:
    """Return the cosine and BM25 of candidates, each (k,)."""
    dense = np.array([candidate.dense for candidate in candidates], dtype=np.float32)
    return dense, np.array([candidate.lexical for candidate in candidates], dtype=np.float32)
