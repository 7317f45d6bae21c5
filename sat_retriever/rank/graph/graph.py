"""Build the graph of one query's candidates: tokens, scores, features and typed relations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sat_retriever.errors import EmptyInputError, InputError
from sat_retriever.index.search.candidates import CandidateSet
from sat_retriever.index.search.fusion import fuse, fused
from sat_retriever.rank.graph.channels import facts, link_types, relations
from sat_retriever.rank.graph.spec import GraphSpec
from sat_retriever.rank.links.linkrank import LinkReranker
from sat_retriever.rank.reranker import ranked
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.records.tokens import FloatArray

MAX_ENTRIES = 2**25  # numbers in the relations of one graph: 128 MiB; the model needs more


@dataclass(frozen=True, slots=True)
class CandidateGraph:
    """One query's candidates, best first, as inputs of the reranker."""

    candidates: tuple[Candidate, ...]  # the k sheets; `score` is s, `rank` counts from 1
    query: FloatArray  # query token (d,), unit length
    tokens: FloatArray  # sheet tokens (k, d), rows of unit length
    scores: FloatArray  # stage 1 scores s (k,), descending
    features: FloatArray  # further inputs of the scorer (k, f), each in [-1, 1]
    # Fixed relations (c, k, k), entry [r, i, j] = "j speaks to i", in [0, 1]. The model normalises
    # them and removes the diagonal. Relations that depend on learned states ("semantic", "query")
    # are zero here.
    relations: FloatArray


def candidate_graph(found: CandidateSet, spec: GraphSpec) -> CandidateGraph:
    """Connect one query's candidates by typed relations, as inputs of a trained reranker.

    Source: paper, section 3.4 and appendix A (candidate graph). Departs: depending on the spec,
    other scores than the cosine rank the candidates, and links can add further ones.

    Candidates come in any order, each once. Sheets that were removed from the index since are
    ignored.

    Raises:
        EmptyInputError: If there is no candidate.
        InputError: If there are too many candidates for the relations to fit in memory: more
            than 5,792 divided by the square root of the number of channels.
    """
    present = found.present(started(found, spec))
    left, types = ranked(present.candidates), link_types(spec.channels)
    links = [link for link in present.links(present.ids) if link.type in types] if types else []
    return build_graph(found.question.token, present.tokens(), left, present.records(), links, spec)


def started(found: CandidateSet, spec: GraphSpec) -> list[Candidate]:
    """Return candidates by the score s that rerankers start from, best first, ties by sheet id."""
    candidates = found.candidates
    dense, _lexical = _parts(candidates)
    words = np.array([candidate.together for candidate in candidates], dtype=np.float32)
    held = np.array([each.time * each.role for each in candidates], dtype=np.float32)
    weight = 1.0 if spec.start == "dense" else spec.dense_weight
    scores = fused(dense, words, held, weight).tolist()
    scored = [replace(each, score=score) for each, score in zip(candidates, scores, strict=True)]
    if spec.start == "links":
        question = found.question.weighing(spec.dense_weight)
        return LinkReranker().rerank(found.of(scored, question=question))
    return ranked(sorted(scored, key=lambda candidate: (-candidate.score, candidate.sheet_id)))


def build_graph(
    query: FloatArray,
    tokens: FloatArray,
    candidates: Sequence[Candidate],
    records: Mapping[str, SheetRecord],
    links: Sequence[Link],
    spec: GraphSpec,
) -> CandidateGraph:
    """Build the graph of k `started` candidates, with tokens (k, d) in their order."""
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
    dense = np.array([candidate.dense for candidate in candidates], dtype=np.float32)
    return dense, np.array([candidate.lexical for candidate in candidates], dtype=np.float32)
