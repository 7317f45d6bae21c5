"""Put nodes in a better order."""

from __future__ import annotations

import asyncio
from datetime import date
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from llama_index.core import instrumentation
from llama_index.core.bridge.pydantic import (
    BeforeValidator,
    Field,
    PlainSerializer,
    PrivateAttr,
    WithJsonSchema,
)
from llama_index.core.callbacks import CBEventType, EventPayload
from llama_index.core.instrumentation.events.rerank import ReRankEndEvent, ReRankStartEvent
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle

from sat_retriever import InputError, SheetIndex, load_reranker, open_index
from sat_retriever.index.sync.indexing import index_for
from sat_retriever.rank.load import AUTO, own_reranker
from sat_retriever.rank.mixed import Passage, rerank_mixed
from sat_retriever.rank.reranker import Reranker
from sat_retriever.records.filters import check_counts
from sat_retriever.records.permissions import Owner, Principals

dispatcher = instrumentation.get_dispatcher(__name__)  # type: ignore[attr-defined]

IndexField = Annotated[
    SheetIndex,
    BeforeValidator(open_index),
    PlainSerializer(lambda index: str(index.path), return_type=str),
    WithJsonSchema({"type": "string"}),
]
DayField = Annotated[
    date | None,
    PlainSerializer(lambda day: day and day.isoformat(), return_type=str | None),
]


PrincipalsField = Annotated[
    tuple[str, ...] | Owner | None,
    # No text may mean the owner: an owner is written without groups.
    PlainSerializer(
        lambda given: None if given is None or isinstance(given, Owner) else list(given),
        return_type=list[str] | None,
    ),
]


class SheetGraphReranker(BaseNodePostprocessor):
    """A LlamaIndex postprocessor that puts nodes of sheets in a better order: Stage 2.

    Nodes of any retriever that name no sheet of the index (`sheet_id` in their metadata) are scored
    by their text and ranked among the others. Every node is returned at most once, and all are
    returned if `top_n` allows it; none is added.

    Args:
        index: The index of the sheets, or its file. Only the path is serialized.
        checkpoint: Folder of a trained reranker, or of the run that trained it; None takes the
            one that the index names or comes with.
        top_n: Largest number of nodes.
        today: The day from which "last year" in a question counts; None is the day of the call.
        principals: The groups of the one who asks, or `OWNER`; see `SheetIndex.seen_by`. Groups
            are serialized; `OWNER` only when it is pickled.
        options: Options of the framework, such as `callback_manager`.

    Raises:
        IndexNotFoundError: If there is no index at the path.
        InputError: If `top_n` is not a whole number above 0, or the folder holds no reranker.
        EncoderError: If the reranker is damaged.
        FingerprintMismatchError: If it was trained on other tokens than the index has.
    """

    index: IndexField = Field(description="Index of the sheets, or its file.")
    checkpoint: str | None = Field(default=None, description="Folder with a trained reranker.")
    top_n: int = Field(default=5, description="Most nodes.")
    today: DayField = Field(default=None, description="The day that 'last year' counts from.")
    principals: PrincipalsField = Field(default=None, description="Groups of the one who asks.")
    _reranker: Reranker = PrivateAttr()

    def __init__(
        self,
        index: SheetIndex | str | Path,
        checkpoint: str | Path | None = None,
        top_n: int = 5,
        today: date | None = None,
        principals: Principals | None = None,
        **options: Any,
    ) -> None:
        check_counts(top_n=top_n)
        folder = None if checkpoint is None else str(checkpoint)
        index = index_for(index, None, principals)
        options.pop("class_name", None)  # of the serialized form
        options.update(index=index, checkpoint=folder, top_n=top_n, today=today)
        options.update(principals=index.principals)
        super().__init__(**options)
        self._reranker = load_reranker(self.index, folder) if folder else own_reranker(self.index)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle paths, settings and those who see the index; a copy opens it anew."""
        return type(self), (self.index, self.checkpoint, self.top_n, self.today)

    @classmethod
    def class_name(cls) -> str:
        """Return the name in the serialized form."""
        return "SheetGraphReranker"

    @property
    def model_name(self) -> str:
        """Name of the reranker in events."""
        return self.checkpoint or AUTO

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None:
            raise InputError("a reranker needs the query; give query_bundle or query_str")
        query = query_bundle.query_str
        dispatcher.event(
            ReRankStartEvent(
                query=query_bundle, nodes=nodes, top_n=self.top_n, model_name=self.model_name
            )
        )
        payload: dict[str, Any] = {
            EventPayload.NODES: nodes,
            EventPayload.MODEL_NAME: self.model_name,
            EventPayload.QUERY_STR: query,
            EventPayload.TOP_K: self.top_n,
        }
        with self.callback_manager.event(CBEventType.RERANKING, payload=payload) as event:
            ranked = self._reranked(query, nodes)
            event.on_end(payload={EventPayload.NODES: ranked})
        dispatcher.event(ReRankEndEvent(nodes=ranked))
        return ranked

    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._read, nodes, query_bundle)

    def _read(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None
    ) -> list[NodeWithScore]:
        """Rerank, and read the texts that the event loop would wait for at its first look."""
        ranked = self._postprocess_nodes(nodes, query_bundle)
        for node in ranked:
            node.node.get_content()
        return ranked

    def _reranked(self, query: str, nodes: list[NodeWithScore]) -> list[NodeWithScore]:
        """Return the best nodes with their new scores; the given nodes keep theirs."""
        passages = [_passage(node) for node in nodes]
        ranked = rerank_mixed(self._reranker, self.index, query, passages, today=self.today)
        return [
            NodeWithScore(node=nodes[place].node, score=score)
            for place, score in ranked[: self.top_n]
        ]


def _passage(node: NodeWithScore) -> Passage:
    sheet_id = node.node.metadata.get("sheet_id")
    text = partial(node.node.get_content, metadata_mode=MetadataMode.EMBED)
    return Passage(text, sheet_id if isinstance(sheet_id, str) else None)
