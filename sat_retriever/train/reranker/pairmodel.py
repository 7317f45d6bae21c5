"""Hold the Cross-Encoder in torch: one backbone for query and sheet, and a linear head."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from sat_retriever.encoder.checkpoint import Checkpoint
from sat_retriever.encoder.export import load_transformer
from sat_retriever.encoder.onnx.export import export_onnx, quiet
from sat_retriever.encoder.source import find_checkpoint
from sat_retriever.rank.cross_encoder import Inputs, PairPieces
from sat_retriever.train.encoder.backbone import (
    pooled,
    train_alone,
    train_last_layers,
    transformer_layers,
)
from sat_retriever.train.loop.device import staged
from sat_retriever.train.settings import CrossEncoderTraining

PairBatch = tuple[torch.Tensor, ...]  # word pieces, mask and types if used, (b, t) int64 each

_HEAD_SPREAD = 0.02  # standard deviation of the untrained head's weights, as in BERT


class PairModel(torch.nn.Module):
    """A transformer, its pooling and a linear head: padded pairs to logits.

    logit = w · pool(states) + b, with the state of [CLS] or the mean of all states. `token_types`
    says that the transformer reads types, 0 for the query and 1 for the sheet.

    Source: paper, appendix (Cross-Encoder): BGE, its last layers and a linear head. Departs:
    a backbone trained with mean pooling keeps it, since its [CLS] state was never trained.
    Dropout acts only in the trained layers, so the frozen layers always give the same states
    for the same pair.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        max_length: int,
        transformer: torch.nn.Module,
        head: torch.nn.Linear,
        trained_layers: int | None,
    ) -> None:
        super().__init__()
        self.checkpoint = checkpoint
        self.max_length = max_length
        config: Any = getattr(transformer, "config", None)
        self.token_types = int(getattr(config, "type_vocab_size", 0) or 0) >= 2
        self.pieces = PairPieces.open(
            checkpoint.tokenizer,
            max_length,
            checkpoint.spec.pad_id,
            lowercase=checkpoint.spec.lowercase,
        )
        self.transformer = transformer
        self.head = head
        self._trained_layers = trained_layers

    @classmethod
    def load(cls, settings: CrossEncoderTraining) -> PairModel:
        """Load the untrained model, in fp32 and evaluation mode, with a head drawn by the seed."""
        checkpoint = find_checkpoint(settings.backbone)
        with quiet():
            transformer = load_transformer(checkpoint, attention=None)
        train_last_layers(transformer, settings.trained_layers)
        head = torch.nn.Linear(checkpoint.spec.width, 1)
        dice = torch.Generator().manual_seed(settings.seed)
        with torch.no_grad():
            head.weight.normal_(0.0, _HEAD_SPREAD, generator=dice)
            head.bias.zero_()
        length = min(settings.max_length, checkpoint.spec.max_length)
        return cls(checkpoint, length, transformer, head, settings.trained_layers).eval()

    def train(self, mode: bool = True) -> PairModel:
        """Set the trained layers to training mode; frozen layers stay in evaluation mode."""
        super().train(mode)
        if self._trained_layers is not None:
            layers = transformer_layers(self.transformer)[-self._trained_layers :]
            train_alone(layers, self.transformer, mode=mode)
        return self

    def forward(self, batches: Sequence[PairBatch]) -> torch.Tensor:
        """Return the logits of all pairs, (b,) float32, in their order; see `Backbone.forward`."""
        return torch.cat([self.logits(*batch) for batch in batches])

    def logits(
        self, ids: torch.Tensor, mask: torch.Tensor, types: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Return the logits of one batch, (b,) float32, from ids, mask and types, (b, t) each."""
        told = {} if types is None else {"token_type_ids": types}
        hidden = self.transformer(input_ids=ids, attention_mask=mask, **told)
        states = pooled(hidden.last_hidden_state, mask, self.checkpoint.spec.pooling)  # (b, d)
        logits: torch.Tensor = self.head(states).squeeze(-1).float()  # (b,)
        return logits

    def batch(self, inputs: Inputs, device: torch.device) -> PairBatch:
        """Return padded pairs as the model's inputs on the host, staged for a device."""
        names = ["input_ids", "attention_mask", *(["token_type_ids"] if self.token_types else [])]
        return tuple(staged(inputs[name], device) for name in names)


def export_pair_model(model: PairModel, target: Path) -> None:
    """Write the model as an ONNX file: word pieces, mask and types, (b, t), to `logit`, (b,)."""
    with quiet():
        transformer = load_transformer(model.checkpoint)  # with the attention that exports
    transformer.load_state_dict(model.transformer.state_dict())
    head = torch.nn.Linear(model.head.in_features, 1)
    head.load_state_dict(model.head.state_dict())
    copy = PairModel(model.checkpoint, model.max_length, transformer, head, None).eval()
    names = ["input_ids", "attention_mask", *(["token_type_ids"] if model.token_types else [])]
    # Two pairs of unequal length: torch would take sizes of 1 for constants.
    pairs = [copy.pieces.pairs("a b c d", [text])[0] for text in ("e f g h i", "e")]
    batch = copy.batch(copy.pieces.padded(pairs), torch.device("cpu"))
    export_onnx(
        _OneBatch(copy).eval(),
        dict(zip(names, batch, strict=True)),
        ["logit"],
        dict.fromkeys(names, (0, 1)),
        target,
        "train",
    )


class _OneBatch(torch.nn.Module):
    def __init__(self, model: PairModel) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, ids: torch.Tensor, mask: torch.Tensor, types: torch.Tensor | None = None
    ) -> torch.Tensor:
        return self.model.logits(ids, mask, types)
