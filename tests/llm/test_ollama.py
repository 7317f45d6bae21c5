"""What is an Ollama server's own: addresses, facts, vectors, and how a missing model is told."""

import re
import sys
from dataclasses import replace
from types import SimpleNamespace

import httpx
import pytest

from sat_retriever._extras import install_command
from sat_retriever.errors import LanguageModelError, MissingExtraError, ModelSetupError
from sat_retriever.llm.http import KEY_OVER_HTTP, address_of
from sat_retriever.llm.ollama import OllamaModel
from sat_retriever.llm.served import ModelFacts, Options
from tests.modelserver import Reaction, always, hashed, ollama, says


def ask(url, model="small"):
    return OllamaModel(model, url, pauses_s=()).reply("Why?", {"type": "array"}, Options())


@pytest.mark.parametrize(
    ("given", "url"),
    [
        (None, "http://127.0.0.1:11434"),
        ("here", "http://here:11434"),
        (":8", "http://127.0.0.1:8"),
        ("[::1]", "http://[::1]:11434"),
        ("ann:p@ss@here", "http://here:11434"),
        ("https://here/ollama/", "https://here/ollama"),
    ],
)
def test_an_address_may_leave_out_what_is_usual(given, url):
    assert OllamaModel("small", given).host == url


def test_the_address_may_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", "0.0.0.0:9")
    assert OllamaModel("small").host == "http://0.0.0.0:9"


@pytest.mark.parametrize(
    ("address", "local"),
    [("localhost", True), ("http://a.localhost", True), ("127.9.9.9", True), ("[::1]", True),
     ("0.0.0.0", True), ("10.0.0.7", False), ("localhost.example.org", False)],
)  # fmt: skip
def test_only_this_machine_is_local(address, local):
    assert address_of(address).local is local


@pytest.mark.parametrize("context_length", [40960, None])
def test_facts_are_the_servers_own(context_length):
    with ollama(always(says()), context_length=context_length, models=("small:latest",)) as server:
        facts = OllamaModel("small", server.host).facts()
    assert facts == ModelFacts(context_length, "Q4_K_M", "sha of small:latest")


def test_facts_of_a_model_that_is_not_there_say_which_are_and_how_to_fetch_it():
    with (
        ollama(always(says()), models=("bge-m3:latest", "qwen3:8b")) as server,
        pytest.raises(ModelSetupError, match="which has bge-m3:latest, qwen3:8b; run: ollama pull"),
    ):
        OllamaModel("small", server.host).facts()


@pytest.mark.parametrize("tokens", [7, None])
def test_vectors_come_as_they_are_with_the_tokens_of_the_texts(tokens):
    with ollama(always(Reaction(tokens=tokens)), models=("small",)) as server:
        found = OllamaModel("small", server.host).embed(["ä b", ""])
    assert [list(vector) for vector in found.vectors] == hashed(["ä b", ""])
    assert found.tokens == tokens
    [asked] = server.embeds
    assert (asked["input"], asked["truncate"]) == (["ä b", ""], True)


@pytest.mark.parametrize(
    "said",
    [
        "model 'small' not found",
        'model "small" not found, try pulling it first',
        "model not found",
    ],
)
def test_a_missing_model_is_told_by_what_the_server_says(said):
    reaction = Reaction(status=404, error=said)
    with (
        ollama(always(reaction), models=("small",)) as server,
        pytest.raises(ModelSetupError, match="ollama pull small"),
    ):
        ask(server.host)


def test_a_key_is_sent_to_this_machine_and_over_plain_http_only_if_asked_for(monkeypatch):
    monkeypatch.setenv("OLLAMA_API_KEY", "not-a-real-key")
    with ollama(always(says("a")), models=("small",)) as server:
        ask(server.host)
        monkeypatch.setattr(
            "sat_retriever.llm.ollama.address_of",
            lambda text, port: replace(address_of(text, port), local=False),
        )
        ask(server.host)
        monkeypatch.setenv(KEY_OVER_HTTP, "1")
        ask(server.host)
    sent = [headers["Authorization"] for headers in server.headers]
    assert sent == ["Bearer not-a-real-key", None, "Bearer not-a-real-key"]


@pytest.mark.parametrize("encoding", ["gzip", "br"])
def test_an_answer_is_never_unpacked_so_its_limit_is_one_of_memory(encoding):
    with ollama(always(says("a", headers={"Content-Encoding": encoding})), models=("small",)) as at:
        assert ask(at.host).text == '["a"]'
    assert at.headers[0]["Accept-Encoding"] == "identity"


def test_a_client_that_is_too_old_is_told_apart_from_a_server_that_answers_wrongly(monkeypatch):
    class Client:  # as released before 0.5
        def chat(self, model="", messages=None, *, stream=False, format=None, options=None):
            raise AssertionError("nothing is to be asked")

    monkeypatch.setitem(sys.modules, "ollama", SimpleNamespace(Client=Client))
    with pytest.raises(
        MissingExtraError, match=rf"older than 0\.5.*{re.escape(install_command('ollama'))}"
    ):
        OllamaModel("small")


def test_a_server_that_is_not_safe_is_told_apart_from_none(monkeypatch):
    def failing(*_, **__):
        raise httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] self-signed certificate")

    monkeypatch.setattr(httpx.Client, "send", failing)
    with pytest.raises(ModelSetupError, match=r"cannot be reached safely.*self-signed"):
        ask("https://10.0.0.7")


def test_no_error_of_http_leaks(monkeypatch):
    def subclasses(kind):
        for each in kind.__subclasses__():
            yield each
            yield from subclasses(each)

    own = [kind for kind in subclasses(httpx.HTTPError) if kind.__module__.startswith("httpx")]
    errors = [kind("x") for kind in own if kind is not httpx.HTTPStatusError]
    assert len(errors) > 15
    model = OllamaModel("small", "http://127.0.0.1:1", pauses_s=())
    for error in [*errors, httpx.InvalidURL("x"), UnicodeError("x")]:

        def failing(*_, error=error, **__):
            raise error

        monkeypatch.setattr(httpx.Client, "send", failing)
        for call in (
            lambda: model.reply("Why?", {}, Options()),
            lambda: list(model.stream("a", "b", Options())),
            lambda: model.embed(["a"]),
            model.facts,
        ):
            with pytest.raises(LanguageModelError):
                call()
