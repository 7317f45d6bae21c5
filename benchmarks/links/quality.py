"""Measure the gain from links without training: fused candidates, and reranked ones.

    python -m benchmarks run links_quality --data ../shared/data
    python -m benchmarks run links_quality --data ../shared/data --validation

The first command scores the reported data; every number of `LinkSettings` and the share of
`complete_set` were chosen with the second. Links are those that a data set publishes ("given":
Spider's declared foreign keys, IndustryTab's graph), or those that the index finds ("found": by
names and headers, and in workbooks also by formulas). BIRD's foreign keys are not in its corpus
file; `--bird-tables` takes its dev_tables.json. All methods get the same candidates, Stage 1's
first 50.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.corpora import CORPORA, Use, where_to_get
from benchmarks.progress import track
from benchmarks.results import Result
from benchmarks.runner import Options, console, option, suite
from benchmarks.unlabelled.quality import (
    QuerySet,
    Run,
    query_rows,
    score,
    sets_of,
    timeless_index,
)
from sat_retriever.answer.retriever import CANDIDATES
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.datasets.metrics import mean
from sat_retriever.datasets.metrics.comparison import BySeed, difference
from sat_retriever.datasets.metrics.rows import rows_of
from sat_retriever.encoder import SheetEncoder
from sat_retriever.errors import CorpusError
from sat_retriever.index.index import SheetIndex
from sat_retriever.rank.links.linkrank import LinkReranker
from sat_retriever.rank.links.pulls import LinkSettings
from sat_retriever.rank.reranker import complete_set
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.records.tokens import Encoder

SIBLINGS_ALONE = LinkSettings(types={}, other=0.0)
COMPARED = ("NDCG@5", "NDCG@10", "Recall@1", "Recall@10", "AllRelevant@10", "MRR")
SIZES = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20)  # fixed sizes of an answer, for comparison


def bird_links(path: Path, records: Sequence[SheetRecord]) -> tuple[Link, ...]:
    """Return the foreign keys of BIRD's dev_tables.json as links between sheets.

    Raises:
        CorpusError: If the file is missing or does not have the form of BIRD's release.
    """
    ids = {(record.workbook.lower(), record.sheet.lower()): record.sheet_id for record in records}
    links: dict[tuple[str, str], Link] = {}
    try:
        for database in json.loads(path.read_text(encoding="utf-8")):
            name, tables = database["db_id"].lower(), database["table_names_original"]
            columns = database["column_names_original"]
            for pair in database["foreign_keys"]:
                ends = [(tables[columns[n][0]], columns[n][1]) for n in pair]
                source, target = (ids.get((name, table.lower())) for table, _ in ends)
                if source is None or target is None or source == target:
                    continue
                shown = " = ".join(f"{table}.{column}" for table, column in ends)
                link = Link(source, target, "join_key", evidence=shown[:200])
                links.setdefault((source, target), link)
    except (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise CorpusError(f"{path} is not BIRD's dev_tables.json ({error!r})") from error
    return tuple(links.values())


def candidate_run(index: SheetIndex, sets: Sequence[QuerySet]) -> Run:
    """Return Stage 1's candidates for every query of the sets."""
    queries = sets[0].dataset.queries
    places = sorted({place for asked in sets for place in asked.places})
    return {
        place: index.candidates(queries[place].text, CANDIDATES)
        for place in track(places, f"{sets[0].dataset.name}, candidates")
    }


def reranked(
    index: SheetIndex, reranker: LinkReranker, dataset: Dataset, candidates: Run, label: str
) -> tuple[Run, list[float]]:
    """Rerank candidates, and return the time of each query in milliseconds."""
    run: Run = {}
    took = []
    for place, found in track(candidates.items(), f"{dataset.name}, {label}"):
        question = index.question(dataset.queries[place].text)
        start = time.perf_counter()
        run[place] = reranker.rerank(index.search.candidate_set(question, found))
        took.append((time.perf_counter() - start) * 1000)
    return run, took


def part_of(asked: QuerySet, *, several: bool) -> QuerySet:
    """Return the queries with one relevant sheet, or those with more."""
    queries = asked.dataset.queries
    places = (p for p in asked.places if (len(set(queries[p].positives)) > 1) == several)
    return replace(asked, places=tuple(places))


def compared(asked: QuerySet, run: Run, base: Run) -> dict[str, object]:
    """Return differences to another run with 95 % intervals; each query is a cluster."""
    ours: BySeed = {None: query_rows(asked, run)}
    theirs: BySeed = {None: query_rows(asked, base)}
    found: dict[str, object] = {}
    for name in COMPARED:
        gap = difference(ours, theirs, name)
        found[name] = {key: round(getattr(gap, key), 5) for key in ("mean", "low", "high")}
    return found


def set_scores(ranking: Sequence[Candidate], gold: Sequence[str], size: int) -> tuple[float, ...]:
    """Return F1, precision, recall and size of the first sheets as an answer.

    >>> ranking = [Candidate(name, n, 1, 1, 1, n, n) for n, name in enumerate("ab", start=1)]
    >>> set_scores(ranking, ["a", "c"], 1)
    (0.6666666666666666, 1.0, 0.5, 1.0)
    """
    hits = len({sheet.sheet_id for sheet in ranking[:size]} & set(gold))
    precision, recall = hits / size if size else 0.0, hits / len(set(gold))
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    return f1, precision, recall, float(size)


def complete_sets(asked: QuerySet, run: Run) -> dict[str, object]:
    """Compare the adaptive cut with the fixed size that is best on these very queries."""
    golds = [asked.dataset.queries[place].positives for place in asked.places]
    rankings = [run[place] for place in asked.places]

    def means(sizes: Sequence[int]) -> dict[str, float]:
        rows = [set_scores(r, g, n) for r, g, n in zip(rankings, golds, sizes, strict=True)]
        names = ("F1", "precision", "recall", "size")
        columns = ([row[n] for row in rows] for n in range(len(names)))
        return {n: round(mean(c), 5) for n, c in zip(names, columns, strict=True)}

    fixed = {size: means([size] * len(golds)) for size in SIZES}
    best = max(SIZES, key=lambda size: (fixed[size]["F1"], -size))
    adaptive = means([complete_set(ranking) for ranking in rankings])
    return {"adaptive": adaptive, "best_fixed": {"k": best, **fixed[best]}}


def result(
    asked: QuerySet, method: str, run: Run, base: Run | None, numbers: Mapping[str, int]
) -> Result:
    """Return all measurements of one method on one set of queries."""
    found: dict[str, Any] = {**score(asked, run), "queries": len(asked.places)}
    for label, part in (
        ("one_gold", part_of(asked, several=False)),
        ("more_gold", part_of(asked, several=True)),
    ):
        if part.places:
            gaps = {"against_fused": compared(part, run, base)} if base else {}
            found[label] = {"queries": len(part.places), **score(part, run), **gaps}
    if base:
        found["against_fused"] = compared(asked, run, base)
    found["complete_set"] = complete_sets(asked, run)
    rows = rows_of(asked.queries, run, numbers)
    return Result(method, asked.dataset.name, found, asked.split, None, rows)


def measure(
    sets: Sequence[QuerySet], given: Sequence[Link], encoder: Encoder, label: str
) -> Iterator[Result]:
    """Yield results of every method on sets over one data set."""
    dataset = sets[0].dataset
    base: Run | None = None
    for kind in ("found", "given") if given else ("found",):
        with (
            tempfile.TemporaryDirectory() as folder,
            timeless_index(Path(folder) / "index.sqlite", encoder) as index,
        ):
            if dataset.root is not None:
                index.sync([dataset.root])
            else:
                links = given if kind == "given" else ()
                index.add_records(dataset.records, links, find_links=kind == "found")
            numbers = {sheet: n for n, sheet in enumerate(index.sheet_ids())}
            if base is None:
                base = candidate_run(index, sets)
                for asked in sets:
                    yield result(asked, f"fused_{label}", base, None, numbers)
            settings = {f"pagerank_{kind}": LinkSettings()}
            if kind == "found":
                settings["siblings"] = SIBLINGS_ALONE
            for name, chosen in settings.items():
                run, took = reranked(index, LinkReranker(chosen), dataset, base, name)
                for asked in sets:
                    scored = result(asked, f"{name}_{label}", run, base, numbers)
                    spent = {
                        "rerank_p50_ms": round(float(np.median(took)), 3),
                        "rerank_p95_ms": round(float(np.percentile(took, 95)), 3),
                        "links": dict(index.status()["links"]),  # type: ignore[call-overload]
                    }
                    yield replace(scored, metrics={**scored.metrics, **spent})


def with_links(
    sets: list[QuerySet], bird_tables: Path | None
) -> tuple[list[QuerySet], Sequence[Link], list[Path]]:
    """Return the sets, their given links, and the files or folder that they come from."""
    dataset = sets[0].dataset
    data = list(dataset.files) if dataset.root is None else [dataset.root]
    known = CORPORA.get(dataset.name)
    if bird_tables is None or known is None or not known.keys_apart:
        return sets, dataset.links, data
    return sets, bird_links(bird_tables, dataset.records), [*data, bird_tables]


@suite(
    "links",
    "data",
    encoder=option("minilm", "what SheetEncoder.load takes"),
    bird_tables=option(None, "dev_tables.json of BIRD's release", type=Path),
    validation=option(False, "score the validation parts; for choices"),
)
def main(options: Options) -> Iterator[Result]:
    """Measure."""
    encoder = SheetEncoder.load(options.encoder)
    label = Path(options.encoder).name.lower()
    if options.validation:
        options.suite = "links_validation"
    use: Use = "chosen" if options.validation else "untrained"
    for load in sets_of(use, options.data):
        try:
            sets, given, data = with_links(load(), options.bird_tables)
        except CorpusError as error:
            console.print(f"not run: {error}\nThe data can be had from: {where_to_get(use)}")
            continue
        if not given:
            console.print(f"{sets[0].dataset.name}: no declared links, pagerank_given not run")
        for each in measure(sets, given, encoder, label):
            yield replace(each, data=data)
