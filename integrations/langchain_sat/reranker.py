"""Stage 2 as a LangChain document compressor: documents in, the best of them out."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from pydantic import ConfigDict, Field, PrivateAttr, field_serializer

from langchain_sat.settings import IndexField, IndexLike
from sat_retriever import load_reranker
from sat_retriever.rank.load import own_reranker
from sat_retriever.rank.mixed import Passage, rerank_mixed
from sat_retriever.rank.reranker import Reranker


class SheetGraphReranker(BaseDocumentCompressor):
    """Orders documents by what links between sheets, or a trained model, say.

    Documents of sheets are those whose metadata names a `sheet_id` of the index. Any other
    document, of a vector store or a web search, is scored by its text with the index's
    encoder, and put on the same scale; see `sat_retriever.rank.mixed.rerank_mixed`. Returned
    are copies with the new `rank` and `relevance_score` in their metadata. Safe to share
    between threads. Dumped or pickled, it holds the path of its index.

    Raises:
        IndexNotFoundError: If there is no index at the path.
        InputError: If the checkpoint is not there, or holds no reranker.
        FingerprintMismatchError: If it was trained on other tokens than the index has.
    """

    model_config = ConfigDict(extra="forbid")

    index: IndexField
    """The index of the sheets; given as one, or as its path."""
    checkpoint: str | Path | None = None
    """Folder of a trained reranker; None takes the one that the index names or comes with."""
    top_n: int = Field(default=5, ge=1)
    """Most documents returned."""
    today: date | None = None
    """The day that "last year" in a question counts from; None is the day it is asked on."""

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
        """By its plain values: an open index cannot be pickled, its path can."""
        return type(self).model_validate, (self.model_dump(),)

    @field_serializer("checkpoint")
    def _dump_checkpoint(self, checkpoint: str | Path | None) -> str | None:
        return None if checkpoint is None else str(checkpoint)

    @property
    def candidates(self) -> int | None:
        """How many documents it was trained on; None: any number."""
        return self._reranker.trained_candidates

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> list[Document]:
        """The best `top_n` documents for a query, best first, none of them twice.

        Args:
            documents: In any order.
            query: The query that they were found for.
            callbacks: Not needed: no model of LangChain is called.

        Raises:
            EmptyInputError: If the query has no character.
            EncoderError: If a model cannot be run.
        """
        passages = [Passage(each.page_content, _sheet_id(each)) for each in documents]
        ranked = rerank_mixed(self._reranker, self.index, query, passages, today=self.today)
        return [
            _ranked(documents[place], rank, score)
            for rank, (place, score) in enumerate(ranked[: self.top_n], start=1)
        ]

    async def acompress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> list[Document]:
        """Like `compress_documents`, without blocking the event loop."""
        return await asyncio.to_thread(self.compress_documents, documents, query, callbacks)


def _sheet_id(document: Document) -> str | None:
    """The sheet that a document names."""
    named = document.metadata.get("sheet_id")
    return named if isinstance(named, str) else None


def _ranked(document: Document, rank: int, score: float) -> Document:
    """A copy with its place in the new order; the given document stays as it is."""
    metadata = {**document.metadata, "rank": rank, "relevance_score": round(score, 6)}
    return document.model_copy(update={"metadata": metadata})
