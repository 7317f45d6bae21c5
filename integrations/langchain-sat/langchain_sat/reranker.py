"""Rerank LangChain documents as a document compressor: Stage 2."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from pydantic import ConfigDict, Field, PrivateAttr, field_serializer

from langchain_sat.settings import Dumped, IndexField, IndexLike, PrincipalsField
from sat_retriever import load_reranker
from sat_retriever.rank.load import own_reranker
from sat_retriever.rank.mixed import Passage, rerank_mixed
from sat_retriever.rank.reranker import Reranker


class SheetGraphReranker(BaseDocumentCompressor, Dumped):
    """A reranker of documents by links between sheets, or by a trained model.

    Documents of sheets have a `sheet_id` of the index in their metadata. Any other document, for
    example of a vector store or a web search, is scored by its text with the index's encoder, on
    the same scale; see `sat_retriever.rank.mixed.rerank_mixed`. The results are copies with new
    `rank` and `relevance_score` in their metadata. It may be shared between threads. Pickled,
    or dumped by `langchain_core.load`, it holds the place of its index and its settings.

    Raises:
        IndexNotFoundError: If there is no index at the path.
        InputError: If the checkpoint does not exist, or holds no reranker.
        FingerprintMismatchError: If it was trained on other tokens than the index has.
    """

    model_config = ConfigDict(extra="forbid")

    index: IndexField
    """The index of the sheets, or its path."""
    checkpoint: str | Path | None = None
    """Folder of a trained reranker; None takes the one that the index names or comes with."""
    top_n: int = Field(default=5, ge=1)
    """Largest number of documents in the result."""
    today: date | None = None
    """The day from which "last year" in a question counts; None is the day of the call."""
    principals: PrincipalsField = None
    """The groups of the one who asks, or `OWNER`; see `SheetIndex.seen_by`."""

    _reranker: Reranker = PrivateAttr()

    def __init__(self, index: IndexLike, **fields: Any) -> None:
        super().__init__(**{"index": index, **fields})

    def model_post_init(self, context: Any, /) -> None:
        """Load the reranker."""
        super().model_post_init(context)
        if self.checkpoint is None:
            self._reranker = own_reranker(self.index)
        else:
            self._reranker = load_reranker(self.index, self.checkpoint)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the fields; the index is its place and those who see it."""
        return type(self).model_validate, (dict(self),)

    @field_serializer("checkpoint")
    def _dump_checkpoint(self, checkpoint: str | Path | None) -> str | None:
        return None if checkpoint is None else str(checkpoint)

    @property
    def candidates(self) -> int | None:
        """Number of documents that it was trained on; None for any number."""
        return self._reranker.trained_candidates

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> list[Document]:
        """Return the best `top_n` documents for a query, best first, each once.

        Args:
            documents: Documents in any order.
            query: The query that they were found for.
            callbacks: Unused: no model of LangChain is called.

        Raises:
            EmptyInputError: If the query is empty.
            EncoderError: If a model cannot be run.
        """
        passages = [
            Passage(partial(getattr, each, "page_content"), _sheet_id(each)) for each in documents
        ]
        index = self.index
        if self.principals is not None:
            index = index.seen_by(self.principals)
        ranked = rerank_mixed(self._reranker, index, query, passages, today=self.today)
        return [
            _ranked(documents[place], rank, score)
            for rank, (place, score) in enumerate(ranked[: self.top_n], start=1)
        ]

    async def acompress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> list[Document]:
        """Do the same as `compress_documents`, without blocking the event loop."""
        return await asyncio.to_thread(self.compress_documents, documents, query, callbacks)


def _sheet_id(document: Document) -> str | None:
    """Return the id of the sheet that a document names."""
    named = document.metadata.get("sheet_id")
    return named if isinstance(named, str) else None


def _ranked(document: Document, rank: int, score: float) -> Document:
    """Return a copy with its new rank and score; the given document stays as it is."""
    metadata = {**document.metadata, "rank": rank, "relevance_score": round(score, 6)}
    return document.model_copy(update={"metadata": metadata})
