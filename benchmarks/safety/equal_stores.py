"""Answers of an index in PostgreSQL beside those of its file, on every corpus.

    python -m benchmarks run equal_stores [--questions 300]

Each corpus is indexed into a file, with the contents that it has, and copied by `sat migrate`.
Both answer the same questions by the default path: links, copies, times and the trained features
count as everywhere. Sheets have random tokens, since equality does not depend on their values;
questions are really encoded.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.corpora import CORPORA, Corpus
from benchmarks.pgserver import Server, new_server
from benchmarks.progress import track
from benchmarks.results import Result
from benchmarks.runner import Options, console, option, suite
from benchmarks.speed.latency import RandomTokens
from sat_retriever import SheetIndex, SheetRetriever
from sat_retriever.errors import CorpusError
from sat_retriever.index.store.opening import migrate_store
from sat_retriever.index.store.place import IndexUrl

_SHOWN = 20  # hits of an answer that are compared
_CLOSE = 1e-6


def compared(corpus: Corpus, data: Path, server: Server, most: int) -> Result:
    """Return how many answers of both stores are equal: the hits, their order, their scores.

    Args:
        corpus: The corpus.
        data: Folder of all corpora.
        server: The server.
        most: Most questions, spread over all.
    """
    dataset = corpus.read(data)
    places = np.unique(np.linspace(0, len(dataset.queries) - 1, most).astype(int))
    asked = [dataset.queries[place].text for place in places]
    with tempfile.TemporaryDirectory() as folder:
        file, url = Path(folder) / "index.sat", server.url(corpus.dataset)
        with SheetIndex.create(file, RandomTokens()) as index:
            if dataset.root is None:
                index.add_records(dataset.records)
            else:
                index.sync([dataset.root])
        migrate_store(file, IndexUrl.parse(url))
        with SheetIndex.open(file) as one, SheetIndex.open(url) as other:
            metrics = _equality(one, other, asked, corpus.title)
            mine, theirs = (index.links(index.sheet_ids()) for index in (one, other))
            metrics |= {"sheets": len(one), "links": len(mine), "equal_links": mine == theirs}
    return Result("sat-retriever", corpus.dataset, metrics)


def _equality(
    one: SheetIndex, other: SheetIndex, asked: Sequence[str], title: str
) -> dict[str, Any]:
    both = [SheetRetriever(index) for index in (one, other)]
    same = equal = 0
    largest = 0.0
    for query in track(asked, title):
        mine, theirs = (retriever.retrieve(query, _SHOWN) for retriever in both)
        if [hit.sheet_id for hit in mine] != [hit.sheet_id for hit in theirs]:
            continue
        same += 1
        apart = max((abs(a.score - b.score) for a, b in zip(mine, theirs, strict=True)), default=0)
        largest = max(largest, apart)
        equal += apart <= _CLOSE
    return {
        "questions": len(asked),
        "same_hits": same,
        "equal": equal,
        "largest_difference": float(f"{largest:.1e}"),
    }


@suite(
    "equal_stores",
    "data",
    questions=option(300, "most of each corpus"),
    corpora=option([*CORPORA], nargs="*", choices=[*CORPORA]),
)
def main(options: Options) -> Iterator[Result]:
    """Compare."""
    with new_server() as server:
        for name in options.corpora:
            corpus = CORPORA[name]
            if corpus.load is None:
                continue
            try:
                yield compared(corpus, options.data, server, options.questions)
            except CorpusError as error:
                console.print(f"{name}: not run: {error}; get it from {corpus.source}")
