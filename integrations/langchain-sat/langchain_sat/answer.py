"""Answer questions from sheets as one Runnable: found, queried in SQL, told in words, cited."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import date
from pathlib import Path
from typing import Any, cast

from langchain_core.documents import Document
from langchain_core.language_models import LanguageModelLike
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig, RunnableGenerator, RunnableLambda
from langchain_core.runnables.utils import AddableDict

from langchain_sat.documents import hit_document
from langchain_sat.settings import FiltersLike, IndexLike, as_filters
from sat_retriever import SheetRetriever
from sat_retriever.index.sync.indexing import index_for
from sat_retriever.rank.load import AUTO
from sat_retriever.rank.reranker import Reranker
from sat_retriever.records.permissions import Principals
from sat_retriever.tools.engine.conversation import Conversation, Query, Reply
from sat_retriever.tools.engine.prepare import DEFAULT_SETTINGS, EngineSettings, Prepared, prepare
from sat_retriever.tools.engine.prompts import Prompt


def sheet_answer_chain(
    index: IndexLike,
    llm: LanguageModelLike,
    *,
    filters: FiltersLike | None = None,
    reranker: Reranker | str | Path | None = AUTO,
    settings: EngineSettings = DEFAULT_SETTINGS,
    today: date | None = None,
    principals: Principals | None = None,
) -> Runnable[str, dict[str, Any]]:
    """Return a Runnable that answers a question from the tables of the sheets found.

    The language model writes SQL over the best tables; the query is checked, run in a sandbox, and
    sent back to be mended if it fails. Where SQL does not fit, the model reads the tables' text.

    The answer is a mapping: `question`, `documents` (the sheets found), `answer` (the words),
    `citations`, `kind`, `sql`, `result`, `attempts`, `note`, `confidence`, `answered`; see
    `SheetAnswer`. `stream` and `astream` yield parts of it that can be added: the documents first,
    then the words as they come, then the rest. Callbacks see each search, query and model call as a
    run of its own.

    Args:
        index: The index to search, or its file.
        llm: Any chat model or language model.
        filters: Conditions that every sheet meets.
        reranker: Stage 2 of the search; see `SheetRetriever`.
        settings: Bounds of an answer: sheets, tables, repairs, tokens, limits of a query.
        today: The day from which "last year" in a question counts; None is the day of the call.
        principals: The groups of the one who asks, or `OWNER`; see `SheetIndex.seen_by`.

    Raises:
        IndexNotFoundError: If there is no index at the path.
        InputError: If a filter or the reranker is not valid.
    """
    wanted = as_filters(filters)
    retriever = SheetRetriever(index_for(index, wanted, principals), reranker)

    def prepared(question: str) -> Prepared:
        return prepare(retriever, question, wanted, settings=settings, today=today)

    async def aprepared(question: str) -> Prepared:
        return await asyncio.to_thread(prepared, question)

    steps = _Steps(llm, RunnableLambda(prepared, aprepared, name="find_sheets"))
    return RunnableGenerator(  # it passes a config to functions that take one
        cast("Any", steps.answer), cast("Any", steps.aanswer), name="sheet_answer_chain"
    )


class _Steps:
    """The steps of a chain, each as a run of its own below the chain's."""

    def __init__(self, llm: LanguageModelLike, find: Runnable[str, Prepared]) -> None:
        self._llm = llm
        self._find = find
        self._query = RunnableLambda(_ran, _aran, name="query_tables")

    def answer(self, questions: Iterator[str], config: RunnableConfig) -> Iterator[dict[str, Any]]:
        """Yield the parts of an answer."""
        ready = self._find.invoke("".join(questions), config)
        yield _found(ready)
        talk = Conversation(ready)
        while step := talk.step:
            if isinstance(step, Query):
                talk.reply(self._query.invoke(step, config))
                continue
            for piece in self._llm.stream(_messages(step), config):
                if shown := talk.hear(_text(piece)):
                    yield _words(shown)
            talk.heard()
        yield from _ending(talk)

    async def aanswer(
        self, questions: AsyncIterator[str], config: RunnableConfig
    ) -> AsyncIterator[dict[str, Any]]:
        """Do the same, without blocking the event loop."""
        ready = await self._find.ainvoke("".join([part async for part in questions]), config)
        yield _found(ready)
        talk = Conversation(ready)
        while step := talk.step:
            if isinstance(step, Query):
                talk.reply(await self._query.ainvoke(step, config))
                continue
            async for piece in self._llm.astream(_messages(step), config):
                if shown := talk.hear(_text(piece)):
                    yield _words(shown)
            talk.heard()
        for part in _ending(talk):
            yield part


def _ran(step: Query) -> Reply:
    return step.run()


async def _aran(step: Query) -> Reply:
    return await asyncio.to_thread(step.run)


def _messages(prompt: Prompt) -> list[BaseMessage]:
    return [SystemMessage(prompt.system), HumanMessage(prompt.user)]


def _text(piece: Any) -> str:
    """Return the text of a chunk of a chat model, or of a language model, which is one."""
    return str(piece.text) if isinstance(piece, BaseMessage) else str(piece)


def _found(ready: Prepared) -> dict[str, Any]:
    documents: list[Document] = [
        hit_document(hit, text, ready.hits)
        for hit, text in zip(ready.hits, ready.texts, strict=True)
    ]
    return AddableDict(question=ready.question, documents=documents)


def _words(text: str) -> dict[str, Any]:
    return AddableDict(answer=text)


def _ending(talk: Conversation) -> Iterator[dict[str, Any]]:
    """Yield what follows the words: all words if there were none, and where they come from."""
    assert talk.answer is not None
    if talk.unshown:
        yield _words(talk.unshown)
    given = talk.answer.to_dict()
    yield AddableDict(
        {name: value for name, value in given.items() if name not in ("question", "answer", "hits")}
    )
