"""What the encoder learns and is chosen with: corpora by names, changed names, contents.

A corpus is learnt once more under other names, with all its headers, so that no single name is
needed. Contents are one more corpus, with texts of names and contents in place of names. What is
learnt of WikiTableQuestions are its tables of the training part; the reranker learns from others.
Real workbooks are learnt source by source, and three sources that nothing is learnt from help to
choose. A question of theirs never meets an unlabelled sheet, which may be right: only sheets that
answer another question of its batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.general.corpora import Part, Wanted, judged_part, taught_part
from benchmarks.general.real_lists import joined, real_lists
from benchmarks.general.variation import varied
from benchmarks.paper.statistics import read_records
from benchmarks.related.made import made_workbooks
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.datasets.tables import load_tables
from sat_retriever.index.sync.executor import token_text
from sat_retriever.records.grouping import evenly
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.text.lexical import LexicalScorer
from sat_retriever.text.serialize import Serialization
from sat_retriever.train.data.reading import from_dataset
from sat_retriever.train.data.trainingdata import TrainingData

ALL_HEADERS = Serialization(max_headers=None)
TABLES = "wikitablequestions_train"
REAL = "real_lists"
_ASKS = "value=.3,note=.3,label=.3"
_MADE = (21, 22, 23, 24)  # numbers of made workbooks; see `made_workbooks`


@dataclass(frozen=True, slots=True)
class Lesson:
    """One corpus in the form that the encoder reads.

    Attributes:
        part: The corpus, with its use and description.
        data: Its texts, questions and words.
    """

    part: Part
    data: TrainingData


def lessons(parts: Sequence[Part], wanted: Wanted, data: Path, folder: Path) -> Iterator[Lesson]:
    """Yield all that is learnt and chosen with.

    Args:
        parts: The corpora of names.
        wanted: Their selection.
        data: Folder of the published corpora.
        folder: Folder of the made ones.
    """
    size = wanted.size
    for part in parts:
        if part.use in ("taught", "both"):
            fewer = replace(_fewer(part, size.names), use="taught")
            yield Lesson(fewer, from_dataset(fewer.dataset))
            yield _varied(part, size.names // 2, wanted.seed)
    yield from _tables(data, wanted)
    for number in _MADE[: size.made]:
        made = made_workbooks(
            number, wanted.conventions, folder,
            sheets=size.made_sheets, questions=2 * size.made_sheets, asks=_ASKS,
        )  # fmt: skip
        part = taught_part(_read(made), "made workbooks, by values, notes and labels")
        yield _by_contents(_fewer(part, size.names))
    yield from _real(data)


def _fewer(part: Part, most: int) -> Part:
    """Return a corpus with at most so many training questions, spread evenly."""
    split = part.dataset.split
    fewer = replace(split, train=tuple(evenly(split.train, most)))
    return replace(part, dataset=replace(part.dataset, split=fewer))


def _varied(part: Part, most: int, seed: int) -> Lesson:
    """Return a taught corpus under other names, with some of its training questions."""
    renamed = _renamed(_fewer(part, most), seed)
    return Lesson(renamed, from_dataset(renamed.dataset, ALL_HEADERS))


def _renamed(part: Part, seed: int) -> Part:
    dataset = part.dataset
    records = varied(dataset.records, seed)
    other = replace(dataset, name=f"{dataset.name}_varied", records=records)
    return Part(other, "taught", f"{dataset.name} under other names")


def _tables(data: Path, wanted: Wanted) -> Iterator[Lesson]:
    """Yield tables of the web by names, contents, and contents under other names."""
    size = wanted.size
    found = load_tables(data / "contents", TABLES, part="train")
    part = taught_part(found, "WikiTableQuestions' training part, tables of the web")
    names = _fewer(part, size.tables // 2)
    yield Lesson(names, from_dataset(names.dataset))
    asked = replace(found, name=f"{found.name}_contents")
    contents = _fewer(taught_part(asked, "the same tables, by contents"), size.tables)
    yield _by_contents(contents)
    yield _by_contents(_renamed(_fewer(contents, size.tables // 2), wanted.seed))


def _real(data: Path) -> Iterator[Lesson]:
    """Yield real workbooks: what is learnt by names and by contents, the others by contents."""
    taught = joined(real_lists(data, "train"), REAL)
    part = taught_part(taught, "real workbooks, people's words about them")
    yield Lesson(part, from_dataset(part.dataset))
    contents = replace(part.dataset, name=f"{REAL}_contents")
    yield _by_contents(Part(contents, "taught", "the same, by contents"))
    for judged in real_lists(data, "validation"):
        yield _by_contents(judged_part(judged, "real workbooks, or tables of them"))


def _read(dataset: Dataset) -> Dataset:
    """Return a folder's corpus with the records of its workbooks, and the questions about them."""
    records = tuple(sorted(read_records(dataset.root), key=lambda each: each.sheet_id))
    known = {each.sheet_id for each in records}
    asked = (query for query in dataset.queries if query.positives)
    return replace(
        dataset,
        records=records,
        queries=tuple(query for query in asked if known.issuperset(query.positives)),
        root=None,
    )


def _by_contents(part: Part) -> Lesson:
    """Return a corpus with the texts of names and contents."""
    named = from_dataset(part.dataset)
    text = {each.sheet_id: token_text(each, Serialization()) for each in part.dataset.records}
    words = LexicalScorer.of([SheetRecord(name, text[name]) for name in named.sheet_ids])
    sheets = tuple(text[name] for name in named.sheet_ids)
    return Lesson(part, replace(named, sheets=sheets, lexical=words))
