"""Compare rankings for questions that name times and owners in many spellings.

    python -m benchmarks run periods
    python -m benchmarks run periods --models general FOLDER

Corpora in every naming convention are made, in which sheets differ only by their time. Questions
name the time in words, with all sheets that answer. This benchmark is for development, so choices
may be based on it. The oracles know the meant time and leave out sheets of other times, by the
sheets' true times or by those in their names. They show the gain of a perfect reading of the
question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.periods.corpus import SeriesCorpus, SeriesOptions, read_right, series_corpus
from benchmarks.results import Result
from benchmarks.runner import Options, console, option, suite
from benchmarks.training.corpus import numbers
from benchmarks.unlabelled.systems import (
    Model,
    System,
    packaged_systems,
    plain_systems,
)
from sat_retriever.datasets.dataset import Dataset, load_spider
from sat_retriever.datasets.metrics import mean
from sat_retriever.datasets.metrics.rows import DEPTH, PER_QUERY, Run, metrics_of, rows_of
from sat_retriever.datasets.splits import held_out_workbooks
from sat_retriever.encoder.source import MINILM
from sat_retriever.evaluation.methods import Method
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.candidates import Candidate
from sat_retriever.text.period.periods import SheetPeriod, period_of

MEASURES = ("NDCG@10", "Recall@10", "AllRelevant@10")
PRECISION, IN_FAMILY = "Precision@m", "FamilyPrecision@m"

Row = Mapping[str, Any]


def held_out_tables(data: Path) -> Dataset:
    """Return tables of Spider's held-out training databases; no model is trained on them."""
    spider = load_spider(data / "spider", "train")
    known = held_out_workbooks(spider.queries)
    records = tuple(each for each in spider.records if each.workbook in known)
    return replace(spider, records=records)


@dataclass(frozen=True, slots=True)
class Oracle:
    """A method that leaves out sheets of another time than the question means.

    Attributes:
        corpus: The questions and their meaning.
        period: Returns the time of a sheet.
    """

    corpus: SeriesCorpus
    period: Callable[[str], SheetPeriod | None]

    def method(self, index: SheetIndex) -> Method:
        """Return words and tokens, without sheets of other times."""
        meant = {each.query.text: each.span for each in self.corpus.questions}
        period = {sheet: self.period(sheet) for sheet in index.sheet_ids()}

        def find(query: str) -> list[Candidate]:
            span = meant[query]
            ranked = index.candidates(index.question(query, times=False), len(period))
            known = ((each, period[each.sheet_id]) for each in ranked)
            return [each for each, own in known if own is not None and span.covers(own)][:DEPTH]

        return Method(find)


def oracles(corpus: SeriesCorpus, index: SheetIndex) -> Iterator[System]:
    """Yield the upper limits, with the sheets' true times and with those in their names."""
    records = {record.sheet_id: record for record in corpus.dataset.records}
    told = Oracle(corpus, lambda sheet: period_of(records[sheet]))
    true = Oracle(corpus, lambda sheet: corpus.facts[sheet].period)
    yield System("oracle_names", "oracle: time known, sheets' by their names", told.method(index))
    yield System("oracle", "oracle: all times known", true.method(index))


def period_rows(corpus: SeriesCorpus, run: Run) -> list[dict[str, Any]]:
    """Return one row a question, with its kind and its family's ranks."""
    ids = numbers([record.sheet_id for record in corpus.dataset.records])
    rows = rows_of(dict(enumerate(corpus.dataset.queries)), run, ids)
    for row, question in zip(rows, corpus.questions, strict=True):
        ranking = run[row["query"]]
        row["kind"], row["convention"] = question.kind, question.convention
        row["family"] = [
            rank for rank, each in enumerate(ranking, start=1) if each.sheet_id in question.family
        ]
    return rows


def measured(rows: Sequence[Row]) -> dict[str, float]:
    """Return means of the measures over some rows.

    >>> row = {"relevant": 2, "hits": [1, 4], "family": [1, 3, 4]}
    >>> found = measured([row])
    >>> found["Precision@m"], found["FamilyPrecision@m"], found["AllRelevant@10"]
    (0.5, 0.5, 1.0)
    """
    found = {name: mean([PER_QUERY[name](row) for row in rows]) for name in MEASURES}
    found[PRECISION] = mean([sum(n <= row["relevant"] for n in row["hits"]) / row["relevant"]
                             for row in rows])  # fmt: skip
    found[IN_FAMILY] = mean([_in_family(row) for row in rows])
    return found


def _in_family(row: Row) -> float:
    """Return the share of relevant sheets among the family's first `relevant` sheets."""
    first = row["family"][: row["relevant"]]
    return len(set(first) & set(row["hits"])) / int(row["relevant"])


def result(corpus: SeriesCorpus, system: System, seed: int) -> Result:
    """Return a system's result, by kind of phrase and by naming convention."""
    run = system.method.run(dict(enumerate(corpus.dataset.queries)))
    rows = period_rows(corpus, run)
    found: dict[str, Any] = {**metrics_of(rows), **measured(rows)}
    found |= {"title": system.title, "questions": len(rows), "sheets": len(corpus.dataset.records)}
    found["names_read"] = corpus.names_read
    for question, row in zip(corpus.questions, rows, strict=True):
        row["read"] = read_right(question)
    found["questions_read"] = mean([float(row["read"]) for row in rows])
    for part, name in (("kinds", "kind"), ("conventions", "convention")):
        groups: dict[str, list[Row]] = {}
        for row in rows:
            groups.setdefault(row[name], []).append(row)
        found[part] = {
            key: {
                "questions": len(group),
                "questions_read": mean([float(row["read"]) for row in group]),
                **measured(group),
            }
            for key, group in groups.items()
        }
    return Result(system.name, "periods", found, "development", seed, rows)


def systems(corpus: SeriesCorpus, folder: Path, options: Options) -> Iterator[System]:
    """Yield every system, one after the other."""
    plain = list(plain_systems(corpus.dataset, folder, options.untrained))
    yield from (system for system in plain if system.name != "dense")
    for name in options.models:
        yield from packaged_systems(corpus.dataset, folder, Model.named(name))
    yield from oracles(corpus, next(each.index for each in plain if each.index is not None))


@suite(
    "periods",
    "data",
    "runs",
    seed=option(SeriesOptions().seed, "of the corpus"),
    companies=option(2, "of each naming convention"),
    models=option(["general"], "general, or folders with an encoder and a reranker", nargs="*"),
    untrained=option(MINILM, "encoder of the untrained rows"),
)
def main(options: Options) -> Iterator[Result]:
    """Make the corpus and ask every system."""
    made = SeriesOptions(options.companies, seed=options.seed)
    corpus = series_corpus(held_out_tables(options.data), made)
    folder = options.runs / "periods" / f"{options.seed}.{options.companies}"
    for system in systems(corpus, folder, options):
        yield replace(result(corpus, system, options.seed), data=corpus.dataset.files)
    console.print(
        f"{len(corpus.dataset.records):,} sheets, {len(corpus.questions):,} questions; the names "
        f"of {corpus.names_read:.1%} of the sheets tell their time right"
    )
