"""Ask a language model one question at a time and parse its JSON answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from sat_retriever.errors import InputError, LanguageModelError
from sat_retriever.llm.ollama import OllamaServer, Reply, check_positive

_JSON_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
}


class Chat(Protocol):
    """A language model that answers prompts; calls are independent of each other."""

    def ask(self, prompt: str, schema: Mapping[str, Any], *, seed: int = 0) -> Any:
        """Return the parsed answer, in the form that a JSON schema describes.

        Raises:
            LanguageModelError: If there is no answer, or not one of that form.
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
        """Set up a chat with a model; nothing is sent before the first question.

        Args:
            model: Name as `ollama list` shows it, for example "qwen3:8b".
            host: Address of the server, for example "http://127.0.0.1:11434"; None takes
                OLLAMA_HOST from the environment, or this machine.
            timeout_s: Longest wait for one answer, in seconds, including the loading of the model.
            num_ctx: Context in tokens; the server refuses a longer prompt.
            temperature: 0 gives the likeliest answer, which is the same for equal seeds.

        Raises:
            InputError: If the name is empty or a number is not positive.
            MissingExtraError: If the package `ollama` is not installed.
        """
        if not model.strip():
            raise InputError("the model's name is empty; `ollama list` shows the names there are")
        check_positive(timeout_s=timeout_s, num_ctx=num_ctx, max_tokens=max_tokens)
        if temperature < 0:
            raise InputError(f"temperature must be 0 or more, not {temperature}")
        self.model = model
        self._options = {
            "num_ctx": num_ctx,
            "num_predict": max_tokens,
            "temperature": temperature,
        }
        self._server = OllamaServer(host, timeout_s=timeout_s)

    def ask(self, prompt: str, schema: Mapping[str, Any], *, seed: int = 0) -> Any:
        """Return the model's parsed answer, with its top level checked against the schema.

        Raises:
            ModelSetupError: If the server is not running, the model does not exist, or the
                prompt is longer than its context.
            LanguageModelError: If the server fails or is too slow, or the answer is cut short, not
                JSON, or of another form.
        """
        reply = self._server.reply(self.model, prompt, schema, {**self._options, "seed": seed})
        if not reply.ended:
            raise self._cut()
        return parsed(reply.text, schema, self.model)

    def words(self, system: str, user: str, *, seed: int = 0) -> Iterator[Reply]:
        """Yield the pieces of the model's answer in words as they come."""
        ended = False
        for piece in self._server.stream(self.model, system, user, {**self._options, "seed": seed}):
            ended = piece.ended
            yield piece
        if not ended:
            raise self._cut()

    def _cut(self) -> LanguageModelError:
        return LanguageModelError(
            f"{self.model} did not finish its answer within "
            f"{self._options['num_predict']} tokens; raise max_tokens"
        )


def parsed(text: str, schema: Mapping[str, Any], model: str) -> Any:
    """Return an answer's JSON value, with its top level checked against the schema.

    >>> parsed('["b", "a"]', {"type": "array"}, "a model")
    ['b', 'a']

    Raises:
        LanguageModelError: If it is not JSON, or of another form.
    """
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise LanguageModelError(
            f"{model} answered no JSON: {text[:80]!r}; try a larger model"
        ) from error
    _check(answer, schema, model)
    return answer


def _check(answer: Any, schema: Mapping[str, Any], model: str) -> None:
    """Refuse an answer of another form: servers without structured output ignore the schema."""
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
