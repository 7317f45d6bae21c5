"""A small Ollama server on this machine that answers, and misbehaves, as it is told."""

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
    """

    content: str = "[]"
    status: int = 200
    error: str = ""
    tokens: int | None = COUNTED
    reason: str = "stop"
    body: str | None = None
    wait_s: float = 0.0
    cut: bool = False


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
    server, released = Server(), threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            server.paths.append(self.path)
            listed = [
                {"model": name, "name": name, "digest": f"sha of {name}{server.version}"}
                for name in models
            ]
            self._send(200, json.dumps({"models": listed}))

        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.paths.append(self.path)
            server.headers.append(self.headers)
            if not {request["model"], f"{request['model']}:latest"} & set(models):
                self._send(404, json.dumps({"error": f"model '{request['model']}' not found"}))
            elif self.path == "/api/show":
                self._send(200, json.dumps(_shown(context_length)))
            else:
                asked = server.embeds if self.path == "/api/embed" else server.chats
                asked.append(request)
                self._react(request, behaviour(request, len(asked) - 1))

        def _react(self, request, reaction):
            released.wait(reaction.wait_s)
            if reaction.error:
                body = {"error": reaction.error}
            elif self.path == "/api/embed":
                body = _embedded(request, reaction, vectors)
            else:
                body = _chatted(request, reaction)
            text = json.dumps(body) if reaction.body is None else reaction.body
            if request.get("stream") and reaction.body is None and not reaction.error:
                text = "".join(_streamed(body, reaction.content))
            self._send(reaction.status, text, cut=reaction.cut)

        def _send(self, status, text, *, cut=False):
            content = text.encode()
            try:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content[: len(content) // 2] if cut else content)
            except OSError:
                pass  # the client did not wait
            self.close_connection = True

        def log_message(self, *_):
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    server.host, server.down = f"http://127.0.0.1:{httpd.server_port}", httpd.socket.close
    try:
        yield server
    finally:
        released.set()
        httpd.shutdown()
        httpd.server_close()
        thread.join()


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
