"""Measure queries that are made from an index without labels: number, kind, speed, difficulty.

    python -m benchmarks run own_queries --data ../shared/data
    python -m benchmarks run own_queries --scale 1000 10000 100000

The first command makes queries over Spider's sheets of training databases and over the EPS
workbooks, without their own queries, and asks the index itself with plain BM25 and the fused
ranking. Scores near 1 or near 0 would be a defect of the queries. The second command takes made
records and reports time and memory, each size in its own process.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.made.company import Maker
from benchmarks.results import ROOT, Result, write_result
from benchmarks.unlabelled.quality import timeless_index
from sat_retriever.datasets import metrics
from sat_retriever.datasets.dataset import Dataset, load_eps, load_spider
from sat_retriever.datasets.labels import Query
from sat_retriever.encoder import SheetEncoder
from sat_retriever.errors import CorpusError
from sat_retriever.index.index import SheetIndex
from sat_retriever.questions.forindex import OwnQueries, own_queries
from sat_retriever.records.tokens import Encoder

NUMBER, SCALE_NUMBER, SEED = 400, 300, 0
METHODS: dict[str, float | None] = {"bm25": 0.0, "fused": None}


def training_sheets(data: Path) -> Dataset:
    """Return Spider's sheets of the databases that training questions are about."""
    dataset = load_spider(data / "spider", "train")
    names = {query.workbook for query in dataset.queries}
    records = tuple(record for record in dataset.records if record.workbook in names)
    return Dataset("spider_train_sheets", records, (), files=dataset.files)


def eps_workbooks(data: Path) -> Dataset:
    """Return the EPS workbooks without their queries."""
    dataset = load_eps(data / "eps")
    return Dataset("eps_workbooks", (), (), root=dataset.root)


def counts(own: OwnQueries, seconds: float) -> dict[str, Any]:
    """Return counts of the made queries and sheets."""
    queries = [made.query for made in own.made]
    types = Counter(query.query_type for query in queries)
    sizes = sorted(len(query.positives) for query in queries)
    return {
        "queries": len(queries),
        **{f"queries_{kind}": number for kind, number in sorted(types.items())},
        "positives_mean": round(sum(sizes) / max(1, len(sizes)), 2),
        "positives_median": sizes[len(sizes) // 2] if sizes else None,
        "positives_most": sizes[-1] if sizes else None,
        "sheets": own.sheets,
        "sheets_covered_share": round(own.covered / max(1, own.sheets), 3),
        "sheets_left_out": sum(left.number for left in own.sheets_left_out),
        "queries_dropped": sum(own.dropped.values()),
        "seconds": round(seconds, 2),
    }


def answered(index: SheetIndex, queries: Sequence[Query]) -> dict[str, float | None]:
    """Return NDCG@10 of each method: over all queries, and by type."""
    found: dict[str, float | None] = {}
    for method, weight in METHODS.items():
        scores: dict[str, list[float]] = {}
        for query in queries:
            asked = index.question(query.text, dense_weight=weight)
            ranking = [hit.sheet_id for hit in index.candidates(asked, 10) if hit.score > 0]
            score = metrics.ndcg(ranking, query.positives, 10)
            for name in ("", f"_{query.query_type}"):
                scores.setdefault(name, []).append(score)
        for name, each in sorted(scores.items()):
            found[f"{method}_NDCG@10{name}"] = metrics.mean(each)
    return found


def measure(dataset: Dataset, encoder: Encoder, number: int) -> Result:
    """Make queries over a data set's sheets, and score an index of them."""
    with (
        tempfile.TemporaryDirectory() as folder,
        timeless_index(Path(folder) / "index.sat", encoder) as index,  # how hard the words are
    ):
        if dataset.root is None:
            index.add_records(dataset.records)
        else:
            index.sync([dataset.root])
        ids = index.sheet_ids()
        records = index.records(ids)
        links = list(index.all_links())
        start = time.perf_counter()
        own = own_queries([records[one] for one in ids], links, number, seed=SEED)
        found = counts(own, time.perf_counter() - start)
        found |= answered(index, [made.query for made in own.made])
    return Result("found_facts", dataset.name, found, seed=SEED)


def scale(sheets: int) -> dict[str, Any]:
    """Measure time and memory for made records, in this process."""
    records = [record for book in Maker(SEED).books(sheets) for record in book.records]
    before = _peak_mib()
    start = time.perf_counter()
    own = own_queries(records, [], SCALE_NUMBER, seed=SEED)
    found = counts(own, time.perf_counter() - start)
    return found | {"records_mib": before, "peak_mib": _peak_mib()}


def _peak_mib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _apart(sheets: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks", "run", "own_queries", "--one", str(sheets)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def show(results: Sequence[Result]) -> Table:
    """Return the results side by side."""
    table = Table("", title="Queries from an index without labels")
    for result in results:
        table.add_column(result.dataset, justify="right")
    for key in dict.fromkeys(key for result in results for key in result.metrics):
        values = (result.metrics.get(key) for result in results)
        shown = [
            f"{v:.3f}" if isinstance(v, float) else "" if v is None else f"{v:,}" for v in values
        ]
        table.add_row(key, *shown)
    return table


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, write the result files, print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--encoder", default="minilm", help="what SheetEncoder.load takes")
    parser.add_argument("--number", type=int, default=NUMBER)
    parser.add_argument("--scale", type=int, nargs="+", metavar="SHEETS")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        print(json.dumps(scale(options.one)))
        return
    console = Console(width=None if sys.stdout.isatty() else 140)
    results: list[Result] = []
    for sheets in options.scale or ():
        results.append(Result("found_facts", f"made_{sheets}", _apart(sheets), seed=SEED))
        write_result("own_queries", results[-1])
    for load in () if options.scale else (training_sheets, eps_workbooks):
        try:
            dataset = load(options.data)
        except CorpusError as error:
            console.print(f"not run: {error}")
            continue
        results.append(measure(dataset, SheetEncoder.load(options.encoder), options.number))
        files = dataset.files if dataset.root is None else [dataset.root]
        write_result("own_queries", results[-1], data=files)
    console.print(show(results))
