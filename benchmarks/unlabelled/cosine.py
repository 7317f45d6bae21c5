"""The cosine alone: the general encoder beside the one that it was trained from.

    python -m benchmarks run cosine [--corpora eps_whole spider_dev] [--validation]

Real workbooks come first. Every corpus is asked by the texts of names; those with cells are asked
by the texts of contents too, tables of the web without their titles. Words, periods, links and
rerankers have no part in it, so it shows what training gave the encoder, and what it took.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.contents.tokens import CachedEncoder
from benchmarks.contents.variants import Variant, sampled
from benchmarks.corpora import CORPORA, Corpus, Tables, used, where_to_get
from benchmarks.paper.statistics import read_records
from benchmarks.results import Result
from benchmarks.runner import Options, console, option, suite
from benchmarks.unlabelled.subjects import Places, subject_of
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.datasets.metrics.rows import DEPTH, metrics_of, row_of
from sat_retriever.encoder.models.folder import GENERAL
from sat_retriever.encoder.source import MINILM
from sat_retriever.errors import CorpusError
from sat_retriever.index.sync.executor import token_text
from sat_retriever.records.tokens import Encoder, FloatArray
from sat_retriever.text.serialize import Serialization, serialize

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


@suite(
    "cosine",
    "data",
    "work",
    corpora=option(
        None,
        "default: tests",
        nargs="+",
        choices=[*corpora_of(validation=True), *corpora_of(validation=False)],
    ),
    validation=option(False, "corpora that choices may use"),
    most=option(MOST, "questions of a corpus that are asked"),
)
def main(options: Options) -> Iterator[Result]:
    """Measure every corpus by both encoders."""
    encoders = {name: CachedEncoder.kept(name, options.work) for name in ENCODERS}
    places = Places(options.data, options.work)
    for name in options.corpora or corpora_of(validation=options.validation):
        try:
            dataset = dataset_of(name, CORPORA[name], places)
        except CorpusError as error:
            source = where_to_get("contents")
            console.print(f"{name}: not run: {error}\nThe data can be had from: {source}")
            continue
        data = dataset.files if dataset.root is None else (dataset.root,)
        for texts in texts_of(dataset):
            for label, encoder in encoders.items():
                yield replace(measured(texts, encoder, label, options.most), data=data)
