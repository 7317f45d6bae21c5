from __future__ import annotations

import json

import numpy as np
import pytest

from sat_retriever import EncoderError, SheetEncoder


@pytest.fixture
def saved(tiny_encoder, tmp_path):
    tiny_encoder.save(tmp_path / "saved")
    return tmp_path / "saved"


def test_a_saved_encoder_gives_the_same_tokens_and_fingerprint(tiny_encoder, saved):
    again = SheetEncoder.load(saved)
    texts = ["revenue", "price of stock"]
    assert np.array_equal(again.encode_sheets(texts), tiny_encoder.encode_sheets(texts))
    assert np.array_equal(again.encode_queries(texts), tiny_encoder.encode_queries(texts))
    assert again.fingerprint == tiny_encoder.fingerprint
    assert sorted(file.name for file in saved.iterdir()) == [
        "config.json",
        "model.onnx",
        "tokenizer.json",
    ]


def test_saving_over_an_encoder_replaces_it_and_leaves_nothing_else(tiny_encoder, saved):
    (saved / "model.onnx").write_bytes(b"old")
    tiny_encoder.save(saved)
    assert SheetEncoder.load(saved).fingerprint == tiny_encoder.fingerprint
    assert [path.name for path in saved.parent.iterdir()] == ["saved"]


def test_an_encoder_can_be_saved_over_itself(saved):
    SheetEncoder.load(saved).save(saved)
    assert SheetEncoder.load(saved).width == 32


def test_saving_over_something_else_is_refused(tiny_encoder, tmp_path):
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "a.txt").write_text("dear")
    for target in (tmp_path / "letters", tmp_path / "letters" / "a.txt"):
        with pytest.raises(EncoderError, match="holds no encoder"):
            tiny_encoder.save(target)
    assert (tmp_path / "letters" / "a.txt").read_text() == "dear"


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json"])
@pytest.mark.parametrize("damage", ["cut", "flip", "lose"])
def test_a_damaged_folder_is_refused(saved, file, damage):
    content = (saved / file).read_bytes()
    if damage == "cut":
        (saved / file).write_bytes(content[: len(content) // 2])
    elif damage == "flip":
        (saved / file).write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
    else:
        (saved / file).unlink()
    with pytest.raises(EncoderError, match=r"(damaged|no complete encoder folder).*again"):
        SheetEncoder.load(saved)


def test_a_changed_setting_is_refused(saved, change):
    spec = json.loads((saved / "config.json").read_text())["spec"]
    change(saved / "config.json", spec=spec | {"query_prefix": "other: "})
    with pytest.raises(EncoderError, match="damaged"):
        SheetEncoder.load(saved)


def test_a_newer_format_is_refused_with_what_to_do(saved, change):
    change(saved / "config.json", format_number=2)
    with pytest.raises(EncoderError, match=r"sat-encoder 2, this version reads.*upgrade"):
        SheetEncoder.load(saved)
