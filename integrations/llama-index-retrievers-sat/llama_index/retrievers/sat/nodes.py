"""Turn a hit into a node for postprocessors and language models of LlamaIndex."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from llama_index.core.schema import NodeWithScore, TextNode

from sat_retriever import Hit, Link, SheetRecord
from sat_retriever.index.store.place import Place
from sat_retriever.records.hits import Answer
from sat_retriever.tools.unread import unread

# Metadata that a language model reads beside the text; the rest is for programs.
SHOWN = ("citation",)


class SheetNode(TextNode):
    """A sheet as a text node."""

    @property
    def hash(self) -> str:
        """Identity of the sheet, the same for every query.

        The text node's own hash covers all metadata, including rank and score. Merging the answers
        of several queries by that hash would return a sheet once for each query.
        """
        return sha256(self.node_id.encode("utf-8", "surrogatepass")).hexdigest()


_put_unread = unread(SheetNode, "text")


def unread_node(hit: Hit, read: Callable[[], str], index: Place, answer: Answer) -> NodeWithScore:
    """Return the hit as `sheet_node`, with a text that is read at the first look at it."""
    found = sheet_node(hit, "", index, answer)
    _put_unread(cast("SheetNode", found.node), read)
    return found


def sheet_node(hit: Hit, text: str, index: Place, answer: Answer) -> NodeWithScore:
    """Return the hit as a node with its score; its id is the same in all answers of one index.

    Args:
        hit: The sheet with its reasons.
        text: Text of the node.
        index: Place of the index, so that sheets of two indexes never share an id.
        answer: The answer that it is in; the metadata says how sure it is.
    """
    sure = {"confidence": round(answer.confidence, 4), "answered": answer.answered}
    return NodeWithScore(
        node=_node(hit.sheet_id, text, index, {**flat(hit), **sure}), score=hit.score
    )


def record_node(record: SheetRecord, text: str, index: Place) -> SheetNode:
    """Return a sheet that no question found; its id is that of `sheet_node`.

    Args:
        record: The sheet.
        text: Text of the node.
        index: Place of the index.
    """
    metadata = {
        **_place(record),
        "citation": record.citation,
        "range": record.main_range,
        "header_row": record.header_row,
        "columns": " | ".join([column.name for column in record.columns]),
    }
    return _node(record.sheet_id, text, index, metadata)


def _node(sheet_id: str, text: str, index: Place, metadata: dict[str, Any]) -> SheetNode:
    place = index.as_posix() if isinstance(index, Path) else str(index)
    return SheetNode(
        id_=str(uuid.uuid5(uuid.NAMESPACE_URL, f"{place}#{sheet_id}")),
        text=text,
        extra_info=metadata,  # the field's alias; type checkers know no other
        excluded_llm_metadata_keys=[key for key in metadata if key not in SHOWN],
        excluded_embed_metadata_keys=list(metadata),
    )


def flat(hit: Hit) -> dict[str, Any]:
    """Return the values of `Hit.to_dict`, under one key each, as plain values.

    A record's own metadata fields are included; the keys here have priority.
    """
    record, why = hit.record, hit.why
    return {
        **_place(record),
        "citation": hit.citation,
        "rank": hit.rank,
        "score": hit.score,
        "range": hit.range,
        "header_row": hit.header_row,
        "columns": " | ".join([column.name for column in hit.columns]),
        "table": hit.table_place,
        "table_range": hit.answering.range if hit.answering else None,
        "table_note": hit.answering.note if hit.answering else "",
        "words": ", ".join(why.words),
        "cell_words": ", ".join(why.cell_words),
        "headers": " | ".join(why.headers),
        "cells": " | ".join([f"{each.place}: {each.text}" for each in why.cells]),
        "dense": why.dense,
        "lexical": why.lexical,
        "dense_rank": why.dense_rank,
        "lexical_rank": why.lexical_rank,
        "contents": why.contents,
        "contents_rank": why.contents_rank,
        "links": "; ".join([_line(link) for link in why.links]),
        "via": _line(why.via) if why.via else None,
        "period": why.period,
        "copies": "\n".join(hit.copies.sheet_ids),
    }


def _place(record: SheetRecord) -> dict[str, Any]:
    """Return the location of a sheet, which has priority over its own metadata fields."""
    return {
        **record.metadata,
        "sheet_id": record.sheet_id,
        "workbook": record.workbook,
        "path": record.path,
        **record.at_url(),
        "sheet": record.sheet,
        "role": record.role.value,
        "visibility": record.visibility.value,
    }


def _line(link: Link) -> str:
    return f"{link.type}: {link.source} -> {link.target}"
