"""Rankings on real workbooks, by people's own words: the default, its parts, and plain parts.

    python -m benchmarks run real             the default beside simpler settings and plain parts
    python -m benchmarks run ladder           the default, one rung left out at a time
    python -m benchmarks run real --test      EPS's test part too, which is looked at once

Of each source in `real_lists` all questions are asked; of EPS those for development apart, and all
as one figure. Indexes and tokens are kept, so a stopped run goes on with them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.contents.tokens import CachedEncoder
from benchmarks.real import sources
from benchmarks.real.plain import cutter
from benchmarks.real.systems import ARCTIC, COMPARED, GENERAL, MINILM, RUNGS, Searched, System
from benchmarks.results import Result, read_results, write_result
from benchmarks.tables.real import real_tables
from sat_retriever.errors import CorpusError
from sat_retriever.metrics.rows import metrics_of, row_of

METRICS = ("NDCG@10", "Recall@1", "Recall@10")


def measured(on: Searched, system: System, parts: Sequence[str]) -> Iterator[Result]:
    """Yield a system's result on each part of a source.

    Hit@1 is the share of questions whose first sheet is a right one; Recall@k the mean share of
    the right sheets among the first k.
    """
    rankings, queries = system.rank(on), on.source.dataset.queries
    rows = [
        row_of(place, ranking, query.positives)
        for place, (ranking, query) in enumerate(zip(rankings, queries, strict=True))
    ]
    for part in parts:
        kept = [rows[place] for place in on.source.parts[part]]
        metrics: dict[str, Any] = {
            **metrics_of(kept, METRICS),
            "Hit@1": sum(1 in row["hits"] for row in kept) / len(kept),
            "role": on.source.role,
            "queries": len(kept),
            "sheets": len(on.sheets),
        }
        yield Result(system.name, on.source.name, metrics, part, None, kept)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every source, write result files, print the tables."""
    options = _parser().parse_args(arguments)
    benchmark, systems = ("ladder", RUNGS) if options.ladder else ("real", COMPARED)
    model = options.models / "arctic-embed-xs"
    named = {MINILM: MINILM, ARCTIC: str(model), GENERAL: GENERAL}
    encoders = {name: CachedEncoder.kept(each, options.work) for name, each in named.items()}
    cut = cutter(str(model / "tokenizer.json"))
    for name in options.sources or sources.names(options.data):
        try:
            source = sources.read(options.data, name)
        except CorpusError as error:
            sys.stderr.write(f"not run: {error}\n")
            continue
        root = source.dataset.root
        data = source.dataset.files if root is None else [root, *source.dataset.files]
        on = Searched(source, encoders, cut, options.work)
        parts = [part for part in source.parts if part != "test" or options.test]
        for system in systems:
            for result in measured(on, system, parts):
                write_result(benchmark, result, data=data, folder=options.out)
                sys.stderr.write(f"{result.name}: NDCG@10 {result.metrics['NDCG@10']:.3f}\n")
        on.close()
    sys.stdout.write(real_tables(read_results(benchmark, options.out)) + "\n")


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    made.add_argument("--data", type=Path, default=Path("../shared/data"))
    made.add_argument("--models", type=Path, default=Path("../shared/models"), help="encoders")
    made.add_argument("--work", type=Path, default=Path(".cache/real"), help="indexes and tokens")
    made.add_argument("--out", type=Path, help="folder of the results")
    made.add_argument("--sources", nargs="+", metavar="NAME", help="folders of real_lists, or eps")
    made.add_argument("--ladder", action="store_true", help="leave out one rung at a time")
    made.add_argument("--test", action="store_true", help="EPS's test part too")
    return made
