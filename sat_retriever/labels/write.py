"""Labelled questions as text of the forms that a person can read and edit."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from typing import Literal

from sat_retriever.labels.query import Query

LabelForm = Literal["json", "jsonl", "csv"]
FORMS: dict[str, LabelForm] = {".json": "json", ".jsonl": "jsonl", ".csv": "csv"}
"""What the name of a file of labels says about its form; "json" is the published one."""


def label_parts(queries: Iterable[Query], form: Literal["jsonl", "csv"]) -> Iterator[str]:
    r"""The queries as texts to be written one after the other, each read once.

    `jsonl` keeps query, sheets and type; `csv` query and sheets. Hard negatives are among
    the negatives, after the others.

    >>> "".join(label_parts([Query("q", ("a",), ("b",))], "csv"))
    'query,sheet_id,relevance\r\nq,a,1\r\nq,b,0\r\n'
    """
    if form == "csv":
        yield "query,sheet_id,relevance\r\n"
    for query in queries:
        yield _rows(query) if form == "csv" else f"{json.dumps(_line(query), ensure_ascii=False)}\n"


def _line(query: Query) -> dict[str, object]:
    row: dict[str, object] = {"query": query.text, "positives": query.positives}
    if negatives := _negatives(query):
        row["negatives"] = negatives
    if query.query_type:
        row["type"] = query.query_type
    return row


def _rows(query: Query) -> str:
    text = io.StringIO()
    writer = csv.writer(text)  # ends lines with \r\n, so both are quoted inside of cells
    writer.writerows((query.text, sheet, 1) for sheet in query.positives)
    writer.writerows((query.text, sheet, 0) for sheet in _negatives(query))
    return text.getvalue()


def _negatives(query: Query) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*query.negatives, *query.hard_negatives)))
