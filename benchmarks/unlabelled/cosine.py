"""The cosine alone: the general encoder beside the one that it was trained from.

    python -m benchmarks run cosine [--corpora eps_whole spider_dev] [--validation]

Real workbooks come first. Every corpus is asked by the texts of names; those with cells are asked
by the texts of contents too, tables of the web without their titles. Words, periods, links and
rerankers have no part in it, so it shows what training gave the encoder, and what it took.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.contents.tokens import CachedEncoder
from benchmarks.contents.variants import Variant, sampled
from benchmarks.corpora import CORPORA, Corpus, Tables, used, where_to_get
from benchmarks.paper.statistics import read_records
from benchmarks.results import Result, write_result
from benchmarks.unlabelled.subjects import Places, subject_of
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.datasets.metrics.comparison import difference
from sat_retriever.datasets.metrics.rows import DEPTH, metrics_of, row_of
from sat_retriever.encoder.models.folder import GENERAL
from sat_retriever.encoder.source import MINILM
from sat_retriever.errors import CorpusError
from sat_retriever.index.sync.executor import token_text
from sat_retriever.records.tokens import Encoder, FloatArray
from sat_retriever.text.serialize import Serialization, serialize

BENCHMARK = "cosine"
METRICS = ("NDCG@5", "NDCG@10", "Recall@10")
ENCODERS = (MINILM, GENERAL)
MOST = 2_000  # questions of a corpus
NAMES, CONTENTS = "names", "contents"


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """One corpus in the form that an encoder reads.

    Attributes:
        dataset: Sheets and questions.
        read: What its texts are made of, "names" or "contents".
        sheets: Text of each sheet by id, in the order of ids.
    """

    dataset: Dataset
    read: str
    sheets: Mapping[str, str]


def texts_of(dataset: Dataset) -> Iterator[Texts]:
    """Yield a corpus by names, and by contents where its sheets have some.

    A sheet without contents keeps the text of its names, so that both parts have the same sheets.
    """
    records = sorted(dataset.records, key=lambda record: record.sheet_id)
    yield Texts(dataset, NAMES, {record.sheet_id: serialize(record) for record in records})
    if any(record.contents for record in records):
        yield Texts(
            dataset,
            CONTENTS,
            {record.sheet_id: token_text(record, Serialization()) for record in records},
        )


def measured(found: Texts, encoder: Encoder, label: str, most: int) -> Result:
    """Rank all sheets by the cosine of question and sheet.

    Args:
        found: The corpus.
        encoder: The encoder.
        label: Its name in result files.
        most: Most questions that are asked.
    """
    ids, asked = np.array(list(found.sheets)), sampled(found.dataset, most)
    tokens = encoder.encode_sheets(list(found.sheets.values()))  # (n, d)
    questions = encoder.encode_queries([query.text for query in asked.values()])  # (q, d)
    rows = [
        row_of(place, ids[_best(tokens @ question)].tolist(), query.positives)
        for (place, query), question in zip(asked.items(), questions, strict=True)
    ]
    sizes = {"sheets": len(ids), "queries": len(rows)}
    metrics = {**metrics_of(rows, METRICS), **sizes}
    return Result(label, found.dataset.name, metrics, found.read, None, rows)


def _best(cosines: FloatArray) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Return the places of the highest cosines, best first; equal ones in the order of ids."""
    return np.argsort(-cosines, kind="stable")[:DEPTH]


def dataset_of(name: str, corpus: Corpus, places: Places) -> Dataset:
    """Return a corpus with its records and the questions that have an answer among them.

    Raises:
        CorpusError: If a file is missing or malformed.
    """
    if isinstance(corpus.load, Tables):
        return Variant(corpus, titles=False).read(places.data)
    if corpus.made or not corpus.folder.startswith("eps"):
        return subject_of(name, places, ()).dataset
    dataset = corpus.read(places.data)
    queries = tuple(query for query in dataset.queries if query.positives)
    return replace(dataset, records=tuple(read_records(dataset.root)), queries=queries)


def corpora_of(*, validation: bool) -> dict[str, Corpus]:
    """Return the corpora that are asked, real workbooks first.

    Args:
        validation: True for those that choices may use, False for the tests.
    """
    chosen = used("contents_chosen")
    tests = {**used("contents"), **used("summary")}
    known = chosen if validation else {n: c for n, c in tests.items() if n not in chosen}
    # `eps_whole` asks the questions of `eps`, with the contents of its sheets.
    left = {name: corpus for name, corpus in known.items() if name != "eps"}
    return dict(sorted(left.items(), key=lambda each: not each[0].startswith("eps")))


def show(found: Sequence[Result]) -> Table:
    """Return one row a corpus and kind of text, with the lead of the last encoder."""
    table = Table("data set", "read", "sheets", "questions", *ENCODERS, "difference", box=None)
    pairs = zip(found[::2], found[1::2], strict=True)
    for before, after in pairs:
        gap = difference({None: after.per_query}, {None: before.per_query}, "NDCG@10")
        values = (f"{each.metrics['NDCG@10']:.3f}" for each in (before, after))
        sizes = (f"{before.metrics[name]:,}" for name in ("sheets", "queries"))
        lead = f"{gap.mean:+.3f} [{gap.low:+.3f}, {gap.high:+.3f}]"
        table.add_row(before.dataset, before.split, *sizes, *values, lead)
    return table


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every corpus by both encoders, write result files, print a table."""
    options = _parser().parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 140)
    encoders = {name: CachedEncoder.kept(name, options.work) for name in ENCODERS}
    places = Places(options.data, options.work)
    corpora = corpora_of(validation=options.validation)
    found: list[Result] = []
    for name in options.corpora or corpora:
        try:
            dataset = dataset_of(name, CORPORA[name], places)
        except CorpusError as error:
            source = where_to_get("contents")
            console.print(f"{name}: not run: {error}\nThe data can be had from: {source}")
            continue
        data = dataset.files if dataset.root is None else [dataset.root]
        for texts in texts_of(dataset):
            for label, encoder in encoders.items():
                result = measured(texts, encoder, label, options.most)
                if not options.dry:
                    write_result(BENCHMARK, result, data=data, folder=options.out)
                sys.stderr.write(f"{result.name}: NDCG@10 {result.metrics['NDCG@10']:.3f}\n")
                found.append(result)
    console.print(show(found))


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    every = [*corpora_of(validation=True), *corpora_of(validation=False)]
    path = partial(made.add_argument, type=Path)
    path("--data", default=Path("../shared/data"))
    path("--work", default=Path(".cache/cosine"), help="kept tokens and made corpora")
    path("--out", help="folder of the results")
    made.add_argument("--corpora", nargs="+", choices=every, metavar="NAME", help="default: tests")
    made.add_argument("--validation", action="store_true", help="corpora that choices may use")
    made.add_argument("--most", type=int, default=MOST, help="questions of a corpus that are asked")
    made.add_argument("--dry", action="store_true", help="write no result files")
    return made


if __name__ == "__main__":
    main()
