"""Indexes whose encoder is an embedding model of other people."""

from __future__ import annotations

import numpy as np
import pytest

from sat_retriever import (
    Column,
    EmbeddingEncoder,
    EncoderError,
    FingerprintMismatchError,
    IndexFormatError,
    InputError,
    SheetEncoder,
    SheetIndex,
    SheetRecord,
    SheetRetriever,
    index_paths,
)
from sat_retriever.encoder.load import load_encoder
from sat_retriever.rank.links.linkrank import LinkReranker
from tests.embedding_models import HashedEmbedding, HashedEmbeddings
from tests.fakes import HashedEncoder
from tests.modelserver import Reaction, always, hashed, ollama

GOOD = Reaction()


def record(name, *headers):
    return SheetRecord(name, name, columns=tuple(map(Column, headers)))


RECORDS = [
    record("orders", "customer id", "total"),
    record("customers", "customer id", "name"),
    record("planets", "mass", "moons"),
]


@pytest.fixture
def server(monkeypatch):
    with ollama(always(GOOD), models=("small:latest",)) as started:
        monkeypatch.setenv("OLLAMA_HOST", started.host)
        yield started


@pytest.fixture
def file(server, tmp_path):
    """An index of a server's model."""
    path = tmp_path / "a.sat"
    with SheetIndex.create(path, "ollama:small") as made:
        made.add_records(RECORDS)
    return path


def test_an_index_names_its_model_and_is_opened_by_that_name(file):
    with SheetIndex.open(file) as opened:
        [hit] = SheetRetriever(opened).retrieve("mass of the planets", 1)
        assert hit.sheet_id == "planets"
        assert (opened.encoder_name, opened.width) == ("ollama:small", 64)
        token = opened.search.tokens(["planets"])[0]
    text = "name: planets ; columns: mass | moons"
    np.testing.assert_allclose(token, HashedEncoder().encode_sheets([text])[0], atol=1e-6)


def test_without_a_reranker_of_its_own_it_is_ranked_by_links(file):
    with SheetIndex.open(file) as opened:
        assert isinstance(SheetRetriever(opened).reranker, LinkReranker)


def test_the_device_of_its_index_is_that_of_rerankers(file, tmp_path):
    with SheetIndex.open(file, device="cpu") as opened:
        assert opened.candidates("mass of the planets", 1)[0].sheet_id == "planets"
        assert opened.device == "cpu"
    with pytest.raises(InputError, match="is its server's; leave out 'cpu'"):
        SheetIndex.create(tmp_path / "b.sat", "ollama:small", device="cpu")
    with SheetIndex.create(tmp_path / "b.sat", HashedEmbedding(), device="cpu") as made:
        assert made.device == "cpu"


def test_what_needs_no_encoder_asks_no_server(file, server):
    asked = len(server.paths)
    with SheetIndex.open(file) as opened:
        assert opened.status()["encoder"] == "ollama:small"
        assert list(opened.records(["orders"])) == ["orders"]
        token = np.ones(64, dtype=np.float32)
        assert opened.candidates(opened.question("planets", token=token), 1)
        opened.add_records([])
    assert len(server.paths) == asked


def test_a_model_with_other_files_is_refused_and_named(file, server):
    server.version = " 2"
    with (
        SheetIndex.open(file) as opened,
        pytest.raises(FingerprintMismatchError, match=r"another 'ollama:small'.*sat reencode"),
    ):
        opened.question("planets")


def test_a_model_of_the_same_files_with_other_vectors_is_refused(file, server, monkeypatch):
    with ollama(always(GOOD), models=("small:latest",), vectors=turned) as other:
        monkeypatch.setenv("OLLAMA_HOST", other.host)
        with (
            SheetIndex.open(file) as opened,
            pytest.raises(FingerprintMismatchError, match=r"gives other vectors.*cosine 0\."),
        ):
            opened.question("planets")


def turned(texts):
    """Vectors of the same width by another model."""
    return [vector[1:] + vector[:1] for vector in hashed(texts)]


def test_the_noise_of_another_machine_is_let_through(file, monkeypatch):
    def noisy(texts):
        random = np.random.default_rng(7)
        return [list(np.array(v) + random.normal(scale=1e-3, size=64)) for v in hashed(texts)]

    with ollama(always(GOOD), models=("small:latest",), vectors=noisy) as other:
        monkeypatch.setenv("OLLAMA_HOST", other.host)
        with SheetIndex.open(file) as opened:
            assert opened.candidates("mass of planets", 1)[0].sheet_id == "planets"


def test_a_damaged_probe_is_told_as_that(file):
    with SheetIndex.open(file) as opened:
        opened._store.note({"probe": "not base64!"})
    with (
        SheetIndex.open(file) as opened,
        pytest.raises(IndexFormatError, match=r"probe.*is damaged"),
    ):
        opened.question("planets")


# ---- objects of frameworks


@pytest.mark.parametrize("kind", [HashedEmbedding, HashedEmbeddings])
def test_an_index_of_an_object_is_opened_with_an_object_like_it(kind, tmp_path):
    path = tmp_path / "a.sat"
    with SheetIndex.create(path, kind()) as made:
        made.add_records(RECORDS)
        before = [hit.score for hit in SheetRetriever(made).retrieve("name of customers", 3)]
    with SheetIndex.open(path, kind()) as opened:
        hits = SheetRetriever(opened).retrieve("name of customers", 3)
        assert [hit.score for hit in hits] == before
        assert hits[0].sheet_id == "customers"
        opened.add_records([record("moons", "planet", "radius")])
        assert len(opened) == 4


def test_without_its_object_it_is_read_and_a_question_says_how_to_open_it(tmp_path):
    path = tmp_path / "a.sat"
    with SheetIndex.create(path, HashedEmbeddings(model="m")) as made:
        made.add_records(RECORDS)
    with SheetIndex.open(path) as opened:
        assert opened.encoder_name == "langchain:HashedEmbeddings:m"
        assert len(opened.records(opened.sheet_ids())) == 3
        assert opened.remove(["planets"]) == 1
        with pytest.raises(EncoderError, match="open the index with it"):
            opened.question("planets")


def test_another_object_is_refused(tmp_path):
    path = tmp_path / "a.sat"
    SheetIndex.create(path, HashedEmbeddings(model="m")).close()
    with pytest.raises(FingerprintMismatchError, match="HashedEmbeddings:m"):
        SheetIndex.open(path, HashedEmbeddings(model="n"))


def test_an_object_of_the_same_name_with_other_vectors_is_refused(tmp_path):
    class Turned(HashedEmbeddings):
        def embed_query(self, text):
            return super().embed_query(text[::-1])

    Turned.__name__ = "HashedEmbeddings"
    path = tmp_path / "a.sat"
    SheetIndex.create(path, HashedEmbeddings()).close()
    with pytest.raises(FingerprintMismatchError, match="gives other vectors"):
        SheetIndex.open(path, Turned())


# ---- what is sent, and what it took


def test_only_names_are_sent_where_only_names_are_kept(tmp_path):
    folder = tmp_path / "books"
    folder.mkdir()
    (folder / "staff.csv").write_text("Name,Town\nAda Lovelace,London\nAlan,Wilmslow\n")
    sent = {}
    for kept in ("names", "all"):
        model = HashedEmbeddings()
        with SheetIndex.create(tmp_path / f"{kept}.sat", model, contents=kept) as made:
            made.sync(folder)
        sent[kept] = " ".join(model.asked)
    assert "Lovelace" in sent["all"]
    assert "Town" in sent["names"]
    assert not {"Lovelace", "Wilmslow", "London"} & set(sent["names"].split())


def test_a_sync_tells_and_reports_its_own_work(tmp_path):
    folder = tmp_path / "books"
    folder.mkdir()
    for name in ("one", "two"):
        (folder / f"{name}.csv").write_text(f"{name},count\nx,1\n")
    told = []
    with index_paths([], tmp_path / "a.sat", encoder=HashedEmbeddings()) as made:
        first = made.sync(folder, spent=told.append)
        again = made.sync(folder, spent=told.append)
    assert first.cost.texts == 2
    assert first.cost == told[-1]
    assert again.cost is None


def test_an_encoder_that_does_not_count_reports_no_work(tmp_path):
    (tmp_path / "one.csv").write_text("a,b\nx,1\n")
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as made:
        assert made.sync(tmp_path / "one.csv").cost is None


def test_work_that_failed_goes_on_where_it_stopped(tmp_path):
    folder = tmp_path / "books"
    folder.mkdir()
    for number in range(150):
        (folder / f"{number:03}.csv").write_text(f"header {number},count\nx,1\n")
    model = HashedEmbeddings(fails=[None] * 5 + [ValueError("out of money")])
    with SheetIndex.create(tmp_path / "a.sat", model) as made:
        with pytest.raises(EncoderError, match="out of money"):
            made.sync(folder)
        kept = len(made)
        assert kept > 0
        report = made.sync(folder)
        assert len(made) == 150
    assert (report.added, report.unchanged) == (150 - kept, kept)
    assert len(model.asked) < 2 + 150 + 4 * 32


def test_another_model_takes_over_by_encoding_anew(file, server):
    with SheetIndex.open(file) as opened:
        opened.reencode(HashedEmbeddings())
        assert opened.encoder_name == "langchain:HashedEmbeddings"
        assert opened.candidates("mass of planets", 1)[0].sheet_id == "planets"
    with SheetIndex.open(file, HashedEmbeddings()) as opened:
        opened.reencode(HashedEncoder())
    with SheetIndex.open(file, HashedEncoder()) as opened:
        assert opened._state.settings.probe is None


def test_the_packaged_encoder_behind_a_server_ranks_as_in_this_process(tmp_path, monkeypatch):
    general = SheetEncoder.load()
    questions = ("which planet has most moons?", "who ordered what?")

    def ranking(encoder):
        path = tmp_path / f"{encoder.name.partition(':')[0]}.sat"
        with SheetIndex.create(path, encoder, dense_weight=0.5) as made:
            made.add_records(RECORDS)
            hits = [SheetRetriever(made, "links").retrieve(each, 3) for each in questions]
        return [(hit.sheet_id, pytest.approx(hit.score, abs=1e-5)) for each in hits for hit in each]

    def vectors(texts):
        return general.encode_sheets(texts).tolist()

    with ollama(always(GOOD), models=("minilm",), vectors=vectors) as served:
        monkeypatch.setenv("OLLAMA_HOST", served.host)
        found = ranking(load_encoder("ollama:minilm"))
    assert ranking(general) == found


def test_a_sync_without_a_listener_leaves_the_encoders_own(tmp_path):
    (tmp_path / "one.csv").write_text("a,b\nx,1\n")
    told = []
    encoder = EmbeddingEncoder.of(HashedEmbeddings())
    encoder.tell(told.append)
    with SheetIndex.create(tmp_path / "a.sat", encoder) as made:
        made.sync(tmp_path / "one.csv")
    assert told
