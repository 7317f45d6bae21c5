"""Answers of an index in PostgreSQL beside those of its file, on every corpus.

    python -m benchmarks run equal_stores [--questions 300]

Each corpus is indexed into a file, with the contents that it has, and copied by `sat migrate`.
Both answer the same questions by the default path: links, copies, times and the trained features
count as everywhere. Sheets have random tokens, since equality does not depend on their values;
questions are really encoded.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.corpora import CORPORA, Corpus
from benchmarks.pgserver import Server, UnavailableError, new_server
from benchmarks.results import Result, write_result
from benchmarks.speed.latency import RandomTokens
from sat_retriever import SheetIndex, SheetRetriever
from sat_retriever.errors import CorpusError
from sat_retriever.index.store.opening import migrate_store
from sat_retriever.index.store.place import IndexUrl

BENCHMARK = "equal_stores"
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
    for query in track(asked, title, disable=not sys.stdout.isatty()):
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


def show(results: Sequence[Result]) -> Table:
    """Return results as a table for the terminal."""
    table = Table("corpus", "sheets", "questions", "same hits", "same scores", "links", box=None)
    for each in results:
        found: Mapping[str, Any] = each.metrics
        numbers = (found["sheets"], found["questions"], found["same_hits"], found["equal"])
        links = "equal" if found["equal_links"] else "differ"
        table.add_row(each.dataset, *map(str, numbers), links)
    return table


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare, print, write `results/equal_stores/`."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--questions", type=int, default=300, help="most of each corpus")
    parser.add_argument("--corpora", nargs="*", help="names; all by default")
    parser.add_argument("--results", type=Path, default=None)
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 140)
    results = []
    try:
        with new_server() as server:
            for name, corpus in CORPORA.items():
                if corpus.load is None or (options.corpora and name not in options.corpora):
                    continue
                try:
                    results.append(compared(corpus, options.data, server, options.questions))
                except CorpusError as error:
                    console.print(f"{name}: not run: {error}; get it from {corpus.source}")
                    continue
                write_result(BENCHMARK, results[-1], folder=options.results)
    except UnavailableError as reason:
        console.print(f"not run: {reason}")
        return
    console.print(show(results))
