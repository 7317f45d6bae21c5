"""`sat` with embedding models on servers, as a user has them."""

from __future__ import annotations

import json
import re
from contextlib import nullcontext

import pytest

from sat_retriever import SheetIndex
from sat_retriever.cli import index as index_command
from sat_retriever.encoder import embedding
from tests.embedding_models import HashedEmbeddings
from tests.modelserver import Reaction, always, ollama, openai

GOOD = Reaction()
BROKEN = Reaction(status=503, error="server busy, please try again")


@pytest.fixture(autouse=True)
def no_pause(monkeypatch):
    """Repeats at once: what is waited for is not tested by the clock."""
    monkeypatch.setattr(embedding, "PAUSES_S", (0.0, 0.0, 0.0))


@pytest.fixture
def serving(monkeypatch):
    """Starts a server that behaves in some way, at the address that commands ask."""

    def start(behaviour=None, models=("small:latest", "qwen3:8b")):
        server = ollama(behaviour or always(GOOD), models=models)
        running = server.__enter__()
        started.append(server)
        monkeypatch.setenv("OLLAMA_HOST", running.host)
        return running

    started = []
    yield start
    for server in started:
        server.__exit__(None, None, None)


@pytest.fixture
def books(tmp_path):
    folder = tmp_path / "books"
    folder.mkdir()
    (folder / "sales.csv").write_text("Region,Revenue\nNorth,1\n")
    (folder / "staff.csv").write_text("Name,Salary\nAda,1\n")
    return folder


def test_a_folder_is_indexed_by_a_model_of_a_server_and_the_cost_is_said(
    serving, books, sat, tmp_path
):
    server = serving()
    file = tmp_path / "a.sat"
    run = sat("index", books, "-i", file, "--encoder", "ollama:small")
    assert run.code == 0, run.err
    said = run.out.replace("\n", " ")
    assert re.search(
        rf"encoded by ollama:small \({server.host}\): \d+ texts, [\d,]+ characters", said
    )
    assert re.search(r"[\d,]+ tokens in [\d.]+ s, [\d.,]+ texts/s", said)
    assert f"sat adapt --index {file} --stage reranker" in said
    found = sat("search", "salary of the staff", "-i", file, "--json", "-k", 1)
    [hit] = json.loads(found.out)["hits"]
    assert hit["sheet_id"] == "staff.csv#staff"


def test_a_model_of_a_server_of_the_openai_form_encodes_as_well(books, sat, tmp_path, monkeypatch):
    file = tmp_path / "a.sat"
    with openai(always(GOOD)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.v1)
        run = sat("index", books, "-i", file, "--encoder", "openai:small")
        found = sat("search", "salary of the staff", "-i", file, "--json", "-k", 1)
    assert run.code == 0, run.err
    assert f"encoded by openai:small ({server.v1})" in run.out.replace("\n", " ")
    assert json.loads(found.out)["hits"][0]["sheet_id"] == "staff.csv#staff"


class Watched:
    """A display of progress that keeps what it was given."""

    def __init__(self):
        self.shown = []

    def at(self, now):
        self.shown.append(now)

    def say(self, text):
        raise AssertionError(text)


def test_progress_says_how_fast_texts_are_encoded(serving, books, sat, tmp_path, monkeypatch):
    serving()
    watched = Watched()
    monkeypatch.setattr(index_command, "progress", lambda *_, **__: nullcontext(watched))
    options = ("--encoder", "ollama:small", "--batch-size", 1)
    assert sat("index", books, "-i", tmp_path / "a.sat", *options).code == 0
    figures = [
        now.figures
        for now in watched.shown
        if now.what == "reading" and not now.done and now.figures
    ]
    assert re.fullmatch(r"1 text, [\d,.]+ texts/s", figures[0])
    assert re.fullmatch(r"2 texts, [\d,.]+ texts/s", figures[1])
    last = watched.shown[-1]
    assert (last.done, last.total, last.figures) == (2, 2, figures[1])


def test_the_cost_is_in_the_json(serving, books, sat, tmp_path):
    server = serving()
    run = sat("index", books, "-i", tmp_path / "a.sat", "--encoder", "ollama:small", "--json")
    cost = json.loads(run.out)["cost"]
    sent = [text for each in server.embeds[2:] for text in each["input"]]
    assert (cost["texts"], cost["characters"]) == (len(sent), sum(map(len, sent)))
    again = json.loads(sat("index", books, "-i", tmp_path / "a.sat", "--json").out)
    assert again["cost"] is None


def test_texts_are_sent_in_batches_of_the_given_size(serving, books, sat, tmp_path):
    server, file = serving(), tmp_path / "a.sat"
    options = ("--encoder", "ollama:small", "--batch-size", 1)
    assert sat("index", books, "-i", file, *options).code == 0
    (books / "more.csv").write_text("City,Country\nOslo,Norway\n")
    assert sat("index", books, "-i", file, "--batch-size", 1).code == 0
    assert {len(each["input"]) for each in server.embeds} == {1}


def test_a_server_that_fails_twice_does_not_stop_an_index(serving, books, sat, tmp_path):
    after = [GOOD, GOOD, BROKEN, BROKEN, GOOD]
    serving(lambda request, number: after[min(number, 4)])
    run = sat("index", books, "-i", tmp_path / "a.sat", "--encoder", "ollama:small")
    assert run.code == 0, run.err
    assert "2 repeated" in run.out


def test_a_server_that_gives_up_in_between_leaves_what_was_stored(serving, books, sat, tmp_path):
    broken = []
    serving(lambda request, number: BROKEN if broken else GOOD)
    file = tmp_path / "a.sat"
    assert sat("index", books, "-i", file, "--encoder", "ollama:small").code == 0
    (books / "more.csv").write_text("City,Country\nOslo,Norway\n")
    broken.append(True)
    run = sat("index", books, "-i", file)
    assert run.code == 1
    said = " ".join(run.err.split())
    assert "the index holds 2 workbooks; run it again to continue" in said
    assert "server busy" in said
    broken.clear()
    assert "1 added, 0 changed, 2 unchanged" in sat("index", books, "-i", file).out


def test_a_new_index_whose_server_fails_at_once_is_not_left_behind(serving, books, sat, tmp_path):
    serving(lambda request, number: GOOD if number < 2 else BROKEN)
    file = tmp_path / "a.sat"
    assert sat("index", books, "-i", file, "--encoder", "ollama:small").code == 1
    assert not file.exists()


def test_a_model_that_is_not_there_is_named_beside_the_others(serving, books, sat, tmp_path):
    serving()
    run = sat("index", books, "-i", tmp_path / "a.sat", "--encoder", "ollama:bge-m3")
    said = " ".join(run.err.split())
    assert run.code == 1
    assert "has small:latest, qwen3:8b; run: ollama pull bge-m3" in said
    assert not (tmp_path / "a.sat").exists()


def test_a_changed_model_is_refused_when_it_is_searched_and_indexed(serving, books, sat, tmp_path):
    server, file = serving(), tmp_path / "a.sat"
    sat("index", books, "-i", file, "--encoder", "ollama:small")
    server.version = " 2"
    (books / "more.csv").write_text("City,Country\nOslo,Norway\n")
    for command in (("search", "salary", "-i", file), ("index", books, "-i", file)):
        run = sat(*command)
        assert run.code == 1
        assert "written with another 'ollama:small'" in " ".join(run.err.split())


def test_an_index_is_looked_at_without_its_server(books, sat, tmp_path, monkeypatch):
    file = tmp_path / "a.sat"
    with ollama(always(GOOD), models=("small",)) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        sat("index", books, "-i", file, "--encoder", "ollama:small")
    told = json.loads(sat("status", "-i", file, "--json").out)
    assert (told["encoder"], told["width"], told["ranked_by"]) == ("ollama:small", 64, "links")
    assert sat("show", "staff.csv#staff", "-i", file).code == 0
    unchanged = sat("index", books, "-i", file)
    assert "2 unchanged" in unchanged.out, unchanged.err
    searched = sat("search", "salary", "-i", file)
    assert searched.code == 1
    assert "ollama serve" in " ".join(searched.err.split())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--encoder", "ollama:small", "--precision", "int8"), "leave out 'int8'"),
        (("--encoder", "ollama:small", "--device", "cpu"), "leave out 'cpu'"),
        (("--encoder", "general", "--batch-size", 4), "encodes each text alone"),
        (("--encoder", "ollama:"), "the model's name is empty"),
    ],
)
def test_options_of_another_kind_of_encoder_are_wrong_usage(
    serving, books, sat, tmp_path, options, said
):
    serving()
    run = sat("index", books, "-i", tmp_path / "a.sat", *options)
    assert run.code == 2
    assert said in " ".join(run.err.split())


def test_an_index_of_a_programs_object_says_how_it_is_searched(books, sat, tmp_path):
    file = tmp_path / "a.sat"
    with SheetIndex.create(file, HashedEmbeddings()) as made:
        made.sync(books)
    assert "langchain:HashedEmbeddings" in sat("status", "-i", file).out
    run = sat("search", "salary", "-i", file)
    assert run.code == 1
    assert "SheetIndex.open(PATH, encoder=OBJECT)" in " ".join(run.err.split())


def test_the_weights_of_a_servers_model_are_not_adapted(serving, books, sat, tmp_path):
    pytest.importorskip("torch", reason="pip install '.[train]'")
    serving()
    file = tmp_path / "a.sat"
    sat("index", books, "-i", file, "--encoder", "ollama:small")
    run = sat("adapt", "-i", file)
    assert run.code == 1
    assert "--stage reranker" in " ".join(run.err.split())
    both = sat("adapt", "-i", file, "--stage", "reranker", "--backbone", "general")
    assert both.code == 2
    assert "trains no encoder" in " ".join(both.err.split())
