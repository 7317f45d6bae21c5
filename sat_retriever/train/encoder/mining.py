"""Find hard negatives: sheets near a question that are not relevant for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from sat_retriever.records.tokens import FloatArray
from sat_retriever.train.data.trainingdata import NO_SHEET

if TYPE_CHECKING:
    import torch

# Cosines in one block; two blocks of 32 MiB are held, whatever the size of the corpus.
_BLOCK = 1 << 23


def nearest_sheets(
    questions: FloatArray,
    sheets: FloatArray,
    rows: NDArray[np.int64],
    depth: int,
    device: torch.device,
) -> NDArray[np.int64]:
    """Return rows of the nearest sheets by cosine, best first, (m, at most depth).

    Only the sheets of `rows` are ranked; ties are in their ascending order. A GPU computes the
    cosines in TF32, so near ties may be in another order there.

    Args:
        questions: Tokens of m questions, (m, d), rows of unit length.
        sheets: Tokens of all n sheets, (n, d), rows of unit length.
        rows: Rows of the sheets to rank, ascending; at least one.

    >>> import torch
    >>> sheets = np.eye(3, dtype=np.float32)
    >>> nearest_sheets(sheets[[2]], sheets, np.array([0, 1, 2]), 2, torch.device("cpu"))
    array([[2, 0]])
    """
    depth = min(depth, len(rows))
    among = sheets if len(rows) == len(sheets) else sheets[rows]
    step = max(1, _BLOCK // len(rows))
    blocks = [questions[start : start + step] for start in range(0, len(questions), step)]
    if device.type != "cpu":
        return rows[_places_on_device(blocks, among, depth, device)]
    ranked = np.empty((len(questions), depth), dtype=np.int64)
    place = 0
    for block in blocks:
        # One row at a time: sorting parts of whole blocks takes as long for 1,000 sheets, and
        # twice as long for 100,000.
        for of_one in block @ among.T:  # (r,)
            ranked[place] = rows[best_places(of_one, depth)]
            place += 1
    return ranked


def _places_on_device(
    blocks: Sequence[FloatArray], among: FloatArray, depth: int, device: torch.device
) -> NDArray[np.int64]:
    """Return the places of the nearest of r sheets, (m, depth)."""
    import torch

    from sat_retriever.train.loop.device import tensor_float_32

    tokens = torch.from_numpy(np.ascontiguousarray(among)).to(device).T  # (d, r)
    found = [np.zeros((0, depth), dtype=np.int64)]
    with tensor_float_32(device):
        for block in blocks:
            cosines = torch.from_numpy(np.ascontiguousarray(block)).to(device) @ tokens
            order = cosines.sort(dim=1, descending=True, stable=True).indices  # (block, r)
            found.append(order[:, :depth].cpu().numpy())
    return np.concatenate(found)


def best_places(scores: FloatArray, count: int) -> NDArray[np.intp]:
    """Return the places of the `count` highest scores (n,), best first; ties in their order."""
    bound = np.partition(scores, len(scores) - count)[len(scores) - count]
    found = np.flatnonzero(scores >= bound)  # ascending, so that a stable sort keeps places
    return found[np.argsort(-scores[found], kind="stable")[:count]]


def draw_negatives(
    ranked: NDArray[np.int64],
    positives: Sequence[Sequence[int]],
    count: int,
    choice: Literal["first", "random"],
    seed: tuple[int, ...],
) -> NDArray[np.int64]:
    """Draw up to `count` hard negatives of each question from its nearest sheets.

    A question may have fewer or none, if few of its nearest sheets are non-relevant. Training goes
    on; the released recipe silently ends the epoch there. "first" takes the nearest, "random" draws
    without replacement; a question's draw does not depend on the others. Rows are (m, count),
    padded with `NO_SHEET`.

    >>> draw_negatives(np.array([[4, 2, 7], [1, 2, 3]]), [[4], [1, 2, 3]], 2, "first", (0,))
    array([[ 2,  7],
           [-1, -1]])
    """
    wrong = ~_among(ranked, positives)  # (m, depth)
    drawn = np.full((len(ranked), count), NO_SHEET, dtype=np.int64)
    if choice == "first":
        order = np.argsort(~wrong, axis=1, kind="stable")[:, :count]  # wrong ones before others
        near, kept = (np.take_along_axis(each, order, axis=1) for each in (ranked, wrong))
        chosen = np.where(kept, near, NO_SHEET)
        drawn[:, : chosen.shape[1]] = chosen
        return drawn
    for place, (near, kept) in enumerate(zip(ranked, wrong, strict=True)):
        own = np.random.default_rng((*seed, place)).permutation(near[kept])[:count]
        drawn[place, : len(own)] = own
    return drawn


def _among(ranked: NDArray[np.int64], positives: Sequence[Sequence[int]]) -> NDArray[np.bool_]:
    """Mark the sheets that are relevant for their question, (m, depth)."""
    gold = np.array([row for rows in positives for row in rows], dtype=np.int64)
    owners = np.repeat(np.arange(len(ranked)), [*map(len, positives)])
    if not ranked.size or not gold.size:
        return np.zeros(ranked.shape, dtype=np.bool_)
    # One number for each pair of a question and a sheet; `NO_SHEET` is -1.
    width = max(ranked.max(), gold.max()) + 2
    pairs = np.arange(len(ranked))[:, None] * width + ranked + 1
    return np.isin(pairs, owners * width + gold + 1)


def draw_positives(
    positives: Sequence[Sequence[int]], count: int, seed: tuple[int, ...]
) -> NDArray[np.int64]:
    """Draw up to `count` relevant sheets of each question without replacement.

    A question's draw does not depend on the others. Rows are (m, count), padded with `NO_SHEET`;
    the first is always a sheet.

    >>> draw_positives([[3], [5]], 2, seed=(0,))
    array([[ 3, -1],
           [ 5, -1]])
    """
    drawn = np.full((len(positives), count), NO_SHEET, dtype=np.int64)
    for place, rows in enumerate(positives):
        chosen = np.random.default_rng((*seed, place)).permutation(rows)[:count]
        drawn[place, : len(chosen)] = chosen
    return drawn
