"""Talk to an Ollama server and translate its failures; no other module does."""

from __future__ import annotations

import inspect
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sat_retriever._extras import install_command, require
from sat_retriever.errors import (
    InputError,
    LanguageModelError,
    MissingExtraError,
    ModelContextError,
    ModelSetupError,
)

DEFAULT_HOST = "http://127.0.0.1:11434"
_CONNECT_S = 10.0  # a running server accepts a connection at once, even if busy
_PASSING = (408, 429)  # a second try may succeed, as with 500 and above
_TOO_LONG = ("context length", "exceed_context_size")
_NO_MODEL = re.compile(r"\bmodel\b.{0,300}\bnot found\b", re.DOTALL | re.IGNORECASE)
_USER_INFO = re.compile(r"^(\w+://)?.*@")


def check_positive(**numbers: float) -> None:
    """Refuse numbers that are not above 0."""
    for name, value in numbers.items():
        if value <= 0:
            raise InputError(f"{name} must be above 0, not {value}")


def shown_host(host: str) -> str:
    """Return an address without user name and password, fit to print.

    >>> shown_host("http://ann:secret@10.0.0.7:11434"), shown_host("ann:p@ss@here"), shown_host("a")
    ('http://10.0.0.7:11434', 'here', 'a')
    """
    return _USER_INFO.sub(r"\1", host)


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply to one prompt, or a piece of it.

    Attributes:
        ended: True if the reply is complete; False if it was cut at its longest allowed length, or
            if more pieces follow.
        prompt_tokens: Tokens of the prompt as the server counted them; None if not reported.
        tokens: Tokens of the whole reply as the server counted them; None if not reported.
    """

    text: str
    ended: bool
    prompt_tokens: int | None
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Embeddings:
    """An embedding model's vectors of some texts.

    Attributes:
        tokens: Tokens of the texts as the server counted them; None if not reported.
    """

    vectors: Sequence[Sequence[float]]
    tokens: int | None


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """Facts that a server reports about one of its models.

    Attributes:
        context_length: Context that the model was made for, in tokens; None if not reported.
        quantization: For example "Q4_K_M"; empty if not reported.
        digest: Digest of the model's files; empty if not reported.
    """

    context_length: int | None
    quantization: str
    digest: str


class OllamaServer:
    """A connection to a server; nothing is sent before the first question.

    Args:
        host: Address, for example "http://127.0.0.1:11434"; None takes OLLAMA_HOST from the
            environment, or this machine.
        timeout_s: Longest wait for one answer, in seconds, including the loading of the model.

    Raises:
        MissingExtraError: If the package `ollama` is not installed, or too old.
    """

    def __init__(self, host: str | None = None, *, timeout_s: float = 600.0) -> None:
        address = host or os.environ.get("OLLAMA_HOST") or DEFAULT_HOST
        self.host = shown_host(address)
        self.timeout_s = timeout_s
        httpx = require("httpx", "ollama")
        self._client = _client_class()(
            host=address,
            timeout=httpx.Timeout(timeout_s, connect=min(timeout_s, _CONNECT_S)),
            auth=_never_cut,
        )

    def reply(
        self,
        model: str,
        prompt: str,
        schema: Mapping[str, Any],
        options: Mapping[str, float],
        *,
        keep_alive: str = "10m",
    ) -> Reply:
        """Return a model's answer to one user message, without its reasoning.

        Args:
            schema: JSON schema that the server makes the answer follow.
            keep_alive: Time for which the model stays loaded afterwards.

        Raises:
            ModelSetupError: If a second try would not help: no server, no such model, a refused
                request, or a prompt longer than the context.
            LanguageModelError: If it might help: a slow or failing server, or a lost connection.
        """
        with self._told_plainly(model):
            response = self._client.chat(
                model=model,
                messages=[{"role": "user", "content": prompt}],
                format=dict(schema),
                options=dict(options),
                think=False,  # the schema has no field for reasoning
                stream=False,
                keep_alive=keep_alive,
            )
            return _reply(response, ended=response.done_reason != "length")

    def stream(
        self,
        model: str,
        system: str,
        user: str,
        options: Mapping[str, float],
        *,
        keep_alive: str = "10m",
    ) -> Iterator[Reply]:
        """Yield the pieces of a model's answer in words, without its reasoning.

        The last piece has the counts, and `ended` is True for it unless the answer was cut.
        """
        said = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        with self._told_plainly(model):
            for piece in self._client.chat(
                model=model,
                messages=said,
                options=dict(options),
                think=False,
                stream=True,
                keep_alive=keep_alive,
            ):
                yield _reply(piece, ended=bool(piece.done) and piece.done_reason != "length")

    def embed(self, model: str, texts: Sequence[str], *, keep_alive: str = "10m") -> Embeddings:
        """Return an embedding model's vectors of some texts.

        Args:
            texts: The texts; of one that is too long, a server may read the beginning.

        Raises:
            ModelContextError: If a text is longer than the context, and the server did not cut it.
            ModelSetupError: If a second try would not help: no server, no such model, or a model
                that cannot embed.
            LanguageModelError: If it might help: a slow or failing server, or a lost connection.
        """
        with self._told_plainly(model):
            found = self._client.embed(
                model=model, input=list(texts), truncate=True, keep_alive=keep_alive
            )
            return Embeddings(found.embeddings, found.prompt_eval_count)

    def facts(self, model: str) -> ModelFacts:
        """Return the facts that the server reports about a model.

        Raises:
            ModelSetupError: If there is no server or no such model; the message lists the others.
            LanguageModelError: If the server fails.
        """
        with self._told_plainly(model):
            listed = self._client.list().models
        with self._told_plainly(model, [each.model for each in listed if each.model]):
            shown = self._client.show(model)
        about: Mapping[str, Any] = shown.modelinfo or {}
        length = about.get(f"{about.get('general.architecture')}.context_length")
        digests = [each.digest for each in listed if each.model in (model, f"{model}:latest")]
        return ModelFacts(
            context_length=length if isinstance(length, int) else None,
            quantization=(shown.details.quantization_level or "") if shown.details else "",
            digest=(digests[0] or "") if digests else "",
        )

    @contextmanager
    def _told_plainly(self, model: str, others: Sequence[str] = ()) -> Iterator[None]:
        """Turn errors of the client and of HTTP into this package's own.

        Args:
            others: The server's models, for a message that it is not one of them.
        """
        ollama, httpx = require("ollama", "ollama"), require("httpx", "ollama")
        try:
            yield
        except ollama.ResponseError as error:
            raise self._refusal(model, others, error) from error
        except (ConnectionError, httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise ModelSetupError(
                f"no Ollama server answers at {self.host}; start it with: ollama serve "
                "(https://ollama.com/download)"
            ) from error
        except httpx.TimeoutException as error:
            raise LanguageModelError(
                f"{model} gave no answer within {self.timeout_s:g} s; raise timeout_s "
                "or take a smaller model"
            ) from error
        except httpx.TransportError as error:
            raise LanguageModelError(
                f"{self.host} broke off before {model} had answered ({error!s:.80}); look into "
                "the server's log, or start it again with: ollama serve"
            ) from error
        except (ValueError, TypeError, httpx.HTTPError, ollama.RequestError) as error:
            raise LanguageModelError(  # not an answer in Ollama's format
                f"{self.host} does not answer as an Ollama server does: {error!s:.120}"
            ) from error

    def _refusal(self, model: str, others: Sequence[str], error: Any) -> LanguageModelError:
        whole = str(error.error)
        status, said = error.status_code, whole[:200]
        if status == 404 and _NO_MODEL.search(whole) and not whole.lstrip().startswith("<"):
            there = f", which has {', '.join(others)}" if others else ""
            return ModelSetupError(
                f"{model} is not at {self.host}{there}; run: ollama pull {model}"
            )
        if status == 404:  # any web server may answer this
            return ModelSetupError(
                f"{self.host} is no Ollama server, or one that is too old (it said 404: "
                f"{said:.80}); correct OLLAMA_HOST, or bring Ollama up to date"
            )
        if any(words in whole for words in _TOO_LONG):
            return ModelContextError(
                f"the prompt does not fit {model}'s context; raise num_ctx, or give it less to "
                f"read ({self.host} said: {said})"
            )
        passing = status >= 500 or status in _PASSING
        kind = LanguageModelError if passing else ModelSetupError
        return kind(f"{self.host} refused with status {status}: {said}")


def _reply(response: Any, *, ended: bool) -> Reply:
    return Reply(
        text=str(response.message.content or ""),
        ended=ended,
        prompt_tokens=response.prompt_eval_count,
        tokens=response.eval_count,
    )


def _client_class() -> Any:
    """Return the client class of a release that has the argument `think`."""
    found = require("ollama", "ollama").Client
    if "think" not in inspect.signature(found.chat).parameters:
        raise MissingExtraError(
            "the package ollama is older than 0.5, which knows no `think`; run: "
            f"{install_command('ollama')}"
        )
    return found


def _never_cut(request: Any) -> Any:
    """Return a chat request that makes the server refuse a prompt it would otherwise cut.

    Current servers cut a prompt that is too long unless `truncate` (whole messages) and `shift`
    (the middle of one) are false; older ones ignore both. The client has no arguments for them, so
    this hook of the HTTP client adds them to the outgoing request.
    """
    if not request.url.path.endswith("/api/chat"):
        return request
    body = {**json.loads(request.content), "truncate": False, "shift": False}
    headers = {name: value for name, value in request.headers.items() if name != "content-length"}
    new = require("httpx", "ollama").Request
    return new(
        request.method, request.url, headers=headers, json=body, extensions=request.extensions
    )
