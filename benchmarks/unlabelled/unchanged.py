"""Corpora without cells, measured again beside their committed results, with intervals.

    python -m benchmarks run unchanged

IndustryTab, Spider and BIRD have names and headers alone. What is done with cells must not lower
their ranking: every row of `run quality` is measured again and compared, question by question,
with the result that is committed. The committed results are left as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.corpora import where_to_get
from benchmarks.results import Result, read_results
from benchmarks.runner import Options, console, option, suite
from benchmarks.unlabelled.quality import QuerySet, measure, sets_of
from sat_retriever.datasets.metrics.comparison import difference
from sat_retriever.encoder import SheetEncoder
from sat_retriever.errors import CorpusError
from sat_retriever.records.tokens import Encoder

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


@suite("unchanged", "data", encoder=option("minilm", "that of the committed results"))
def main(options: Options) -> Iterator[Result]:
    """Measure and compare."""
    encoder, label = SheetEncoder.load(options.encoder), Path(options.encoder).name.lower()
    before = read_results("quality")
    for load in sets_of("unchanged", options.data):
        try:
            sets = load()
        except CorpusError as error:
            console.print(f"not run: {error}\nIt can be had from: {where_to_get('unchanged')}")
            continue
        for result in compared(sets, encoder, label, before):
            yield replace(result, data=sets[0].dataset.files)
