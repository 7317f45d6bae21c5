"""Trained models as rankings of a corpus: what users run, from the folders that training wrote."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from benchmarks.train_plan import Step
from benchmarks.train_runner import RUN, Places
from benchmarks.train_score import DEPTH
from sat_retriever.crossencoder import CrossEncoderReranker
from sat_retriever.graphrank.rerank import GraphReranker
from sat_retriever.index import SheetIndex
from sat_retriever.labels import Query
from sat_retriever.linkrank import LinkReranker
from sat_retriever.types import Candidate

Rank = Callable[[str], Sequence[Candidate]]
Run = dict[int, Sequence[Candidate]]


def ranking(
    index: SheetIndex, step: Step | None, dense_weight: float | None, places: Places
) -> Rank:
    """What a step, and those it rests on, make of a query; untrained without a step."""
    if step is None or step.kind == "encoder":
        return first_stage(index, dense_weight)
    return second_stage(index, step, places)


def first_stage(index: SheetIndex, dense_weight: float | None) -> Rank:
    """Candidates as Stage 1 finds them; without the cosine only sheets that share a word."""

    def rank(query: str) -> Sequence[Candidate]:
        found = index.candidates(query, DEPTH, dense_weight=dense_weight)
        return [sheet for sheet in found if dense_weight != 0 or sheet.lexical > 0]

    return rank


def second_stage(index: SheetIndex, step: Step, places: Places) -> Rank:
    """Candidates as a trained reranker or Cross-Encoder orders them."""
    folder = places.folder(step) / RUN
    if step.kind == "cross_encoder":
        pairs = CrossEncoderReranker.load(index, folder / "cross-encoder")
        depth = pairs.model.spec.candidates

        def by_pairs(query: str) -> Sequence[Candidate]:
            found = index.candidates(query, depth, dense_weight=pairs.dense_weight)
            return pairs.rerank(query, found)

        return by_pairs
    graph = GraphReranker.load(index, folder / "reranker")
    wanted = graph.model.spec.candidates

    def by_graph(query: str) -> Sequence[Candidate]:
        found = index.candidates(query, wanted, dense_weight=graph.dense_weight)
        return graph.rerank(query, found)

    return by_graph


def linked(rank: Rank, index: SheetIndex) -> Rank:
    """The ranking after the link reranker that needs no training."""
    links = LinkReranker(index)
    return lambda query: links.rerank(query, rank(query))


def ranked(rank: Rank, queries: Mapping[int, Query]) -> Run:
    """The ranking of every query."""
    return {place: rank(query.text) for place, query in queries.items()}
