"""Embedding models of LlamaIndex and LangChain as encoders, and what they may raise."""

from __future__ import annotations

import numpy as np
import pytest

from sat_retriever import EmbeddingEncoder, EncoderError, InputError
from sat_retriever.errors import EncoderUnavailableError
from tests.embedding_models import HashedEmbedding, HashedEmbeddings
from tests.fakes import HashedEncoder

TEXTS = ["red apple", "red car", "blue sky"]
OWN = HashedEncoder()


@pytest.mark.parametrize("model", [HashedEmbedding(), HashedEmbeddings()], ids=["llama", "chain"])
def test_tokens_are_the_objects_vectors_at_unit_length(model):
    encoder = EmbeddingEncoder.of(model, batch_size=2)
    np.testing.assert_allclose(encoder.encode_sheets(TEXTS), OWN.encode_sheets(TEXTS), atol=1e-6)
    np.testing.assert_allclose(encoder.encode_queries(TEXTS), OWN.encode_queries(TEXTS), atol=1e-6)
    assert (encoder.width, encoder.cost.texts, encoder.cost.tokens) == (64, 6, None)


def test_an_object_is_named_by_framework_class_and_model():
    assert EmbeddingEncoder.of(HashedEmbedding()).name == "llama-index:HashedEmbedding:hashed"
    assert EmbeddingEncoder.of(HashedEmbeddings()).name == "langchain:HashedEmbeddings"
    assert EmbeddingEncoder.of(HashedEmbeddings(model="m")).name == "langchain:HashedEmbeddings:m"


def test_the_frameworks_own_models_are_taken():
    from langchain_core.embeddings import DeterministicFakeEmbedding
    from llama_index.core import MockEmbedding

    chain = EmbeddingEncoder.of(DeterministicFakeEmbedding(size=12))
    assert chain.encode_sheets(TEXTS).shape == (3, 12)
    np.testing.assert_array_equal(chain.encode_sheets(TEXTS), chain.encode_queries(TEXTS))
    llama = EmbeddingEncoder.of(MockEmbedding(embed_dim=9))
    assert llama.encode_queries(TEXTS).shape == (3, 9)
    assert llama.name == "llama-index:MockEmbedding"


def test_equal_objects_have_the_same_fingerprint_and_another_model_has_not():
    first, again = (EmbeddingEncoder.of(HashedEmbeddings(model="m")) for _ in range(2))
    assert first.fingerprint == again.fingerprint
    assert first.fingerprint != EmbeddingEncoder.of(HashedEmbeddings(model="n")).fingerprint
    assert first.fingerprint != EmbeddingEncoder.of(HashedEmbeddings(32, model="m")).fingerprint


def test_anything_else_is_refused():
    with pytest.raises(InputError, match="a list is no embedding model"):
        EmbeddingEncoder.of([])


class ApiStatusError(Exception):
    """As the clients of services raise: the status of HTTP in a field."""

    def __init__(self, status_code):
        super().__init__(f"status {status_code}")
        self.status_code = status_code


class ReadTimeout(Exception):  # noqa: N818 - its name there
    """As httpx's, which is no TimeoutError of Python."""


@pytest.mark.parametrize(
    "error",
    [ApiStatusError(500), ApiStatusError(429), ReadTimeout(), TimeoutError(), ConnectionError()],
    ids=repr,
)
def test_what_may_pass_is_tried_again(error):
    model = HashedEmbeddings(fails=[None, error, error])
    encoder = EmbeddingEncoder.of(model, pauses_s=(0, 0))
    assert encoder.encode_sheets(TEXTS).shape == (3, 64)
    assert encoder.cost.retries == 2


@pytest.mark.parametrize("error", [ApiStatusError(401), ValueError("no key"), KeyError("x")])
def test_what_lasts_is_an_error_at_once(error):
    model = HashedEmbeddings(fails=[None, error])
    encoder = EmbeddingEncoder.of(model, pauses_s=(0, 0))
    with pytest.raises(EncoderError, match="langchain:HashedEmbeddings failed") as caught:
        encoder.encode_sheets(TEXTS)
    assert not isinstance(caught.value, EncoderUnavailableError)
    assert caught.value.__cause__ is error


def test_what_does_not_pass_is_given_up():
    model = HashedEmbeddings(fails=[None, *[TimeoutError("slow")] * 3])
    encoder = EmbeddingEncoder.of(model, pauses_s=(0, 0))
    with pytest.raises(EncoderUnavailableError, match=r"slow \(tried 3 times\)"):
        encoder.encode_sheets(TEXTS)


def test_an_object_is_given_the_beginning_of_a_long_text():
    model = HashedEmbeddings()
    encoder = EmbeddingEncoder.of(model)
    encoder.encode_sheets(["a" * 5_000])
    encoder.encode_queries(["b" * 5_000])
    assert model.asked[-2:] == ["a" * 2_000, "b" * 2_000]
