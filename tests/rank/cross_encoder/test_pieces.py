from __future__ import annotations

import pytest
from tokenizers import Tokenizer, models

from sat_retriever.errors import EncoderError
from sat_retriever.rank.cross_encoder import Pair, PairPieces


@pytest.fixture
def pieces(saved) -> PairPieces:
    return PairPieces.open(saved / "tokenizer.json", 15, 0, lowercase=False)


@pytest.fixture
def number(saved):
    vocabulary = Tokenizer.from_file(str(saved / "tokenizer.json")).get_vocab()
    return lambda *words: tuple(vocabulary[word] for word in words)


def test_a_pair_is_query_then_sheet_between_special_pieces(pieces, number):
    pairs = pieces.pairs("sales of alpha", ["name: beta", ""])
    inputs = pieces.padded(pairs)
    sheet = number("name", ":", "beta")
    whole = [2, *number("sales", "of", "alpha"), 3, *sheet, 3]
    assert inputs["input_ids"].tolist() == [whole, [*whole[:5], 3, 0, 0, 0]]
    assert inputs["attention_mask"].tolist() == [[1] * 9, [1] * 6 + [0] * 3]
    assert inputs["token_type_ids"].tolist() == [[0] * 5 + [1] * 4, [0] * 5 + [1] + [0] * 3]
    assert [len(pair) for pair in pairs] == [9, 6]


def test_the_sheet_is_cut_first_and_of_a_long_query_three_quarters_stay(pieces, number):
    alpha, beta = number("alpha")[0], number("beta")[0]
    # Twelve pieces have room beside the three special ones.
    (short,) = pieces.pairs("alpha " * 5, ["beta " * 100])
    assert short == Pair((alpha,) * 5, (beta,) * 7)
    (long,) = pieces.pairs("alpha " * 100, ["beta " * 100])
    assert long == Pair((alpha,) * 9, (beta,) * 3)
    (fits,) = pieces.pairs("alpha " * 9, ["beta " * 3])
    assert fits == long
    assert len(long) == 15


def test_texts_of_files_without_a_utf8_name_are_split(pieces):
    (pair,) = pieces.pairs("alpha \udcff", ["\udcff beta"])
    assert len(pair.query) == len(pair.sheet) == 2


def test_a_tokenizer_without_two_special_pieces_is_refused(tmp_path):
    plain = Tokenizer(models.WordPiece({"[UNK]": 0, "a": 1}, unk_token="[UNK]"))
    plain.save(str(tmp_path / "plain.json"))
    with pytest.raises(EncoderError, match="puts 0 word pieces around a text"):
        PairPieces.open(tmp_path / "plain.json", 15, 0, lowercase=False)
    (tmp_path / "broken.json").write_text("{}")
    with pytest.raises(EncoderError, match=r"broken\.json is no usable tokenizer"):
        PairPieces.open(tmp_path / "broken.json", 15, 0, lowercase=False)
