"""The rankings that are compared: words, cosine, and both, at each level of kept contents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from types import TracebackType

from benchmarks.indexes import fill
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.metrics.rows import DEPTH, row_of
from sat_retriever.evaluation.methods import Method, second_stage
from sat_retriever.index.index import SheetIndex
from sat_retriever.rank.load import own_reranker
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.contents import ContentsPolicy
from sat_retriever.records.tokens import Encoder, FloatArray

Ranking = Sequence[Candidate]
Rank = Callable[[SheetIndex, str, FloatArray], Ranking]


@dataclass(frozen=True, slots=True)
class System:
    """One row of a table.

    Attributes:
        name: Name in result files.
        title: Name in tables.
        level: What the index keeps of cells.
        rank: Ranks the sheets of an index for a question and its token, best first.
    """

    name: str
    title: str
    level: ContentsPolicy
    rank: Rank


def weighed(
    index: SheetIndex, query: str, token: FloatArray, *, dense_weight: float | None
) -> Ranking:
    """Return the best sheets with a share of the cosine; None takes the index's, as users do.

    Without the cosine only sheets that share a word with the question are ranked.
    """
    question = index.question(query, token=token, dense_weight=dense_weight)
    found = index.candidates(question, DEPTH)
    if dense_weight != 0:
        return found
    return [sheet for sheet in found if sheet.lexical > 0 or sheet.contents > 0]


def reranked(index: SheetIndex, query: str, _token: FloatArray | None = None) -> Ranking:
    """Return the sheets as a search does: candidates, in the order of the index's own reranker."""
    return _as_searched(index).rank(query)[:DEPTH]


@lru_cache(maxsize=1)
def _as_searched(index: SheetIndex) -> Method:
    return second_stage(index, own_reranker(index))


SYSTEMS = (
    System(
        "bm25_names", "BM25 over names", ContentsPolicy.NAMES, partial(weighed, dense_weight=0.0)
    ),
    System("bm25_all", "BM25 over all", ContentsPolicy.ALL, partial(weighed, dense_weight=0.0)),
    System(
        "dense_names", "dense over names", ContentsPolicy.NAMES, partial(weighed, dense_weight=1.0)
    ),
    System("dense_all", "dense over all", ContentsPolicy.ALL, partial(weighed, dense_weight=1.0)),
    System("names", "both, `names`", ContentsPolicy.NAMES, partial(weighed, dense_weight=None)),
    System("names_reranked", "both, `names`, reranked: as before", ContentsPolicy.NAMES, reranked),
    System(
        "examples", "both, `examples`", ContentsPolicy.EXAMPLES, partial(weighed, dense_weight=None)
    ),
    System("all", "both, `all`", ContentsPolicy.ALL, partial(weighed, dense_weight=None)),
    System("all_reranked", "both, `all`, reranked: the default", ContentsPolicy.ALL, reranked),
)


class Indexes:
    """The indexes of a corpus, one for each level of contents, made when they are needed.

    Args:
        dataset: The corpus.
        encoder: Encoder of its tokens.
        folder: Where their files are written.
    """

    def __init__(self, dataset: Dataset, encoder: Encoder, folder: Path) -> None:
        self._dataset = dataset
        self._encoder = encoder
        self._folder = folder
        self._open = ExitStack()
        self._made: dict[ContentsPolicy, SheetIndex] = {}

    def __enter__(self) -> Indexes:
        """Return the indexes; leaving the block closes them."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()

    def at(self, level: ContentsPolicy) -> SheetIndex:
        """Return the index that keeps this much."""
        if level not in self._made:
            path = self._folder / f"{level}.sat"
            index = self._open.enter_context(SheetIndex.create(path, self._encoder, contents=level))
            fill(index, self._dataset, "none")
            self._made[level] = index
        return self._made[level]


def asked(
    system: System, index: SheetIndex, queries: Mapping[int, Query], tokens: FloatArray
) -> list[dict[str, object]]:
    """Return one row a question: ranks of its sheets among the first fifty, number of its first.

    Args:
        system: The ranking.
        index: An index of its level.
        queries: Questions by their place in the data set.
        tokens: Tokens of the questions, in their order, (n, d).
    """
    numbers = {sheet: number for number, sheet in enumerate(index.sheet_ids())}
    rows = []
    for (place, query), token in zip(queries.items(), tokens, strict=True):
        found = system.rank(index, query.text, token)
        row = row_of(place, [sheet.sheet_id for sheet in found], query.positives)
        rows.append(row | {"about": numbers.get(query.positives[0], -1)})
    return rows
