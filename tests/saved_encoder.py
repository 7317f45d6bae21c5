"""A real encoder folder, small enough to be written in every test run.

A bag of words: each word of the vocabulary has a fixed random vector, a text's token is
their normalised sum. So two texts are the closer, the more words they share, and nothing
has to be trained, fetched or exported.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from sat_retriever.encoder.folder import write_model_folder
from sat_retriever.encoder.spec import EncoderSpec

WIDTH = 64


def save_bag_of_words(folder: Path, words: Iterable[str], *, seed: int = 0) -> Path:
    """The folder, with an encoder of these words; any other word is one and the same.

    Args:
        folder: Where to write it.
        words: Its vocabulary, any case.
        seed: Another seed is another encoder of the same words.
    """
    names = ["[UNK]", "[CLS]", *sorted({word.lower() for word in words})]
    vocabulary = {name: number for number, name in enumerate(names)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A", special_tokens=[("[CLS]", 1)]
    )
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = folder.with_suffix(".tokenizer.json")
    tokenizer.save(str(draft))
    vectors = np.random.default_rng(seed).normal(size=(len(names), WIDTH)).astype(np.float32)
    spec = EncoderSpec(
        weights=hashlib.sha256(vectors.tobytes()).hexdigest(),
        architecture=hashlib.sha256(b"bag of words").hexdigest(),
        tokenizer=hashlib.sha256(draft.read_bytes()).hexdigest(),
        pooling="mean",
        width=WIDTH,
        max_length=256,
    )
    write_model_folder(folder, spec, draft, lambda path: onnx.save(_model(vectors), path))
    draft.unlink()
    return folder


def _model(vectors: np.ndarray) -> onnx.ModelProto:
    """Input ids and mask, (b, t), to the normalised sum of their vectors, (b, d)."""
    nodes = [
        helper.make_node("Gather", ["vectors", "input_ids"], ["words"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask", "last"], ["weights"]),
        helper.make_node("Mul", ["words", "weights"], ["kept"]),
        helper.make_node("ReduceSum", ["kept", "middle"], ["sum"], keepdims=0),
        helper.make_node("LpNormalization", ["sum"], ["token"], axis=-1, p=2),
    ]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["b", "t"])
        for name in ("input_ids", "attention_mask")
    ]
    output = helper.make_tensor_value_info("token", TensorProto.FLOAT, ["b", WIDTH])
    constants = [
        numpy_helper.from_array(vectors, "vectors"),
        numpy_helper.from_array(np.array([-1]), "last"),
        numpy_helper.from_array(np.array([1]), "middle"),
    ]
    graph = helper.make_graph(nodes, "bag", inputs, [output], constants)
    opset = [helper.make_opsetid("", 18)]
    return helper.make_model(graph, opset_imports=opset, ir_version=10)
