"""Turn hits and sheet records into LangChain documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from langchain_core.documents import Document

from sat_retriever import Hit, Link, SheetRecord
from sat_retriever.records.hits import Answer
from sat_retriever.tools.unread import unread

_put_unread = unread(Document, "page_content")


def unread_document(hit: Hit, read: Callable[[], str], answer: Answer) -> Document:
    """Turn a hit into a document as `hit_document`, whose text is read at the first look at it."""
    return _put_unread(hit_document(hit, "", answer), read)


def hit_document(hit: Hit, text: str, answer: Answer) -> Document:
    """Turn a hit into a document: its id is the sheet id, its metadata is flat.

    The metadata has the values of `Hit.to_dict`; columns are given by name, links as lines. It
    also says how sure the whole answer is that the sheets hold one.

    Args:
        hit: The hit.
        text: Text of the document.
        answer: The answer that it is in.
    """
    why = hit.why
    metadata = {
        **_place(hit.record),
        "citation": hit.citation,
        "range": hit.range,
        "header_row": hit.header_row,
        "columns": [column.name for column in hit.columns],
        "table": hit.table_place,
        "table_range": hit.answering.range if hit.answering else None,
        "table_note": hit.answering.note if hit.answering else "",
        "role": hit.record.role.value,
        "rank": hit.rank,
        "score": round(hit.score, 6),
        "words": list(why.words),
        "cell_words": list(why.cell_words),
        "headers": list(why.headers),
        "cells": [f"{each.place}: {each.text}" for each in why.cells],
        "dense": round(why.dense, 6),
        "lexical": round(why.lexical, 6),
        "dense_rank": why.dense_rank,
        "lexical_rank": why.lexical_rank,
        "contents": round(why.contents, 6),
        "contents_rank": why.contents_rank,
        "links": [_line(link) for link in why.links],
        "via": _line(why.via) if why.via else None,
        "period": why.period,
        "copies": list(hit.copies.sheet_ids),
        "confidence": round(answer.confidence, 4),
        "answered": answer.answered,
    }
    return Document(id=hit.sheet_id, page_content=text, metadata=metadata)


def record_document(record: SheetRecord, text: str, more: Mapping[Any, Any]) -> Document:
    """Turn a sheet into a document: its id is the sheet id.

    Args:
        record: The sheet.
        text: Text of the document.
        more: Further metadata; the sheet's own has priority.
    """
    shape = {"num_rows": record.num_rows, "num_cols": record.num_cols, "format": record.format}
    metadata = {**more, **_place(record), **shape}
    return Document(id=record.sheet_id, page_content=text, metadata=metadata)


def _place(record: SheetRecord) -> dict[str, Any]:
    """Return the location of a sheet, which has priority over its own metadata fields."""
    return {
        **record.metadata,
        "source": record.url or record.path or record.sheet_id,
        "sheet_id": record.sheet_id,
        "citation": record.citation,
        "workbook": record.workbook,
        "path": record.path,
        **record.at_url(),
        "sheet": record.sheet,
        "range": record.main_range,
        "header_row": record.header_row,
        "columns": [column.name for column in record.columns],
        "visibility": record.visibility.value,
    }


def _line(link: Link) -> str:
    """Return a link as one line: "summary_source: 2024.xlsx#Total -> 2024.xlsx#Q1"."""
    return f"{link.type}: {link.source} -> {link.target}"
