"""Ask a language model on a server one question at a time and parse its JSON answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sat_retriever.errors import LanguageModelError
from sat_retriever.llm.served import Options, Reply, ServedModel, parsed, split_name


def served_model(
    name: str,
    url: str | None = None,
    *,
    timeout_s: float = 600.0,
    pauses_s: Sequence[float] | None = None,
) -> ServedModel:
    """Return a model on a server, by its name; nothing is sent yet.

    Args:
        name: "ollama:qwen3:8b" or "openai:gpt-4o-mini"; a bare name is one of Ollama's.
        url: Address of the server, for example "http://127.0.0.1:8080/v1"; None takes OLLAMA_HOST
            or OPENAI_BASE_URL from the environment, else Ollama on this machine, or OpenAI.
        timeout_s: Longest wait for one answer, in seconds, including the loading of the model.
        pauses_s: Seconds to wait before each repetition of a request that a busy or failing server
            refused, or whose connection was lost; None takes 1 and 4.

    Raises:
        InputError: If the name is empty, the address is none, or a number is not positive.
        MissingExtraError: If the package `httpx` is not installed.
    """
    kind, model = split_name(name)
    if kind == "openai":
        from sat_retriever.llm.openai import OpenAIModel

        return OpenAIModel(model, url, timeout_s=timeout_s, pauses_s=pauses_s)
    from sat_retriever.llm.ollama import OllamaModel

    return OllamaModel(model, url, timeout_s=timeout_s, pauses_s=pauses_s)


class Chat:
    """A language model that answers prompts; calls are independent of each other."""

    def __init__(
        self,
        model: str,
        url: str | None = None,
        *,
        timeout_s: float = 600.0,
        num_ctx: int = 8192,
        max_tokens: int = 2048,
    ) -> None:
        """Set up a chat with a model; nothing is sent before the first question.

        `model`, `url` and `timeout_s` are those of `served_model`, the others those of `Options`.

        Raises:
            InputError: If the name is empty, the address is none, or a number is not positive.
            MissingExtraError: If the package `httpx` is not installed.
        """
        self._options = Options(num_ctx, max_tokens)
        self._served = served_model(model, url, timeout_s=timeout_s)
        self.model = self._served.model

    def ask(self, prompt: str, schema: Mapping[str, Any], *, seed: int = 0) -> Any:
        """Return the model's parsed answer, with its top level checked against the schema.

        Raises:
            ModelSetupError: If the server is not running, the model does not exist, or the
                prompt is longer than its context.
            LanguageModelError: If the server fails or is too slow, or the answer is cut short, not
                JSON, or of another form.
        """
        reply = self._served.reply(prompt, schema, replace(self._options, seed=seed))
        if not reply.ended:
            raise self._cut()
        return parsed(reply.text, schema, self.model)

    def words(
        self, system: str, user: str, *, seed: int = 0, whole: bool = True
    ) -> Iterator[Reply]:
        """Yield the pieces of the model's answer in words as they come.

        Args:
            whole: False for an answer that is of use also if it is cut short.

        Raises:
            ModelSetupError: As `ask`.
            LanguageModelError: If the server fails or is too slow, or the answer is cut short.
        """
        ended = False
        for piece in self._served.stream(system, user, replace(self._options, seed=seed)):
            ended = piece.ended
            yield piece
        if whole and not ended:
            raise self._cut()

    def _cut(self) -> LanguageModelError:
        return LanguageModelError(
            f"{self.model} did not finish its answer within {self._options.max_tokens} tokens; "
            "raise max_tokens"
        )
