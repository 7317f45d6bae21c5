"""An Ollama server: the one place that talks to it, and tells its failures in plain words."""

from __future__ import annotations

import inspect
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sat_retriever._extras import install_command, require
from sat_retriever.errors import InputError, LanguageModelError, MissingExtraError, ModelSetupError

DEFAULT_HOST = "http://127.0.0.1:11434"
_CONNECT_S = 10.0  # a server that is there accepts a connection at once, however busy
_PASSING = (408, 429)  # with 500 and above: the same question may do better a moment later
_TOO_LONG = ("context length", "exceed_context_size")
_NO_MODEL = re.compile(r"\bmodel\b.{0,300}\bnot found\b", re.DOTALL | re.IGNORECASE)
_USER_INFO = re.compile(r"^(\w+://)?.*@")


def check_positive(**numbers: float) -> None:
    """Refuse numbers for a server that are not above 0.

    Raises:
        InputError: If one is not; names it.
    """
    for name, value in numbers.items():
        if value <= 0:
            raise InputError(f"{name} must be above 0, not {value}")


def shown_host(host: str) -> str:
    """An address as it may be printed: without a name and password.

    >>> shown_host("http://ann:secret@10.0.0.7:11434"), shown_host("ann:p@ss@here"), shown_host("a")
    ('http://10.0.0.7:11434', 'here', 'a')
    """
    return _USER_INFO.sub(r"\1", host)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said to one prompt.

    Attributes:
        text: Its words.
        ended: Whether it came to an end, and was not stopped at its longest.
        prompt_tokens: Tokens of the prompt as the server counted them; None if it does not say.
    """

    text: str
    ended: bool
    prompt_tokens: int | None


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What a server says of one of its models.

    Attributes:
        context_length: Tokens it was made for; None if the server does not say.
        quantization: For example "Q4_K_M"; empty if the server does not say.
        digest: Of the model's files; empty if the server does not say.
    """

    context_length: int | None
    quantization: str
    digest: str


class OllamaServer:
    """A connection to a server; nothing is sent before the first question.

    Args:
        host: Address, for example "http://127.0.0.1:11434"; None for the environment's
            OLLAMA_HOST or this machine.
        timeout_s: Longest wait for one answer, in seconds, loading included.

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
        """A model's answer to one user message, without thinking aloud.

        Args:
            model: Name as `ollama list` shows it.
            prompt: The whole message.
            schema: JSON schema that the server holds the answer to.
            options: Of the model, for example num_ctx, num_predict, temperature and seed.
            keep_alive: How long the model stays loaded afterwards.

        Raises:
            ModelSetupError: If asking again would not help: no server, no such model, a
                request it refuses, a prompt that is longer than the context.
            LanguageModelError: If it might: too slow, a failing server, a lost connection.
        """
        with self._told_plainly(model):
            response = self._client.chat(
                model=model,
                messages=[{"role": "user", "content": prompt}],
                format=dict(schema),
                options=dict(options),
                think=False,  # the schema leaves no room for it, and it is not asked for
                stream=False,
                keep_alive=keep_alive,
            )
            return Reply(
                text=str(response.message.content or ""),
                ended=response.done_reason != "length",
                prompt_tokens=response.prompt_eval_count,
            )

    def facts(self, model: str) -> ModelFacts:
        """What the server knows of a model.

        Raises:
            ModelSetupError: If there is no server or no such model.
            LanguageModelError: If the server fails.
        """
        with self._told_plainly(model):
            shown = self._client.show(model)
            listed = self._client.list().models
        about: Mapping[str, Any] = shown.modelinfo or {}
        length = about.get(f"{about.get('general.architecture')}.context_length")
        digests = [each.digest for each in listed if each.model in (model, f"{model}:latest")]
        return ModelFacts(
            context_length=length if isinstance(length, int) else None,
            quantization=(shown.details.quantization_level or "") if shown.details else "",
            digest=(digests[0] or "") if digests else "",
        )

    @contextmanager
    def _told_plainly(self, model: str) -> Iterator[None]:
        """Errors of the client and of HTTP as this package's own."""
        ollama, httpx = require("ollama", "ollama"), require("httpx", "ollama")
        try:
            yield
        except ollama.ResponseError as error:
            raise self._refusal(model, error) from error
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
            raise LanguageModelError(  # no answer of Ollama's form
                f"{self.host} does not answer as an Ollama server does: {error!s:.120}"
            ) from error

    def _refusal(self, model: str, error: Any) -> LanguageModelError:
        whole = str(error.error)
        status, said = error.status_code, whole[:200]
        if status == 404 and _NO_MODEL.search(whole) and not whole.lstrip().startswith("<"):
            return ModelSetupError(f"{model} is not at {self.host}; run: ollama pull {model}")
        if status == 404:  # the answer of any web server
            return ModelSetupError(
                f"{self.host} is no Ollama server, or one that is too old (it said 404: "
                f"{said:.80}); correct OLLAMA_HOST, or bring Ollama up to date"
            )
        if any(words in whole for words in _TOO_LONG):
            return ModelSetupError(
                f"the prompt does not fit {model}'s context; raise num_ctx, or give it less to "
                f"read ({self.host} said: {said})"
            )
        passing = status >= 500 or status in _PASSING
        kind = LanguageModelError if passing else ModelSetupError
        return kind(f"{self.host} refused with status {status}: {said}")


def _client_class() -> Any:
    """The client's class, of a release that can be told not to think aloud.

    Raises:
        MissingExtraError: If the package is not installed, or too old.
    """
    found = require("ollama", "ollama").Client
    if "think" not in inspect.signature(found.chat).parameters:
        raise MissingExtraError(
            "the package ollama is older than 0.5, which knows no `think`; run: "
            f"{install_command('ollama')}"
        )
    return found


def _never_cut(request: Any) -> Any:
    """A chat request that asks the server to refuse a prompt it would have to cut.

    Today's servers cut a prompt that is too long unless `truncate` (whole messages) and `shift`
    (the middle of one) are false; older ones ignore both. The client has no argument for
    either, so they are added on the way out, by the hook that HTTP clients have for
    changing requests.
    """
    if not request.url.path.endswith("/api/chat"):
        return request
    body = {**json.loads(request.content), "truncate": False, "shift": False}
    headers = {name: value for name, value in request.headers.items() if name != "content-length"}
    new = require("httpx", "ollama").Request
    return new(
        request.method, request.url, headers=headers, json=body, extensions=request.extensions
    )
