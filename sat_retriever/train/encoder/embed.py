"""Encode many texts in batches of similar length, shared among processes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

import numpy as np
import torch
from accelerate import Accelerator
from numpy.typing import NDArray

from sat_retriever.encoder.onnx.session import limits_on, similar_lengths
from sat_retriever.records.tokens import FloatArray
from sat_retriever.train.encoder.backbone import Backbone, Batch
from sat_retriever.train.loop.ahead import depth_on, made_ahead
from sat_retriever.train.loop.device import moved, staged, tensor_float_32

Pieces = NDArray[np.int32]  # word pieces of one text


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
    tokens = torch.zeros(len(texts), backbone.spec.width, device=accelerator.device)  # (n, d)
    learning = backbone.training
    backbone.eval()
    device = accelerator.device
    groups = group_by_length(texts, device)
    own = groups[accelerator.process_index :: accelerator.num_processes]

    def padded(group: Sequence[int]) -> Batch:
        return as_batch(backbone, [texts[place] for place in group], device)

    with (
        torch.no_grad(),
        tensor_float_32(device),
        closing(made_ahead(padded, own, depth_on(device.type))) as batches,
    ):
        for group, batch in zip(own, batches, strict=True):
            tokens[group] = backbone([on_device(batch, device)])
    backbone.train(learning)
    # Every row is zero in all processes but one.
    shared: FloatArray = accelerator.reduce(tokens, "sum").cpu().numpy()
    return shared


def group_by_length(texts: Sequence[Pieces], device: torch.device) -> list[list[int]]:
    """Group the places of texts by similar length, for padded batches on a device."""
    return similar_lengths([*map(len, texts)], limits_on(device.type))


def as_batch(backbone: Backbone, texts: Sequence[Pieces], device: torch.device) -> Batch:
    """Return the padded word pieces and the mask of some texts on the host, staged for a device."""
    ids, mask = backbone.pieces.padded([text.tolist() for text in texts])  # (b, t)
    return staged(ids, device), staged(mask, device)


def on_device(batch: Batch, device: torch.device) -> Batch:
    """Return a staged batch on the device."""
    ids, mask = batch
    return moved(ids, device), moved(mask, device)
