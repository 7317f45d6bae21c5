"""Corpora without cells, measured again beside their committed results, with intervals.

    python -m benchmarks run unchanged

IndustryTab, Spider and BIRD have names and headers alone. What is done with cells must not lower
their ranking: every row of `run quality` is measured again and compared, question by question,
with the result that is committed. The committed results are left as they are.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.corpora import where_to_get
from benchmarks.results import Result, read_results, write_result
from benchmarks.unlabelled.quality import QuerySet, measure, sets_of
from sat_retriever.datasets.metrics.comparison import difference
from sat_retriever.encoder import SheetEncoder
from sat_retriever.errors import CorpusError
from sat_retriever.records.tokens import Encoder

BENCHMARK, BEFORE = "unchanged", "quality"
METRIC = "NDCG@10"
File = Mapping[str, Any]


def compared(
    sets: Sequence[QuerySet], encoder: Encoder, label: str, before: Sequence[File]
) -> Iterator[Result]:
    """Yield each method's result, with its lead over the committed one and an interval.

    Args:
        sets: Questions over one and the same data set.
        encoder: Encoder of the tokens.
        label: Its name in result files.
        before: Committed results with their rows; a method without one is left out.
    """
    known = {(file["method"], file["dataset"], file["split"]): file for file in before}
    for result in measure(sets, encoder, label):
        file = known.get((result.method, result.dataset, result.split))
        if file is None:
            continue
        found = difference({None: result.per_query}, {None: file["per_query"]}, METRIC)
        metrics = {
            "queries": len(result.per_query),
            METRIC: result.metrics[METRIC],
            "before": file["metrics"][METRIC],
            "difference": found.mean,
            "interval": [found.low, found.high],
        }
        yield Result(result.method, result.dataset, metrics, result.split)


def show(results: Sequence[Result]) -> Table:
    """Return results as a table for the terminal."""
    table = Table("data set", "part", "ranking", METRIC, "before", "difference", "95 %", box=None)
    for each in results:
        metrics = each.metrics
        low, high = metrics["interval"]
        numbers = (f"{metrics[METRIC]:.3f}", f"{metrics['before']:.3f}")
        spread = (f"{metrics['difference']:+.4f}", f"{low:+.4f} to {high:+.4f}")
        table.add_row(each.dataset, each.split, each.method, *numbers, *spread)
    return table


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, compare, write result files, print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--encoder", default="minilm", help="that of the committed results")
    parser.add_argument("--out", type=Path, help="folder of the results")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 140)
    encoder, label = SheetEncoder.load(options.encoder), Path(options.encoder).name.lower()
    before = read_results(BEFORE)
    results: list[Result] = []
    for load in sets_of("unchanged", options.data):
        try:
            sets = load()
        except CorpusError as error:
            console.print(f"not run: {error}\nIt can be had from: {where_to_get('unchanged')}")
            continue
        for result in compared(sets, encoder, label, before):
            write_result(BENCHMARK, result, data=sets[0].dataset.files, folder=options.out)
            results.append(result)
    console.print(show(results))
