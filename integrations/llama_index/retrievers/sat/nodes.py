"""A hit to a node: what LlamaIndex hands on to postprocessors and language models."""

from __future__ import annotations

import uuid
from hashlib import sha256
from pathlib import Path
from typing import Any

from llama_index.core.schema import NodeWithScore, TextNode

from sat_retriever import Hit, Link

# What a language model reads beside the text; the rest is for programs.
SHOWN = ("citation",)


class SheetNode(TextNode):
    """A sheet as a text node."""

    @property
    def hash(self) -> str:
        """Identity of sheet and text, the same for every query.

        The text node's own is of the whole metadata, rank and score too: merging the answers
        of several queries by it would return a sheet once for each of them.
        """
        return sha256(f"{self.node_id}\n{self.text}".encode("utf-8", "surrogatepass")).hexdigest()


def sheet_node(hit: Hit, text: str, index: Path) -> NodeWithScore:
    """The hit as a node with its score; its id is the same in every answer of one index.

    Args:
        hit: The sheet and what speaks for it.
        text: What is read of it.
        index: The index file, so that sheets of two indexes never share an id.
    """
    metadata = flat(hit)
    hidden = [key for key in metadata if key not in SHOWN]
    node = SheetNode(
        id_=str(uuid.uuid5(uuid.NAMESPACE_URL, f"{index.as_posix()}#{hit.sheet_id}")),
        text=text,
        extra_info=metadata,  # the field's alias; type checkers know no other
        excluded_llm_metadata_keys=hidden,
        excluded_embed_metadata_keys=list(metadata),
    )
    return NodeWithScore(node=node, score=hit.score)


def flat(hit: Hit) -> dict[str, Any]:
    """What `Hit.to_dict` says, under one key each, every value plain.

    A record's own metadata fields come too; where one has the name of a key, the key stays.
    """
    record, why = hit.record, hit.why
    return {
        **record.metadata,
        "sheet_id": record.sheet_id,
        "citation": record.citation,
        "rank": hit.rank,
        "score": hit.score,
        "workbook": record.workbook,
        "path": record.path,
        "sheet": record.sheet,
        "range": record.main_range,
        "header_row": record.header_row,
        "columns": " | ".join([column.name for column in record.columns]),
        "visibility": record.visibility.value,
        "words": ", ".join(why.words),
        "headers": " | ".join(why.headers),
        "dense": why.dense,
        "lexical": why.lexical,
        "dense_rank": why.dense_rank,
        "lexical_rank": why.lexical_rank,
        "links": "; ".join([_line(link) for link in why.links]),
        "via": _line(why.via) if why.via else None,
        "period": why.period,
        "copies": "\n".join(hit.copies.sheet_ids),
    }


def _line(link: Link) -> str:
    return f"{link.type}: {link.source} -> {link.target}"
