"""Names, folders and objects to encoders."""

from __future__ import annotations

import pytest

from sat_retriever import EmbeddingEncoder, EncoderError, InputError, SheetEncoder
from sat_retriever.encoder.load import as_encoder, load_encoder
from tests.embedding_models import HashedEmbedding, HashedEmbeddings
from tests.fakes import HashedEncoder
from tests.modelserver import Reaction, always, ollama
from tests.saved_encoder import save_bag_of_words


def test_a_name_with_its_server_loads_a_model_of_it(monkeypatch):
    with ollama(always(Reaction()), models=("small:latest",)) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        loaded = load_encoder("ollama:small", batch_size=2)
        loaded.encode_sheets(["a", "b", "c"])
        named = as_encoder("ollama:small")
    assert isinstance(loaded, EmbeddingEncoder)
    assert (loaded.name, named.fingerprint) == ("ollama:small", loaded.fingerprint)
    assert [len(each["input"]) for each in server.embeds[2:4]] == [2, 1]


def test_other_names_and_folders_load_a_sheet_encoder(tmp_path):
    folder = save_bag_of_words(tmp_path / "bag", ["revenue"])
    assert isinstance(load_encoder(folder), SheetEncoder)
    assert as_encoder(str(folder)).name == str(folder)


def test_a_device_is_that_of_encoders_loaded_here(tmp_path):
    folder = save_bag_of_words(tmp_path / "bag", ["revenue"])
    with pytest.raises(InputError, match="unknown device 'tpu'"):
        load_encoder(folder, device="tpu")
    with pytest.raises(InputError, match="unknown device 'tpu'"):
        as_encoder(str(folder), device="tpu")
    assert isinstance(as_encoder(HashedEmbedding(), device="cpu"), EmbeddingEncoder)


def test_objects_of_frameworks_are_wrapped_and_encoders_stay_as_they_are():
    own = HashedEncoder()
    assert as_encoder(own) is own
    assert isinstance(as_encoder(HashedEmbedding()), EmbeddingEncoder)
    assert isinstance(as_encoder(HashedEmbeddings()), EmbeddingEncoder)
    with pytest.raises(InputError, match="a dict is no embedding model"):
        as_encoder({})


@pytest.mark.parametrize("name", ["langchain:OpenAIEmbeddings:m", "llama-index:MockEmbedding"])
def test_the_name_of_an_object_says_that_it_has_to_be_given(name):
    with pytest.raises(EncoderError, match=r"SheetIndex\.open\(PATH, encoder=OBJECT\)"):
        load_encoder(name)


def test_options_of_another_kind_of_encoder_are_refused(tmp_path):
    with pytest.raises(InputError, match="leave out 'int8'"):
        load_encoder("ollama:small", precision="int8")
    with pytest.raises(InputError, match="is its server's; leave out 'cuda'"):
        load_encoder("ollama:small", device="cuda")
    with pytest.raises(InputError, match="encodes each text alone"):
        load_encoder("general", batch_size=8)
