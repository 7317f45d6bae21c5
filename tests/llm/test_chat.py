"""One chat over both forms of servers: what is asked, what comes back, and how failures read."""

import json
import time

import pytest

from sat_retriever import InputError
from sat_retriever.errors import LanguageModelError, ModelContextError, ModelSetupError
from sat_retriever.llm import http
from sat_retriever.llm.chat import Chat
from tests.modelserver import Reaction, always, count, ollama, one_by_one, openai

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
GOOD = Reaction('{"text": "Because."}')


@pytest.fixture(autouse=True)
def no_pause(monkeypatch):
    """Repeats at once: what is waited for is not tested by the clock."""
    monkeypatch.setattr(http, "PAUSES_S", (0.0, 0.0))


@pytest.fixture(params=["ollama", "openai"])
def form(request):
    return request.param


def serving(form, behaviour, **more):
    return {"ollama": ollama, "openai": openai}[form](behaviour, models=("small",), **more)


def chat_of(form, server, model="small", **options):
    return Chat(f"{form}:{model}", server.host, **options)


def failed(form, behaviour, **options):
    """The error of a question to a server that behaves in some way."""
    with serving(form, behaviour) as server, pytest.raises(LanguageModelError) as caught:
        chat_of(form, server, **options).ask("Why?", SCHEMA)
    return caught.value


def test_an_answer_is_parsed_and_the_request_is_bounded_and_held_to_the_schema(form):
    with serving(form, always(GOOD)) as server:
        chat = chat_of(form, server, num_ctx=4096, max_tokens=99)
        assert chat.ask("Why?", SCHEMA, seed=7) == {"text": "Because."}
    [request] = server.chats
    assert server.prompts == ["Why?"]
    if form == "ollama":
        assert server.paths == ["/api/chat"]
        assert request["format"] == SCHEMA
        assert (request["think"], request["stream"], request["keep_alive"]) == (False, False, "10m")
        assert (request["truncate"], request["shift"]) == (False, False)
        options = {"num_ctx": 4096, "num_predict": 99, "temperature": 0.0, "seed": 7}
        assert request["options"] == options
    else:
        assert server.paths == ["/v1/chat/completions"]
        assert request == {
            "model": "small",
            "messages": [{"role": "user", "content": "Why?"}],
            "max_tokens": 99,
            "temperature": 0.0,
            "seed": 7,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": SCHEMA},
            },
        }


def test_words_come_in_pieces_without_reasoning_and_the_last_one_has_the_counts(form):
    with serving(form, always(Reaction("Ada earns 41."))) as server:
        pieces = list(chat_of(form, server).words("You answer.", 'Umsätze "2024"\n表 \\ 😀'))
    assert [piece.text for piece in pieces] == ["Ada ", "earns ", "41.", ""]
    assert [piece.ended for piece in pieces] == [False, False, False, True]
    read = [message["content"] for message in server.chats[0]["messages"]]
    assert read == ["You answer.", 'Umsätze "2024"\n表 \\ 😀']
    assert (pieces[-1].prompt_tokens, pieces[-1].tokens) == (
        sum(map(count, read)), count("Ada earns 41."),
    )  # fmt: skip


def test_a_list_is_an_answer_where_one_was_asked_for(form):
    with serving(form, always(Reaction('["b", "a"]'))) as server:
        assert chat_of(form, server).ask("Which?", {"type": "array"}) == ["b", "a"]


def test_a_model_that_is_not_there_is_told_beside_those_that_are(form):
    with serving(form, always(GOOD)) as server, pytest.raises(ModelSetupError) as caught:
        chat_of(form, server, "none").ask("Why?", SCHEMA)
    said = {
        "ollama": "run: ollama pull none",
        "openai": f"none is not at {server.v1}, which has small",
    }
    assert said[form] in str(caught.value)


def test_without_a_server_the_message_says_what_to_do(form):
    with serving(form, always(GOOD)) as server:
        pass  # its port is free again
    with pytest.raises(ModelSetupError, match=r"no \S+ server answers at") as caught:
        chat_of(form, server).ask("Why?", SCHEMA)
    assert {"ollama": "ollama serve", "openai": "--llm-url"}[form] in str(caught.value)


@pytest.mark.parametrize("asking", ["ask", "words"])
def test_a_slow_answer_ends_in_time_and_says_so(form, asking):
    with serving(form, always(Reaction(wait_s=30))) as server:
        start = time.monotonic()
        chat = chat_of(form, server, timeout_s=0.2)
        with pytest.raises(LanguageModelError, match=r"no answer within 0\.2 s"):
            list(chat.words("a", "b")) if asking == "words" else chat.ask("Why?", SCHEMA)
        assert time.monotonic() - start < 30  # it did not wait for the server
    assert len(server.chats) == 1  # and is not asked for the same again


CUT = Reaction('{"text": "Bec', reason="length")
LONG = "the input length exceeds the context length"
LLAMA_CPP = '{"error": {"message": "the request exceeds the available context size", "code": 400}}'
VLLM = '{"object": "error", "message": "This model\'s maximum context length is 8 tokens."}'
FAILURES = [
    # the server's behaviour, the kind of error, its words, requests
    (Reaction("Sure! Here it is"), LanguageModelError, "no JSON", 1),
    (Reaction('{"text": ' + "[" * 9_999), LanguageModelError, "no JSON", 1),
    (Reaction(""), LanguageModelError, "empty answer", 1),
    (CUT, LanguageModelError, "raise max_tokens", 1),
    (Reaction('["text"]'), LanguageModelError, "where object was asked", 1),
    (Reaction('{"words": "x"}'), LanguageModelError, "lacks text", 1),
    (Reaction(body="<html>a web page</html>"), LanguageModelError, "does not answer as an", 1),
    (Reaction(body='{"message": 3, "choices": 3}'), LanguageModelError, "does not answer as an", 1),
    (Reaction(body='{"choices": [{"message": {"content": 5}}], "message": {"content": 5}}'),
     LanguageModelError, "does not answer as an", 1),
    (Reaction(body='["no object"]'), LanguageModelError, "does not answer as an", 1),
    (Reaction(body="[" * 99_999), LanguageModelError, "does not answer as an", 1),
    (Reaction(body=" " * (http.REPLY_BYTES + 1)), LanguageModelError, "more than 16 MiB", 1),
    (Reaction(status=204, body=""), LanguageModelError, "does not answer as an", 1),
    (Reaction(cut=True), LanguageModelError, "broke off", 3),
    (Reaction(status=500, error="out of \x1b[31m\nmemory"), LanguageModelError,
     "refused with status 500: out of [31m memory", 3),
    (Reaction(status=503, error="busy", headers={"Retry-After": "0"}), LanguageModelError, "503",
     3),
    (Reaction(status=429, error="slow down", headers={"Retry-After": "3600"}), LanguageModelError,
     "429: slow down", 1),
    (Reaction(status=501, error="no embeddings here"), ModelSetupError, "501", 1),
    (Reaction(status=400, error="does not support thinking"), ModelSetupError, "thinking", 1),
    (Reaction(status=401, error="no"), ModelSetupError, "asks for a key; set", 1),
    (Reaction(status=403, error="no"), ModelSetupError, "asks for a key; set", 1),
    (Reaction(status=404, body="404 page not found"), ModelSetupError, "is no O", 1),
    (Reaction(status=404, body="<html>the model page was not found</html>"), ModelSetupError,
     "is no O", 1),
    (Reaction(status=404, body='{"error": {"code": 404}}'), ModelSetupError, "is no O", 1),
    (Reaction(status=307, headers={"Location": "https://b/"}), ModelSetupError,
     "leads to https://b/: name that address", 1),
    (Reaction(status=400, error=LONG), ModelContextError, "does not fit small's context", 1),
    (Reaction(status=400, body=LLAMA_CPP), ModelContextError, "does not fit small's context", 1),
    (Reaction(status=400, body=VLLM), ModelContextError, "does not fit small's context", 1),
    (Reaction(status=500, error="input is too large to process"), ModelContextError, "large", 1),
]  # fmt: skip


@pytest.mark.parametrize(
    ("reaction", "kind", "words", "requests"),
    FAILURES,
    ids=[str(place) for place in range(len(FAILURES))],
)
def test_every_failure_is_told_in_words_and_repeated_only_where_it_may_help(
    form, reaction, kind, words, requests
):
    with serving(form, always(reaction)) as server, pytest.raises(LanguageModelError) as caught:
        chat_of(form, server).ask("Why?", SCHEMA)
    assert type(caught.value) is kind
    assert words in str(caught.value)
    more = form == "openai" and words == "no JSON"  # asked again with the schema in the prompt
    assert len(server.chats) == requests + more


@pytest.mark.parametrize("asking", ["ask", "words"])
def test_a_server_that_is_busy_twice_is_asked_a_third_time(form, asking):
    busy = Reaction(status=429, error="slow down", headers={"Retry-After": "0"})
    with serving(
        form, one_by_one(busy, Reaction(GOOD.content, cut=asking == "ask"), GOOD)
    ) as server:
        chat = chat_of(form, server)
        if asking == "ask":
            assert chat.ask("Why?", SCHEMA) == {"text": "Because."}
        else:
            assert "".join(piece.text for piece in chat.words("a", "b")) == GOOD.content
    assert len({json.dumps(each) for each in server.chats}) == 1


@pytest.mark.parametrize(
    ("reaction", "words"),
    [
        (Reaction("Ada ear", reason="length"), "did not finish its answer within 2048 tokens"),
        (Reaction("one two three four five six seven", cut=True), "broke off"),
        (Reaction(body=""), "broke off"),
        (Reaction(body='{"choices": [], "message": {"role": "assistant"}}'), "broke off"),
        (Reaction(body='{"error": "out of memory"}\n'), "out of memory"),
        (Reaction(body='data: {"error": {"message": "no"}}\n{"error": "no"}'), "no"),
        (Reaction(body="x" * (http.REPLY_BYTES + 1)), "more than 16 MiB"),
    ],
)
def test_words_that_break_off_are_an_error(form, reaction, words):
    with (
        serving(form, always(reaction)) as server,
        pytest.raises(LanguageModelError, match=words),
    ):
        list(chat_of(form, server).words("a", "b"))
    assert len(server.chats) == 1


def test_a_password_in_the_address_is_sent_and_in_no_message(form):
    with serving(form, always(Reaction(status=500, error="no"))) as server:
        address = server.host.replace("//", "//ann:p@ss@")
        with pytest.raises(LanguageModelError, match=f"{server.host}.* refused") as caught:
            Chat(f"{form}:small", address).ask("Why?", SCHEMA)
    with pytest.raises(ModelSetupError, match=f"answers at {server.host}") as gone:
        Chat(f"{form}:small", address).ask("Why?", SCHEMA)
    assert server.headers[0]["Authorization"].startswith("Basic ")
    assert "p@ss" not in str(caught.value) + str(gone.value)
    assert "ann" not in str(caught.value) + str(gone.value)


@pytest.mark.parametrize(
    ("model", "options"),
    [(" ", {}), ("openai:", {}), ("ollama: ", {}), ("m", {"timeout_s": 0}), ("m", {"num_ctx": -1}),
     ("m", {"max_tokens": 0}), ("m", {"url": "ftp://here"}), ("m", {"url": "http://a:99999"}),
     ("m", {"url": "http://[::1"}), ("m", {"url": "http://a/v1?api-version=secret"})],
)  # fmt: skip
def test_a_chat_that_cannot_work_is_refused_when_made(model, options):
    with pytest.raises(InputError) as caught:
        Chat(model, **options)
    assert "secret" not in str(caught.value)
