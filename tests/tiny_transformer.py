"""Tiny transformers with random weights as sentence-transformers folders, and a tiny corpus."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

from sat_retriever.train.data.trainingdata import QueryRows, TrainingData

COMPANIES = ("alpha", "beta", "gamma", "delta")
YEARS = ("2021", "2022", "2023")
SUBJECTS = ("sales", "stock", "payroll")
_WORDS = ("name", "columns", "shape", "region", "price", "of", "in", "the", "sheets", ":", ";", "|")
_POOLING = {"cls": "pooling_mode_cls_token", "mean": "pooling_mode_mean_tokens"}


def save_tiny(folder: Path, *, kind: str = "bert", layers: int = 2, pooling: str = "mean",
              prompts: dict[str, str] | None = None, dropout: float = 0.1,
              name: str = "", max_length: int = 32, lowercase: bool = False) -> Path:  # fmt: skip
    """A model of width 32 whose tokenizer knows the words of the tiny corpus.

    Args:
        folder: Where to write it.
        kind: "bert", "roberta", "xlm-roberta", "mpnet", "distilbert" or "albert".
        layers: Transformer layers.
        pooling: "cls" or "mean".
        prompts: By "query" and "document"; none are written when None.
        dropout: Everywhere in the model.
        name: `_name_or_path` of its configuration.
        max_length: Word pieces of a text.
        lowercase: `do_lower_case` of sentence-transformers.
    """
    folder.mkdir(parents=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's own, on import
        size = _save_tokenizer(folder)
        _save_weights(folder, kind, layers, dropout, size)
    if name:
        config = json.loads((folder / "config.json").read_text())
        _write(folder / "config.json", config | {"_name_or_path": name})
    kinds = {"Transformer": "", "Pooling": "1_Pooling"}
    _write(
        folder / "modules.json",
        [
            {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
            for i, (kind, path) in enumerate(kinds.items())
        ],
    )
    _write(
        folder / "1_Pooling/config.json",
        {"word_embedding_dimension": 32, **{key: way == pooling for way, key in _POOLING.items()}},
    )
    _write(
        folder / "sentence_bert_config.json",
        {"max_seq_length": max_length, "do_lower_case": lowercase},
    )
    if prompts is not None:
        _write(folder / "config_sentence_transformers.json", {"prompts": prompts})
    return folder


def tiny_corpus(*, held_out: tuple[int, ...] = ()) -> TrainingData:
    """36 sheets, one a company, year and subject; questions name two of the three.

    Args:
        held_out: Rows of sheets that training may not see.
    """
    names = [(c, y, s) for c in COMPANIES for y in YEARS for s in SUBJECTS]
    sheets = tuple(f"name: {c}_{y}_{s} ; columns: region | price" for c, y, s in names)
    asked = (
        [((c, y), f"the sheets of {c} in {y}") for c in COMPANIES for y in YEARS]
        + [((c, s), f"{s} of {c}") for c in COMPANIES for s in SUBJECTS]
        + [((y, s), f"{s} in {y}") for y in YEARS for s in SUBJECTS]
    )
    gold = [
        (text, tuple(row for row, name in enumerate(names) if set(wanted) <= set(name)))
        for wanted, text in asked
    ]
    train = [pair for pair in gold[::4] + gold[1::4] + gold[2::4] if not {*pair[1]} & {*held_out}]
    return TrainingData(
        name="tiny",
        sheet_ids=tuple(f"s{row:02d}" for row in range(len(names))),
        sheets=sheets,
        train=_questions(train),
        validation=_questions(gold[3::4]),
        seen=tuple(row for row in range(len(names)) if row not in held_out),
    )


def _questions(pairs: list[tuple[str, tuple[int, ...]]]) -> QueryRows:
    texts, positives = zip(*pairs, strict=True)
    return QueryRows(tuple(texts), tuple(positives), tuple(() for _ in texts))


def _write(file: Path, value: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value))


def _save_tokenizer(folder: Path) -> int:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "_", *_WORDS, *COMPANIES, *YEARS, *SUBJECTS]
    words += [*letters, *(f"##{letter}" for letter in letters)]
    vocabulary = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]",
        cls_token="[CLS]", sep_token="[SEP]",
    )  # fmt: skip
    fast.save_pretrained(folder)
    return len(words)


def _save_weights(folder: Path, kind: str, layers: int, dropout: float, words: int) -> None:
    import torch
    from transformers import AutoConfig, AutoModel

    torch.manual_seed(0)
    if kind == "distilbert":
        sizes = {"dim": 32, "n_layers": layers, "n_heads": 4, "hidden_dim": 64,
                 "dropout": dropout, "attention_dropout": dropout}  # fmt: skip
    else:
        sizes = {"hidden_size": 32, "num_hidden_layers": layers, "num_attention_heads": 4,
                 "intermediate_size": 64, "hidden_dropout_prob": dropout,
                 "attention_probs_dropout_prob": dropout}  # fmt: skip
    if kind == "albert":
        sizes["embedding_size"] = 16
    config = AutoConfig.for_model(
        kind, vocab_size=words, max_position_embeddings=64, pad_token_id=0,
        initializer_range=0.2, **sizes,
    )  # fmt: skip
    AutoModel.from_config(config).eval().save_pretrained(folder)
