"""What one place says of an Ollama server: facts, refusals, and no error of anybody else."""

import inspect
import re
import sys
from types import SimpleNamespace

import httpx
import ollama as client
import pytest

from sat_retriever import InputError, MissingExtraError
from sat_retriever._extras import install_command
from sat_retriever.errors import LanguageModelError, ModelContextError, ModelSetupError
from sat_retriever.llm.ollama import ModelFacts, OllamaServer, check_positive, shown_host
from tests.evaluation.ollama_server import Reaction, always, hashed, ollama, says

OPTIONS = {"num_ctx": 4096, "temperature": 0.0, "seed": 1}


def ask(host, prompt="Why?", **options):
    return OllamaServer(host, **options).reply("small", prompt, {"type": "array"}, OPTIONS)


def subclasses(kind):
    for each in kind.__subclasses__():
        yield each
        yield from subclasses(each)


def test_a_reply_tells_its_words_its_end_and_the_tokens_of_the_prompt():
    with ollama(always(says("a", tokens=17, reason="length")), models=("small",)) as server:
        reply = ask(server.host)
    assert (reply.text, reply.ended, reply.prompt_tokens) == ('["a"]', False, 17)


def test_prompts_arrive_unchanged_and_are_never_to_be_cut():
    prompt = 'Umsätze "2024"\n表 \\ 😀'
    with ollama(always(says("a")), models=("small",)) as server:
        ask(server.host, prompt)
    assert server.prompts == [prompt]
    assert server.chats[0]["truncate"] is False
    assert server.chats[0]["shift"] is False


def test_the_key_of_a_guarded_server_is_still_sent(monkeypatch):
    if "OLLAMA_API_KEY" not in inspect.getsource(sys.modules[client.Client.__module__]):
        pytest.skip("this release of the client knows no key")
    monkeypatch.setenv("OLLAMA_API_KEY", "not-a-real-key")
    with ollama(always(says("a")), models=("small",)) as server:
        ask(server.host)
    assert server.headers[0]["Authorization"] == "Bearer not-a-real-key"


@pytest.mark.parametrize("context_length", [40960, None])
def test_facts_are_the_servers_own(context_length):
    with ollama(always(says()), context_length=context_length, models=("small:latest",)) as server:
        facts = OllamaServer(server.host).facts("small")
    assert facts == ModelFacts(context_length, "Q4_K_M", "sha of small:latest")


def test_facts_of_a_model_that_is_not_there_say_which_are_and_how_to_fetch_it():
    with (
        ollama(always(says()), models=("bge-m3:latest", "qwen3:8b")) as server,
        pytest.raises(ModelSetupError, match="which has bge-m3:latest, qwen3:8b; run: ollama pull"),
    ):
        OllamaServer(server.host).facts("small")


@pytest.mark.parametrize("tokens", [7, None])
def test_vectors_come_as_they_are_with_the_tokens_of_the_texts(tokens):
    with ollama(always(Reaction(tokens=tokens)), models=("small",)) as server:
        found = OllamaServer(server.host).embed("small", ["ä b", ""])
    assert [list(vector) for vector in found.vectors] == hashed(["ä b", ""])
    assert found.tokens == tokens
    [asked] = server.embeds
    assert (asked["input"], asked["truncate"]) == (["ä b", ""], True)


def test_a_text_beyond_the_context_is_told_apart_from_other_refusals():
    reaction = Reaction(status=400, error="the input length exceeds the context length")
    with ollama(always(reaction), models=("small",)) as server, pytest.raises(ModelContextError):
        OllamaServer(server.host).embed("small", ["a"])


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, ModelSetupError),
        (401, ModelSetupError),
        (403, ModelSetupError),
        (404, ModelSetupError),
        (408, LanguageModelError),
        (429, LanguageModelError),
        (500, LanguageModelError),
        (503, LanguageModelError),
    ],
)
def test_only_what_may_pass_is_worth_another_try(status, kind):
    reaction = Reaction(status=status, error="no")
    with (
        ollama(always(reaction), models=("small",)) as server,
        pytest.raises(LanguageModelError) as caught,
    ):
        ask(server.host)
    assert type(caught.value) is kind


NOT_OLLAMA = [
    Reaction(status=404, body="404 page not found"),
    Reaction(status=404, body="<html>the model page was not found</html>"),
    Reaction(status=404, body='{"error": {"code": 404}}'),
]


@pytest.mark.parametrize("reaction", NOT_OLLAMA, ids=[each.body for each in NOT_OLLAMA])
def test_the_404_of_any_web_server_is_not_taken_for_a_missing_model(reaction):
    with (
        ollama(always(reaction), models=("small",)) as server,
        pytest.raises(ModelSetupError, match="is no Ollama server") as caught,
    ):
        ask(server.host)
    assert "ollama pull" not in str(caught.value)


SAID = [
    "model 'small' not found",
    'model "small" not found, try pulling it first',
    "model not found",
]


@pytest.mark.parametrize("said", SAID)
def test_a_missing_model_is_told_by_what_the_server_says(said):
    reaction = Reaction(status=404, error=said)
    with (
        ollama(always(reaction), models=("small",)) as server,
        pytest.raises(ModelSetupError, match="ollama pull small"),
    ):
        ask(server.host)


@pytest.mark.parametrize("way", ["argument", "environment"])
def test_a_password_in_the_address_is_in_no_message(monkeypatch, way):
    with ollama(always(Reaction(status=500, error="no")), models=("small",)) as server:
        address = server.host.replace("//", "//ann:p@ss@")
        monkeypatch.setenv("OLLAMA_HOST", address if way == "environment" else "")
        with pytest.raises(LanguageModelError, match=f"{server.host} refused") as caught:
            ask(address if way == "argument" else None)
    with pytest.raises(ModelSetupError, match=f"answers at {server.host}") as gone:
        ask(address)
    assert "p@ss" not in str(caught.value) + str(gone.value)
    assert "ann" not in str(caught.value) + str(gone.value)


@pytest.mark.parametrize("host", ["http://127.0.0.1:11434", "here", "[::1]:11434"])
def test_an_address_without_a_password_is_shown_as_it_is(host):
    assert shown_host(host) == host


def test_a_number_that_is_not_above_0_is_named():
    check_positive(num_ctx=1)
    with pytest.raises(InputError, match="num_ctx must be above 0, not 0"):
        check_positive(num_predict=1, num_ctx=0)


def test_a_connection_that_ends_within_the_answer_is_told_as_that():
    with (
        ollama(always(says("a", cut=True)), models=("small",)) as server,
        pytest.raises(LanguageModelError, match="broke off") as caught,
    ):
        ask(server.host)
    assert type(caught.value) is LanguageModelError


def test_no_error_of_the_client_or_of_http_leaks():
    own = [kind for kind in subclasses(httpx.HTTPError) if kind.__module__.startswith("httpx")]
    kinds = [kind for kind in own if kind is not httpx.HTTPStatusError]
    errors = [kind("x") for kind in kinds]
    errors += [client.ResponseError("x", 500), client.RequestError("x"), ConnectionError("x")]
    assert len(errors) > 15

    class Failing:
        def __init__(self, error):
            self.error = error

        def chat(self, **_):
            raise self.error

        def embed(self, **_):
            raise self.error

        def list(self):
            raise self.error

    server = OllamaServer("http://127.0.0.1:1")
    for error in errors:
        server._client = Failing(error)
        with pytest.raises(LanguageModelError):
            server.reply("small", "Why?", {}, OPTIONS)
        with pytest.raises(LanguageModelError):
            server.facts("small")
        with pytest.raises(LanguageModelError):
            server.embed("small", ["a"])


def test_a_client_that_is_too_old_is_told_apart_from_a_server_that_answers_wrongly(monkeypatch):
    class Client:  # as released before 0.5
        def __init__(self, **options):
            pass

        def chat(self, model="", messages=None, *, stream=False, format=None, options=None):
            raise AssertionError("nothing is to be asked")

    monkeypatch.setitem(sys.modules, "ollama", SimpleNamespace(Client=Client))
    with pytest.raises(
        MissingExtraError, match=rf"older than 0\.5.*{re.escape(install_command('ollama'))}"
    ):
        OllamaServer("http://127.0.0.1:1")
