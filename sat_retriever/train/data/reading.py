"""Read training data from a data set, or from a user's index with labelled queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from sat_retriever.datasets.dataset import Dataset
from sat_retriever.datasets.labels import Query
from sat_retriever.errors import InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.text.lexical import LexicalScorer
from sat_retriever.text.period.relation import months_of, unpacked
from sat_retriever.text.serialize import Serialization, serialize
from sat_retriever.train.data.trainingdata import QueryRows, TrainingData

READ_AT_ONCE = 1_000  # records of an index held at a time
_NAMED = 5  # unknown sheets that an error names


def from_dataset(dataset: Dataset, serialization: Serialization | None = None) -> TrainingData:
    """Return a data set as trainings of text encoders take it.

    Queries outside training and validation are not used. Without a serialization, texts have the
    paper's form. Refuses what `TrainingData` refuses, and questions that name unknown sheets.
    """
    parts = (dataset.train, dataset.validation)
    return _data(dataset.name, dataset.records, serialization, parts, dataset.split.seen)


# ---- a user's own index


def from_index(index: SheetIndex, labels: Dataset) -> TrainingData:
    """Return the sheets and texts of an index with labelled queries, and its times if it uses them.

    All negatives of a query without annotated hard negatives count as hard ones. The records of
    `labels` are not read. Refuses what `from_dataset` refuses.
    """
    # The negatives of a published corpus are drawn at random; a user's are judged search results.
    train, validation = (
        [replace(each, hard_negatives=each.hard_negatives or each.negatives) for each in part]
        for part in (labels.train, labels.validation)
    )
    return _data(
        index.path.stem, read_records(index), index.serialization, (train, validation),
        labels.split.seen, times=index.times,
    )  # fmt: skip


def read_records(index: SheetIndex) -> Iterator[SheetRecord]:
    """Yield every record of an index in the order of sheet ids; hold a thousand at a time."""
    ids = index.sheet_ids()
    for start in range(0, len(ids), READ_AT_ONCE):
        part = ids[start : start + READ_AT_ONCE]
        found = index.records(part)
        yield from (found[sheet_id] for sheet_id in part if sheet_id in found)


def refuse_unknown_sheets(queries: Iterable[Query], known: Iterable[str], where: str) -> None:
    """Refuse questions that name sheets which are not in `where`, for example "reports.sat"."""
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


def _data(
    name: str,
    records: Iterable[SheetRecord],
    form: Serialization | None,
    parts: tuple[Sequence[Query], Sequence[Query]],
    seen: frozenset[str] | None,
    *,
    times: bool = False,
) -> TrainingData:
    """Read the parts of records that a training needs, in one pass, with the questions' rows."""
    texts: dict[str, str] = {}
    months: list[int] = []

    def passed() -> Iterator[SheetRecord]:
        for record in records:
            texts[record.sheet_id] = serialize(record, form)
            if times:
                months.append(months_of(record))
            yield record

    lexical = LexicalScorer.of(passed())
    train, validation = parts
    refuse_unknown_sheets((*train, *validation), texts, name)
    row_of = {sheet_id: row for row, sheet_id in enumerate(texts)}
    rows = range(len(texts)) if seen is None else sorted(row_of[each] for each in seen)
    return TrainingData(
        name=name,
        sheet_ids=tuple(texts),
        sheets=tuple(texts.values()),
        train=_questions(train, row_of, frozenset(rows)),
        validation=_questions(validation, row_of, None),
        seen=tuple(rows),
        lexical=lexical,
        times=unpacked(months) if times else None,
    )


def _questions(
    queries: Sequence[Query], row_of: Mapping[str, int], allowed: frozenset[int] | None
) -> QueryRows:
    """Turn questions into rows; leave out hard negatives that are not allowed."""
    hard = (sorted({row_of[each] for each in query.hard_negatives}) for query in queries)
    return QueryRows(
        texts=tuple(query.text for query in queries),
        positives=tuple(
            tuple(sorted({row_of[sheet_id] for sheet_id in query.positives})) for query in queries
        ),
        hard_negatives=tuple(
            tuple(row for row in rows if allowed is None or row in allowed) for rows in hard
        ),
    )
