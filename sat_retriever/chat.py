"""A language model asked one question at a time, answering in JSON of a given form."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, Protocol

from sat_retriever._extras import require
from sat_retriever.errors import InputError, LanguageModelError

_JSON_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
}


class Chat(Protocol):
    """What answers prompts; every call stands alone."""

    def ask(self, prompt: str, schema: Mapping[str, Any], *, seed: int = 0) -> Any:
        """The parsed answer, of the form that a JSON schema describes.

        Raises:
            LanguageModelError: If there is no answer, or none of that form.
        """
        ...


class OllamaChat:
    """A model served by Ollama on this or another machine."""

    def __init__(
        self,
        model: str,
        host: str | None = None,
        *,
        timeout_s: float = 600.0,
        num_ctx: int = 8192,
        max_tokens: int = 2048,
        temperature: float = 0.0,
    ) -> None:
        """A chat with a model; nothing is sent before the first question.

        Args:
            model: Name as `ollama list` shows it, for example "qwen3:8b".
            host: Address of the server, for example "http://127.0.0.1:11434"; None for
                the environment's OLLAMA_HOST or this machine.
            timeout_s: Longest wait for one answer, in seconds, loading included.
            num_ctx: Context in tokens; what does not fit is cut by the server.
            max_tokens: Longest answer in tokens.
            temperature: 0 for the likeliest answer, which repeats for equal seeds.

        Raises:
            InputError: If the name is empty or a number is not positive.
            MissingExtraError: If the package `ollama` is not installed.
        """
        if not model.strip():
            raise InputError("the model's name is empty; `ollama list` shows the names there are")
        _check_positive(timeout_s=timeout_s, num_ctx=num_ctx, max_tokens=max_tokens)
        if temperature < 0:
            raise InputError(f"temperature must be 0 or more, not {temperature}")
        self.model = model
        self.timeout_s = timeout_s
        self._options = {
            "num_ctx": num_ctx,
            "num_predict": max_tokens,
            "temperature": temperature,
        }
        self.host = host or os.environ.get("OLLAMA_HOST") or "http://127.0.0.1:11434"
        self._client = require("ollama", "ollama").Client(host=self.host, timeout=timeout_s)

    def ask(self, prompt: str, schema: Mapping[str, Any], *, seed: int = 0) -> Any:
        """The model's answer, parsed; its top level is checked against the schema.

        Args:
            prompt: The whole question.
            schema: JSON schema that the server holds the answer to.
            seed: For repeatable sampling where the temperature is above 0.

        Raises:
            LanguageModelError: If the server is not running or too slow, the model is not
                there, or the answer is cut short, no JSON, or of another form.
        """
        response = self._send(prompt, schema, seed)
        text = str(response.message.content or "")
        if response.done_reason == "length":
            raise LanguageModelError(
                f"{self.model} did not finish its answer within "
                f"{self._options['num_predict']} tokens; raise max_tokens"
            )
        try:
            answer = json.loads(text)
        except ValueError as error:
            raise LanguageModelError(
                f"{self.model} answered no JSON: {text[:80]!r}; try a larger model"
            ) from error
        _check(answer, schema, self.model)
        return answer

    def _send(self, prompt: str, schema: Mapping[str, Any], seed: int) -> Any:
        ollama, httpx = require("ollama", "ollama"), require("httpx", "ollama")
        try:
            return self._client.chat(
                model=self.model,
                messages=[{"role": "user", "content": prompt}],
                format=dict(schema),
                options={**self._options, "seed": seed},
                think=False,  # the schema leaves no room for it, and it is not asked for
                stream=False,
                keep_alive="10m",  # one load for a whole run of questions
            )
        except ollama.ResponseError as error:
            raise LanguageModelError(self._refusal(error)) from error
        except httpx.TimeoutException as error:
            raise LanguageModelError(
                f"{self.model} gave no answer within {self.timeout_s:g} s; raise timeout_s "
                "or take a smaller model"
            ) from error
        except (ConnectionError, httpx.TransportError) as error:
            raise LanguageModelError(
                f"no Ollama server answers at {self.host}; start it with: ollama serve "
                "(https://ollama.com/download)"
            ) from error
        except (ValueError, ollama.RequestError) as error:  # no answer of Ollama's form
            raise LanguageModelError(
                f"{self.host} does not answer as an Ollama server does: {error!s:.120}"
            ) from error

    def _refusal(self, error: Any) -> str:
        if error.status_code == 404:
            return f"{self.model} is not at {self.host}; run: ollama pull {self.model}"
        return f"{self.host} refused with status {error.status_code}: {error.error[:200]}"


def _check_positive(**numbers: float) -> None:
    for name, value in numbers.items():
        if value <= 0:
            raise InputError(f"{name} must be above 0, not {value}")


def _check(answer: Any, schema: Mapping[str, Any], model: str) -> None:
    """Servers older than structured output ignore the schema: say so early."""
    wanted = schema.get("type")
    types = _JSON_TYPES.get(wanted) if isinstance(wanted, str) else None
    if types is not None and (
        not isinstance(answer, types) or (isinstance(answer, bool) and wanted != "boolean")
    ):
        raise LanguageModelError(f"{model} answered {answer!r:.80} where {wanted} was asked")
    if isinstance(answer, dict):
        missing = [name for name in schema.get("required", ()) if name not in answer]
        if missing:
            raise LanguageModelError(f"{model}'s answer lacks {', '.join(missing)}")
