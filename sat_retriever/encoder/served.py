"""Embed texts by a model on a server, with the prompts that it was trained with."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from sat_retriever.encoder.embedder import Embedded
from sat_retriever.errors import (
    EncoderError,
    EncoderUnavailableError,
    LanguageModelError,
    ModelContextError,
    ModelSetupError,
)
from sat_retriever.llm.chat import served_model
from sat_retriever.llm.served import ServedModel


@dataclass(frozen=True, slots=True)
class Prompts:
    """Texts before every query and before every sheet text."""

    query: str = ""
    sheet: str = ""


_PASSAGES = "Represent this sentence for searching relevant passages: "
_QWEN = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
)
# From the model cards; the first pattern that is found in a name counts. Another prompt for a
# model is another fingerprint of its indexes.
_KNOWN = (
    (r"nomic-embed-text", Prompts("search_query: ", "search_document: ")),
    (r"bge-(?:(?:small|base|large)-en|large(?::|$))|mxbai-embed-large", Prompts(_PASSAGES)),
    (r"snowflake-arctic-embed(?:2|-[lm]-v2)", Prompts("query: ")),
    (r"snowflake-arctic-embed", Prompts(_PASSAGES)),
    (r"e5-(?:small|base|large)(?!.*instruct)", Prompts("query: ", "passage: ")),
    (r"qwen3-embedding", Prompts(_QWEN)),
    (r"embeddinggemma", Prompts("task: search result | query: ", "title: none | text: ")),
)


def prompts_of(model: str) -> Prompts:
    """Return the prompts in a model's card; none for a model that needs or is known to have none.

    >>> prompts_of("nomic-embed-text:latest").query, prompts_of("bge-m3").query
    ('search_query: ', '')
    """
    found = (prompts for pattern, prompts in _KNOWN if re.search(pattern, model, re.IGNORECASE))
    return next(found, Prompts())


_CHARACTERS_A_TOKEN = 3  # of European texts, on the safe side
_SHORTEST = 50  # characters; a text is not cut further


@dataclass(frozen=True, slots=True)
class ServedEmbedder:
    """An embedding model on a server."""

    served: ServedModel
    digest: str  # digest of the model's files; empty if the server does not tell
    longest: int  # characters of a text that the model's context has room for; the rest is cut
    prompts: Prompts

    @classmethod
    def open(
        cls, name: str, url: str | None = None, *, timeout_s: float, longest: int
    ) -> ServedEmbedder:
        """Return a model, after asking its server about it; see `EmbeddingEncoder.served`.

        Of each text `longest` characters are sent, fewer to a model with a short context.

        Raises:
            EncoderUnavailableError: If another try may help.
        """
        served = served_model(name, url, timeout_s=timeout_s, pauses_s=())
        try:
            facts = served.facts()
        except LanguageModelError as error:
            raise _translated(error) from error
        if facts.context_length is not None:
            longest = min(longest, _CHARACTERS_A_TOKEN * facts.context_length)
        return cls(served, facts.digest, longest, prompts_of(served.model))

    @property
    def name(self) -> str:
        """The name that loads the model again, such as "ollama:bge-m3"."""
        return f"{self.served.kind}:{self.served.model}"

    @property
    def identity(self) -> str:
        """Digest of the model, or its name if the server tells none, length and prompts."""
        model = self.digest or self.served.model
        prompts = self.prompts.query, self.prompts.sheet
        return json.dumps([self.served.kind, model, self.longest, *prompts])

    @property
    def place(self) -> str:
        """The server's address."""
        return self.served.host

    def embed_sheets(self, texts: Sequence[str]) -> Embedded:
        """Return the vectors of sheet texts; see `Embedder`."""
        return self._embedded(texts, self.prompts.sheet)

    def embed_queries(self, texts: Sequence[str]) -> Embedded:
        """Return the vectors of queries; see `Embedder`."""
        return self._embedded(texts, self.prompts.query)

    def _embedded(self, texts: Sequence[str], prompt: str) -> Embedded:
        try:
            return self._fitted([text[: self.longest] for text in texts], prompt)
        except LanguageModelError as error:
            raise _translated(error) from error

    def _fitted(self, texts: Sequence[str], prompt: str) -> Embedded:
        """Return the vectors of texts; one that does not fit the context is halved until it does.

        Ollama's servers are asked to cut such a text, and several versions refuse it instead
        (github.com/ollama/ollama/issues/14186). Each text is cut for itself, so that its vector
        does not depend on the others of its request.
        """
        try:
            found = self.served.embed([prompt + text for text in texts])
            return Embedded(found.vectors, found.tokens)
        except ModelContextError:
            if len(texts) == 1 and len(texts[0]) <= _SHORTEST:
                raise
        if len(texts) == 1:
            return self._fitted([texts[0][: len(texts[0]) // 2]], prompt)
        parts = [self._fitted([text], prompt) for text in texts]
        counted = [part.tokens for part in parts if part.tokens is not None]
        vectors = [vector for part in parts for vector in part.vectors]
        return Embedded(vectors, sum(counted) if counted else None)


def _translated(error: LanguageModelError) -> EncoderError:
    if isinstance(error, ModelSetupError):
        return EncoderError(str(error))
    told = EncoderUnavailableError(str(error))
    told.wait_s = error.wait_s
    return told
