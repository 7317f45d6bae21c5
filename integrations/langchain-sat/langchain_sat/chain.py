"""Join retriever and reranker into one Runnable: a question to reranked documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda

from langchain_sat.reranker import SheetGraphReranker
from langchain_sat.retriever import SheetTokenRetriever
from sat_retriever.answer.retriever import CANDIDATES


def retriever_chain(
    retriever: Runnable[str, list[Document]],
    reranker: BaseDocumentCompressor,
    *,
    candidates: int | None = None,
) -> Runnable[str, list[Document]]:
    """Return a Runnable that finds documents for a question and reranks them, best first.

    It does the same as `ContextualCompressionRetriever` of langchain-classic, with langchain-core
    only. Further arguments of a call go to the retriever:
    `chain.invoke(question, filters={"path": "2024/*"})`. `principals` go to both.

    Args:
        retriever: Any retriever; a `SheetTokenRetriever` is asked for `candidates` sheets.
        reranker: Any compressor.
        candidates: Number of sheets to rerank; None takes the number that the reranker was trained
            on, or 50 for an untrained one. Other retrievers have a number of their own.
    """
    fixed: dict[str, Any] = {}
    if isinstance(retriever, SheetTokenRetriever):
        own = reranker.candidates if isinstance(reranker, SheetGraphReranker) else None
        fixed["k"] = candidates or own or CANDIDATES

    def answer(question: str, config: RunnableConfig, **options: Any) -> list[Document]:
        found = retriever.invoke(question, config, **{**fixed, **options})
        chosen = _for(reranker, options)
        return list(chosen.compress_documents(found, question, config.get("callbacks")))

    async def aanswer(question: str, config: RunnableConfig, **options: Any) -> list[Document]:
        found = await retriever.ainvoke(question, config, **{**fixed, **options})
        chosen = _for(reranker, options)
        return list(await chosen.acompress_documents(found, question, config.get("callbacks")))

    return RunnableLambda(answer, afunc=aanswer, name="retriever_chain")


def _for(reranker: BaseDocumentCompressor, options: Mapping[str, Any]) -> BaseDocumentCompressor:
    """Return a reranker for those that a call names."""
    principals = options.get("principals")
    if principals is None or not isinstance(reranker, SheetGraphReranker):
        return reranker
    return reranker.model_copy(update={"principals": principals})
