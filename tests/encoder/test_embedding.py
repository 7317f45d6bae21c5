"""Encoders of other people behind a real server: what is sent, repeated, refused and counted."""

from __future__ import annotations

import numpy as np
import pytest

from sat_retriever import EmbeddingEncoder, EncoderError, InputError
from sat_retriever.encoder.embedder import QUERY, SHEET
from sat_retriever.errors import EncoderUnavailableError
from tests.fakes import HashedEncoder
from tests.modelserver import Reaction, always, count, hashed, ollama

GOOD = Reaction()
BROKEN = Reaction(status=500, error="llama runner process has terminated")
TEXTS = [f"name: Sales {year} ; columns: Region | Revenue" for year in range(2000, 2010)]


def opened(server, model="small", **options):
    options = {"pauses_s": (0, 0, 0), **options}
    return EmbeddingEncoder.served(f"ollama:{model}", url=server.host, **options)


def after_probe(*reactions):
    """Good answers to both probe texts, then these; the last one from then on."""
    later = reactions or (GOOD,)
    return lambda request, number: GOOD if number < 2 else later[min(number - 2, len(later) - 1)]


def test_tokens_are_the_servers_vectors_at_unit_length_in_input_order():
    with ollama(always(GOOD), models=("small",)) as server:
        encoder = opened(server, batch_size=4)
        sheets, queries = encoder.encode_sheets(TEXTS), encoder.encode_queries(TEXTS[:3])
        nothing = encoder.encode_sheets([])
    own = HashedEncoder()
    np.testing.assert_allclose(sheets, own.encode_sheets(TEXTS), atol=1e-6)
    np.testing.assert_allclose(queries, own.encode_queries(TEXTS[:3]), atol=1e-6)
    assert (sheets.dtype, nothing.shape, encoder.width) == (np.float32, (0, 64), 64)


def test_texts_are_sent_in_batches():
    with ollama(always(GOOD), models=("small",)) as server:
        opened(server, batch_size=4).encode_sheets(TEXTS)
    assert [each["input"] for each in server.embeds[:2]] == [[SHEET], [QUERY]]
    assert [len(each["input"]) for each in server.embeds[2:]] == [4, 4, 2]
    assert [text for each in server.embeds[2:] for text in each["input"]] == TEXTS


def test_prompts_of_a_known_model_stand_before_its_texts():
    with ollama(always(GOOD), models=("nomic-embed-text:latest",)) as server:
        encoder = opened(server, "nomic-embed-text")
        encoder.encode_sheets(["Sales"])
        encoder.encode_queries(["revenue?"])
    sent = [each["input"] for each in server.embeds[2:]]
    assert sent == [["search_document: Sales"], ["search_query: revenue?"]]


@pytest.mark.parametrize(
    ("text", "sent"),
    [("a" * 5_000, "a" * 2_000), ("", "-"), (" \n", "-"), ("Stra\udc00e 表", "Stra?e 表")],
)
def test_every_text_can_be_sent(text, sent):
    with ollama(always(GOOD), models=("small",)) as server:
        opened(server).encode_queries([text])
    assert server.embeds[-1]["input"] == [sent]


def test_a_model_of_a_short_context_is_sent_less():
    with ollama(always(GOOD), models=("small",), context_length=256) as server:
        opened(server).encode_sheets(["a" * 5_000])
    assert server.embeds[-1]["input"] == ["a" * 768]


def test_a_text_that_the_server_refuses_for_its_length_is_halved_until_it_fits():
    def strict(request, number):  # as Ollama since 0.13.5, whatever `truncate` says
        longest = max(map(len, request["input"]))
        said = "the input length exceeds the context length"
        return Reaction(status=400, error=said) if longest > 600 else GOOD

    texts = ["short", "b" * 1_900, "c" * 700]
    with ollama(strict, models=("small",)) as server:
        encoder = opened(server)
        together = encoder.encode_sheets(texts)
        alone = np.concatenate([encoder.encode_sheets([text]) for text in texts])
    np.testing.assert_array_equal(together, alone)
    answered = [each["input"][0] for each in server.embeds if max(map(len, each["input"])) <= 600]
    assert {"short", "b" * 475, "c" * 350} <= set(answered)


def test_a_server_that_refuses_every_length_is_an_error():
    said = "the input length exceeds the context length"
    refusal = Reaction(status=400, error=said)
    with (
        ollama(after_probe(refusal), models=("small",)) as server,
        pytest.raises(EncoderError, match=said),
    ):
        opened(server).encode_sheets(TEXTS[:2])


def test_a_server_that_fails_twice_is_asked_a_third_time():
    with ollama(after_probe(BROKEN, BROKEN, GOOD), models=("small",)) as server:
        encoder = opened(server, batch_size=5)
        tokens = encoder.encode_sheets(TEXTS)
    np.testing.assert_allclose(tokens, HashedEncoder().encode_sheets(TEXTS), atol=1e-6)
    assert [each["input"] for each in server.embeds[2:]] == [TEXTS[:5]] * 3 + [TEXTS[5:]]
    assert encoder.cost.retries == 2


def test_a_server_that_keeps_failing_is_given_up():
    with (
        ollama(after_probe(BROKEN), models=("small",)) as server,
        pytest.raises(EncoderUnavailableError, match=r"status 500.*\(tried 4 times\)"),
    ):
        opened(server).encode_sheets(TEXTS)
    assert len(server.embeds) == 2 + 4


def test_a_server_that_is_too_slow_is_asked_again():
    slow = Reaction(wait_s=30)
    with ollama(after_probe(slow, GOOD), models=("small",)) as server:
        encoder = opened(server, timeout_s=0.3)
        assert encoder.encode_sheets(TEXTS).shape == (10, 64)
    assert encoder.cost.retries == 1


def test_a_refusal_that_lasts_is_not_repeated():
    refusal = Reaction(status=400, error="this model does not support embeddings")
    with (
        ollama(always(refusal), models=("small",)) as server,
        pytest.raises(EncoderError, match="does not support embeddings"),
    ):
        opened(server)
    assert len(server.embeds) == 1


def test_a_missing_model_is_named_beside_those_that_are_there():
    with (
        ollama(always(GOOD), models=("bge-m3:latest", "qwen3:8b")) as server,
        pytest.raises(EncoderError, match="has bge-m3:latest, qwen3:8b; run: ollama pull small"),
    ):
        opened(server)


def test_no_server_is_an_error_that_says_how_to_start_one():
    with ollama(always(GOOD)) as server:
        pass
    with pytest.raises(EncoderError, match="ollama serve"):
        opened(server)


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        (lambda texts: hashed(texts)[:-1], r"shape \(9, 64\) for 10 texts"),
        (lambda texts: [vector[:32] for vector in hashed(texts)], "width 32, but 64 before"),
        (lambda texts: [[0.0] * 64 for _ in texts], "a vector of zeros"),
        (lambda texts: [[float("nan")] * 64 for _ in texts], "not finite"),
    ],
)
def test_vectors_that_cannot_be_tokens_are_refused(vectors, said):
    def later(texts):
        return vectors(texts) if len(texts) == 10 else hashed(texts)

    with (
        ollama(always(GOOD), models=("small",), vectors=later) as server,
        pytest.raises(EncoderError, match=said),
    ):
        opened(server).encode_sheets(TEXTS)


def test_the_work_is_counted_and_told_after_each_request():
    told = []
    with ollama(always(GOOD), models=("small",)) as server:
        encoder = opened(server, batch_size=4)
        encoder.tell(told.append)
        encoder.encode_sheets(TEXTS)
        encoder.tell(None)
        encoder.encode_queries(["and one more"])
    assert [each.texts for each in told] == [4, 8, 10]
    whole = encoder.cost
    assert whole.texts == 11
    assert whole.characters == sum(map(len, [*TEXTS, "and one more"]))
    assert whole.tokens == sum(map(count, [*TEXTS, "and one more"]))
    assert whole.seconds > 0
    assert whole.since(told[-1]).texts == 1


def test_tokens_are_unknown_where_the_server_counts_none():
    with ollama(always(Reaction(tokens=None)), models=("small",)) as server:
        encoder = opened(server)
        encoder.encode_sheets(TEXTS)
    assert encoder.cost.tokens is None


def test_the_fingerprint_is_of_the_models_files_and_not_of_its_name_or_its_server():
    with ollama(always(GOOD), models=("small:latest", "other")) as server:
        first, again = opened(server), opened(server, batch_size=1)
        other = opened(server, "other")
        server.version = " 2"
        changed = opened(server)
    with ollama(always(GOOD), models=("small:latest",)) as elsewhere:
        moved = opened(elsewhere)
    assert first.fingerprint == again.fingerprint == moved.fingerprint
    assert len({first.fingerprint, other.fingerprint, changed.fingerprint}) == 3
    assert first.name == "ollama:small"


def test_a_password_in_the_address_is_not_shown():
    with ollama(always(GOOD), models=("small",)) as server:
        host = server.host.replace("//", "//ann:secret@")
        encoder = EmbeddingEncoder.served("ollama:small", url=host)
    assert encoder.place == server.host


@pytest.mark.parametrize(
    ("model", "options"), [("small", {"batch_size": 0}), ("small", {"timeout_s": 0}), (" ", {})]
)
def test_options_out_of_range_are_refused(model, options):
    with ollama(always(GOOD), models=("small",)) as server, pytest.raises(InputError):
        opened(server, model, **options)


def test_one_text_is_no_list_of_texts():
    with (
        ollama(always(GOOD), models=("small",)) as server,
        pytest.raises(InputError, match="single string"),
    ):
        opened(server).encode_queries("revenue")
