import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import ollama
import pytest

from sat_retriever import InputError
from sat_retriever.errors import LanguageModelError
from sat_retriever.llm.chat import Chat

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def reply(content, done_reason="stop"):
    return {
        "model": "small",
        "created_at": "2026-01-01T00:00:00Z",
        "message": {"role": "assistant", "content": content},
        "done": True,
        "done_reason": done_reason,
    }


@contextmanager
def server(body, status=200, wait_s=0.0):
    """A server that speaks Ollama's /api/chat, and what it was asked."""
    asked = []
    released = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            length = int(self.headers["Content-Length"])
            asked.append((self.path, json.loads(self.rfile.read(length))))
            released.wait(wait_s)
            content = (body if isinstance(body, str) else json.dumps(body)).encode()
            try:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            except OSError:
                self.close_connection = True  # the client did not wait

        def log_message(self, *_):
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{httpd.server_port}", asked
    finally:
        released.set()
        httpd.shutdown()
        httpd.server_close()
        thread.join()


def failure(host, **options):
    with pytest.raises(LanguageModelError) as caught:
        Chat("small", host, **options).ask("Why?", SCHEMA)
    return str(caught.value)


def test_an_answer_is_parsed_and_the_request_is_bounded_and_held_to_the_schema():
    with server(reply('{"text": "Because."}')) as (host, asked):
        chat = Chat("small", host, num_ctx=4096, max_tokens=99)
        assert chat.ask("Why?", SCHEMA, seed=7) == {"text": "Because."}
    [(path, request)] = asked
    assert path == "/api/chat"
    assert request["messages"] == [{"role": "user", "content": "Why?"}]
    assert request["format"] == SCHEMA
    assert request["think"] is False
    assert request["stream"] is False
    assert request["keep_alive"] == "10m"
    assert request["options"] == {"num_ctx": 4096, "num_predict": 99, "temperature": 0.0, "seed": 7}


def test_a_list_is_an_answer_where_one_was_asked_for():
    with server(reply('["b", "a"]')) as (host, _):
        assert Chat("small", host).ask("Which?", {"type": "array"}) == ["b", "a"]


def test_a_model_that_is_not_there_is_named_with_the_command_that_fetches_it():
    with server({"error": "model 'small' not found"}, 404) as (host, _):
        assert "ollama pull small" in failure(host)


def test_a_refusal_is_told_with_status_and_reason():
    with server({"error": "out of memory"}, 500) as (host, _):
        message = failure(host)
    assert "500" in message
    assert "out of memory" in message


def test_without_a_server_the_message_says_how_to_start_one():
    with server(reply("{}")) as (host, _):
        pass  # its port is free again
    assert "ollama serve" in failure(host)


def test_a_slow_answer_ends_in_time_and_says_so():
    with server(reply("{}"), wait_s=30) as (host, _):
        start = time.monotonic()
        assert "0.2 s" in failure(host, timeout_s=0.2)
        assert time.monotonic() - start < 30  # it did not wait for the server


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (reply("Sure! Here it is"), "no JSON"),
        (reply(""), "no JSON"),
        (reply('{"text": "Bec', done_reason="length"), "raise max_tokens"),
        (reply('["text"]'), "where object was asked"),
        (reply('{"words": "x"}'), "lacks text"),
        ("<html>a web page</html>", "does not answer as an Ollama server"),
        ({"message": 3}, "does not answer as an Ollama server"),
    ],
)
def test_an_answer_of_another_form_is_an_error_that_says_what_came(body, words):
    with server(body) as (host, _):
        assert words in failure(host)


def test_no_error_of_the_client_library_leaks():
    httpx = pytest.importorskip("httpx")
    errors = [httpx.ReadError("x"), httpx.RemoteProtocolError("x"), ConnectionError("x")]
    errors += [httpx.ReadTimeout("x"), ollama.ResponseError("x", 400), ollama.RequestError("x")]
    chat = Chat("small", "http://127.0.0.1:1")

    class Failing:
        def __init__(self, error):
            self.error = error

        def chat(self, **_):
            raise self.error

    for error in errors:
        chat._server._client = Failing(error)
        with pytest.raises(LanguageModelError):
            chat.ask("Why?", SCHEMA)


@pytest.mark.parametrize(
    ("model", "options"),
    [(" ", {}), ("m", {"timeout_s": 0}), ("m", {"num_ctx": -1}), ("m", {"temperature": -0.1})],
)
def test_a_chat_that_cannot_work_is_refused_when_made(model, options):
    with pytest.raises(InputError):
        Chat(model, **options)
