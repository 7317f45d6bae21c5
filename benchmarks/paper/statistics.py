"""Count every corpus: sheets, questions and their annotations, categories, links, splits.

    python -m benchmarks run statistics [--data ../shared/data] [--corpus DIR …]

A missing corpus is left out, and shown as not counted. If questions have types, a result has a row
per question: its place in the file, its type and its dependency, so tables by type need no data.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.corpora import INDUSTRYTAB_1K, INDUSTRYTAB_614, used
from benchmarks.made.querycounts import Spread
from benchmarks.made.stats import category
from benchmarks.results import Result
from benchmarks.runner import Options, console, option, suite
from sat_retriever.datasets.dataset import Dataset, load_industrytab
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.sheets import load_pairs
from sat_retriever.datasets.splits import grouped_split, standard_split
from sat_retriever.errors import CorpusError
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.workbook.read import LocalFile, ReadOptions, read_files

METHOD = "counted"
SEEDS = (42, 43, 44)
# Full query files with the paper's split: share of test questions, seeds of the split.
_SPLITS: Mapping[tuple[str, int], tuple[float, tuple[int, ...]]] = {
    (INDUSTRYTAB_1K, 1797): (0.1, (42,)),
    (INDUSTRYTAB_614, 1453): (0.2, SEEDS),
}
_LEGACY = "query_legacy_134.json"


def counted(dataset: Dataset) -> dict[str, Any]:
    """Return every figure of a corpus; figures that do not apply are left out."""
    records = dataset.records or read_records(dataset.root)
    found = {"sheets": len(records), **_of_queries(dataset.queries)}
    if any(path.name == _LEGACY for path in dataset.files):
        found["legacy_queries"] = True
    if all(record.metadata.get("category") or not record.workbook for record in records):
        found["categories"] = _most_first(Counter(map(category, records)))
    found |= _of_links(dataset)
    found |= _of_pairs(dataset)
    splits = dict(_splits(dataset))
    return found | ({"splits": splits} if splits else {})


def read_records(root: Path | None) -> list[SheetRecord]:
    """Return the sheets of all workbooks below a folder, as indexing finds them."""
    files = [] if root is None else sorted(path for path in root.rglob("*") if path.is_file())
    local = (LocalFile(file, root) for file in files)
    books = read_files(local, ReadOptions(formulas=False, links=False))
    return [record for _, book in books for record in book.records]


def question_rows(dataset: Dataset) -> list[dict[str, Any]]:
    """Return the place, type and dependency of each question that has a type."""
    return [
        {
            "query": place,
            "type": query.query_type,
            "dependency_type": query.dependency_type,
            "dependency_heavy": is_heavy(query),
        }
        for place, query in enumerate(dataset.queries)
        if query.query_type
    ]


def is_heavy(query: Query) -> bool:
    """True if its positives depend on each other; the release marks exactly these queries."""
    return query.dependency_type not in ("", "none")


def _of_queries(queries: Sequence[Query]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "queries": len(queries),
        "positives_mean": _mean(len(query.positives) for query in queries),
        "negatives_mean": None,
        "hard_negatives_mean": None,
        "hard_negative_queries": None,
        "dependency_heavy": None,
    }
    if any(query.negatives for query in queries):
        found["negatives_mean"] = _mean(len(query.negatives) for query in queries)
    if any(query.hard_negatives for query in queries):
        found["hard_negatives_mean"] = _mean(len(query.hard_negatives) for query in queries)
        found["hard_negative_queries"] = sum(bool(query.hard_negatives) for query in queries)
    if any(query.dependency_type for query in queries):
        found["dependency_heavy"] = sum(map(is_heavy, queries))
        found["dependency_types"] = _most_first(Counter(q.dependency_type for q in queries))
    if any(query.query_type for query in queries):
        found["query_types"] = _most_first(Counter(q.query_type for q in queries))
    return found


def _of_links(dataset: Dataset) -> dict[str, Any]:
    """Count links by type, each pair and type once; also pairs, and linked sheets."""
    if not dataset.links:
        return {}
    ends = [(link.source, link.target) for link in dataset.links]
    found: dict[str, Any] = {
        "edges": len({frozenset(pair) for pair in ends}),
        "connected_sheets": len({sheet for pair in ends for sheet in pair}),
        "links": _most_first(Counter(str(link.type) for link in dataset.links)),
    }
    graph = next((path for path in dataset.files if path.name == "dependency_edges.json"), None)
    if graph is not None:
        primary = json.loads(graph.read_text(encoding="utf-8")).get("edge_types", {})
        found["primary_links"] = _most_first(Counter(primary.values()))
    return found


def _of_pairs(dataset: Dataset) -> dict[str, int]:
    """Count the pairs of train.json, which no reported method learns from."""
    path = dataset.files[0].parent / "train.json"
    if not path.is_file():
        return {}
    related = [pair.related for pair in load_pairs(path)]
    return {"positive_pairs": sum(related), "negative_pairs": len(related) - sum(related)}


def _splits(dataset: Dataset) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield question counts of each part of the reported splits, and of hard test questions."""
    asked = dataset.queries
    ratio, seeds = _SPLITS.get((dataset.name, len(asked)), (0.0, ()))
    splits = [
        (f"standard, seed {seed}", standard_split(len(asked), ratio=ratio, seed=seed))
        for seed in seeds
    ]
    if seeds and dataset.name == INDUSTRYTAB_1K:
        splits += [(f"grouped, seed {seed}", grouped_split(dataset, seed=seed)) for seed in SEEDS]
    for name, split in splits:
        parts = {
            "train": len(split.train),
            "validation": len(split.validation),
            "test": len(split.test),
        }
        hard = sum(bool(asked[place].hard_negatives) for place in split.test)
        excluded = len(asked) - sum(parts.values())
        yield name, {**parts, "excluded": excluded, "test_with_hard_negatives": hard}


def _mean(numbers: Iterator[int]) -> float:
    return round(Spread.of(numbers).mean, 4)


def _most_first(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def result_of(dataset: Dataset) -> Result:
    """Return the figures of a corpus as a result."""
    return Result(METHOD, dataset.name, counted(dataset), per_query=question_rows(dataset))


@suite("statistics", "data", corpus=option([], "more, as json files", type=Path))
def main(options: Options) -> Iterator[Result]:
    """Count each corpus at hand."""
    loaders: dict[str, Callable[[], Dataset]] = {
        name: partial(corpus.read, options.data) for name, corpus in used("counted").items()
    }
    loaders |= {str(folder): partial(load_industrytab, folder) for folder in options.corpus}
    for name, load in loaders.items():
        try:
            dataset = load()
        except CorpusError as error:
            console.print(f"{name} is not counted: {error}")
            continue
        data = dataset.files if dataset.root is None else (dataset.root,)
        yield replace(result_of(dataset), data=data)
