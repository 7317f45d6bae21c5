"""What the encoder learns and is chosen with: corpora by names, changed names, contents, titles.

A corpus is learnt once more under other names, with all its headers, so that no single name is
needed. Contents are one more corpus, with the texts of the second token in place of names. What is
learnt of WikiTableQuestions are its tables of the training part; the reranker learns from others.
Development questions of EPS, real workbooks that nothing is learnt from, help to choose.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.corpora import CORPORA
from benchmarks.general.corpora import Part, Wanted, judged_part, taught_part
from benchmarks.general.variation import varied
from benchmarks.paper.statistics import read_records
from benchmarks.related.made import made_workbooks
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.tables import load_tables
from sat_retriever.gathering import evenly
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.text.lexical import LexicalScorer
from sat_retriever.text.opening import contents_text
from sat_retriever.text.serialize import Serialization, serialize
from sat_retriever.training.data.reading import from_dataset
from sat_retriever.training.data.trainingdata import TrainingData

ALL_HEADERS = Serialization(max_headers=None)
TABLES = "wikitablequestions_train"
REAL = "eps_development"
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
        if part.use == "reranked":
            continue
        yield Lesson(part, from_dataset(part.dataset))
        if part.use != "judged":
            yield _varied(part, size.varied, wanted.seed)
    yield from _tables(data, wanted)
    for number in _MADE[: size.made]:
        made = made_workbooks(
            number, wanted.conventions, folder,
            sheets=size.made_sheets, questions=2 * size.made_sheets, asks=_ASKS,
        )  # fmt: skip
        yield _by_contents(taught_part(_read(made), "made workbooks, by values, notes and labels"))
    if size.real:
        yield from _real(data, size.real)


def _varied(part: Part, most: int, seed: int) -> Lesson:
    """Return a taught corpus under other names, with some of its training questions."""
    dataset = part.dataset
    train = tuple(evenly(dataset.split.train, most))
    split = replace(dataset.split, train=train)
    other = replace(
        dataset, name=f"{dataset.name}_varied", records=varied(dataset.records, seed), split=split
    )
    renamed = Part(other, "taught", f"{dataset.name} under other names")
    return Lesson(renamed, from_dataset(other, ALL_HEADERS))


def _tables(data: Path, wanted: Wanted) -> Iterator[Lesson]:
    """Yield tables of the web by names, changed names, contents and titles."""
    size = wanted.size
    found = load_tables(data / "contents", TABLES, part="train")
    by_name = replace(found, queries=tuple(evenly(found.queries, size.tables)))
    names = taught_part(by_name, "WikiTableQuestions' training part, tables of the web")
    yield Lesson(names, from_dataset(names.dataset))
    yield _varied(names, size.tables // 2, wanted.seed)
    asked = replace(
        found, name=f"{found.name}_contents", queries=tuple(evenly(found.queries, 2 * size.tables))
    )
    yield _by_contents(taught_part(asked, "the same tables, by contents"))
    titles = tuple(
        Query(f"{each.workbook} {each.sheet}".strip(), (each.sheet_id,)) for each in found.records
    )
    titled = replace(found, name=f"{found.name}_titles", queries=titles)
    yield _by_contents(taught_part(titled, "the same tables: contents, asked for by their titles"))
    judged = load_tables(data / "contents", TABLES, part="validation")
    few = tuple(evenly(judged.queries, size.asked))
    yield _by_contents(
        judged_part(replace(judged, queries=few), "other tables of that part, by contents")
    )


def _real(data: Path, most: int) -> Iterator[Lesson]:
    """Yield real workbooks by names and by contents: the asked sheets, and some of the others."""
    whole = _read(CORPORA[REAL].read(data))
    asked = {sheet_id for query in whole.queries for sheet_id in query.positives}
    others = evenly([each for each in whole.records if each.sheet_id not in asked], most)
    kept = asked | {each.sheet_id for each in others}
    records = tuple(each for each in whole.records if each.sheet_id in kept)
    names = judged_part(replace(whole, records=records), "real workbooks, development questions")
    yield Lesson(names, from_dataset(names.dataset))
    contents = replace(names.dataset, name=f"{REAL}_contents")
    yield _by_contents(Part(contents, "judged", "the same, by contents"))


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
    """Return a corpus with the texts of contents; a sheet without any keeps that of its names."""
    named = from_dataset(part.dataset)
    text = {each.sheet_id: contents_text(each) or serialize(each) for each in part.dataset.records}
    words = LexicalScorer.of([SheetRecord(name, text[name]) for name in named.sheet_ids])
    sheets = tuple(text[name] for name in named.sheet_ids)
    return Lesson(part, replace(named, sheets=sheets, lexical=words))
