"""A model of an Ollama server: what is sent to it, and how it answers."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sat_retriever.errors import LanguageModelError, ModelSetupError
from sat_retriever.llm.http import HttpModel, RefusedError, address_of, count_of, listed
from sat_retriever.llm.served import Embeddings, ModelFacts, Options, Reply

_PORT = 11434
_KEEP_ALIVE = "10m"  # time for which the model stays loaded after an answer
_VECTOR_BYTES = 2**20  # most for the vector of one text


class OllamaModel(HttpModel):
    """A model of an Ollama server; see `ServedModel` and `HttpModel`.

    Without an address it is that of OLLAMA_HOST in the environment, or this machine.
    """

    kind = "ollama"
    server = "Ollama server"
    start = "start it with: ollama serve (https://ollama.com/download)"
    longer = "raise num_ctx"
    key_variable = "OLLAMA_API_KEY"

    def __init__(
        self,
        model: str,
        url: str | None = None,
        *,
        timeout_s: float = 600.0,
        pauses_s: Sequence[float] | None = None,
    ) -> None:
        address = address_of(url or os.environ.get("OLLAMA_HOST") or "127.0.0.1", _PORT)
        super().__init__(model, address, timeout_s=timeout_s, pauses_s=pauses_s)
        self._others: Sequence[str] = ()

    def reply(self, prompt: str, schema: Mapping[str, Any], options: Options) -> Reply:
        """Return the reply to one message, held to a JSON schema."""
        said = [{"role": "user", "content": prompt}]
        body = {**self._chat(said, options), "format": dict(schema), "stream": False}
        with self._told():
            return _reply(self._post("/api/chat", body))

    def stream(self, system: str, user: str, options: Options) -> Iterator[Reply]:
        """Yield the pieces of a reply; the last one has the counts and tells the end."""
        said = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        with self._told():
            for line in filter(None, self._lines("/api/chat", self._chat(said, options))):
                piece = json.loads(line)
                if "error" in piece:
                    raise RefusedError(500, str(piece["error"]), None)
                yield _reply(piece)
                if piece["done"]:
                    return
            raise self._broken_off("no end was told")

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """Return the vectors of texts; those that are too long are to be cut."""
        body = {"model": self.model, "input": list(texts), "truncate": True}
        with self._told():
            most = _VECTOR_BYTES * (1 + len(texts))
            found = self._post("/api/embed", {**body, "keep_alive": _KEEP_ALIVE}, most)
            return Embeddings(found["embeddings"], count_of(found.get("prompt_eval_count")))

    def facts(self) -> ModelFacts:
        """Return the facts about the model; if it is not there, the error lists those that are."""
        with self._told():
            there = self._get(f"{self.host}/api/tags")["models"]
            self._others = [each["model"] for each in there]
            shown = self._post("/api/show", {"model": self.model})
            about = shown.get("model_info") or {}
            digests = [
                each.get("digest") or ""
                for each in there
                if each["model"] in (self.model, f"{self.model}:latest")
            ]
            architecture = about.get("general.architecture")
            return ModelFacts(
                context_length=count_of(about.get(f"{architecture}.context_length")),
                quantization=(shown.get("details") or {}).get("quantization_level") or "",
                digest=digests[0] if digests else "",
            )

    def _chat(self, messages: Sequence[Mapping[str, str]], options: Options) -> dict[str, Any]:
        return {
            "model": self.model,
            "messages": messages,
            "options": {
                "num_ctx": options.num_ctx,
                "num_predict": options.max_tokens,
                "temperature": options.temperature,
                "seed": options.seed,
            },
            "think": False,
            "stream": True,
            "keep_alive": _KEEP_ALIVE,
            # Refuse a prompt that is too long instead of cutting it: whole messages, or the middle
            # of one. Older servers know neither.
            "truncate": False,
            "shift": False,
        }

    def _refusal(self, refused: RefusedError) -> LanguageModelError:
        if refused.status == 404 and refused.no_model:
            return ModelSetupError(
                f"{self.model} is not at {self.host}{listed(self._others)}; run: ollama pull "
                f"{self.model}"
            )
        if refused.status == 404:  # any web server may answer this
            return ModelSetupError(
                f"{self.host} is no Ollama server, or one that is too old (it said 404: "
                f"{self._shown(refused.whole):.80}); correct OLLAMA_HOST, or bring Ollama up to "
                "date"
            )
        return super()._refusal(refused)


def _reply(answer: Any) -> Reply:
    content = answer["message"].get("content") or ""
    if not isinstance(content, str):
        raise TypeError("the content of a message is no text")
    return Reply(
        text=content,
        ended=bool(answer.get("done")) and answer.get("done_reason") != "length",
        prompt_tokens=count_of(answer.get("prompt_eval_count")),
        tokens=count_of(answer.get("eval_count")),
    )
