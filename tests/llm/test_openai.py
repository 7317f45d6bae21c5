"""What servers of the OpenAI form differ in: fields, forms of answers, facts, keys."""

import json
import socket
import threading
import time
from contextlib import contextmanager

import pytest

from sat_retriever import InputError
from sat_retriever.errors import LanguageModelError, ModelContextError, ModelSetupError
from sat_retriever.llm.chat import Chat
from sat_retriever.llm.openai import OpenAIModel
from sat_retriever.llm.served import Options
from tests.modelserver import Reaction, always, hashed, one_by_one, openai

OBJECT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
ARRAY = {"type": "array", "items": {"type": "string"}}
GOOD = Reaction('{"text": "Because."}')
KEY = "sk-not-a-real-key"


def refusing(said, answer=GOOD, status=400):
    """A behaviour that refuses a request as `said` tells, by its body; else it answers."""

    def react(request, number):
        words = said(request)
        return Reaction(status=status, error=words) if words else answer

    return react


def formats(server):
    return [request.get("response_format", {}).get("type") for request in server.chats]


@pytest.mark.parametrize("status", [400, 422])
def test_a_server_without_json_schema_is_asked_for_json_and_not_asked_twice(status):
    def said(request):
        kind = request.get("response_format", {}).get("type")
        return "'response_format.type' must be 'text' or 'json_object'" * (kind == "json_schema")

    with openai(refusing(said, status=status)) as server:
        chat = Chat("openai:small", server.v1)
        assert [chat.ask("Why?", OBJECT), chat.ask("How?", OBJECT)] == [{"text": "Because."}] * 2
    assert formats(server) == ["json_schema", "json_object", "json_object"]
    assert server.prompts[0] == "Why?"
    assert server.prompts[2].startswith("How?\n\nAnswer with JSON")
    assert json.loads(server.prompts[2].splitlines()[-1]) == OBJECT


@pytest.mark.parametrize(
    ("schema", "content"),
    [
        (OBJECT, 'Sure:\n```json\n{"text": "Because."}\n```\nAnything else?'),
        (OBJECT, '<think>{"text": 1} [</think>{"text": "Because."}'),
        (ARRAY, 'Here: ["Because."]'),
    ],
)
def test_a_server_that_knows_no_form_is_told_it_and_the_json_is_found_in_its_words(schema, content):
    def said(request):
        return "Unrecognized request argument: response_format" * ("response_format" in request)

    with openai(refusing(said, Reaction(content))) as server:
        found = Chat("openai:small", server.v1).ask("Why?", schema)
    assert found in ({"text": "Because."}, ["Because."])
    forms = ["json_schema", "json_object", None] if schema is OBJECT else ["json_schema", None]
    assert formats(server) == forms


def test_a_server_that_does_not_read_the_schema_is_told_it_in_the_prompt():
    def react(request, number):
        told = "JSON schema" in request["messages"][0]["content"]
        return GOOD if told else Reaction("Because.")

    with openai(react) as server:
        chat = Chat("openai:small", server.v1)
        assert [chat.ask("Why?", OBJECT), chat.ask("How?", OBJECT)] == [{"text": "Because."}] * 2
    assert formats(server) == ["json_schema", None, None]


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("seed", "extra fields not permitted: seed"),
        ("temperature", "Unsupported value: 'temperature' does not support 0.0 with this model."),
        ("stream_options", "unknown field stream_options"),
        ("max_tokens", "'max_tokens' is not supported; use 'max_completion_tokens' instead."),
    ],
)
def test_a_field_that_a_server_refuses_is_left_out_from_then_on(field, said, caplog):
    with openai(refusing(lambda request: said * (field in request))) as server:
        chat = Chat("openai:small", server.v1)
        for _ in range(2):
            assert "".join(piece.text for piece in chat.words("a", "b")) == GOOD.content
    assert [field in request for request in server.chats] == [True, False, False]
    renamed = field == "max_tokens"
    assert [request.get("max_completion_tokens") for request in server.chats[1:]] == (
        [2048 if renamed else None] * 2
    )
    told = ["small takes no temperature but its own: equal questions may get answers that differ"]
    assert caplog.messages == told * (field == "temperature")


def test_a_refusal_of_something_else_changes_no_request():
    with (
        openai(always(Reaction(status=400, error="no"))) as server,
        pytest.raises(ModelSetupError, match="400: no"),
    ):
        Chat("openai:small", server.v1).ask("Why?", OBJECT)
    assert len(server.chats) == 1


def test_a_prompt_that_is_too_long_is_no_refusal_of_a_field():
    said = (
        "maximum context length is 8 tokens; 'max_tokens' or 'max_completion_tokens' is too large"
    )
    with (
        openai(always(Reaction(status=400, error=said))) as server,
        pytest.raises(ModelContextError, match="start the server with a longer context"),
    ):
        Chat("openai:small", server.v1).ask("Why?", OBJECT)
    assert len(server.chats) == 1


def answer(message, reason="stop"):
    return json.dumps({"choices": [{"message": message, "finish_reason": reason}]})


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (answer({"content": None, "refusal": "I cannot."}), "refuses to answer: I cannot."),
        (answer({"content": ""}, "content_filter"), "filter"),
        (answer({"content": None, "reasoning_content": "Hm."}, "length"), "raise max_tokens"),
        (answer({"content": None, "tool_calls": []}), "empty answer"),
        ('{"choices": []}', "does not answer as an OpenAI-like server"),
    ],
)
def test_an_answer_that_is_none_is_told(body, words):
    with (
        openai(always(Reaction(body=body))) as server,
        pytest.raises(LanguageModelError, match=words),
    ):
        Chat("openai:small", server.v1).ask("Why?", OBJECT)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('data: {"choices": [{"delta": {"refusal": "I cannot."}}]}', "refuses to answer"),
        ('data: {"error": {"message": "out of memory"}}', "500: out of memory"),
        ('error: {"code": 500, "message": "out of memory"}', "500: out of memory"),
        ('data: {"choices": [{"delta": {}, "finish_reason": "content_filter"}]}', "filter"),
        ("data: [1]", "does not answer as an OpenAI-like server"),
        ("data: [DONE]", "broke off"),
        ('data: {"choices": [\ndata: 3', "does not answer as an OpenAI-like server"),
        ("<html>a page", "it sent a page"),
    ],
)
def test_a_stream_that_ends_otherwise_is_told(line, words):
    begun = 'data: {"choices": [{"delta": {"content": "Ada "}}]}\n\n'
    said = []
    with (
        openai(always(Reaction(body=f"{begun}{line}\n\n"))) as server,
        pytest.raises(LanguageModelError, match=words),
    ):
        said += [piece.text for piece in Chat("openai:small", server.v1).words("a", "b")]
    assert len(server.chats) == 1


WHOLE = json.loads(answer({"content": "Ada earns 41."}))
END = 'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\n'


@pytest.mark.parametrize(
    "body",
    [
        json.dumps(WHOLE),
        json.dumps(WHOLE, indent=2),
        f"data:\n\ndata: {json.dumps(WHOLE)}\n\ndata: [DONE]\n\nwhatever",
        "".join(f"data: {line}\n" for line in json.dumps(WHOLE, indent=2).splitlines()),
    ],
)
def test_a_reply_is_read_however_its_lines_are_made(body):
    with openai(always(Reaction(body=body))) as server:
        pieces = list(Chat("openai:small", server.v1).words("a", "b"))
    assert [(piece.text, piece.ended) for piece in pieces] == [("Ada earns 41.", False), ("", True)]


def test_halves_of_a_character_are_joined_and_lone_ones_are_not_sent():
    halves = "".join(
        f'data: {{"choices": [{{"delta": {{"content": "{piece}"}}}}]}}\n\n'
        for piece in (r"a\ud83d", r"\ude00b", r"\ud83d")
    )
    with openai(always(Reaction(body=halves + END))) as server:
        pieces = list(Chat("openai:small", server.v1).words("a\ud83d", "b"))
    assert "".join(piece.text for piece in pieces) == "a\U0001f600b"
    assert server.prompts[0] == "a\ufffd"


@pytest.mark.parametrize(("done", "cut"), [(True, False), (False, True)])
def test_an_answer_whose_end_was_told_is_whole_whatever_the_connection_does(done, cut):
    said = 'data: {"choices": [{"delta": {"content": "Ada"}}]}\n\n' + END
    said += "data: [DONE]\n\n" * done
    with raw_server(said, stays=not cut) as address:
        chat = Chat("openai:small", address, timeout_s=5)
        start = time.monotonic()
        assert "".join(piece.text for piece in chat.words("a", "b")) == "Ada"
        assert time.monotonic() - start < 4


@contextmanager
def raw_server(said, *, stays):
    """A server that promises more than it sends, and then keeps the connection or cuts it."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 99999\r\n\r\n"
    with socket.create_server(("127.0.0.1", 0)) as listening:
        kept = []

        def serve():
            connection, _ = listening.accept()
            connection.recv(65_536)
            connection.sendall(head + said.encode())
            kept.append(connection) if stays else connection.close()

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        thread.join()
        for each in kept:
            each.close()


def test_an_error_in_place_of_an_answer_is_told_and_repeated_like_a_refusal(monkeypatch):
    monkeypatch.setattr("sat_retriever.llm.http.PAUSES_S", (0.0, 0.0))
    limited = Reaction(body='{"error": {"message": "Rate limit exceeded", "code": 429}}')
    with openai(always(limited)) as server, pytest.raises(LanguageModelError, match="429: Rate"):
        Chat("openai:small", server.v1).ask("Why?", OBJECT)
    assert len(server.chats) == 3
    with openai(one_by_one(limited, GOOD)) as server:
        assert Chat("openai:small", server.v1).ask("Why?", OBJECT) == {"text": "Because."}


@pytest.mark.parametrize("body", ["<html>", '{"data": 3}', '{"data": [3]}', ""])
def test_a_model_that_is_missing_is_told_where_the_list_of_models_is_none(body):
    with (
        openai(always(GOOD), page=body) as server,
        pytest.raises(ModelSetupError, match=r"other is not at http\S+$"),
    ):
        Chat("openai:other", server.v1).ask("Why?", OBJECT)
    assert "/v1/models" in server.paths


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ALL_PROXY", "foo://127.0.0.1:9"),
        ("NO_PROXY", "[::1"),
        ("SSL_CERT_FILE", "/no/such/file.pem"),
    ],
)
def test_an_environment_that_no_client_can_use_is_told(name, value, monkeypatch):
    monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match=rf"no client can be made .*{name}"):
        Chat("openai:small", "https://here.example/v1")


@pytest.mark.parametrize(
    "said",
    [
        "The decoder prompt (length 9000) is longer than the maximum model length of 8192.",
        "the prompt exceeds the context window",
        "`inputs` must have less than 512 tokens. Given: 700",
        "the prompt has 9000 tokens, and with 512 for the reply exceeds the context of 8192",
    ],
)
def test_every_servers_words_for_a_prompt_that_is_too_long_are_known(said):
    with (
        openai(always(Reaction(status=400, error=said))) as server,
        pytest.raises(ModelContextError, match="longer context"),
    ):
        Chat("openai:small", server.v1).ask("Why?", OBJECT)


@pytest.mark.parametrize("tokens", [7, None])
def test_vectors_are_put_in_the_order_of_their_texts(tokens):
    with openai(always(Reaction(tokens=tokens))) as server:
        found = OpenAIModel("small", server.v1).embed(["ä b", "c"])
    assert (list(found.vectors), found.tokens) == (hashed(["ä b", "c"]), tokens)
    assert server.embeds == [{"model": "small", "input": ["ä b", "c"]}]


LLAMA = {"id": "small", "owned_by": "llamacpp", "meta": {"n_ctx_train": 32768}}


@pytest.mark.parametrize(
    ("about", "props", "length"),
    [
        ({"id": "small"}, None, None),
        ({"id": "small", "max_model_len": 4096}, None, 4096),
        ({"id": "small", "loaded_context_length": 512, "max_context_length": 4096}, None, 512),
        ({"id": "small", "context_length": "many"}, None, None),
        (LLAMA, None, 32768),
        (LLAMA, {"default_generation_settings": {"n_ctx": 8192}}, 8192),
        ({**LLAMA, "meta": {"n_ctx": 512, "n_ctx_train": 32768}}, None, 512),
        (
            {**LLAMA, "id": "a.gguf", "aliases": ["small"]},
            {"default_generation_settings": {}},
            32768,
        ),
    ],
)
def test_the_context_is_what_the_server_keeps_before_what_the_model_was_made_for(
    about, props, length
):
    with openai(always(GOOD), models=(about,), props=props) as server:
        facts = OpenAIModel("small", server.v1).facts()
    assert (facts.context_length, facts.digest) == (length, "")


def test_facts_of_a_model_that_is_not_there_name_some_that_are():
    with (
        openai(always(GOOD), models=[f"m{number}" for number in range(25)]) as server,
        pytest.raises(ModelSetupError, match=r"which has m0, .*m19 and 5 more$"),
    ):
        OpenAIModel("small", server.v1).facts()


@pytest.mark.parametrize(
    ("given", "host"),
    [
        ("http://10.0.0.7:8080", "http://10.0.0.7:8080/v1"),
        ("http://10.0.0.7:8080/", "http://10.0.0.7:8080/v1"),
        ("https://here/api/openai/", "https://here/api/openai"),
        (None, "https://api.openai.com/v1"),
    ],
)
def test_an_address_without_a_path_is_completed(given, host):
    assert OpenAIModel("small", given).host == host


def test_the_address_may_come_from_the_environment(monkeypatch):
    with openai(always(GOOD)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.v1)
        assert Chat("openai:small").ask("Why?", OBJECT) == {"text": "Because."}


def test_a_page_at_another_path_is_no_such_server():
    with openai(always(GOOD)) as server, pytest.raises(ModelSetupError, match="ends with /v1"):
        Chat("openai:small", f"{server.host}/v2").ask("Why?", OBJECT)


def test_a_key_that_a_server_repeats_is_in_no_message(monkeypatch):
    with openai(always(GOOD), key="another") as server:
        monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")
        with pytest.raises(ModelSetupError, match="refused the key in OPENAI_API_KEY") as caught:
            Chat("openai:small", server.v1).ask("Why?", OBJECT)
        monkeypatch.setenv("OPENAI_API_KEY", "another")
        assert Chat("openai:small", server.v1).ask("Why?", OBJECT) == {"text": "Because."}
    assert "Incorrect key: Bearer …" in str(caught.value)
    assert KEY not in str(caught.value)


def test_a_key_that_is_not_sent_is_told_where_the_server_asks_for_one(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr("sat_retriever.llm.openai.address_of", _elsewhere)
    with openai(always(GOOD), key=KEY) as server:
        with pytest.raises(ModelSetupError, match=r"not sent over plain HTTP.*SAT_KEY_OVER_HTTP=1"):
            Chat("openai:small", server.v1).ask("Why?", OBJECT)
        monkeypatch.setenv("SAT_KEY_OVER_HTTP", "1")
        assert Chat("openai:small", server.v1).ask("Why?", OBJECT) == {"text": "Because."}


def _elsewhere(text):
    """The address of a server as if it were another machine's."""
    from dataclasses import replace

    from sat_retriever.llm.http import address_of

    return replace(address_of(text), local=False)


def test_without_a_key_nothing_is_sent_to_openai():
    with pytest.raises(ModelSetupError, match="set OPENAI_API_KEY, or name another server"):
        Chat("openai:gpt-4o-mini").ask("Why?", OBJECT)


@pytest.mark.parametrize("key", ["a\nb", "ключ"])
def test_a_key_that_cannot_be_sent_is_refused_and_not_shown(monkeypatch, key):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(InputError, match="a character that no key has") as caught:
        Chat("openai:small", "http://127.0.0.1:1")
    assert key not in str(caught.value)


def test_options_are_sent_as_they_are():
    with openai(always(GOOD)) as server:
        OpenAIModel("small", server.v1).reply("Why?", OBJECT, Options(99, 7, 0.5, 3))
    [request] = server.chats
    assert (request["max_tokens"], request["temperature"], request["seed"]) == (7, 0.5, 3)
    assert "num_ctx" not in json.dumps(request)
