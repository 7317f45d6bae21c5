"""The compared methods; each finds candidates and may rerank them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from sat_retriever.answer.retriever import CANDIDATES
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.metrics.rows import DEPTH, Ranked, Ranking, Run
from sat_retriever.errors import EncoderError, FingerprintMismatchError, PathNotFoundError
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.search.question import Question
from sat_retriever.rank.links.linkrank import LinkReranker
from sat_retriever.rank.load import (
    load_reranker,
    located_reranker,
    own_reranker,
    own_reranker_name,
    untrained_kind,
)
from sat_retriever.rank.reranker import Reranker
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.progress import Progress

T = TypeVar("T")
U = TypeVar("U")
Asked = Any  # a method's form of a question: the index's `Question`, or the text itself
Find = Callable[[Asked], Sequence[Candidate]]
Rerank = Callable[[Asked, Sequence[Candidate]], Sequence[Candidate]]
_OWN = "+ own reranker"
_ENCODER = "encoder"  # the folder of the encoder in a training's run


def no_progress(*_: object) -> None:
    """Ignore the progress."""


def in_slots(function: Callable[[T], U], items: Iterable[T], slots: int) -> Iterator[U]:
    """Yield what a function makes of each item, in order; it works on `slots` of them at a time.

    With one it works in this thread, so that an interrupt ends it at once.
    """
    if slots == 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(slots) as pool:
        yield from pool.map(function, items)


@dataclass(frozen=True, slots=True)
class Method:
    """One way to rank the sheets of an index."""

    find: Find  # Stage 1: candidates in the whole corpus, best first
    rerank: Rerank | None = None  # Stage 2: candidates in a new order
    ask: Callable[[str], Asked] = str  # makes the question from a text, once for both stages

    def stage1(self, query: str) -> tuple[Asked, Sequence[Candidate]]:
        """Return the question made from a text, and its candidates."""
        asked = self.ask(query)
        return asked, self.find(asked)

    def rank(self, query: str) -> Sequence[Candidate]:
        """Return the answer of both stages to a text."""
        asked, found = self.stage1(query)
        return found if self.rerank is None else self.rerank(asked, found)

    def run(
        self, queries: Mapping[int, Query], progress: Progress = no_progress, *, slots: int = 1
    ) -> Run:
        """Return the first 50 sheets of every question, by its place in the data set.

        `slots` questions are ranked at a time: more than one helps if a server answers them.
        """
        run: dict[int, Ranking] = {}
        texts = [query.text for query in queries.values()]
        for place, found in zip(queries, in_slots(self.rank, texts, slots), strict=True):
            run[place] = [Ranked(sheet.sheet_id, sheet.score) for sheet in found[:DEPTH]]
            progress(len(run), len(queries))
        return run


def second_stage(index: SheetIndex, reranker: Reranker) -> Method:
    """Rank with a reranker, over as many candidates and with the weight that it was trained on."""
    find = partial(index.candidates, top_k=reranker.trained_candidates or CANDIDATES)
    ask = partial(index.question, dense_weight=reranker.dense_weight)
    return Method(find, _stage2(index, reranker), ask)


def _stage2(index: SheetIndex, reranker: Reranker) -> Rerank:
    return lambda question, found: reranker.rerank(index.search.candidate_set(question, found))


def fused(
    index: SheetIndex, dense_weight: float | None = None, *, times: bool | None = None
) -> Method:
    """Rank sheets by cosine and BM25, and by the periods that questions name if these count.

    The paper has no such row. None takes the index's own share of the cosine, or its choice whether
    sheets of other periods are held back.
    """
    ask = partial(index.question, dense_weight=dense_weight, times=times)
    return Method(partial(index.candidates, top_k=DEPTH), ask=ask)


def bm25(index: SheetIndex) -> Method:
    """Rank the sheets with a word of the question by BM25 alone; the paper has no such row."""
    # At a weight of 0 the token has no effect; a given one saves encoding the question.
    token = np.eye(1, index.width, dtype=np.float32)[0]
    ask = partial(index.question, dense_weight=0.0, token=token, times=False)

    def find(question: Question) -> list[Candidate]:
        return [sheet for sheet in index.candidates(question, DEPTH) if sheet.lexical > 0]

    return Method(find, ask=ask)


def rag(index: SheetIndex) -> Method:
    """Rank sheets by cosine, in an index whose encoder was not trained on sheets.

    Source: paper, section 4 (compared methods). Departs: the encoder is the index's own, for
    example MiniLM in place of BGE.
    """
    return fused(index, 1.0, times=False)


def stage1(index: SheetIndex) -> Method:
    """Rank sheets by cosine, in an index whose encoder `sat train encoder` wrote.

    Source: paper, section 3.3. Only the index's encoder differs from RAG.
    """
    return rag(index)


def link_reranker(index: SheetIndex, dense_weight: float | None = None) -> Method:
    """Rank fused candidates by a walk over links (not in the paper); see `LinkReranker`."""
    return replace(fused(index, dense_weight), rerank=_stage2(index, LinkReranker()))


def named_methods(
    index: SheetIndex,
    rerankers: Iterable[str | Path] = (),
    lost: Callable[[str], None] | None = None,
) -> dict[str, Method]:
    """Return words, tokens, both, times, links, and trained rerankers, in the order of a table.

    Tokens are called Stage 1 if the index's encoder was trained on sheets, and RAG, as in the
    paper, if not. "+ own reranker" is the reranker that a search of this index uses, if that is
    a trained one. Further rerankers are folders, run folders of their trainings, or "general".
    `lost` receives the reason if the index's own reranker cannot be opened and has no row.

    Raises:
        PathNotFoundError: If there is no such folder, or the index's own reranker is missing and
            `lost` is None.
        InputError: If a folder holds no reranker.
        EncoderError: If the index's encoder or a reranker cannot be opened.
        FingerprintMismatchError: If a reranker was trained on other tokens than the index has.
    """
    encoder = encoder_label(index.encoder_name)
    trained = is_trained(index)
    methods = {
        "BM25": bm25(index),
        f"{'Stage 1' if trained else 'RAG'} ({encoder})": (stage1 if trained else rag)(index),
        "fused": fused(index, times=False),
        **({"+ times": fused(index)} if index.times else {}),
        "+ link reranker": link_reranker(index),
    }
    try:
        if not untrained_kind(own_reranker_name(index)):
            methods[_OWN] = second_stage(index, own_reranker(index))
    except (PathNotFoundError, EncoderError, FingerprintMismatchError) as error:
        if lost is None:
            raise
        lost(f"{_OWN} is left out: {error}")
    for folder in rerankers:
        name, method = _trained(index, str(folder))
        number, free = 1, name
        while free in methods:
            number += 1
            free = f"{name} {number}"
        methods[free] = method
    return methods


def is_trained(index: SheetIndex) -> bool:
    """True if the index's encoder was trained on questions, which also chose its weight."""
    return getattr(index.encoder, "dense_weight", None) is not None


def encoder_label(name: str) -> str:
    """Return an encoder's name for a table: the last meaningful part of its full name.

    >>> [encoder_label(name) for name in ("minilm", "BAAI/bge-base", "/data/runs/7/encoder")]
    ['minilm', 'bge-base', '7']
    """
    path = Path(name)
    return (path.parent.name if path.name == _ENCODER else path.name) or name


def _trained(index: SheetIndex, name: str) -> tuple[str, Method]:
    found = load_reranker(index, name)
    kind, _ = located_reranker(name)
    return f"{kind.label} ({Path(name).resolve().name})", second_stage(index, found)
