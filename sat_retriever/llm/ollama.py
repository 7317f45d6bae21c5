"""A model of an Ollama server, by Ollama's own client."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any

from sat_retriever._extras import install_command, require
from sat_retriever.errors import LanguageModelError, MissingExtraError, ModelSetupError
from sat_retriever.llm.http import HttpModel, RefusedError, address_of, count_of, listed
from sat_retriever.llm.served import Embeddings, Joined, ModelFacts, Options, Reply, whole

_PORT = 11434
_KEEP_ALIVE = "10m"  # time for which the model stays loaded after an answer


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
        with self._making():
            client = require("ollama", "ollama").Client
        if "think" not in inspect.signature(client.chat).parameters:
            raise MissingExtraError(
                "the package ollama is older than 0.5, which knows no `think`; run: "
                f"{install_command('ollama')}"
            )
        with self._making():
            self._client = client(self.host, follow_redirects=False, **self._settings)
        self._others: Sequence[str] = ()

    def reply(self, prompt: str, schema: Mapping[str, Any], options: Options) -> Reply:
        """Return the reply to one message, held to a JSON schema."""
        said = [{"role": "user", "content": prompt}]
        asked = {**self._chat(said, options), "format": dict(schema)}
        with self._told():
            return _reply(self._tried(lambda: self._client.chat(**asked)), Joined(), last=True)

    def stream(self, system: str, user: str, options: Options) -> Iterator[Reply]:
        """Yield the pieces of a reply; the last one has the counts and tells the end."""
        said = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        asked = {**self._chat(said, options), "stream": True}
        text = Joined()
        with self._told():
            for piece in self._tried(lambda: _begun(self._client.chat(**asked))):
                yield _reply(piece, text, last=bool(piece.done))
                if piece.done:
                    return
            raise self._broken_off("no end was told")

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """Return the vectors of texts; those that are too long are to be cut."""
        asked = {"model": self.model, "input": list(texts), "truncate": True}
        with self._told():
            found = self._tried(lambda: self._client.embed(**asked, keep_alive=_KEEP_ALIVE))
            return Embeddings(found.embeddings, found.prompt_eval_count)

    def facts(self) -> ModelFacts:
        """Return the facts about the model; if it is not there, the error lists those that are."""
        with self._told():
            there = self._tried(self._client.list).models
            self._others = [each.model for each in there if each.model]
            shown = self._tried(lambda: self._client.show(self.model))
            about = shown.modelinfo or {}
            names = self.model, f"{self.model}:latest"
            digests = [each.digest or "" for each in there if each.model in names]
            architecture = about.get("general.architecture")
            return ModelFacts(
                context_length=count_of(about.get(f"{architecture}.context_length")),
                quantization=(shown.details and shown.details.quantization_level) or "",
                digest=digests[0] if digests else "",
            )

    def _chat(self, messages: Sequence[Mapping[str, str]], options: Options) -> dict[str, Any]:
        return {
            "model": self.model,
            "messages": [{**each, "content": whole(each["content"])} for each in messages],
            "options": {
                "num_ctx": options.num_ctx,
                "num_predict": options.max_tokens,
                "temperature": options.temperature,
                "seed": options.seed,
            },
            "think": False,
            "keep_alive": _KEEP_ALIVE,
        }

    def _sent(self, request: Any) -> None:
        """Prepare a request as `HttpModel` does, beyond what the client has arguments for.

        A server is to refuse a prompt that is too long instead of cutting it: whole messages
        (`truncate`), or the middle of one (`shift`). Older servers know neither. And the client
        adds the key of the environment by itself.
        """
        super()._sent(request)
        if self._held_back and request.headers.get("Authorization", "").startswith("Bearer "):
            del request.headers["Authorization"]
        if request.url.path.endswith("/api/chat"):
            body = {**json.loads(request.content), "truncate": False, "shift": False}
            content = json.dumps(body).encode()
            request.stream = require("httpx", "ollama").ByteStream(content)
            request.headers["Content-Length"] = str(len(content))

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn errors as `HttpModel` does, after those of the client."""
        with super()._told():
            try:
                yield
            except ConnectionError as error:
                raise (error.__context__ or error) from None  # the one of HTTP says why
            except require("ollama", "ollama").ResponseError as error:  # in place of a piece
                raise RefusedError(500, str(error.error), None) from None

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


def _begun(pieces: Iterator[Any]) -> Iterator[Any]:
    """Return pieces of which the first has come: the request of all is made with it."""
    return chain(list(islice(pieces, 1)), pieces)


def _reply(piece: Any, text: Joined, *, last: bool) -> Reply:
    return Reply(
        text=text.add(piece.message.content or "", last=last),
        ended=bool(piece.done) and piece.done_reason != "length",
        prompt_tokens=piece.prompt_eval_count,
        tokens=piece.eval_count,
    )
