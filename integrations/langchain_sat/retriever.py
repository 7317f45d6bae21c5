"""Stage 1 as a LangChain retriever: a question to the documents of its best sheets."""

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

from langchain_sat.documents import hit_document
from langchain_sat.settings import (
    ContentField,
    FiltersField,
    FiltersLike,
    IndexField,
    IndexLike,
    as_filters,
)
from sat_retriever import SheetRetriever
from sat_retriever.index.indexing import index_paths
from sat_retriever.records.tokens import Encoder
from sat_retriever.tools.content import ANSWER, hit_text


class SheetTokenRetriever(BaseRetriever):
    """The best sheets for a question, each as one document with its citation.

    Documents have the sheet id as their `id`, so that sheets of equal text stay apart.
    `retriever.invoke(question, k=3, filters={"path": "2024/*"})` overrides the fields for
    one call, as `today` does. Safe to share between threads; async calls do not block the event
    loop. Dumped or pickled, it holds the path of its index.

    Raises:
        IndexNotFoundError: If there is no index at the path.
        InputError: If a filter, its metadata field or a content option is unknown.
    """

    model_config = ConfigDict(extra="forbid")

    index: IndexField
    """The index; given as one, or as its path."""
    k: int = Field(default=5, ge=1)
    """Most documents of an answer."""
    filters: FiltersField = None
    """Conditions that every sheet meets; given as `Filters`, or as a mapping of its fields."""
    content: ContentField = ANSWER
    """What a document's text is; given as `Content`, as its form, or as a mapping."""
    today: date | None = None
    """The day that "last year" in a question counts from; None is the day it is asked on."""

    _found: SheetRetriever = PrivateAttr()

    def __init__(self, index: IndexLike, **fields: Any) -> None:
        super().__init__(**{"index": index, **fields})

    @classmethod
    def from_paths(
        cls,
        paths: Sequence[str | Path] | str | Path,
        index: str | Path,
        *,
        encoder: Encoder | str | Path | None = None,
        **options: Any,
    ) -> Self:
        """A retriever over workbooks, whose index is made, or brought up to date, first.

        Args:
            paths: Folders and files.
            index: The index file; made if there is none.
            encoder: Sheet Encoder of a new index, its name or folder; the general one by default.
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
        self.index.check_filters(self.filters)
        self._found = SheetRetriever(self.index, reranker=None)

    def __reduce__(self) -> tuple[Any, ...]:
        """By its plain values: an open index cannot be pickled, its path can."""
        return type(self).model_validate, (self.model_dump(),)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        k: int | None = None,
        filters: FiltersLike | None = None,
        today: date | None = None,
    ) -> list[Document]:
        """Documents of the best sheets; the arguments count in place of the fields."""
        return self._documents(query, k, filters, today)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        k: int | None = None,
        filters: FiltersLike | None = None,
        today: date | None = None,
    ) -> list[Document]:
        """The same in a thread."""
        return await asyncio.to_thread(self._documents, query, k, filters, today)

    def _documents(
        self, query: str, k: int | None, filters: FiltersLike | None, today: date | None
    ) -> list[Document]:
        wanted = self.filters
        if filters is not None:  # those of the field were checked at the start
            wanted = as_filters(filters)
            self.index.check_filters(wanted)
        day = self.today if today is None else today
        hits = self._found.retrieve(query, self.k if k is None else k, wanted, today=day)
        texts = [hit_text(self.index, hit, self.content) for hit in hits]
        return [hit_document(hit, text) for hit, text in zip(hits, texts, strict=True)]

    def _get_ls_params(self, **kwargs: Any) -> LangSmithRetrieverParams:
        """What a trace says of the retriever; of an encoder's folder, its name only."""
        name = self.index.encoder_name
        params = super()._get_ls_params(**kwargs)
        params["ls_vector_store_provider"] = "sat-retriever"
        params["ls_embedding_provider"] = "sat-retriever"
        params["ls_embedding_model"] = Path(name).name if Path(name).is_absolute() else name
        return params
