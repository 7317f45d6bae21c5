from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from sat_retriever.encoder.models.folder import write_folder
from sat_retriever.errors import EncoderError, InputError
from sat_retriever.rank.cross_encoder import (
    CROSS_ENCODER,
    FORMAT,
    CrossEncoder,
    write_pair_folder,
)

WORDS = ("alpha", "beta", "2021", "2022", "sales", "stock", "region", "price", "of", "in", "zzz")


def _texts(count: int) -> list[str]:
    """Short, very long and empty ones, some with no header and some with no known letter."""
    rng = np.random.default_rng(count)
    made = [" ".join(rng.choice(WORDS, rng.integers(1, 30))) for _ in range(count)]
    odd = ["", "name: alpha", "columns: ", "price " * 5_000, "表格", "| ; :"]
    # Every fourth is odd, so that they are among those that are checked.
    return [odd[row // 4 % len(odd)] if row % 4 == 0 else made[row] for row in range(count)]


def _torch_logits(model, query, texts):
    """Each pair alone, without padding: pooling and head written from their definition."""
    import torch

    found = []
    for text in texts:
        (pair,) = model.pieces.pairs(query, [text])
        row = [2, *pair.query, 3, *pair.sheet, 3]
        types = [0] * (len(pair.query) + 2) + [1] * (len(pair.sheet) + 1)
        with torch.no_grad():
            states = model.transformer(
                input_ids=torch.tensor([row]),
                attention_mask=torch.ones(1, len(row), dtype=torch.int64),
                token_type_ids=torch.tensor([types]),
            ).last_hidden_state[0]
            weight, bias = model.head.weight[0].numpy(), float(model.head.bias)
        found.append(float(states.numpy().mean(axis=0) @ weight + bias))
    return np.array(found)


@pytest.mark.parametrize("count", [1, 2, 50, 200])
@pytest.mark.parametrize("query", ["sales of alpha in 2021", "alpha " * 500])
def test_logits_are_those_of_torch(saved, pair_model, count, query):
    texts = _texts(count)
    logits = CrossEncoder.load(saved, threads=1).logits(query, texts)
    assert logits.dtype == np.float32
    assert logits.shape == (count,)
    checked = list(range(count))[:: max(1, count // 50)]  # each alone: all 200 take long
    expected = _torch_logits(pair_model, query, [texts[place] for place in checked])
    assert np.abs(logits[checked] - expected).max() < 1e-4
    if count >= 50:
        assert np.ptp(expected) > 0.5  # not all the same: the comparison says something


def test_logits_follow_the_order_of_the_texts(saved):
    model, texts = CrossEncoder.load(saved, threads=1), _texts(50)
    there, back = model.logits("stock", texts), model.logits("stock", texts[::-1])
    assert np.array_equal(there, back[::-1])
    assert model.logits("stock", []).shape == (0,)
    with pytest.raises(InputError, match="a single string"):
        model.logits("stock", "name: alpha")


def test_equal_texts_are_ties_to_the_last_digit(saved):
    """Of 37 pairs of 28 pieces one is left for a batch of its own, where sums round otherwise."""
    text = "name: alpha 2021 ; columns: region | price | sales " * 2
    logits = CrossEncoder.load(saved, threads=1).logits("stock", [text] * 37)
    assert len(set(logits.tolist())) == 1


def test_running_it_needs_no_torch(saved):
    code = (
        "import sys; from sat_retriever.rank.cross_encoder import CrossEncoder; "
        f"print(CrossEncoder.load({str(saved)!r}).logits('alpha', ['beta', '']).shape); "
        "print({'torch', 'transformers', 'accelerate'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["(2,)", "set()"]


def test_damaged_and_foreign_folders_are_refused(folder, tmp_path):
    with pytest.raises(InputError, match="threads is 0"):
        CrossEncoder.load(folder, threads=0)
    with pytest.raises(EncoderError, match="no complete cross-encoder folder"):
        CrossEncoder.load(tmp_path / "nowhere")
    content = (folder / "model.onnx").read_bytes()
    (folder / "model.onnx").write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(EncoderError, match="is damaged"):
        CrossEncoder.load(folder)
    (folder / "model.onnx").write_bytes(content)
    CrossEncoder.load(folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"format": "sat-encoder"}))
    with pytest.raises(EncoderError, match="has format sat-encoder"):
        CrossEncoder.load(folder)
    config["spec"]["blend"] = 5.0
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(EncoderError, match="is damaged"):
        CrossEncoder.load(folder)


def test_a_model_that_gives_no_numbers_is_an_error(saved, spec, tmp_path):
    model = onnx.load(saved / "model.onnx")
    last = model.graph.output[0].name
    for node in model.graph.node:
        node.output[:] = ["finite" if name == last else name for name in node.output]
    model.graph.initializer.append(numpy_helper.from_array(np.float32("nan"), "nothing"))
    model.graph.node.append(helper.make_node("Mul", ["finite", "nothing"], [last]))
    write_pair_folder(
        tmp_path / "nan",
        spec,
        saved / "tokenizer.json",
        lambda file: file.write_bytes(model.SerializeToString()) and None,
    )
    with pytest.raises(EncoderError, match=r"nan.model\.onnx gave NaN"):
        CrossEncoder.load(tmp_path / "nan", threads=1).logits("alpha", ["beta", ""])


def test_a_model_of_other_inputs_or_another_tokenizer_is_refused(with_spec):
    with pytest.raises(EncoderError, match=r"has inputs .*token_type_ids.* not the model"):
        CrossEncoder.load(with_spec(token_types=False))
    with pytest.raises(EncoderError, match="tokenizer of another model"):
        CrossEncoder.load(with_spec(start_id=7))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"pooling": "max"}, "unknown pooling 'max'"),
        ({"max_length": 4}, "max_length is 4"),
        ({"dense_weight": 1.5}, "dense_weight is 1.5"),
        ({"blend": float("nan")}, "blend is nan"),
        ({"blend": -1.0}, "blend is -1.0"),
        ({"max_length": "48"}, "no complete cross-encoder folder"),
        ({"later": 1}, r"other fields than this version reads \(later\)"),
    ],
)
def test_a_spec_that_makes_no_sense_is_refused(spec, tmp_path, wrong, message):
    write_folder(tmp_path / "odd", FORMAT, asdict(spec) | wrong, {})
    with pytest.raises(EncoderError, match=message):
        CROSS_ENCODER.trained_on(tmp_path / "odd")
    CROSS_ENCODER.write(tmp_path / "fine", spec, {})
    assert CROSS_ENCODER.trained_on(tmp_path / "fine") == spec
