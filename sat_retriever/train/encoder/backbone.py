"""Hold the Sheet Encoder in torch; its ONNX copy gives the same tokens."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from accelerate import Accelerator

from sat_retriever.encoder.checkpoint import Checkpoint, descriptions
from sat_retriever.encoder.export import load_transformer
from sat_retriever.encoder.model import WordPieces
from sat_retriever.encoder.onnx.export import quiet
from sat_retriever.encoder.onnx.session import limits_on, similar_lengths
from sat_retriever.encoder.source import find_checkpoint
from sat_retriever.encoder.spec import EncoderSpec
from sat_retriever.errors import EncoderError
from sat_retriever.records.tokens import FloatArray
from sat_retriever.train.encoder.frozen import (
    MOST_BYTES,
    Frozen,
    Pieces,
    States,
    divided,
    is_whole,
)
from sat_retriever.train.loop.device import (
    computed_in_groups,
    on_device,
    staged,
    tensor_float_32,
)

# Word pieces, (b, t) int64, or the frozen layers' states of them, (b, t, d) float32, and the mask.
Batch = tuple[torch.Tensor, ...]

# Files that a tokenizer may consist of; this package reads only `tokenizer.json`.
_TOKENIZER_FILES = (
    "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",
    "vocab.txt", "vocab.json", "merges.txt", "sentencepiece.bpe.model",
)  # fmt: skip


class Backbone(torch.nn.Module):
    """A transformer with pooling and L2 normalisation: word pieces to tokens of unit length.

    `spec.max_length` is the length in use. The trained layers have their default dropout in
    training.

    Source: paper, section 3.3 (Sheet Encoder). Departs: CLS or mean pooling, as the checkpoint
    says, instead of the CLS of `BAAI/bge-base-en-v1.5`. Frozen layers have no dropout, so they give
    the same states for the same text; see `keep_frozen`.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        spec: EncoderSpec,
        pieces: WordPieces,
        transformer: torch.nn.Module,
        trained_layers: int | None,
    ) -> None:
        super().__init__()
        self.checkpoint = checkpoint
        self.spec = spec
        self.pieces = pieces
        self.transformer = transformer
        self.frozen: Frozen | None = None
        self._trained_layers = trained_layers

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
        return cls(checkpoint, spec, pieces, transformer, trained_layers).eval()

    def keep_frozen(self, texts: Sequence[Pieces]) -> None:
        """Compute the frozen layers' states of all texts that will be encoded, once.

        From then on `as_batch` takes only these texts, and encoding one computes the trained layers
        alone. Nothing is kept, and all layers are computed, if all weights are trained, if the
        states would take more than `MOST_BYTES` or do not fit into the temporary folder, or if the
        model's parts do not give what the whole gives.
        """
        distinct = list({text.tobytes(): text for text in texts}.values())
        size = 4 * self.spec.width * sum(map(len, distinct))
        if self._trained_layers is None or not distinct or size > MOST_BYTES:
            return
        device = next(self.parameters()).device
        layers = transformer_layers(self.transformer)
        first, rest, last = divided(self.transformer, layers, self._trained_layers)
        with torch.no_grad(), tensor_float_32(device):
            few = on_device(as_batch(self, distinct[:2], device), device)
            if is_whole(self.transformer, first, rest, *few):
                with suppress(OSError):
                    states = States(self.spec.width, self._states(first, distinct, device))
                    self.frozen = Frozen(states, rest, last)

    def _states(
        self, first: torch.nn.Module, texts: Sequence[Pieces], device: torch.device
    ) -> Iterator[tuple[Pieces, FloatArray]]:
        for group in group_by_length(texts, device):
            own = [texts[place] for place in group]
            ids, mask = on_device(as_batch(self, own, device), device)
            states = first(input_ids=ids, attention_mask=mask).last_hidden_state  # (b, t, d)
            for text, rows in zip(own, states.cpu().numpy(), strict=True):
                yield text, rows[: len(text)]

    def train(self, mode: bool = True) -> Backbone:
        """Set the trained layers to training mode; frozen ones stay in evaluation mode."""
        super().train(mode)
        if self._trained_layers is not None:
            layers = transformer_layers(self.transformer)[-self._trained_layers :]
            train_alone(layers, self.transformer, mode=mode)
        if self.frozen is not None:
            train_alone(self.frozen.layers, self.frozen.rest, mode=mode)
        return self

    def forward(self, batches: Sequence[Batch]) -> torch.Tensor:
        """Return the tokens of all texts, (b, d) float32, rows of unit length, batch after batch.

        One call takes several batches because texts of similar length need the least padding.
        """
        found = []
        for inputs, mask in batches:
            if self.frozen is not None and inputs.is_floating_point():
                hidden = self.frozen.rest(inputs_embeds=inputs, attention_mask=mask)
            else:
                hidden = self.transformer(input_ids=inputs, attention_mask=mask)
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


def train_alone(layers: torch.nn.ModuleList, transformer: torch.nn.Module, *, mode: bool) -> None:
    """Set some layers to training mode, or not, and all else of their model to evaluation mode.

    Frozen layers without dropout always give the same states for the same text.
    """
    transformer.eval()
    layers.train(mode)


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
    """Return the padded inputs and the mask of some texts on the host, staged for a device.

    The inputs are word pieces, (b, t), or the kept states of the frozen layers, (b, t, d).
    """
    ids, mask = backbone.pieces.padded([text.tolist() for text in texts])  # (b, t)
    inputs = ids if backbone.frozen is None else backbone.frozen.states.padded(texts)
    return staged(inputs, device), staged(mask, device)
