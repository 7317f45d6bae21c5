"""Hold the Sheet Encoder in torch; its ONNX copy gives the same tokens."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from sat_retriever.encoder.checkpoint import Checkpoint, descriptions
from sat_retriever.encoder.export import load_transformer
from sat_retriever.encoder.model import WordPieces
from sat_retriever.encoder.onnx.export import quiet
from sat_retriever.encoder.source import find_checkpoint
from sat_retriever.encoder.spec import EncoderSpec
from sat_retriever.errors import EncoderError

Batch = tuple[torch.Tensor, torch.Tensor]  # word pieces and mask, (b, t) int64 each

# Files that a tokenizer may consist of; this package reads only `tokenizer.json`.
_TOKENIZER_FILES = (
    "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",
    "vocab.txt", "vocab.json", "merges.txt", "sentencepiece.bpe.model",
)  # fmt: skip


class Backbone(torch.nn.Module):
    """A transformer with pooling and L2 normalisation: word pieces to tokens of unit length.

    Source: paper, section 3.3 (Sheet Encoder). Departs: CLS or mean pooling, as the checkpoint
    says, instead of the CLS of `BAAI/bge-base-en-v1.5`.

    Attributes:
        checkpoint: The source of the weights.
        spec: How tokens are made; its `max_length` is the one in use.
        pieces: The tokenizer.
        transformer: The model of transformers, with its default dropout in training.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        spec: EncoderSpec,
        pieces: WordPieces,
        transformer: torch.nn.Module,
    ) -> None:
        """Take finished parts; use `load` to get them."""
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

        Args:
            source: "minilm", a sentence-transformers folder or a hub name.
            trained_layers: Number of last transformer layers to train; None trains all weights.
            max_length: Longest text in word pieces; None, or a larger number, takes the source's
                limit.

        Raises:
            EncoderError: If it cannot be found or loaded, lacks weights, or has fewer layers.
            MissingExtraError: If a package that fetches or loads it is not installed.
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
        pooled = [self._pooled(ids, mask) for ids, mask in batches]
        return torch.nn.functional.normalize(torch.cat(pooled), dim=-1)  # (b, d)

    def _pooled(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return the CLS state or the mean over real word pieces, (b, d) float32."""
        hidden = self.transformer(input_ids=ids, attention_mask=mask)
        states: torch.Tensor = hidden.last_hidden_state  # (b, t, d)
        if self.spec.pooling == "cls":
            return states[:, 0].float()
        weight = mask.unsqueeze(-1).float()  # (b, t, 1)
        return (states.float() * weight).sum(1) / weight.sum(1).clamp(min=1e-9)

    def save_sentence_transformers(self, folder: Path) -> None:
        """Write the model into a folder that `SentenceTransformer(folder)` and `load` read.

        Both give the same tokens. The folder holds weights, tokenizer, maximum length, pooling, L2
        normalisation, and prefixes as the prompts "query" and "document".

        Args:
            folder: A folder that does not exist yet, or is empty.

        Raises:
            OSError: If it cannot be written.
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


def train_last_layers(transformer: torch.nn.Module, count: int | None) -> None:
    """Train the last layers and freeze the rest; train all layers if the count is None.

    The paper trains the pooler too. Neither CLS nor mean pooling of the last hidden state reads
    it, so it would get no gradient. It stays frozen.

    Raises:
        EncoderError: If the model has fewer layers, or its layers cannot be found.
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

    That holds for models built like BERT, RoBERTa, XLM-R, MPNet and DistilBERT.

    Raises:
        EncoderError: If there is no such list, or more than one.
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
