"""Embedding models of LlamaIndex and LangChain whose vectors can be computed by hand."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.embeddings import Embeddings
from llama_index.core.base.embeddings.base import BaseEmbedding

from tests.fakes import HashedEncoder

LENGTH = 5.0  # of its vectors, which need not be of unit length


class HashedEmbeddings(Embeddings):
    """LangChain's: counts words as the `HashedEncoder` does.

    Args:
        width: Of its vectors.
        model: Its name; None for none.
        fails: What its calls with texts raise, one by one; None for nothing.
    """

    def __init__(
        self, width: int = 64, model: str | None = None, fails: Sequence[Exception | None] = ()
    ) -> None:
        self.model = model
        self.asked: list[str] = []
        self._own = HashedEncoder(width)
        self._fails = list(fails)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        error = self._fails.pop(0) if self._fails else None
        if error is not None:
            raise error
        self.asked += texts
        return (LENGTH * self._own.encode_sheets(texts)).tolist()

    def embed_query(self, text: str) -> list[float]:
        self.asked.append(text)
        return (LENGTH * self._own.encode_queries([text]))[0].tolist()


class HashedEmbedding(BaseEmbedding):
    """LlamaIndex's: the same vectors."""

    model_name: str = "hashed"

    def _get_text_embedding(self, text: str) -> list[float]:
        return (LENGTH * HashedEncoder().encode_sheets([text]))[0].tolist()

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        raise AssertionError("the encoder calls what is not asynchronous, in a thread")
