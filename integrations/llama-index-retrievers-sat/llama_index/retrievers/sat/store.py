"""Put the sheets of an index into a vector store of LlamaIndex, embedded by the Sheet Encoder."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.retrievers.sat.nodes import SheetNode, record_node

from sat_retriever import Content, SheetIndex
from sat_retriever.encoder import DEFAULT
from sat_retriever.encoder.load import load_encoder
from sat_retriever.index.sync.indexing import index_for
from sat_retriever.records.permissions import Principals
from sat_retriever.records.tokens import Encoder, FloatArray
from sat_retriever.tools.content import RECORD, Form, sheet_texts


def sheet_nodes(
    index: SheetIndex | str | Path,
    *,
    content: Content | Form = RECORD,
    tokens: bool = False,
    principals: Principals | None = None,
) -> Iterator[SheetNode]:
    """Yield each sheet of an index as a node, for a vector store of the framework.

    `VectorStoreIndex(list(sheet_nodes(index)), embed_model=…)` searches any vector store. Such a
    search compares meaning alone. It loses words (BM25) and cells, times, links and reasons, the
    confidence, spelling, and the folding of copies. A `SheetGraphReranker` brings words, times and
    links back for the nodes that it is given, where it has the index; see its own description.

    A store holds nothing back: whoever searches it sees every node. Fill one store for each
    audience, with its `principals`. It does not follow changes of files or permissions either.

    Args:
        index: The index, or its file.
        content: The text of a node: a form, or a form with a bound on its tokens.
        tokens: True gives each node the index's token as its embedding, which is of contents too
            and not of the node's text, so that nothing is encoded again; questions then need a
            `SheetEmbedding` of the same encoder.
        principals: The groups of the audience, or `OWNER`; see `SheetIndex.seen_by`.

    Raises:
        IndexNotFoundError: If there is no index at the path.
        PermissionsError: If the index has permissions, and there are no principals.
    """
    opened = index_for(index, None, principals)
    for records, texts in sheet_texts(opened, Content.of(content)):
        nodes = [record_node(*each, opened.path) for each in zip(records, texts, strict=True)]
        if tokens:
            rows = opened.search.tokens([record.sheet_id for record in records])
            for node, token in zip(nodes, rows.tolist(), strict=True):
                node.embedding = token
        yield from nodes


class SheetEmbedding(BaseEmbedding):
    """The Sheet Encoder as an embedding model of LlamaIndex; serialized or pickled by its name.

    Args:
        encoder: Its name or folder, as in `SheetIndex.create`, or an encoder; None takes
            `model_name` of the options, or the general one.
        options: Options of the framework.

    Raises:
        EncoderError: If it cannot be loaded.
    """

    _encoder: Encoder = PrivateAttr()

    def __init__(self, encoder: Encoder | str | Path | None = None, **options: Any) -> None:
        named = options.get("model_name", DEFAULT) if encoder is None else encoder
        loaded = load_encoder(named) if isinstance(named, (str, Path)) else named
        super().__init__(**{"model_name": loaded.name, **options})
        self._encoder = loaded

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the settings; a copy loads the encoder by its name."""
        return type(self).from_dict, (self.to_dict(),)

    @classmethod
    def class_name(cls) -> str:
        """Return the name in the serialized form."""
        return "SheetEmbedding"

    def _get_query_embedding(self, query: str) -> list[float]:
        return _rows(self._encoder.encode_queries([query]))[0]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await asyncio.to_thread(self._get_query_embedding, query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    async def _aget_text_embedding(self, text: str) -> list[float]:
        return await asyncio.to_thread(self._get_text_embedding, text)

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return _rows(self._encoder.encode_sheets(texts))

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return await asyncio.to_thread(self._get_text_embeddings, texts)


def _rows(tokens: FloatArray) -> list[list[float]]:
    rows: list[list[float]] = tokens.tolist()
    return rows
