"""Rankings on real workbooks, by people's own words: the default, its parts, and plain parts.

    python -m benchmarks run real             the default beside simpler settings and plain parts
    python -m benchmarks run ladder           the default, one rung left out at a time
    python -m benchmarks run real --test      EPS's test part too, which is looked at once

The ladder asks each ranking and the default every question in turn, for ten hits, and says beside
what a rung gains what it costs: milliseconds of processor time, and lines of code. Encoding of the
question is not part of that time.

Of each source in `real_lists` all questions are asked; of EPS those for development apart, and all
as one figure. Indexes and tokens are kept, so a stopped run goes on with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.contents.tokens import CachedEncoder
from benchmarks.real import sources
from benchmarks.real.cost import beside, code_lines
from benchmarks.real.plain import cutter
from benchmarks.real.rungs import RUNGS
from benchmarks.real.systems import (
    ARCTIC,
    COMPARED,
    DEFAULT,
    GENERAL,
    MINILM,
    Rankings,
    Searched,
    System,
)
from benchmarks.results import Result
from benchmarks.runner import Options, console, option, suite
from sat_retriever.datasets.metrics.rows import DEPTH, metrics_of, row_of
from sat_retriever.errors import CorpusError

HITS = 10  # that the ladder asks for
METRICS = ("NDCG@10", "Recall@1", "Recall@10")


def measured(on: Searched, system: System, parts: Sequence[str]) -> Iterator[Result]:
    """Yield a system's result on each part of a source.

    Hit@1 is the share of questions whose first sheet is a right one; Recall@k the mean share of
    the right sheets among the first k.
    """
    rankings = system.rank(on)
    return (_result(on, system, part, rankings) for part in parts)


def climbed(on: Searched, system: System, parts: Sequence[str]) -> Iterator[Result]:
    """Yield the same of a rung of the ladder, with its times beside the default's and its lines."""
    found = beside(DEFAULT.asking(on), system.asking(on), len(on.questions))
    lines = {"lines": code_lines(system.code)} if system.code else {}
    for part in parts:
        result = _result(on, system, part, found.rankings)
        costs = found.metrics(on.source.parts[part]) | lines
        yield replace(result, metrics={**result.metrics, **costs})


def _result(on: Searched, system: System, part: str, rankings: Rankings) -> Result:
    queries, places = on.source.dataset.queries, on.source.parts[part]
    kept = [row_of(place, rankings[place], queries[place].positives) for place in places]
    metrics: dict[str, Any] = {
        **metrics_of(kept, METRICS),
        "Hit@1": sum(1 in row["hits"] for row in kept) / len(kept),
        "role": on.source.role,
        "queries": len(kept),
        "sheets": len(on.sheets),
    }
    return Result(system.name, on.source.name, metrics, part, None, kept)


@suite(
    "real",
    "data",
    "work",
    models=option(Path("../shared/models"), "encoders"),
    sources=option(None, "folders of real_lists, or eps", nargs="+", metavar="NAME"),
    ladder=option(False, "leave out one rung at a time"),
    test=option(False, "EPS's test part too"),
)
def main(options: Options) -> Iterator[Result]:
    """Measure every source."""
    options.suite, systems, hits = (
        ("ladder", RUNGS, HITS) if options.ladder else ("real", COMPARED, DEPTH)
    )
    results = climbed if options.ladder else measured
    model = options.models / "arctic-embed-xs"
    named = {MINILM: MINILM, ARCTIC: str(model), GENERAL: GENERAL}
    encoders = {name: CachedEncoder.kept(each, options.work) for name, each in named.items()}
    cut = cutter(str(model / "tokenizer.json"))
    for name in options.sources or sources.names(options.data):
        try:
            source = sources.read(options.data, name)
        except CorpusError as error:
            console.print(f"not run: {error}")
            continue
        root = source.dataset.root
        data = source.dataset.files if root is None else (root, *source.dataset.files)
        on = Searched(source, encoders, cut, options.work, hits)
        parts = [part for part in source.parts if part != "test" or options.test]
        for system in systems:
            for result in results(on, system, parts):
                yield replace(result, data=data)
        on.close()
