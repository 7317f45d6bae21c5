"""A query engine: the sheets found, SQL by the language model, an answer with citations."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from llama_index.core import Settings, instrumentation
from llama_index.core.base.response.schema import (
    RESPONSE_TYPE,
    AsyncStreamingResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.bridge.pydantic import ConfigDict, Field, PrivateAttr
from llama_index.core.callbacks import CallbackManager, CBEventType, EventPayload
from llama_index.core.instrumentation.events.query import QueryEndEvent, QueryStartEvent
from llama_index.core.instrumentation.events.retrieval import (
    RetrievalEndEvent,
    RetrievalStartEvent,
)
from llama_index.core.llms import LLM, ChatMessage, MessageRole
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.schema import NodeWithScore
from llama_index.core.vector_stores import MetadataFilters
from llama_index.retrievers.sat.filters import sheet_filters
from llama_index.retrievers.sat.nodes import sheet_node

from sat_retriever import Filters, InputError, SheetIndex, SheetRetriever
from sat_retriever.index.sync.indexing import index_for
from sat_retriever.rank.load import AUTO
from sat_retriever.rank.reranker import Reranker
from sat_retriever.records.permissions import Principals
from sat_retriever.records.sheetanswer import SheetAnswer
from sat_retriever.tools.engine.conversation import Conversation, Query, Step
from sat_retriever.tools.engine.prepare import DEFAULT_SETTINGS, EngineSettings, Prepared, prepare
from sat_retriever.tools.engine.prompts import Prompt

dispatcher = instrumentation.get_dispatcher(__name__)  # type: ignore[attr-defined]


class SheetQueryEngine(CustomQueryEngine):
    """A LlamaIndex query engine that answers from the tables of the sheets found.

    The language model writes SQL over the best tables; the query is checked, run in a sandbox, and
    sent back to be mended if it fails. Where SQL does not fit, the model reads the tables' text.
    The response ends with its citations; its `source_nodes` are the sheets found, and its
    `metadata` has the other values of `SheetAnswer.to_dict`: kind, sql, result, attempts,
    citations, note. A streamed response gets the metadata when its last word has been read.

    Args:
        index: The index to search, or its file.
        llm: Language model; None takes that of the framework's `Settings`.
        filters: Conditions that every sheet meets; see `sheet_filters`.
        reranker: Stage 2 of the search; see `SheetRetriever`.
        settings: Bounds of an answer: sheets, tables, repairs, tokens, limits of a query.
        streaming: True streams the words of the answer.
        today: The day from which "last year" in a question counts; None is the day of the call.
        principals: The groups of the one who asks, or `OWNER`; see `SheetIndex.seen_by`.
        callback_manager: Option of the framework.

    Raises:
        IndexNotFoundError: If there is no index at the path.
        InputError: If a filter has no counterpart in the index, or the reranker is not valid.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    llm: LLM = Field(description="Language model that writes the query and the answer.")
    settings: EngineSettings = Field(default=DEFAULT_SETTINGS, description="Bounds of an answer.")
    streaming: bool = Field(default=False, description="Stream the words of the answer.")
    today: date | None = Field(default=None, description="The day that 'last year' counts from.")
    _filters: Filters | None = PrivateAttr()
    _retriever: SheetRetriever = PrivateAttr()
    _reranker: Reranker | str | Path | None = PrivateAttr()

    def __init__(
        self,
        index: SheetIndex | str | Path,
        llm: LLM | None = None,
        filters: MetadataFilters | Filters | None = None,
        *,
        reranker: Reranker | str | Path | None = AUTO,
        principals: Principals | None = None,
        callback_manager: CallbackManager | None = None,
        **fields: Any,
    ) -> None:
        model = Settings.llm if llm is None else llm
        manager = callback_manager or Settings.callback_manager
        super().__init__(**{"llm": model, "callback_manager": manager, **fields})
        self._filters = sheet_filters(filters)
        self._retriever = SheetRetriever(index_for(index, self._filters, principals), reranker)
        self._reranker = reranker

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle place, settings, those who see the index, and the language model with its key.

        Raises:
            EncoderError: If the index's encoder is an object that only this program has.
            InputError: If the reranker is an open one.
        """
        if self._reranker is not None and not isinstance(self._reranker, (str, Path)):
            raise InputError(
                f"the reranker is an open {type(self._reranker).__name__}, which cannot be "
                "pickled; give the engine its name or folder"
            )
        made = partial(
            type(self),
            reranker=self._reranker,
            settings=self.settings,
            streaming=self.streaming,
            today=self.today,
        )
        return made, (self._retriever.index, self.llm, self._filters)

    def custom_query(self, query_str: str) -> RESPONSE_TYPE:
        """Return the answer to a question."""
        with self._queried(query_str) as told:
            ready, nodes = self._prepared(query_str)
            talk = Conversation(ready)
            while talk.step and not self._streamed(talk.step):
                step = talk.step
                talk.reply(self._said(step) if isinstance(step, Prompt) else step.run())
            told(response := self._response(talk, nodes))
        return response

    @dispatcher.span  # the framework itself only traces `custom_query`
    async def acustom_query(self, query_str: str) -> RESPONSE_TYPE:
        """Do the same, without blocking the event loop."""
        with self._queried(query_str) as told:
            ready, nodes = await asyncio.to_thread(self._prepared, query_str)
            talk = Conversation(ready)
            while talk.step and not self._streamed(talk.step):
                step = talk.step
                if isinstance(step, Query):
                    talk.reply(await asyncio.to_thread(step.run))
                else:
                    reply = await self.llm.achat(_messages(step))
                    talk.reply(reply.message.content or "")
            told(response := self._response(talk, nodes, AsyncStreamingResponse))
        return response

    def _prepared(self, question: str) -> tuple[Prepared, list[NodeWithScore]]:
        """Return the question with its data, and its sheets as a retriever reports them."""
        dispatcher.event(RetrievalStartEvent(str_or_query_bundle=question))
        asked: dict[str, Any] = {EventPayload.QUERY_STR: question}
        with self.callback_manager.event(CBEventType.RETRIEVE, payload=asked) as event:
            ready = prepare(
                self._retriever, question, self._filters, settings=self.settings, today=self.today
            )
            nodes = self._nodes(ready)
            event.on_end(payload={EventPayload.NODES: nodes})
        dispatcher.event(RetrievalEndEvent(str_or_query_bundle=question, nodes=nodes))
        return ready, nodes

    def _nodes(self, ready: Prepared) -> list[NodeWithScore]:
        path = self._retriever.index.path
        return [
            sheet_node(hit, text, path, ready.hits)
            for hit, text in zip(ready.hits, ready.texts, strict=True)
        ]

    def _said(self, prompt: Prompt) -> str:
        return self.llm.chat(_messages(prompt)).message.content or ""

    def _streamed(self, step: Step) -> bool:
        """True if a step is the answer in words, and those are to be streamed."""
        return self.streaming and isinstance(step, Prompt) and step.final

    def _response(
        self,
        talk: Conversation,
        nodes: list[NodeWithScore],
        streaming: type[Any] = StreamingResponse,
    ) -> RESPONSE_TYPE:
        """Return the finished answer, or one whose last step is streamed when it is read."""
        if talk.answer is not None and not self.streaming:
            return Response(str(talk.answer), nodes, _metadata(talk.answer))
        metadata: dict[str, Any] = {}
        words = self._awords if streaming is AsyncStreamingResponse else self._words
        response: RESPONSE_TYPE = streaming(words(talk, metadata), nodes, metadata)
        return response

    def _words(self, talk: Conversation, metadata: dict[str, Any]) -> Iterator[str]:
        """Yield the words of an answer and its sources, then fill in the metadata."""
        while isinstance(talk.step, Prompt):
            for piece in self.llm.stream_chat(_messages(talk.step)):
                if shown := talk.hear(piece.delta or ""):
                    yield shown
            talk.heard()
        yield from _ending(talk, metadata)

    async def _awords(self, talk: Conversation, metadata: dict[str, Any]) -> AsyncIterator[str]:
        """Do the same as `_words`, without blocking the event loop."""
        while isinstance(talk.step, Prompt):
            async for piece in await self.llm.astream_chat(_messages(talk.step)):
                if shown := talk.hear(piece.delta or ""):
                    yield shown
            talk.heard()
        for part in _ending(talk, metadata):
            yield part

    @contextmanager
    def _queried(self, question: str) -> Iterator[Callable[[RESPONSE_TYPE], None]]:
        """Report the question, and the response that the yielded function is given."""
        dispatcher.event(QueryStartEvent(query=question))
        asked: dict[str, Any] = {EventPayload.QUERY_STR: question}
        with self.callback_manager.event(CBEventType.QUERY, payload=asked) as event:

            def told(response: RESPONSE_TYPE) -> None:
                event.on_end(payload={EventPayload.RESPONSE: response})
                dispatcher.event(QueryEndEvent(query=question, response=response))

            yield told


def _messages(prompt: Prompt) -> list[ChatMessage]:
    system = ChatMessage(role=MessageRole.SYSTEM, content=prompt.system)
    return [system, ChatMessage(role=MessageRole.USER, content=prompt.user)]


def _ending(talk: Conversation, metadata: dict[str, Any]) -> Iterator[str]:
    """Yield what follows the streamed words: all words if there were none, and the sources."""
    assert talk.answer is not None
    metadata.update(_metadata(talk.answer))
    if talk.unshown:
        yield talk.unshown
    if talk.answer.sources:
        yield f"\n\n{talk.answer.sources}"


def _metadata(answer: SheetAnswer) -> dict[str, Any]:
    """Return the values of an answer without its hits, which are the response's nodes."""
    return {name: value for name, value in answer.to_dict().items() if name != "hits"}
