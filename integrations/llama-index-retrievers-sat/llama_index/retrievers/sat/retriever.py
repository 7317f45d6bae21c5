"""Retrieve the nodes of the best sheets for a question."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from llama_index.core import instrumentation
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.core.vector_stores import MetadataFilters
from llama_index.retrievers.sat.filters import sheet_filters
from llama_index.retrievers.sat.nodes import unread_node

from sat_retriever import Content, Filters, SheetIndex, SheetRetriever, index_paths
from sat_retriever.answer.retriever import CANDIDATES
from sat_retriever.encoder.load import EncoderLike
from sat_retriever.index.sync.indexing import index_for
from sat_retriever.records.filters import check_counts
from sat_retriever.records.permissions import Owner, Principals
from sat_retriever.records.tokens import FloatArray
from sat_retriever.tools.content import Form, answer_readers

dispatcher = instrumentation.get_dispatcher(__name__)  # type: ignore[attr-defined]


class SheetTokenRetriever(BaseRetriever):
    """A LlamaIndex retriever of the sheets whose token and words fit best: Stage 1.

    Add a `SheetGraphReranker` after it for Stage 2, and then take more nodes: it was measured with
    50. Rank and score in a node's metadata stay those of Stage 1. It may be shared between threads
    and tasks. Pickled, it holds the place of its index, its settings, and the groups it is for.

    Args:
        index: The index to search, or its file.
        similarity_top_k: Largest number of nodes.
        filters: Conditions that every sheet meets; see `sheet_filters`. Their metadata fields must
            exist in the index.
        content: The text of a node: a form, or a form with a bound on its tokens.
        use_embedding: True takes an embedding in the query for its token by the index's encoder.
            Turn it off beside retrievers of another model with the same width.
        today: The day from which "last year" in a question counts; None is the day of the call.
        principals: The groups of the one who asks, or `OWNER`; see `SheetIndex.seen_by`.
        callback_manager: Option of the framework.
        verbose: Option of the framework.

    Raises:
        IndexNotFoundError: If there is no index at the path.
        InputError: If `similarity_top_k` is not a whole number above 0, a filter has no
            counterpart in the index, or the form is unknown.
    """

    def __init__(  # noqa: PLR0913 - what is found, for whom, in what form, and the framework's own
        self,
        index: SheetIndex | str | Path,
        similarity_top_k: int = 5,
        filters: MetadataFilters | Filters | None = None,
        *,
        content: Content | Form | Mapping[str, Any] = "answer",
        use_embedding: bool = True,
        today: date | None = None,
        principals: Principals | None = None,
        callback_manager: CallbackManager | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(callback_manager=callback_manager, verbose=verbose)
        check_counts(similarity_top_k=similarity_top_k)
        self.similarity_top_k = similarity_top_k
        self.filters = sheet_filters(filters)
        self.content = Content.of(content)
        self.use_embedding = use_embedding
        self.today = today
        self.index = index_for(index, self.filters, principals)
        self._sheets = SheetRetriever(self.index, None)

    @classmethod
    def from_paths(
        cls,
        paths: Sequence[str | Path] | str | Path,
        index: str | Path,
        *,
        encoder: EncoderLike | None = None,
        **options: Any,
    ) -> SheetTokenRetriever:
        """Return a retriever over an index that is first updated with some paths.

        Args:
            paths: Folders and files.
            index: The index file; created if it does not exist.
            encoder: Encoder of a new index: a name or folder, an encoder, or an embedding model of
                LlamaIndex or LangChain; None takes the general one.
            options: Options of the class.

        Raises:
            PathNotFoundError: If a path does not exist.
            FingerprintMismatchError: If the index was written with another encoder.
            IndexBusyError: If another process is writing to the index.
        """
        made = index_paths(paths, index, encoder=encoder)
        try:
            return cls(made, **options)
        except BaseException:
            made.close()
            raise

    def seen_by(self, principals: Principals) -> SheetTokenRetriever:
        """Return the same retriever for what some groups may see of the index.

        Args:
            principals: The groups of the one who asks, or `OWNER`; see `SheetIndex.seen_by`.

        Raises:
            InputError: If a group is no plain name.
            PermissionsError: If it is a retriever for some groups already.
        """
        framework: dict[str, Any] = {
            "callback_manager": self.callback_manager,
            "verbose": self._verbose,
        }
        return type(self)(self.index.seen_by(principals), **self._settings(), **framework)

    def to_dict(self) -> dict[str, Any]:
        """Return place and settings as JSON values: no handle, no password and no callbacks.

        Groups are kept. `OWNER` is not: the loaded retriever names no groups, and an index with
        permissions refuses it.
        """
        groups = self.index.principals
        return {
            **self._settings(),
            "index": str(self.index.path),
            "filters": self.filters and self.filters.to_dict(),
            "content": asdict(self.content),
            "today": self.today and self.today.isoformat(),
            "principals": None if groups is None or isinstance(groups, Owner) else list(groups),
            "class_name": type(self).__name__,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], **options: Any) -> SheetTokenRetriever:
        """Return a retriever of the place and settings that `to_dict` wrote.

        Args:
            data: What `to_dict` returned.
            options: Options of the class, in place of those; for example `index`, where the
                encoder of the index is an object of the program.

        Raises:
            IndexNotFoundError: If there is no index at the place.
            InputError: If a setting is unknown or not valid.
        """
        given = {**data, **options}
        given.pop("class_name", None)
        if isinstance(given.get("filters"), Mapping):
            given["filters"] = Filters.of(given["filters"])
        if isinstance(given.get("today"), str):
            given["today"] = date.fromisoformat(given["today"])
        return cls(**given)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle place, settings and those who see the index; a copy opens the index anew."""
        return partial(type(self), **self._settings()), (self.index,)

    def _settings(self) -> dict[str, Any]:
        return {
            "similarity_top_k": self.similarity_top_k,
            "filters": self.filters,
            "content": self.content,
            "use_embedding": self.use_embedding,
            "today": self.today,
        }

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._nodes(query_bundle)

    @dispatcher.span  # the framework itself only traces `_retrieve`
    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._nodes_for_event_loop, query_bundle)

    def _nodes_for_event_loop(self, query: QueryBundle) -> list[NodeWithScore]:
        """Return nodes whose texts are read, unless they are as many as a reranker takes."""
        nodes = self._nodes(query)
        if self.similarity_top_k < CANDIDATES:
            for node in nodes:
                node.get_content()
        return nodes

    def _nodes(self, query: QueryBundle) -> list[NodeWithScore]:
        """Return nodes of the best sheets, best first."""
        token, day = self._token(query), self.today
        hits = self._sheets.retrieve(
            query.query_str, self.similarity_top_k, self.filters, token=token, today=day
        )
        texts = answer_readers(self.index, hits, self.content)
        return [
            unread_node(hit, read, self.index.path, hits)
            for hit, read in zip(hits, texts, strict=True)
        ]

    def _token(self, query: QueryBundle) -> FloatArray | None:
        """Return the token (d,) in a query: its embedding, or the mean of its texts to embed.

        Vector retrievers leave their own model's embedding in a query that they share with this
        one; an embedding of another width is ignored.
        """
        if self.use_embedding and query.embedding is not None:
            width = self.index.width
            if len(query.embedding) == width:
                return np.asarray(query.embedding, dtype=np.float32)
        if query.custom_embedding_strs:  # for example of a HyDE transform
            tokens = self.index.encoder.encode_queries(query.custom_embedding_strs)  # (n, d)
            mean: FloatArray = tokens.mean(axis=0)
            return mean
        return None
