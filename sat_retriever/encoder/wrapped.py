"""Embed texts by an object of LlamaIndex or LangChain; neither framework is imported."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol, runtime_checkable

from sat_retriever.encoder.embedder import Embedded, Vectors
from sat_retriever.errors import EncoderError, EncoderUnavailableError, InputError, SatError

LANGCHAIN, LLAMA_INDEX = "langchain:", "llama-index:"
_MODEL = ("model_name", "model", "model_id", "deployment", "repo_id")  # where objects name theirs
_NO_NAMES = ("", "unknown")  # the latter is LlamaIndex's for none
_PASSING = (408, 429)  # another try may succeed, as with 500 and above
_PASSING_NAMES = ("timeout", "connect", "ratelimit", "unavailable")  # in names of error classes


@runtime_checkable
class LangChainEmbeddings(Protocol):
    """The methods of LangChain's `Embeddings` that are called."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return a vector of each text."""
        ...

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a query."""
        ...


@runtime_checkable
class LlamaIndexEmbedding(Protocol):
    """The methods of LlamaIndex's `BaseEmbedding` that are called."""

    def get_text_embedding_batch(self, texts: list[str]) -> list[list[float]]:
        """Return a vector of each text."""
        ...

    def get_query_embedding(self, query: str) -> list[float]:
        """Return the vector of a query."""
        ...


EmbeddingModel = LangChainEmbeddings | LlamaIndexEmbedding


@dataclass(frozen=True, slots=True)
class WrappedEmbedder:
    """An embedding model in an object of a framework."""

    name: str  # framework, class, and model if the object names one
    documents: Callable[[list[str]], Vectors]
    query: Callable[[str], Sequence[float]]

    @property
    def identity(self) -> str:
        """Its name: an object cannot tell more; the probe texts do."""
        return json.dumps(["wrapped", self.name])

    @property
    def place(self) -> str:
        """The object, which decides where texts are sent."""
        return "the object's own service"

    def embed_sheets(self, texts: Sequence[str]) -> Embedded:
        """Return the vectors of sheet texts; see `Embedder`."""
        return Embedded(self._called(lambda: self.documents(list(texts))))

    def embed_queries(self, texts: Sequence[str]) -> Embedded:
        """Return the vectors of queries; see `Embedder`."""
        return Embedded(self._called(lambda: [self.query(text) for text in texts]))

    def _called(self, call: Callable[[], Vectors]) -> Vectors:
        try:
            return call()
        except SatError:
            raise
        except Exception as error:  # an object of other people may raise anything
            said = f"{self.name} failed: {type(error).__name__}: {error!s:.200}"
            raise (EncoderUnavailableError if _may_pass(error) else EncoderError)(said) from error


def wrapped(model: object) -> WrappedEmbedder:
    """Return an object of LlamaIndex or LangChain as an embedder; an InputError for any other."""
    if isinstance(model, LangChainEmbeddings):
        return WrappedEmbedder(_named(LANGCHAIN, model), model.embed_documents, model.embed_query)
    if isinstance(model, LlamaIndexEmbedding):
        embed = model.get_text_embedding_batch
        return WrappedEmbedder(_named(LLAMA_INDEX, model), embed, model.get_query_embedding)
    raise InputError(
        f"a {type(model).__name__} is no embedding model; give LlamaIndex's BaseEmbedding, "
        "LangChain's Embeddings, or a name such as 'ollama:bge-m3'"
    )


def _named(framework: str, model: object) -> str:
    values = (getattr(model, name, None) for name in _MODEL)
    named = (value for value in values if isinstance(value, str) and value not in _NO_NAMES)
    return ":".join([framework + type(model).__name__, *islice(named, 1)])


def _may_pass(error: Exception) -> bool:
    """True for a timeout, a lost connection, and a busy or failing server."""
    response = getattr(error, "response", None)
    status = getattr(error, "status_code", None) or getattr(response, "status_code", None)
    if isinstance(status, int):
        return status >= 500 or status in _PASSING
    names = " ".join(kind.__name__ for kind in type(error).__mro__).lower()
    return any(name in names for name in _PASSING_NAMES)
