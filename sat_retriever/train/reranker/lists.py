"""Find the candidates that the trainings of all rerankers read, and rank them for the scorer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.metrics.rows import Rows
from sat_retriever.errors import EmptyInputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.search.question import Question
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.progress import Progress
from sat_retriever.train.loop.parallel import in_shares

Made = TypeVar("Made")


def gathered(
    index: SheetIndex,
    queries: Sequence[Query],
    count: int,
    read: Callable[[Question, Sequence[Candidate]], Made],
    *,
    dense_weight: float | None = None,
    progress: Progress | None = None,
) -> list[Made]:
    """Find the candidates of questions as a search would, and read each list.

    No relevant sheet is added. To train without held-out sheets, pass an index without them. Of
    several processes, each reads the lists of its share of the questions and gets those of all.

    Source: paper, section 3.4 and appendix A (real candidate sets from the whole corpus).
    """
    if not queries:
        raise EmptyInputError("there are no questions to find candidates for; give some labels")
    if not len(index):
        raise EmptyInputError(f"{index.path} has no sheets; index some folders first")

    def of(share: Sequence[Query]) -> Iterator[Made]:
        for done, query in enumerate(share, start=1):
            question = index.question(query.text, dense_weight=dense_weight)
            yield read(question, index.candidates(question, count))
            if progress:
                progress(done, len(share))

    return in_shares(queries, of, index.device)


def ranked_rows(
    order: NDArray[np.intp],
    relevant: NDArray[np.bool_],
    positives: Sequence[int],
    first_is_hard: Sequence[bool | None] | None = None,
) -> Rows:
    """Return one row a question of candidates in an order, places (b, k), best first.

    Args:
        order: Places of the candidates, padding last.
        relevant: Marks relevant candidates, (b, k).
        positives: Numbers of relevant sheets, found or not; those that were not found are missed.
        first_is_hard: True if the best one is a hard negative; None if the question has none.
    """
    hits = np.take_along_axis(relevant, order, axis=1)
    hard = [None] * len(hits) if first_is_hard is None else first_is_hard
    return [
        {
            "query": place,
            "relevant": int(positives[place]),
            "hits": (np.flatnonzero(found) + 1).tolist(),
            "hard": hard[place],
        }
        for place, found in enumerate(hits)
    ]


def hash_of(known: object, arrays: Iterable[NDArray[np.generic]]) -> str:
    """Return sixteen hex digits over JSON values and arrays."""
    digest = hashlib.sha256(json.dumps(known).encode("utf-8"))
    for array in arrays:
        digest.update(str(array.shape).encode("utf-8"))
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()[:16]
