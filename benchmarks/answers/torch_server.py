"""Serve a model in OpenAI's form over HTTP; `benchmarks.answers.llm_server` starts it."""

from __future__ import annotations

import json
import select
import socket
from collections.abc import Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from benchmarks.answers.torch_model import TorchModel

_LONGEST_BODY = 8 << 20  # bytes


def server_of(model: TorchModel, name: str, host: str, port: int) -> ThreadingHTTPServer:
    """Return a server that answers requests of OpenAI's form."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            about = {"id": name, "object": "model", "meta": {"n_ctx": model.context}}
            if self.path == "/v1/models":
                self._send(200, {"object": "list", "data": [about]})
            else:
                self._refuse(404, f"nothing is at {self.path}")

        def do_POST(self) -> None:
            if self.path != "/v1/chat/completions":
                self._refuse(404, f"nothing is at {self.path}")
                return
            try:
                size = int(self.headers["Content-Length"])
                if size > _LONGEST_BODY:
                    raise ValueError(f"a body of {size} bytes is too long")
                body = json.loads(self.rfile.read(size))
                question = model.question(body)
            except (ValueError, LookupError, TypeError) as error:
                self._refuse(400, str(error))
                return
            try:
                text, reason = model.answer(question, self._is_left)
            except Exception as error:  # noqa: BLE001 - of the thread that answers
                self._refuse(500, str(error))
                return
            counts = {
                "prompt_tokens": len(question.prompt),
                "completion_tokens": len(question.reply),
            }
            said = {"role": "assistant", "content": text}
            choice = {"index": 0, "message": said, "delta": said, "finish_reason": reason}
            self._send(200, {"model": name, "choices": [choice], "usage": counts})

        def _is_left(self) -> bool:
            """Return True if the client has closed the connection."""
            ready, _, _ = select.select([self.connection], [], [], 0)
            return bool(ready) and not self.connection.recv(1, socket.MSG_PEEK)

        def _refuse(self, status: int, why: str) -> None:
            self._send(status, {"error": {"message": why}})

        def _send(self, status: int, content: Mapping[str, Any]) -> None:
            data = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            with suppress(ConnectionError):  # the client has left
                self.end_headers()
                self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Say nothing of each request."""

    return ThreadingHTTPServer((host, port), Handler)
