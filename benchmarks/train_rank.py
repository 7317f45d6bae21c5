"""Trained models as compared methods: what users run, from the folders that training wrote."""

from __future__ import annotations

from benchmarks.train_plan import Step
from benchmarks.train_runner import RUN, Places
from sat_retriever.evaluation.method import Method
from sat_retriever.evaluation.methods.bm25 import bm25
from sat_retriever.evaluation.methods.cross_encoder import cross_encoder
from sat_retriever.evaluation.methods.fused import fused
from sat_retriever.evaluation.methods.link_reranker import link_reranker
from sat_retriever.evaluation.methods.rag import rag
from sat_retriever.evaluation.methods.sat import sat
from sat_retriever.evaluation.methods.stage1 import stage1
from sat_retriever.index import SheetIndex


def first_stage(
    index: SheetIndex, *, trained: bool, dense_weight: float | None, walk: bool
) -> Method:
    """What needs no trained Stage 2.

    Args:
        index: Sheets in the tokens of the encoder.
        trained: Whether that encoder was.
        dense_weight: Share of the cosine; None is the index's own.
        walk: Whether the link reranker comes last.
    """
    if walk:
        return link_reranker(index, dense_weight)
    if dense_weight == 0:
        return bm25(index)
    if dense_weight == 1:
        return stage1(index) if trained else rag(index)
    return fused(index, dense_weight)


def second_stage(index: SheetIndex, step: Step, places: Places) -> Method:
    """What a trained reranker or Cross-Encoder makes of its candidates."""
    folder = places.folder(step) / RUN
    if step.kind == "cross_encoder":
        return cross_encoder(index, folder / "cross-encoder")
    return sat(index, folder / "reranker")
