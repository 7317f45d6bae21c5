"""A model of a server of the OpenAI form: llama.cpp, vLLM, LM Studio, OpenAI itself."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, Literal

from sat_retriever._extras import require
from sat_retriever.errors import LanguageModelError, ModelSetupError
from sat_retriever.llm.http import (
    HttpModel,
    RefusedError,
    address_of,
    count_of,
    listed,
)
from sat_retriever.llm.served import (
    Embeddings,
    Joined,
    ModelFacts,
    Options,
    Reply,
    found_json,
    whole,
)

_log = logging.getLogger(__name__)
_OPENAI = "https://api.openai.com/v1"
# Fields that some server or model refuses, and that a request can do without; see `_learnt`.
_SPARE = ("stream_options", "seed", "temperature")
_LENGTHS = (  # of the context, by several servers; the one that is kept before the longest
    "max_model_len", "loaded_context_length", "context_length", "context_window",
    "max_context_length",
)  # fmt: skip
_ABOUT_FORM = ("response_format", "schema", "json_object", "grammar")
Form = Literal["json_schema", "json_object", "prompt"]
_WEAKER: Mapping[Form, Form] = {"json_schema": "json_object", "json_object": "prompt"}


class _UnknownFormError(Exception):
    """The server refuses the form in which an answer was asked for."""


class OpenAIModel(HttpModel):
    """A model of a server of the OpenAI form; see `ServedModel` and `HttpModel`.

    Without an address it is that of OPENAI_BASE_URL in the environment, or OpenAI's own. An address
    without a path gets /v1. The key is that of OPENAI_API_KEY; it is sent over https or to this
    machine, elsewhere only with SAT_KEY_OVER_HTTP=1.

    Servers differ in the fields that they know. A field that one refuses is left out from then on.
    Where it refuses a JSON schema, or answers without keeping to it, the schema is part of the
    prompt.
    """

    kind = "openai"
    server = "OpenAI-like server"
    start = "start it, or correct its address (--llm-url, OPENAI_BASE_URL)"
    longer = "start the server with a longer context"
    key_variable = "OPENAI_API_KEY"

    def __init__(
        self,
        model: str,
        url: str | None = None,
        *,
        timeout_s: float = 600.0,
        pauses_s: Sequence[float] | None = None,
    ) -> None:
        address = address_of(url or os.environ.get("OPENAI_BASE_URL") or _OPENAI)
        super().__init__(model, address, timeout_s=timeout_s, pauses_s=pauses_s)
        if self.host.count("/") == 2:  # no path
            self.host += "/v1"
        with self._making():
            self._client = require("httpx", "openai").Client(**self._settings)
        self._form: Form = "json_schema"
        self._refused: set[str] = set()  # fields

    def reply(self, prompt: str, schema: Mapping[str, Any], options: Options) -> Reply:
        """Return the reply to one message, in the form of a JSON schema."""
        with self._told():
            while True:
                form = self._form
                try:
                    reply = self._replied(prompt, schema, options, form)
                except _UnknownFormError:
                    self._form = _WEAKER[form]
                    continue
                if form == "json_schema" and reply.ended and not _is_json(reply.text):
                    self._form = "prompt"  # it did not read the schema
                    continue
                return reply

    def stream(self, system: str, user: str, options: Options) -> Iterator[Reply]:
        """Yield the pieces of a reply; the last one has the counts and tells the end."""
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        body = self._chat(messages, options)
        body |= {"stream": True, "stream_options": {"include_usage": True}}
        reason = ""
        usage: Mapping[str, Any] = {}
        text = Joined()
        with self._told():
            try:
                for event in _events(self._lines("/chat/completions", body)):
                    _check(event)
                    usage = event.get("usage") or usage
                    for choice in (event.get("choices") or ())[:1]:
                        said = self._text_of(choice.get("delta") or choice.get("message") or {})
                        reason = choice.get("finish_reason") or reason
                        if piece := text.add(said):
                            yield Reply(piece, ended=False)
            except require("httpx", "openai").TransportError:
                if not reason:  # else the counts alone are missing
                    raise
            if not reason:
                raise self._broken_off("no end was told")
            yield self._ended("", reason, usage)

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """Return the vectors of texts, in their order."""
        with self._told():
            found = self._json(
                "POST", f"{self.host}/embeddings", {"model": self.model, "input": list(texts)}
            )
            rows = sorted(found["data"], key=lambda row: int(row["index"]))
            tokens = count_of((found.get("usage") or {}).get("prompt_tokens"))
            return Embeddings([row["embedding"] for row in rows], tokens)

    def facts(self) -> ModelFacts:
        """Return the facts about the model; if it is not there, the error lists those that are."""
        with self._told():
            there = self._models()
            about = next((each for each in there if self._is_it(each)), None)
            if about is None:
                raise self._missing([str(each["id"]) for each in there])
            lengths = [count_of(about.get(name)) for name in _LENGTHS]
            meta = about.get("meta") or {}  # llama.cpp's
            if meta:
                kept = count_of(meta.get("n_ctx")) or self._kept_context()
                lengths = [kept, count_of(meta.get("n_ctx_train"))]
            return ModelFacts(next(filter(None, lengths), None), str(meta.get("ftype") or ""))

    def _models(self) -> Sequence[Mapping[str, Any]]:
        found: Sequence[Mapping[str, Any]] = self._json("GET", f"{self.host}/models")["data"]
        return found

    def _is_it(self, about: Mapping[str, Any]) -> bool:
        return self.model in (about["id"], *(about.get("aliases") or ()))

    def _kept_context(self) -> int | None:
        """Return the context that an older server of llama.cpp keeps; None if not told."""
        try:
            told = self._json("GET", f"{self.host.removesuffix('/v1')}/props")
        except RefusedError:
            return None
        return count_of((told.get("default_generation_settings") or {}).get("n_ctx"))

    def _replied(
        self, prompt: str, schema: Mapping[str, Any], options: Options, form: Form
    ) -> Reply:
        if form != "json_schema":
            prompt = (
                f"{prompt}\n\nAnswer with JSON alone, no other words, in the form of this JSON "
                f"schema:\n{json.dumps(schema, ensure_ascii=False)}"
            )
        body = self._chat([{"role": "user", "content": prompt}], options)
        if form == "json_schema":
            told = {"name": "answer", "schema": dict(schema)}
            body["response_format"] = {"type": form, "json_schema": told}
        elif form == "json_object" and schema.get("type") == "object":
            body["response_format"] = {"type": form}
        answer = self._json("POST", f"{self.host}/chat/completions", body)
        choice = answer["choices"][0]
        text = Joined().add(self._text_of(choice["message"]), last=True)
        return self._ended(text, choice.get("finish_reason") or "stop", answer.get("usage") or {})

    def _chat(self, messages: Sequence[Mapping[str, str]], options: Options) -> dict[str, Any]:
        return {
            "model": self.model,
            "messages": [{**each, "content": whole(each["content"])} for each in messages],
            "max_tokens": options.max_tokens,
            "temperature": options.temperature,
            "seed": options.seed,
        }

    def _text_of(self, message: Mapping[str, Any]) -> str:
        """Return the words of a message, or of a piece of one, without its reasoning."""
        if message.get("refusal"):
            raise LanguageModelError(
                f"{self.model} refuses to answer: {self._shown(str(message['refusal']))}"
            )
        content = message.get("content") or ""
        if not isinstance(content, str):
            raise TypeError("the content of a message is no text")
        return content

    def _ended(self, text: str, reason: str, usage: Mapping[str, Any]) -> Reply:
        if reason == "content_filter":
            raise LanguageModelError(f"the server's filter ended the answer of {self.model}")
        tokens = count_of(usage.get("completion_tokens"))
        return Reply(text, reason != "length", count_of(usage.get("prompt_tokens")), tokens)

    def _json(self, method: str, url: str, body: Mapping[str, Any] | None = None) -> Any:
        """Return the JSON answer to a request."""

        def read() -> Any:
            with closing(self._opened(method, url, body)) as response:
                found = json.loads(response.read())
                _check(found)
                return found

        return self._tried(read)

    def _lines(self, path: str, body: Mapping[str, Any]) -> Iterator[bytes]:
        """Yield the lines of the answer to a request as they come.

        The client's own would end a line at other signs of Unicode, too, which JSON may hold.
        """
        parts: list[bytes] = []
        with closing(self._tried(lambda: self._opened("POST", self.host + path, body))) as response:
            for chunk in response.iter_bytes():
                *ended, rest = chunk.split(b"\n")
                for line in ended:
                    yield b"".join([*parts, line]).strip()
                    parts.clear()
                parts.append(rest)
        yield b"".join(parts).strip()

    def _opened(self, method: str, url: str, body: Mapping[str, Any] | None = None) -> Any:
        """Return an answer whose head has come; fields that the server refuses are left out."""
        if self.host == _OPENAI and not self._key:
            raise ModelSetupError(
                "OpenAI asks for a key: set OPENAI_API_KEY, or name another server by --llm-url or "
                "OPENAI_BASE_URL"
            )
        while True:
            sent = None if body is None else self._known(body)
            try:
                request = self._client.build_request(method, url, json=sent)
                return self._client.send(request, stream=True)
            except RefusedError as refused:
                if sent is None or not self._learnt(refused, sent):
                    raise

    def _known(self, body: Mapping[str, Any]) -> dict[str, Any]:
        sent = {name: value for name, value in body.items() if name not in self._refused}
        if "max_tokens" in self._refused and "max_tokens" in body:  # OpenAI's newer models
            sent["max_completion_tokens"] = body["max_tokens"]
        return sent

    def _learnt(self, refused: RefusedError, sent: Mapping[str, Any]) -> bool:
        """Return True if the refusal is of a field that the next request goes without.

        Raises:
            _UnknownFormError: If it is of the form of the answer, which changes the prompt, too.
        """
        if refused.status not in (400, 422) or refused.no_model or refused.too_long:
            return False
        said = refused.whole.lower()
        for field in _SPARE:
            if field in sent and field in said:
                self._refused.add(field)
                if field == "temperature":
                    _log.warning(
                        "%s takes no temperature but its own: equal questions may get answers that "
                        "differ", self.model,
                    )  # fmt: skip
                return True
        if "max_tokens" in sent and "max_completion_tokens" in said:
            self._refused.add("max_tokens")
            return True
        if "response_format" in sent and any(word in said for word in _ABOUT_FORM):
            raise _UnknownFormError
        return False

    def _missing(self, names: Sequence[str]) -> ModelSetupError:
        shown = listed([self._shown(name) for name in names])
        return ModelSetupError(f"{self.model} is not at {self.host}{shown}")

    def _refusal(self, refused: RefusedError) -> LanguageModelError:
        if refused.no_model:
            try:
                names = [str(each["id"]) for each in self._models()]
            except (  # whatever it is, the refusal is told
                RefusedError, LookupError, TypeError, ValueError, RecursionError,
                LanguageModelError, require("httpx", "openai").HTTPError,
            ):  # fmt: skip
                names = []
            return self._missing(names)
        if refused.status in (404, 405):  # any web server may answer this
            return ModelSetupError(
                f"{self.host} is no OpenAI-like server (it said {refused.status}: "
                f"{self._shown(refused.whole):.80}); correct its address (--llm-url, "
                "OPENAI_BASE_URL), which often ends with /v1"
            )
        return super()._refusal(refused)


def _check(found: Any) -> None:
    """Raise an error that stands in the place of an answer."""
    if isinstance(found, dict) and (error := found.get("error")):
        code = error.get("code") if isinstance(error, dict) else None
        status = code if isinstance(code, int) and 400 <= code < 600 else 500
        raise RefusedError(status, json.dumps(found), None)


def _events(lines: Iterator[bytes]) -> Iterator[Mapping[str, Any]]:
    """Yield the JSON values of server-sent events, or of a server that answers all at once."""
    open_lines: list[bytes] = []  # of an event over several
    for line in lines:
        name, _, value = line.partition(b":")
        if open_lines and (name == b"data" or not line):
            open_lines.append(value)
            if not line:
                yield json.loads(b"\n".join(open_lines))
                open_lines = []
        elif name == b"data" and value.strip() == b"[DONE]":
            return  # some servers keep the connection
        elif name == b"data" and value.strip():
            try:
                yield json.loads(value)
            except ValueError:
                open_lines = [value]
        elif name == b"error":  # llama.cpp, after the head was sent
            yield {"error": json.loads(value)}
        elif line.startswith(b"{"):
            yield json.loads(b"\n".join([line, *lines]))
        elif line.startswith(b"<"):
            raise ValueError("it sent a page")
    if open_lines:
        yield json.loads(b"\n".join(open_lines))


def _is_json(text: str) -> bool:
    """True if a reply is JSON alone, or empty, which is a failure of another kind."""
    try:
        found_json(text)
    except (ValueError, RecursionError):
        return not text.strip()
    return True
