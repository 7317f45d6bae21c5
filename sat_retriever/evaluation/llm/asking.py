"""Ask a language model for the best sheets of a catalogue, with a few tries."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from sat_retriever.errors import InputError, LanguageModelError, ModelSetupError
from sat_retriever.evaluation.llm.answers import Answer, key_of
from sat_retriever.evaluation.llm.prompt import (
    CHOSEN,
    check_before,
    checked_count,
    chosen_of,
    schema_of,
)
from sat_retriever.llm.chat import served_model
from sat_retriever.llm.served import (
    LONGEST_PAUSE_S,
    ModelFacts,
    Options,
    check_positive,
    parsed,
    split_name,
)


@dataclass(frozen=True, slots=True)
class LanguageModelSettings:
    """The model and the options of its requests: all settings that can change an answer.

    Source: paper, section 4 (Qwen3.5-9B by Ollama, temperature 0, context 32,768).

    Attributes:
        model: "ollama:qwen3.5:9b" or "openai:gpt-4o-mini"; a bare name is one of Ollama's.
        num_ctx: Context in tokens; a model or server with a smaller one uses its own.
        num_predict: Tokens reserved for the answer.
        temperature: Temperature of the first try.
        retry_temperature: Temperature of later tries; at 0 they would repeat the first answer.
        seed: Seed of the first try; each later one adds 1.
        tries: Most times a question is asked until an answer is usable.
    """

    model: str = "qwen3.5:9b"
    num_ctx: int = 32768
    num_predict: int = 128
    temperature: float = 0.0
    retry_temperature: float = 0.2
    seed: int = 42
    tries: int = 3

    def __post_init__(self) -> None:
        split_name(self.model)
        check_positive(num_ctx=self.num_ctx, num_predict=self.num_predict, tries=self.tries)
        if min(self.temperature, self.retry_temperature) < 0:
            raise InputError("a temperature is below 0; 0 gives the likeliest answer")


@dataclass(frozen=True, slots=True)
class _Try:
    tokens: int | None = None
    ids: tuple[str, ...] = ()
    problem: str = ""
    wait_s: float = 0.0  # before the next try


class LanguageModel:
    """A model on a server; nothing is sent before the first question.

    `url` is that of `served_model`. `timeout_s` is for one try, with the loading of the model.
    """

    def __init__(
        self,
        settings: LanguageModelSettings | None = None,
        url: str | None = None,
        *,
        timeout_s: float = 600.0,
    ) -> None:
        self.settings = settings or LanguageModelSettings()
        # Repetitions of a request are tries, which are counted.
        self._served = served_model(self.settings.model, url, timeout_s=timeout_s, pauses_s=())
        self._facts: ModelFacts | None = None
        self._silent = False  # True after the server failed to report the facts

    @property
    def facts(self) -> ModelFacts:
        """The facts that the server reports about the model, requested with the first question."""
        if self._facts is None:
            self._facts = self._served.facts()
        return self._facts

    @property
    def known(self) -> ModelFacts | None:
        """The facts if they are known by now; sends no request."""
        return self._facts

    @property
    def num_ctx(self) -> int:
        """The context to request, in tokens: the settings', or the model's own if smaller."""
        own = self.facts.context_length
        return self.settings.num_ctx if own is None else min(self.settings.num_ctx, own)

    def may_have_given(self, answer: Answer) -> bool:
        """True if an answer may be from the model that the server has now.

        If the server cannot be reached or does not report the model's digest, every kept answer is
        accepted. Otherwise an answer without a digest is not.
        """
        if self._facts is None and not self._silent:
            try:
                _ = self.facts
            except LanguageModelError:
                self._silent = True
        digest = self._facts.digest if self._facts else ""
        return not digest or answer.digest == digest

    def key(self, prompt: str) -> str:
        """Return the key of the answer to a prompt."""
        return key_of(asdict(self.settings), prompt)

    def choose(self, prompt: str, labels: Sequence[str]) -> Answer:
        """Ask for the best of the labelled sheets.

        An answer with at least one known label is used as it is; a short one is not asked again. A
        try fails if the server fails or stops early, or if the answer has no known label.

        Raises:
            ModelSetupError: If another try would not help: no server, no such model, or a prompt
                that does not fit the context.
        """
        check_before(prompt, self.settings.num_ctx, self.settings.num_predict)
        start = time.perf_counter()
        done = _Try()
        tokens: int | None = None
        attempt = 0
        while not done.ids and attempt < self.settings.tries:
            if attempt and done.wait_s:
                if done.wait_s > LONGEST_PAUSE_S:
                    break
                time.sleep(done.wait_s)
            done = self._tried(attempt, prompt, labels)
            tokens = tokens if done.tokens is None else done.tokens
            attempt += 1
        return Answer(
            ids=done.ids,
            prompt_tokens=tokens,
            tries=attempt,
            short=0 < len(done.ids) < min(CHOSEN, len(labels)),
            failed=not done.ids,
            seconds=round(time.perf_counter() - start, 3),
            problem=done.problem,
            digest=self._facts.digest if self._facts else "",
        )

    def _tried(self, attempt: int, prompt: str, labels: Sequence[str]) -> _Try:
        use, schema = self.settings, schema_of(labels)
        try:
            num_ctx = self.num_ctx
            check_before(prompt, num_ctx, use.num_predict)
            temperature = use.retry_temperature if attempt else use.temperature
            options = Options(num_ctx, use.num_predict, temperature, use.seed + attempt)
            reply = self._served.reply(prompt, schema, options)
        except ModelSetupError:
            raise
        except LanguageModelError as error:
            return _Try(problem=str(error), wait_s=error.wait_s or 0.0)
        tokens = checked_count(reply.prompt_tokens, prompt, num_ctx, use.num_predict)
        try:
            ids = chosen_of(parsed(reply.text, schema, use.model), labels)
        except LanguageModelError:  # its message quotes the answer, which is not for a file
            return _Try(tokens, problem="the answer was no JSON list")
        return _Try(tokens, ids, "" if ids else "the answer named no sheet of the catalogue")
