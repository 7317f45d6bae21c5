"""Turn texts into tokens by an external embedding model: batched, retried, counted."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from sat_retriever.encoder.embedder import QUERY, SHEET, Cost, Embedded, Embedder, unit_rows
from sat_retriever.encoder.spec import check_texts
from sat_retriever.encoder.wrapped import wrapped
from sat_retriever.errors import EncoderUnavailableError
from sat_retriever.llm.served import LONGEST_PAUSE_S
from sat_retriever.records.filters import check_counts
from sat_retriever.records.tokens import FloatArray

T = TypeVar("T")

BATCH_SIZE = 32  # texts a request
PAUSES_S = (1.0, 4.0, 15.0)  # before each repetition of a request
LONGEST = 2_000  # characters of a text; the rest is cut
_BLANK = "-"  # sent for a text without a character: servers refuse or leave out an empty one


class EmbeddingEncoder:
    """An encoder by an embedding model that runs elsewhere; may be shared between threads.

    `served` and `of` make one. Of a text the first 2,000 characters are read, since its tokenizer
    is not known here. Its tokens are as reproducible as the model's vectors are.

    Source: paper, section 3.3 (any bi-encoder as the Sheet Encoder). Departs: the model is not
    trained on sheets.
    """

    def __init__(
        self,
        embedder: Embedder,
        probe: FloatArray,
        *,
        batch_size: int = BATCH_SIZE,
        pauses_s: Sequence[float] | None = None,
    ) -> None:
        """Take finished parts; use `served` or `of` to get them."""
        self._embedder = embedder
        self._probe = probe
        self._batch_size = batch_size
        self._pauses_s = pauses_s
        self._lock = threading.Lock()
        self._cost = Cost()
        self._told: Callable[[Cost], None] | None = None

    @classmethod
    def served(
        cls,
        name: str,
        *,
        url: str | None = None,
        timeout_s: float = 120.0,
        batch_size: int = BATCH_SIZE,
        pauses_s: Sequence[float] | None = None,
    ) -> EmbeddingEncoder:
        """Return the encoder of an embedding model on a server, after encoding two texts.

        Prompts in the card of a well-known model are added to queries and sheet texts.

        Args:
            name: "ollama:bge-m3", or "openai:text-embedding-3-small" for a server of that form.
            url: Address of the server; None takes OLLAMA_HOST or OPENAI_BASE_URL from the
                environment, else Ollama on this machine, or OpenAI.
            timeout_s: Longest wait for one request, in seconds, including the loading of the model.
            batch_size: Number of texts in a request.
            pauses_s: Seconds to wait before each repetition of a request that timed out, or that
                the server failed at, longer if the server says so; their number is that of the
                repetitions. None takes 1, 4 and 15.

        Raises:
            InputError: If the name is empty, the address is none, or a number is not above 0.
            EncoderError: If there is no server, it has no such model, or the model embeds nothing.
            MissingExtraError: If the package `httpx` is not installed.
        """
        from sat_retriever.encoder.served import ServedEmbedder

        embedder, _ = _tried(
            lambda: ServedEmbedder.open(name, url, timeout_s=timeout_s, longest=LONGEST), pauses_s
        )
        return cls._probed(embedder, batch_size, pauses_s)

    @classmethod
    def of(
        cls, model: object, *, batch_size: int = BATCH_SIZE, pauses_s: Sequence[float] | None = None
    ) -> EmbeddingEncoder:
        """Return the encoder of a framework's embedding model, after encoding two texts.

        An index records the class and model of the object, but cannot make it again: give it to
        `SheetIndex.open`, too.

        Args:
            model: LlamaIndex's `BaseEmbedding`, LangChain's `Embeddings`, or another object with
                the same methods.
            batch_size: Number of texts in a call.
            pauses_s: Seconds to wait before each repetition of a call that timed out, lost its
                connection, or met a busy or failing server; None takes 1, 4 and 15.

        Raises:
            InputError: If the object has the methods of neither, or a number is not above 0.
            EncoderError: If it fails, or its vectors cannot be used.
        """
        return cls._probed(wrapped(model), batch_size, pauses_s)

    @classmethod
    def _probed(
        cls, embedder: Embedder, batch_size: int, pauses_s: Sequence[float] | None
    ) -> EmbeddingEncoder:
        check_counts(batch_size=batch_size)
        sheet, _ = _tried(lambda: embedder.embed_sheets([SHEET]), pauses_s)
        query, _ = _tried(lambda: embedder.embed_queries([QUERY]), pauses_s)
        probe = unit_rows([*sheet.vectors, *query.vectors], 2, None, embedder.name)
        return cls(embedder, probe, batch_size=batch_size, pauses_s=pauses_s)

    @property
    def name(self) -> str:
        """Name in an index: "ollama:bge-m3", or framework, class and model of an object."""
        return self._embedder.name

    @property
    def place(self) -> str:
        """Where its texts are sent, in words."""
        return self._embedder.place

    @property
    def width(self) -> int:
        """Token width d."""
        return int(self._probe.shape[1])

    @property
    def fingerprint(self) -> str:
        """Identity of model, prompts, width and length of texts: 16 hex digits."""
        identity = ["embedding 1", self._embedder.identity, self.width, LONGEST]
        return hashlib.sha256(json.dumps(identity).encode("utf-8")).hexdigest()[:16]

    @property
    def probe(self) -> FloatArray:
        """Its tokens of two fixed texts, (2, d) float32: other ones show another model."""
        return self._probe

    @property
    def cost(self) -> Cost:
        """The work so far, without the two probe texts."""
        with self._lock:
            return self._cost

    def tell(self, told: Callable[[Cost], None] | None) -> None:
        """Call a function with the work so far after each request from now on; None ends it."""
        with self._lock:
            self._told = told

    def encode_sheets(self, texts: Sequence[str]) -> FloatArray:
        """Return tokens of sheet texts, (n, d) float32, rows of unit length, in input order.

        Raises:
            InputError: If `texts` is a single string or holds anything but strings.
            EncoderError: If the model fails, more often than requests are repeated, or gives
                vectors that cannot be used.
        """
        return self._encoded(texts, self._embedder.embed_sheets)

    def encode_queries(self, texts: Sequence[str]) -> FloatArray:
        """Return tokens of queries, (n, d) float32, rows of unit length, in input order.

        Raises:
            InputError: If `texts` is a single string or holds anything but strings.
            EncoderError: As `encode_sheets`.
        """
        return self._encoded(texts, self._embedder.embed_queries)

    def _encoded(
        self, texts: Sequence[str], embed: Callable[[Sequence[str]], Embedded]
    ) -> FloatArray:
        check_texts(texts)
        sent = [_sent(text) for text in texts]
        tokens = np.empty((len(sent), self.width), dtype=np.float32)
        for start in range(0, len(sent), self._batch_size):
            part = sent[start : start + self._batch_size]
            tokens[start : start + len(part)] = self._requested(part, embed)
        return tokens

    def _requested(
        self, texts: Sequence[str], embed: Callable[[Sequence[str]], Embedded]
    ) -> FloatArray:
        begun = time.perf_counter()
        answer, retries = _tried(lambda: embed(texts), self._pauses_s)
        rows = unit_rows(answer.vectors, len(texts), self.width, self.name)
        seconds = time.perf_counter() - begun
        with self._lock:
            self._cost += Cost(len(texts), sum(map(len, texts)), answer.tokens, seconds, retries)
            cost, told = self._cost, self._told
        if told is not None:
            told(cost)
        return rows


def _sent(text: str) -> str:
    """Return a text as it is sent: cut, without lone surrogates, and never blank."""
    return text[:LONGEST].encode("utf-8", "replace").decode("utf-8").strip() or _BLANK


def _tried(request: Callable[[], T], pauses_s: Sequence[float] | None) -> tuple[T, int]:
    """Return the answer to a request, repeated while that may help, and the repetitions."""
    pauses = PAUSES_S if pauses_s is None else pauses_s
    for retries, pause_s in enumerate(pauses):
        try:
            return request(), retries
        except EncoderUnavailableError as error:
            time.sleep(max(pause_s, min(error.wait_s or 0.0, LONGEST_PAUSE_S)))
    try:
        return request(), len(pauses)
    except EncoderUnavailableError as error:
        raise EncoderUnavailableError(f"{error} (tried {len(pauses) + 1} times)") from error
