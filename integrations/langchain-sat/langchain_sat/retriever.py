"""Retrieve the documents of the best sheets for a question: Stage 1 for LangChain."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any, Self

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever, LangSmithRetrieverParams
from pydantic import ConfigDict, Field, PrivateAttr

from langchain_sat.documents import unread_document
from langchain_sat.settings import (
    ContentField,
    Dumped,
    FiltersField,
    FiltersLike,
    IndexField,
    IndexLike,
    PrincipalsField,
    as_filters,
)
from sat_retriever import SheetRetriever
from sat_retriever.answer.retriever import CANDIDATES
from sat_retriever.encoder.load import EncoderLike
from sat_retriever.index.sync.indexing import index_paths
from sat_retriever.records.permissions import Principals
from sat_retriever.tools.content import ANSWER, answer_readers


class SheetTokenRetriever(BaseRetriever, Dumped):
    """A retriever of the best sheets for a question, each as one document with its citation.

    The `id` of a document is the sheet id, so that sheets with equal text stay separate.
    `retriever.invoke(question, k=3, filters={"path": "2024/*"})` overrides the fields for one call,
    and so do `today` and `principals`. It may be shared between threads; async calls do not block
    the event loop. Pickled, or dumped by `langchain_core.load`, it holds the place of its index
    and its settings.

    Raises:
        IndexNotFoundError: If there is no index at the path.
        InputError: If a filter, its metadata field or a content option is unknown.
    """

    model_config = ConfigDict(extra="forbid")

    index: IndexField
    """The index, or its path."""
    k: int = Field(default=5, ge=1)
    """Largest number of documents in an answer."""
    filters: FiltersField = None
    """Conditions that every sheet meets, as `Filters` or as a mapping of its fields."""
    content: ContentField = ANSWER
    """The text of a document, as `Content`, as the name of its form, or as a mapping."""
    today: date | None = None
    """The day from which "last year" in a question counts; None is the day of the call."""
    principals: PrincipalsField = None
    """The groups of the one who asks, or `OWNER`; see `SheetIndex.seen_by`."""

    _found: SheetRetriever = PrivateAttr()

    def __init__(self, index: IndexLike, **fields: Any) -> None:
        super().__init__(**{"index": index, **fields})

    @classmethod
    def from_paths(
        cls,
        paths: Sequence[str | Path] | str | Path,
        index: str | Path,
        *,
        encoder: EncoderLike | None = None,
        **options: Any,
    ) -> Self:
        """Return a retriever over workbooks; its index is created or updated first.

        Args:
            paths: Folders and files.
            index: The index file; created if it does not exist.
            encoder: Encoder of a new index: a name or folder, an encoder, or an embedding model of
                LangChain or LlamaIndex; None takes the general one.
            options: Fields of the retriever.

        Raises:
            PathNotFoundError: If a path does not exist.
            FingerprintMismatchError: If the index was written with another encoder.
        """
        made = index_paths(paths, index, encoder=encoder)
        try:
            return cls(made, **options)
        except BaseException:
            made.close()
            raise

    def model_post_init(self, context: Any, /) -> None:
        """Set up the search."""
        super().model_post_init(context)
        self._found = SheetRetriever(self.index, reranker=None)
        self._found.seen_by(self.principals).index.search.check_filters(self.filters)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the fields; the index is its place and those who see it."""
        return type(self).model_validate, (dict(self),)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        k: int | None = None,
        filters: FiltersLike | None = None,
        today: date | None = None,
        principals: Principals | None = None,
    ) -> list[Document]:
        """Return documents of the best sheets; the arguments have priority over the fields."""
        return self._documents(query, k, filters, today, principals)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        k: int | None = None,
        filters: FiltersLike | None = None,
        today: date | None = None,
        principals: Principals | None = None,
    ) -> list[Document]:
        """Do the same in a thread, which also reads texts, unless a reranker chooses among them."""
        found = await asyncio.to_thread(self._documents, query, k, filters, today, principals)
        if (self.k if k is None else k) < CANDIDATES:
            await asyncio.to_thread(lambda: [each.page_content for each in found])
        return found

    def _documents(
        self,
        query: str,
        k: int | None,
        filters: FiltersLike | None,
        today: date | None,
        principals: Principals | None,
    ) -> list[Document]:
        found = self._found.seen_by(self.principals if principals is None else principals)
        wanted = self.filters if filters is None else as_filters(filters)
        if filters is not None or principals is not None:  # else checked at the start
            found.index.search.check_filters(wanted)
        day = self.today if today is None else today
        hits = found.retrieve(query, self.k if k is None else k, wanted, today=day)
        texts = answer_readers(found.index, hits, self.content)
        return [unread_document(hit, read, hits) for hit, read in zip(hits, texts, strict=True)]

    def _get_ls_params(self, **kwargs: Any) -> LangSmithRetrieverParams:
        """Return the parameters for a trace; an encoder's folder is given only by name."""
        name = self.index.encoder_name
        params = super()._get_ls_params(**kwargs)
        params["ls_vector_store_provider"] = "sat-retriever"
        params["ls_embedding_provider"] = "sat-retriever"
        params["ls_embedding_model"] = Path(name).name if Path(name).is_absolute() else name
        return params
