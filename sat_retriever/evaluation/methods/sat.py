"""Rank with SAT: the gated relational graph over the candidates, or its base scorer alone."""

from __future__ import annotations

from pathlib import Path

from sat_retriever.evaluation.method import Method
from sat_retriever.evaluation.methods.second_stage import second_stage
from sat_retriever.index.index import SheetIndex
from sat_retriever.rank.graph.graphrank import GraphReranker


def sat(index: SheetIndex, folder: Path) -> Method:
    """Rank candidates by the trained Stage 2 in a folder, the paper's or ours.

    Source: paper, section 3.4.

    Raises:
        EncoderError: If the folder holds no such reranker.
        FingerprintMismatchError: If it was trained on other tokens than the index has.
    """
    return second_stage(index, GraphReranker.load(index, folder))
