"""Hold the Sheet Encoder in torch; its ONNX copy gives the same tokens."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from accelerate import Accelerator
from numpy.typing import NDArray

from sat_retriever.encoder.checkpoint import Checkpoint, descriptions
from sat_retriever.encoder.export import load_transformer
from sat_retriever.encoder.model import WordPieces
from sat_retriever.encoder.onnx.export import quiet
from sat_retriever.encoder.onnx.session import limits_on, similar_lengths
from sat_retriever.encoder.source import find_checkpoint
from sat_retriever.encoder.spec import EncoderSpec
from sat_retriever.errors import EncoderError
from sat_retriever.records.tokens import FloatArray
from sat_retriever.train.loop.device import (
    computed_in_groups,
    on_device,
    staged,
    tensor_float_32,
)

Batch = tuple[torch.Tensor, ...]  # word pieces and mask, (b, t) int64 each

# Files that a tokenizer may consist of; this package reads only `tokenizer.json`.
_TOKENIZER_FILES = (
    "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",
    "vocab.txt", "vocab.json", "merges.txt", "sentencepiece.bpe.model",
)  # fmt: skip
Pieces = NDArray[np.int32]  # word pieces of one text


class Backbone(torch.nn.Module):
    """A transformer with pooling and L2 normalisation: word pieces to tokens of unit length.

    `spec.max_length` is the length in use. The transformer has its default dropout in training.

    Source: paper, section 3.3 (Sheet Encoder). Departs: CLS or mean pooling, as the checkpoint
    says, instead of the CLS of `BAAI/bge-base-en-v1.5`.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        spec: EncoderSpec,
        pieces: WordPieces,
        transformer: torch.nn.Module,
    ) -> None:
        super().__init__()
        self.checkpoint = checkpoint
        self.spec = spec
        self.pieces = pieces
        self.transformer = transformer

    @classmethod
    def load(
        cls, source: str | Path, *, trained_layers: int | None = None, max_length: int | None = None
    ) -> Backbone:
        """Load the backbone of a name or a folder, in fp32 and evaluation mode.

        The source is "minilm", a sentence-transformers folder or a hub name. Without a number of
        last layers, all weights are trained. The longest text is the source's limit if that is
        smaller.
        """
        checkpoint = find_checkpoint(str(source))
        limit = min(max_length or checkpoint.spec.max_length, checkpoint.spec.max_length)
        spec = replace(checkpoint.spec, max_length=limit)
        with quiet():
            transformer = load_transformer(checkpoint, attention=None)
        train_last_layers(transformer, trained_layers)
        pieces = WordPieces.open(checkpoint.tokenizer, spec)
        return cls(checkpoint, spec, pieces, transformer).eval()

    def forward(self, batches: Sequence[Batch]) -> torch.Tensor:
        """Return the tokens of all texts, (b, d) float32, rows of unit length, batch after batch.

        One call takes several batches because texts of similar length need the least padding.
        """
        found = []
        for ids, mask in batches:
            hidden = self.transformer(input_ids=ids, attention_mask=mask)
            found.append(pooled(hidden.last_hidden_state, mask, self.spec.pooling))
        return torch.nn.functional.normalize(torch.cat(found), dim=-1)  # (b, d)

    def save_sentence_transformers(self, folder: Path) -> None:
        """Write the model into a folder that `SentenceTransformer(folder)` and `load` read.

        Both give the same tokens. The folder, new or empty, gets weights, tokenizer, maximum
        length, pooling, L2 normalisation, and prefixes as the prompts "query" and "document".
        """
        folder.mkdir(parents=True, exist_ok=True)
        with quiet():
            self.transformer.save_pretrained(folder)  # type: ignore[operator]
        for file in folder.glob("*.safetensors"):
            file.chmod(0o644)  # safetensors makes them private
        for name in _TOKENIZER_FILES:
            if (self.checkpoint.tokenizer.parent / name).is_file():
                shutil.copyfile(self.checkpoint.tokenizer.parent / name, folder / name)
        for name, value in descriptions(self.spec).items():
            (folder / name).parent.mkdir(exist_ok=True)
            text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
            (folder / name).write_text(text, encoding="utf-8")


def pooled(states: torch.Tensor, mask: torch.Tensor, pooling: str) -> torch.Tensor:
    """Return the CLS state or the mean over real word pieces, (b, d) float32, of (b, t, d)."""
    if pooling == "cls":
        return states[:, 0].float()
    weight = mask.unsqueeze(-1).float()  # (b, t, 1)
    return (states.float() * weight).sum(1) / weight.sum(1).clamp(min=1e-9)


def train_last_layers(transformer: torch.nn.Module, count: int | None) -> None:
    """Train the last layers and freeze the rest; train all layers if the count is None.

    The paper trains the pooler too. Neither CLS nor mean pooling of the last hidden state reads
    it, so it would get no gradient. It stays frozen.
    """
    for name, parameter in transformer.named_parameters():
        parameter.requires_grad_(count is None and "pooler" not in name)
    if count is None:
        return
    layers = transformer_layers(transformer)
    if not 1 <= count <= len(layers):
        raise EncoderError(
            f"the last {count} layers should be trained, but the backbone has {len(layers)}; "
            f"give 1 to {len(layers)}, or None for all weights"
        )
    for layer in list(layers)[-count:]:
        layer.requires_grad_(requires_grad=True)


def transformer_layers(transformer: torch.nn.Module) -> torch.nn.ModuleList:
    """Return the model's layers: its only module list with the length that its config states.

    That holds for models built like BERT, RoBERTa, XLM-R, MPNet and DistilBERT. An EncoderError if
    there is no such list, or more than one.
    """
    config: Any = getattr(transformer, "config", None)
    stated = getattr(config, "num_hidden_layers", None)
    found = [
        module
        for module in transformer.modules()
        if isinstance(module, torch.nn.ModuleList) and len(module) == stated
    ]
    if len(found) != 1:
        raise EncoderError(
            f"the layers of a {getattr(config, 'model_type', 'model')} cannot be told from its "
            f"structure ({len(found)} lists of {stated} layers); train all weights "
            "(trained_layers=None), or choose another backbone"
        )
    return found[0]


def split_texts(backbone: Backbone, texts: Sequence[str], prefix: str) -> list[Pieces]:
    """Return the word pieces of each text after the prefix, as the encoder will split it."""
    return [np.asarray(backbone.pieces.of(prefix + text), dtype=np.int32) for text in texts]


def encode_pieces(
    backbone: Backbone, texts: Sequence[Pieces], accelerator: Accelerator
) -> FloatArray:
    """Return the tokens of texts, (n, d) float32, rows of unit length, equal in every process.

    They are the tokens of the exported encoder: fp32 whatever the training's precision, without
    dropout or gradient. A GPU multiplies in TF32, so there they differ in the fourth digit. Each
    process encodes its share.
    """
    device, learning = accelerator.device, backbone.training
    tokens = torch.zeros(len(texts), backbone.spec.width, device=device)  # (n, d)
    backbone.eval()
    with tensor_float_32(device):
        found = computed_in_groups(
            tokens,
            group_by_length(texts, device),
            lambda group: as_batch(backbone, [texts[place] for place in group], device),
            lambda batch: backbone([on_device(batch, device)]),
            accelerator,
        )
    backbone.train(learning)
    return found


def group_by_length(texts: Sequence[Pieces], device: torch.device) -> list[list[int]]:
    """Group the places of texts by similar length, for padded batches on a device."""
    return similar_lengths([*map(len, texts)], limits_on(device.type))


def as_batch(backbone: Backbone, texts: Sequence[Pieces], device: torch.device) -> Batch:
    """Return the padded word pieces and the mask of some texts on the host, staged for a device."""
    ids, mask = backbone.pieces.padded([text.tolist() for text in texts])  # (b, t)
    return staged(ids, device), staged(mask, device)
