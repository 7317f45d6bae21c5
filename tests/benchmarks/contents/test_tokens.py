import numpy as np
import pytest

from benchmarks.contents.tokens import CachedEncoder, TokenFile
from sat_retriever.encoder import MINILM, SheetEncoder
from tests.fakes import HashedEncoder


class Counting(HashedEncoder):
    def __init__(self):
        super().__init__(16)
        self.encoded = []

    def encode_sheets(self, texts):
        self.encoded += texts
        return super().encode_sheets(texts)


def test_a_text_is_encoded_once_for_ever(tmp_path):
    encoder = Counting()
    first = TokenFile(tmp_path / "a" / "tokens.sqlite", 16)
    found = first.tokens("sheet", ["red", "blue", "red"], encoder.encode_sheets)
    again = TokenFile(tmp_path / "a" / "tokens.sqlite", 16)
    more = again.tokens("sheet", ["blue", "green"], encoder.encode_sheets)
    assert encoder.encoded == ["red", "blue", "green"]
    plain = HashedEncoder(16)
    assert np.array_equal(found, plain.encode_sheets(["red", "blue", "red"]))
    assert np.array_equal(more, plain.encode_sheets(["blue", "green"]))


def test_a_query_is_no_sheet(tmp_path):
    encoder = Counting()
    tokens = TokenFile(tmp_path / "tokens.sqlite", 16)
    for kind in ("sheet", "query"):
        tokens.tokens(kind, ["red"], encoder.encode_sheets)
    assert encoder.encoded == ["red", "red"]


def test_what_was_encoded_before_a_stop_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.contents.tokens._AT_ONCE", 2)
    encoder = Counting()

    def until_three(texts):
        if len(encoder.encoded) >= 2:
            raise KeyboardInterrupt
        return encoder.encode_sheets(texts)

    tokens = TokenFile(tmp_path / "tokens.sqlite", 16)
    with pytest.raises(KeyboardInterrupt):
        tokens.tokens("sheet", ["a", "b", "c", "d"], until_three)
    tokens.tokens("sheet", ["a", "b", "c", "d"], encoder.encode_sheets)
    assert encoder.encoded == ["a", "b", "c", "d"]


def test_no_texts_give_no_tokens(tmp_path):
    tokens = TokenFile(tmp_path / "tokens.sqlite", 16)
    assert tokens.tokens("sheet", [], HashedEncoder(16).encode_sheets).shape == (0, 16)


def test_a_kept_encoder_gives_the_tokens_of_the_encoder(tmp_path):
    kept, plain = CachedEncoder.kept(MINILM, tmp_path), SheetEncoder.load(MINILM)
    texts = ["name: Sales ; columns: Month | Net", "name: Staff"]
    for _ in range(2):  # made, then read
        assert np.array_equal(kept.encode_sheets(texts), plain.encode_sheets(texts))
        assert np.array_equal(kept.encode_queries(texts), plain.encode_queries(texts))
    assert (kept.fingerprint, kept.name) == (plain.fingerprint, plain.name)
    assert kept.dense_weight == plain.dense_weight
