"""Encode many texts in batches of similar length, shared among processes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from accelerate import Accelerator
from numpy.typing import NDArray

from sat_retriever.records.tokens import FloatArray
from sat_retriever.training.encoder.backbone import Backbone, Batch

Pieces = NDArray[np.int32]  # word pieces of one text

# Word pieces in one padded batch. On a processor larger batches gain nothing, and many small ones
# of one length are a fifth faster than three large ones; a GPU needs more to be busy.
_BATCH_PIECES = {"cpu": 1024, "cuda": 65_536}


def split_texts(backbone: Backbone, texts: Sequence[str], prefix: str) -> list[Pieces]:
    """Return the word pieces of each text after the prefix, as the encoder will split it."""
    return [np.asarray(backbone.pieces.of(prefix + text), dtype=np.int32) for text in texts]


def encode_pieces(
    backbone: Backbone, texts: Sequence[Pieces], accelerator: Accelerator
) -> FloatArray:
    """Return the tokens of texts, (n, d) float32, rows of unit length, equal in every process.

    They are the tokens of the exported encoder: fp32 whatever the training's precision, without
    dropout or gradient. Each process encodes its share.
    """
    tokens = torch.zeros(len(texts), backbone.spec.width, device=accelerator.device)  # (n, d)
    learning = backbone.training
    backbone.eval()
    with torch.no_grad():
        groups = group_by_length(texts, accelerator.device)
        for group in groups[accelerator.process_index :: accelerator.num_processes]:
            batch = as_batch(backbone, [texts[place] for place in group], accelerator.device)
            tokens[group] = backbone([batch])
    backbone.train(learning)
    # Every row is zero in all processes but one.
    shared: FloatArray = accelerator.reduce(tokens, "sum").cpu().numpy()
    return shared


def group_by_length(texts: Sequence[Pieces], device: torch.device) -> list[list[int]]:
    """Group the places of texts by similar length, shortest first, without empty groups."""
    limit = _BATCH_PIECES.get(device.type, _BATCH_PIECES["cpu"])
    groups: list[list[int]] = []
    for place in sorted(range(len(texts)), key=lambda place: len(texts[place])):
        if groups and (len(groups[-1]) + 1) * len(texts[place]) <= limit:
            groups[-1].append(place)
        else:
            groups.append([place])
    return groups


def as_batch(backbone: Backbone, texts: Sequence[Pieces], device: torch.device) -> Batch:
    """Return the padded word pieces and the mask of some texts, on the device."""
    ids, mask = backbone.pieces.padded([text.tolist() for text in texts])  # (b, t)
    return torch.from_numpy(ids).to(device), torch.from_numpy(mask).to(device)
