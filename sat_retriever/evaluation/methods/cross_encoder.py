"""Rank with a Cross-Encoder, which reads every candidate together with the question."""

from __future__ import annotations

from pathlib import Path

from sat_retriever.evaluation.method import Method
from sat_retriever.evaluation.methods.second_stage import second_stage
from sat_retriever.index.index import SheetIndex
from sat_retriever.rank.cross_encoder import CrossEncoderReranker


def cross_encoder(index: SheetIndex, folder: Path) -> Method:
    """Rank candidates by the Cross-Encoder in a folder.

    Source: paper, section 4 (compared methods).

    Raises:
        EncoderError: If the folder holds no Cross-Encoder.
        FingerprintMismatchError: If it was trained on other tokens than the index has.
    """
    return second_stage(index, CrossEncoderReranker.load(index, folder))
