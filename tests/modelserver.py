"""Small servers of models on this machine that answer, and misbehave, as they are told."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.fakes import HashedEncoder

MODEL = "qwen3.5:9b"
COUNTED = -1  # tokens by the server's own count


@dataclass(frozen=True)
class Reaction:
    """What the server does with one question.

    Attributes:
        content: The model's words.
        status: Of HTTP.
        error: What a refusal says.
        tokens: The count it gives; None leaves it out.
        reason: Why the answer ended.
        body: Sent in place of the whole JSON object.
        wait_s: Seconds before anything is sent.
        cut: Whether the connection ends within the answer.
        headers: More of them.
    """

    content: str = "[]"
    status: int = 200
    error: str = ""
    tokens: int | None = COUNTED
    reason: str = "stop"
    body: str | None = None
    wait_s: float = 0.0
    cut: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)


def says(*ids: str, **fields: Any) -> Reaction:
    return Reaction(content=json.dumps(ids), **fields)


Behaviour = Callable[[Mapping[str, Any], int], Reaction]  # a request and its number, from 0


def always(reaction: Reaction) -> Behaviour:
    return lambda request, number: reaction


def one_by_one(*reactions: Reaction) -> Behaviour:
    """Each question another reaction; the last one from then on."""
    return lambda request, number: reactions[min(number, len(reactions) - 1)]


@dataclass
class Server:
    """Where it listens, and what it was asked."""

    host: str = ""
    chats: list[Mapping[str, Any]] = field(default_factory=list)
    embeds: list[Mapping[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    version: str = ""  # of the model's files: what its digest ends with
    down: Callable[[], None] = lambda: None  # accepts no connection from now on

    @property
    def prompts(self) -> list[str]:
        return [chat["messages"][0]["content"] for chat in self.chats]

    @property
    def v1(self) -> str:
        """The address of a server of the OpenAI form."""
        return f"{self.host}/v1"


def hashed(texts: Sequence[str]) -> list[list[float]]:
    """The vectors of an embedding model that counts words, not of unit length."""
    return (3 * HashedEncoder().encode_sheets(texts)).tolist()


def count(text: str) -> int:
    """Tokens as this server counts: words, single digits and signs, and a template."""
    return len(re.findall(r"[^\W\d_]+|\d|[^\w\s]|_", text)) + 10


@contextmanager
def ollama(
    behaviour: Behaviour,
    *,
    context_length: int | None = 262144,
    models: tuple[str, ...] = (MODEL,),
    vectors: Callable[[Sequence[str]], list[list[float]]] = hashed,
) -> Iterator[Server]:
    """A server that speaks /api/chat, /api/embed, /api/show and /api/tags on a free port.

    Args:
        behaviour: What it does with each request to chat, or to embed.
        context_length: What it tells of its models.
        models: Their names.
        vectors: The embeddings of texts.
    """

    class Handler(_Handler):
        embeds = "/api/embed"

        def do_GET(self):
            self.server_.paths.append(self.path)
            listed = [
                {"model": name, "name": name, "digest": f"sha of {name}{self.server_.version}"}
                for name in models
            ]
            self.send(200, json.dumps({"models": listed}))

        def answered(self, request):
            if not {request["model"], f"{request['model']}:latest"} & set(models):
                self.send(404, json.dumps({"error": f"model '{request['model']}' not found"}))
            elif self.path == "/api/show":
                self.send(200, json.dumps(_shown(context_length)))
            else:
                return False
            return True

        def body(self, request, reaction):
            if self.path == self.embeds:
                return json.dumps(_embedded(request, reaction, vectors))
            body = _chatted(request, reaction)
            streamed = request["stream"]
            return "".join(_streamed(body, reaction.content)) if streamed else json.dumps(body)

    with _serving(Handler, behaviour) as server:
        yield server


@contextmanager
def openai(
    behaviour: Behaviour,
    *,
    models: Sequence[str | Mapping[str, Any]] = ("small",),
    vectors: Callable[[Sequence[str]], list[list[float]]] = hashed,
    key: str = "",
    props: Mapping[str, Any] | None = None,
    page: str | None = None,
) -> Iterator[Server]:
    """A server that speaks /v1/chat/completions, /v1/embeddings and /v1/models on a free port.

    Args:
        behaviour: What it does with each request to chat, or to embed.
        models: Their names, or all that it tells of them.
        vectors: The embeddings of texts.
        key: The key that it asks for; none if empty.
        props: The answer to /props, as llama.cpp's server has it.
        page: The answer to /models in place of their list.
    """
    listed = [{"id": each} if isinstance(each, str) else each for each in models]

    class Handler(_Handler):
        embeds = "/v1/embeddings"

        def do_GET(self):
            self.server_.paths.append(self.path)
            if self.path == "/v1/models":
                told = json.dumps({"object": "list", "data": listed}) if page is None else page
                self.send(200, told)
            elif self.path == "/props" and props is not None:
                self.send(200, json.dumps(props))
            else:
                self.send(404, '{"error": {"message": "File Not Found", "code": 404}}')

        def answered(self, request):
            said = ""
            if key and self.headers["Authorization"] != f"Bearer {key}":
                status, said = 401, f"Incorrect key: {self.headers['Authorization']}"
            elif self.path not in ("/v1/chat/completions", self.embeds):
                status, said = 404, "File Not Found"
            elif request["model"] not in [each["id"] for each in listed]:
                status, said = 404, f"The model `{request['model']}` does not exist."
            if said:
                self.send(status, json.dumps({"error": {"message": said}}))
            return bool(said)

        def body(self, request, reaction):
            counted = [*map(count, _read(request))]
            usage = {
                "prompt_tokens": sum(counted) if reaction.tokens == COUNTED else reaction.tokens
            }
            if self.path == self.embeds:
                rows = enumerate(vectors(request["input"]))
                data = [{"index": place, "embedding": row} for place, row in rows]
                return json.dumps({"data": data[::-1], "usage": usage})
            usage["completion_tokens"] = count(reaction.content)
            usage = {} if reaction.tokens is None else {"usage": usage}
            if request.get("stream"):
                return "".join(_events(reaction, usage))
            message = {"role": "assistant", "content": reaction.content, "reasoning_content": "Hm."}
            choice = {"index": 0, "message": message, "finish_reason": reaction.reason}
            return json.dumps({"choices": [choice], **usage})

    with _serving(Handler, behaviour) as server:
        yield server


class _Handler(BaseHTTPRequestHandler):
    """What both have in common: requests are kept, and reactions sent as they say."""

    server_: Server
    behaviour: Behaviour
    released: threading.Event
    embeds: str

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server_.paths.append(self.path)
        self.server_.headers.append(self.headers)
        if self.answered(request):
            return
        asked = self.server_.embeds if self.path == self.embeds else self.server_.chats
        asked.append(request)
        reaction = self.behaviour(request, len(asked) - 1)
        self.released.wait(reaction.wait_s)
        if reaction.body is not None:
            text = reaction.body
        elif reaction.error:
            text = json.dumps({"error": reaction.error})
        else:
            text = self.body(request, reaction)
        self.send(reaction.status, text, cut=reaction.cut, headers=reaction.headers)

    def send(self, status, text, *, cut=False, headers=None):
        content = text.encode()
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content[: len(content) // 2] if cut else content)
        except OSError:
            pass  # the client did not wait
        self.close_connection = True

    def log_message(self, *_):
        pass


@contextmanager
def _serving(handler: type[_Handler], react: Behaviour) -> Iterator[Server]:
    server, handler.released = Server(), threading.Event()
    handler.server_, handler.behaviour = server, staticmethod(react)
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    server.host, server.down = f"http://127.0.0.1:{httpd.server_port}", httpd.socket.close
    try:
        yield server
    finally:
        handler.released.set()
        httpd.shutdown()
        httpd.server_close()
        thread.join()


def _read(request):
    """The texts that a model of the OpenAI form reads."""
    said = [message["content"] for message in request.get("messages", ())]
    return [*said, *request.get("input", ())]


def _events(reaction, usage):
    """The answer as server-sent events, one a word, after a thought; the counts come last."""

    def event(delta, reason=None):
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return f"data: {json.dumps({'choices': [choice]})}\n\n"

    yield ": a comment\n\n"
    yield event({"role": "assistant", "reasoning_content": "Hm."})
    for word in re.findall(r"\S+\s*|\s+", reaction.content):
        yield event({"content": word})
    yield event({}, reaction.reason)
    yield f"data: {json.dumps({'choices': [], **usage})}\n\n"
    yield "data: [DONE]\n\n"


def _shown(context_length):
    about = {"general.architecture": "qwen35"}
    if context_length is not None:
        about["qwen35.context_length"] = context_length
    return {"model_info": about, "details": {"quantization_level": "Q4_K_M"}}


def _chatted(request, reaction):
    body = {
        "model": request["model"],
        "created_at": "2026-01-01T00:00:00Z",
        "message": {"role": "assistant", "content": reaction.content},
        "done": True,
        "done_reason": reaction.reason,
    }
    if reaction.tokens is not None:
        counted = sum(count(message["content"]) for message in request["messages"])
        body["eval_count"] = count(reaction.content)
        body["prompt_eval_count"] = counted if reaction.tokens == COUNTED else reaction.tokens
    return body


def _streamed(body, content):
    """The same answer as lines of JSON, one a word; the last one has the end and the counts."""
    for word in re.findall(r"\S+\s*|\s+", content):
        piece = {name: body[name] for name in ("model", "created_at")}
        said = {"role": "assistant", "content": word}
        yield json.dumps({**piece, "message": said, "done": False}) + "\n"
    yield json.dumps({**body, "message": {"role": "assistant", "content": ""}}) + "\n"


def _embedded(request, reaction, vectors):
    body = {"model": request["model"], "embeddings": vectors(request["input"])}
    if reaction.tokens is not None:
        counted = sum(map(count, request["input"]))
        body["prompt_eval_count"] = counted if reaction.tokens == COUNTED else reaction.tokens
    return body
