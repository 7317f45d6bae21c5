"""Write labelled queries to a file one by one: query.json, JSON lines, or CSV."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sat_retriever.datasets.labels import UNANSWERABLE, Query
from sat_retriever.datasets.splits import standard_split
from sat_retriever.errors import InputError, OutputError
from sat_retriever.records.files import draft_of

FORMS = (".json", ".jsonl", ".csv")
"""Endings that the name of a file of labels may have."""


def write_queries(path: str | Path, queries: Iterable[Query]) -> int:
    """Write questions in the form of the file's ending, and return their number.

    `.json` is the published `query.json` with all its keys; `split` has the proportions of the
    reported split, and numeric sheet ids are written as numbers. `.jsonl` holds
    `{query, positives, negatives, type}` per line, `.csv` holds `query,sheet_id,relevance`. In
    both, hard negatives follow the other negatives. A question that nothing answers has a row
    without a sheet in `.csv`, where other questions without relevant sheets have none.

    Source: method, section 1.

    Raises:
        InputError: If the file has another ending.
        OutputError: If it cannot be written.
    """
    path = Path(path)
    parts = {".json": _published_parts, ".jsonl": _lines, ".csv": _table}.get(path.suffix.lower())
    if parts is None:
        raise InputError(f"{path}: queries are written to {', '.join(FORMS)}, not {path.suffix!r}")
    if not path.parent.is_dir():
        raise OutputError(f"{path} cannot be written: there is no folder {path.parent}")
    number = 0

    def counted() -> Iterator[Query]:
        nonlocal number
        for query in queries:
            number += 1
            yield query

    with draft_of(path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        file.writelines(parts(counted()))
    return number


# ---- forms for people to read and edit


def _lines(queries: Iterable[Query]) -> Iterator[str]:
    for query in queries:
        row: dict[str, object] = {"query": query.text, "positives": query.positives}
        if negatives := _negatives(query):
            row["negatives"] = negatives
        if query.query_type:
            row["type"] = query.query_type
        yield f"{json.dumps(row, ensure_ascii=False)}\n"


def _table(queries: Iterable[Query]) -> Iterator[str]:
    yield "query,sheet_id,relevance\r\n"
    for query in queries:
        text = io.StringIO()
        writer = csv.writer(text)  # ends lines with \r\n, so both are quoted inside of cells
        writer.writerows((query.text, sheet, 1) for sheet in query.positives)
        if query.query_type == UNANSWERABLE:
            writer.writerow((query.text, "", 0))
        writer.writerows((query.text, sheet, 0) for sheet in _negatives(query))
        yield text.getvalue()


def _negatives(query: Query) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*query.negatives, *query.hard_negatives)))


# ---- the published form


def _published_parts(queries: Iterable[Query]) -> Iterator[str]:
    yield "["
    with _parked(map(_published, queries)) as (number, rows):
        split_of = _splits(number)
        for place, row in enumerate(rows):
            row["split"] = split_of(place)
            yield (",\n" if place else "\n") + json.dumps(row, ensure_ascii=False)
    yield "\n]\n"


def _published(query: Query) -> dict[str, Any]:
    return {
        "query": query.text,
        "positive_sheet_ids": [_id(sheet) for sheet in query.positives],
        "negative_sheet_ids": [_id(sheet) for sheet in query.negatives],
        "query_type": query.query_type,
        "dependency_type": query.dependency_type,
        "is_dependency_heavy": query.dependency_type not in ("", "none"),
        "hard_negative_sheet_ids": [_id(sheet) for sheet in query.hard_negatives],
        "hard_negative_types": dict(query.hard_negative_types),
        "split": "",
    }


def _id(sheet: str) -> str | int:
    """Return the id as a number if the number reads the same as the text: not "007"."""
    number = sheet.isascii() and sheet.isdecimal() and len(sheet) < 16 and str(int(sheet)) == sheet
    return int(sheet) if number else sheet


def _splits(number: int) -> Callable[[int], str]:
    split = standard_split(number)
    validation, test = set(split.validation), set(split.test)

    def name(place: int) -> str:
        return "validation" if place in validation else "test" if place in test else "train"

    return name


@contextmanager
def _parked(rows: Iterable[dict[str, Any]]) -> Iterator[tuple[int, Iterator[dict[str, Any]]]]:
    """Yield the number of rows, and the rows again: splits are known only after the last one."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as file:
        number = 0
        for row in rows:
            file.write(json.dumps(row) + "\n")
            number += 1
        file.seek(0)
        yield number, map(json.loads, file)
