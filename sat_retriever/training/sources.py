"""Where labelled questions come from: published and made corpora, or a user's own index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sat_retriever.datasets.dataset import Dataset, load_industrytab, load_spider
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.splits import (
    Split,
    grouped_sheets,
    grouped_split,
    held_out_workbooks,
    standard_split,
)
from sat_retriever.errors import InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.period.relation import Times, unpacked
from sat_retriever.period.sheet import months_of
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.text.lexical import LexicalScorer
from sat_retriever.text.serialize import Serialization, serialize
from sat_retriever.training.data import Questions, TrainingData

READ_AT_ONCE = 1_000  # records of an index held at a time
_NAMED = 5  # unknown sheets that an error names


@dataclass(frozen=True, slots=True)
class Source:
    """A corpus with the questions to train on and those to choose with.

    Attributes:
        dataset: Sheets, links and all questions.
        split: Which questions are for what.
        seen: Ids of the sheets that training may use, even as negatives; None for all.
    """

    dataset: Dataset
    split: Split
    seen: frozenset[str] | None = None

    @property
    def train(self) -> tuple[Query, ...]:
        """Questions to learn from."""
        return tuple(self.dataset.queries[place] for place in self.split.train)

    @property
    def validation(self) -> tuple[Query, ...]:
        """Questions to choose with."""
        return tuple(self.dataset.queries[place] for place in self.split.validation)

    def training_data(self, serialization: Serialization | None = None) -> TrainingData:
        """What Stage 1 and the Cross-Encoder learn from; see `from_dataset`."""
        return from_dataset(self.dataset, self.split, serialization, seen=self.seen)


# ---- published and made corpora


def standard_source(folder: str | Path, *, seed: int = 42) -> Source:
    """An IndustryTab corpus, or one that `sat synth` made, in the paper's split.

    Source: the released recipe; IndustryTab-614 is split by the training seed, 1K, and any
    other corpus, by 42 whatever the training seed.

    Raises:
        CorpusError: If the folder does not hold such a corpus.
    """
    dataset = load_industrytab(folder)
    number = len(dataset.queries)
    if dataset.name == "industrytab_614":
        return Source(dataset, standard_split(number, ratio=0.2, seed=seed))
    return Source(dataset, standard_split(number))


def grouped_source(folder: str | Path, *, seed: int = 42) -> Source:
    """The same in the split of unseen families: training sees no held-out sheet at all.

    Source: the released grouped evaluation; the split's seed is the training seed.

    Raises:
        CorpusError: If the folder does not hold such a corpus.
    """
    dataset = load_industrytab(folder)
    seen = frozenset(grouped_sheets(dataset, seed=seed).train)
    return Source(dataset, grouped_split(dataset, seed=seed), seen)


def spider_source(folder: str | Path) -> Source:
    """Spider's training questions, in their words and with synonyms; never those of dev.

    A quarter of the training databases is held out: their questions are for validation,
    their sheets, and those of dev's databases, are not used in training. Questions that
    the synonyms left unchanged are there once.

    Raises:
        CorpusError: If a file is missing or malformed.
    """
    dataset = load_spider(folder, "train")
    reworded = load_spider(folder, "train_synonym")
    first = {(query.text.casefold(), query.positives) for query in dataset.queries}
    new = (q for q in reworded.queries if (q.text.casefold(), q.positives) not in first)
    queries = (*dataset.queries, *new)
    held_out = held_out_workbooks(dataset.queries)
    places = range(len(queries))
    split = Split(
        train=tuple(place for place in places if queries[place].workbook not in held_out),
        validation=tuple(place for place in places if queries[place].workbook in held_out),
        test=(),
    )
    taught = {query.workbook for query in queries} - held_out
    seen = frozenset(one.sheet_id for one in dataset.records if one.workbook in taught)
    files = tuple(dict.fromkeys((*dataset.files, *reworded.files)))
    both = Dataset("spider_train", dataset.records, queries, dataset.links, files)
    return Source(both, split, seen)


def from_dataset(
    dataset: Dataset,
    split: Split,
    serialization: Serialization | None = None,
    *,
    seen: frozenset[str] | None = None,
) -> TrainingData:
    """A corpus with some of its questions, as the trainings of text encoders take it.

    Args:
        dataset: Sheets and questions.
        split: Which questions are for training and for validation; others are not used.
        serialization: How a record becomes text; the paper's form when None.
        seen: Ids of the sheets that training may use, even as negatives; None for all.

    Raises:
        EmptyInputError: If there are no training or no validation questions.
        InputError: If a question names a sheet that is not there, or a training question
            has a relevant sheet that is held out.
    """
    queries = dataset.queries
    return _data(
        dataset.name,
        _read(dataset.records, serialization),
        tuple(queries[place] for place in split.train),
        tuple(queries[place] for place in split.validation),
        seen,
    )


# ---- a user's own index


def from_index(
    index: SheetIndex,
    train: Sequence[Query],
    validation: Sequence[Query],
    *,
    seen: frozenset[str] | None = None,
) -> TrainingData:
    """The sheets of an index, in its texts, with labelled questions, and times if it heeds them.

    Where a question has no annotated hard negatives, all its negatives count as such.

    Raises:
        EmptyInputError: If there are no training or no validation questions.
        InputError: If a question names a sheet that is not in the index, or a training
            question has a relevant sheet that is held out.
    """
    corpus = _read(read_records(index), index.serialization, times=index.times)
    judged = [tuple(map(_ruled_out, part)) for part in (train, validation)]
    return _data(index.path.stem, corpus, judged[0], judged[1], seen)


def read_records(index: SheetIndex) -> Iterator[SheetRecord]:
    """Every record of an index in the order of sheet ids, a thousand held at a time."""
    ids = index.sheet_ids()
    for start in range(0, len(ids), READ_AT_ONCE):
        part = ids[start : start + READ_AT_ONCE]
        found = index.records(part)
        yield from (found[sheet_id] for sheet_id in part if sheet_id in found)


def check_known(queries: Iterable[Query], known: Iterable[str], where: str) -> None:
    """Refuse questions that name a sheet that is not known.

    Args:
        queries: Labelled questions.
        known: Ids of the sheets there are.
        where: What does not have the others, for the message: "reports.sat".

    Raises:
        InputError: If some are not; the message counts them and names the first.
    """
    there = set(known)
    missing: dict[str, int] = {}
    hit = 0
    for query in queries:
        named = dict.fromkeys((*query.positives, *query.negatives, *query.hard_negatives))
        gone = [sheet_id for sheet_id in named if sheet_id not in there]
        hit += bool(gone)
        for sheet_id in gone:
            missing[sheet_id] = missing.get(sheet_id, 0) + 1
    if missing:
        shown = ", ".join(repr(sheet_id) for sheet_id in list(missing)[:_NAMED])
        more = f" and {len(missing) - _NAMED:,} more" if len(missing) > _NAMED else ""
        raise InputError(
            f"{len(missing):,} of the sheets that the labels name (in {hit:,} of the questions) "
            f"are not in {where}: {shown}{more}; index them, or correct the labels "
            "(sat queries --queries LABELS names near ones)"
        )


# ---- inner workings


@dataclass(frozen=True, slots=True)
class _Corpus:
    """Texts by sheet id, BM25 over the words, and the times of the sheets if they count."""

    texts: Mapping[str, str]
    lexical: LexicalScorer
    times: Times | None


def _read(
    records: Iterable[SheetRecord], form: Serialization | None, *, times: bool = False
) -> _Corpus:
    """What a training reads of records; they are gone through once."""
    texts: dict[str, str] = {}
    months: list[int] = []

    def passed() -> Iterator[SheetRecord]:
        for record in records:
            texts[record.sheet_id] = serialize(record, form)
            if times:
                months.append(months_of(record))
            yield record

    lexical = LexicalScorer.of(passed())
    return _Corpus(texts, lexical, unpacked(months) if times else None)


def _data(
    name: str,
    corpus: _Corpus,
    train: Sequence[Query],
    validation: Sequence[Query],
    seen: frozenset[str] | None,
) -> TrainingData:
    texts = corpus.texts
    check_known((*train, *validation), texts, name)
    row_of = {sheet_id: row for row, sheet_id in enumerate(texts)}
    rows = range(len(texts)) if seen is None else sorted(row_of[each] for each in seen)
    return TrainingData(
        name=name,
        sheet_ids=tuple(texts),
        sheets=tuple(texts.values()),
        train=_questions(train, row_of, frozenset(rows)),
        validation=_questions(validation, row_of, None),
        seen=tuple(rows),
        lexical=corpus.lexical,
        times=corpus.times,
    )


def _questions(
    queries: Sequence[Query], row_of: Mapping[str, int], allowed: frozenset[int] | None
) -> Questions:
    """The questions in rows; hard negatives that are not allowed are left out."""
    hard = (sorted({row_of[each] for each in query.hard_negatives}) for query in queries)
    return Questions(
        texts=tuple(query.text for query in queries),
        positives=tuple(
            tuple(sorted({row_of[sheet_id] for sheet_id in query.positives})) for query in queries
        ),
        hard_negatives=tuple(
            tuple(row for row in rows if allowed is None or row in allowed) for rows in hard
        ),
    )


def _ruled_out(query: Query) -> Query:
    """The question with what a user called not relevant as hard negatives, without annotated ones.

    The negatives of a published corpus are drawn at random; a user judges what was found.
    """
    return replace(query, hard_negatives=query.hard_negatives or query.negatives)
