"""Rank by tokens and words together, as an index does by default."""

from __future__ import annotations

from functools import partial

from sat_retriever.datasets.metrics.run import DEPTH
from sat_retriever.evaluation.method import Method
from sat_retriever.index.index import SheetIndex


def fused(
    index: SheetIndex, dense_weight: float | None = None, *, times: bool | None = None
) -> Method:
    """Rank sheets by cosine and BM25, and by the periods that questions name if these count.

    The paper has no such row.

    Args:
        index: The index to search.
        dense_weight: Share of the cosine, in [0, 1]; None is the index's own.
        times: True holds back sheets of other periods; None takes the index's choice.
    """
    ask = partial(index.question, dense_weight=dense_weight, times=times)
    return Method(partial(index.candidates, top_k=DEPTH), ask=ask)
