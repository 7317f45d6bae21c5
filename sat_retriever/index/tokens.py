"""Tokens of many sheets in a mapped file, near ones side by side, and of those that came later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sat_retriever.records.tokens import FloatArray

Rows = NDArray[np.intp]
Mask = NDArray[np.bool_]

NEAREST = 1_024  # sheets by cosine
SCANNED = 12_288  # tokens of the nearest cells that are compared with a question
_AT_MOST = 2 * SCANNED  # the same where few of them meet filters
_SAMPLED = 64  # tokens a cell from which centres are found
_ROUNDS = 5
_PART = 8_192  # tokens in memory while all are put in order


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Tokens in groups of near ones.

    Attributes:
        tokens: (b, d) float32, those of a cell side by side.
        centres: A direction for each cell, (c, d) float32.
        starts: Where each cell begins in `tokens`, and the end, (c + 1,) int64.
        order: Position of each token's sheet when the cells were made, (b,) int32.
    """

    tokens: FloatArray
    centres: FloatArray
    starts: NDArray[np.int64]
    order: NDArray[np.int32]

    def check(self, width: int) -> None:
        """Refuse cells that do not fit together.

        Raises:
            ValueError: If they do not.
        """
        count = len(self.order)
        whole = (
            self.tokens.shape == (count, width)
            and self.centres.shape == (len(self.starts) - 1, width)
            and self.starts[0] == 0
            and self.starts[-1] == count
            and bool((np.diff(self.starts) >= 0).all())
            and bool((np.bincount(self.order, minlength=count) == 1).all())
        )
        if not whole:
            raise ValueError("the cells of tokens do not fit together")


@dataclass(frozen=True, slots=True, eq=False)
class TokenTable:
    """Tokens of n sheets; `table[rows]` and `table @ token` are as of an array (n, d).

    Attributes:
        cells: Tokens in groups of near ones; also of sheets that are gone.
        sheets: Position of each token's sheet, (b,); -1 for a sheet that is gone.
        slots: Place of each sheet's token, (n,): in the cells, or b and more in `added`.
        added: Tokens of sheets that came later, (a, d) float32.
    """

    cells: Cells
    sheets: NDArray[np.int32]
    slots: NDArray[np.int32]
    added: FloatArray

    @classmethod
    def of(cls, cells: Cells) -> TokenTable:
        """Return the table of the sheets that cells were made of."""
        slots = np.empty(len(cells.order), dtype=np.int32)
        slots[cells.order] = np.arange(len(slots), dtype=np.int32)
        return cls(cells, cells.order, slots, cells.tokens[:0])

    def __len__(self) -> int:
        """Number of sheets."""
        return len(self.slots)

    def __getitem__(self, rows: Rows) -> FloatArray:
        """Tokens of some sheets, (m, d) float32."""
        at = self.slots[rows]
        first = len(self.sheets)
        found = self.cells.tokens[np.minimum(at, first - 1)]
        later = np.flatnonzero(at >= first)
        found[later] = self.added[at[later] - first]
        return found

    def __matmul__(self, token: FloatArray) -> FloatArray:
        """Cosine of every sheet with a token of unit length, (n,) float32."""
        every = np.concatenate((self.cells.tokens @ token, self.added @ token))
        return every[self.slots]

    def changed(self, kept: Mask, added: FloatArray) -> TokenTable:
        """Return the table without some sheets, and with others after them.

        Args:
            kept: True for the sheets that stay, (n,).
            added: Tokens of the others, (a, d).
        """
        first = len(self.sheets)
        moved = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
        sheets = np.where(self.sheets < 0, np.int32(-1), moved[self.sheets])
        later = first + len(self.added) + np.arange(len(added), dtype=np.int32)
        slots = np.concatenate((self.slots[kept], later)).astype(np.int32)
        return TokenTable(self.cells, sheets, slots, np.concatenate((self.added, added)))

    def nearest(self, token: FloatArray, masks: Sequence[Mask | None]) -> list[Rows]:
        """Positions of about the 1,024 sheets of the highest cosine within each mask.

        Sheets of the nearest cells are compared, and all that came later.

        Source: Jégou, Douze and Schmid (2011), an inverted file. Departs: tokens are compared
        as they are, not as codes.

        Args:
            token: Token of a question, (d,), unit length.
            masks: Sheets among which to look, each (n,); None for all.
        """
        sheets, cosines = self._scanned(token, masks)
        later = np.flatnonzero(self.slots >= len(self.sheets))
        if len(later):
            sheets = np.concatenate((sheets, later))
            own = self.added[self.slots[later] - len(self.sheets)] @ token
            cosines = np.concatenate((cosines, own))
        found = []
        for mask in masks:
            allowed = None if mask is None else np.flatnonzero(mask[sheets])
            own = cosines if allowed is None else cosines[allowed]
            best = most_of(own)
            found.append(sheets[best if allowed is None else allowed[best]])
        return found

    def _scanned(self, token: FloatArray, masks: Sequence[Mask | None]) -> tuple[Rows, FloatArray]:
        """Positions and cosines of the sheets of the nearest cells."""
        wanted = [mask for mask in masks if mask is not None]
        sheets: list[Rows] = []
        cosines: list[FloatArray] = []
        seen, met = 0, [0] * len(wanted)
        for cell in np.argsort(-(self.cells.centres @ token)).tolist():
            if seen >= _AT_MOST or (seen >= SCANNED and min(met, default=NEAREST) >= NEAREST):
                break
            start, end = self.cells.starts[cell : cell + 2].tolist()
            end = min(end, start + SCANNED)  # a cell of equal tokens may be large
            own = self.sheets[start:end].astype(np.intp)
            cosine = self.cells.tokens[start:end] @ token
            there = own >= 0
            own, cosine = (own, cosine) if there.all() else (own[there], cosine[there])
            sheets.append(own)
            cosines.append(cosine)
            seen += len(own)
            met = [n + int(np.count_nonzero(m[own])) for n, m in zip(met, wanted, strict=True)]
        return np.concatenate(sheets), np.concatenate(cosines)


Tokens = FloatArray | TokenTable
"""Tokens of n sheets, in memory or mapped."""


def most_of(cosines: FloatArray) -> Rows:
    """Places of the 1,024 highest cosines, in any order."""
    if len(cosines) <= NEAREST:
        return np.arange(len(cosines))
    return np.argpartition(cosines, len(cosines) - NEAREST)[-NEAREST:]


def nearest(tokens: Tokens, token: FloatArray, masks: Sequence[Mask | None]) -> list[Rows]:
    """What `TokenTable.nearest` gives; every sheet is compared where tokens are in memory."""
    if isinstance(tokens, TokenTable):
        return tokens.nearest(token, masks)
    cosines = tokens @ token
    found = []
    for mask in masks:
        rows = None if mask is None else np.flatnonzero(mask)
        best = most_of(cosines if rows is None else cosines[rows])
        found.append(best if rows is None else rows[best])
    return found


def cell_order(tokens: Tokens, seed: int = 0) -> tuple[FloatArray, NDArray[np.int64], Rows]:
    """Centres (c, d), starts (c + 1,), and the positions of n sheets in the order of their cells.

    Source: Lloyd (1982), by cosine (Dhillon and Modha 2001), from a sample.

    Args:
        tokens: Tokens of the sheets, at least one.
        seed: Decides which tokens are sampled.
    """
    n = len(tokens)
    count = max(1, int(np.sqrt(n)))
    sample = np.random.default_rng(seed).choice(n, min(n, _SAMPLED * count), replace=False)
    found = tokens[np.sort(sample)]
    centres = found[:: max(1, len(found) // count)][:count].copy()
    for _ in range(_ROUNDS):
        cell = (found @ centres.T).argmax(axis=1)
        order = np.argsort(cell, kind="stable")
        _, first = np.unique(cell[order], return_index=True)
        sums = np.add.reduceat(found[order], first, axis=0)
        centres = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)
    cells = np.empty(n, dtype=np.int64)
    for start in range(0, n, _PART):
        part = tokens[np.arange(start, min(start + _PART, n))]
        cells[start : start + len(part)] = (part @ centres.T).argmax(axis=1)
    starts = np.concatenate(([0], np.cumsum(np.bincount(cells, minlength=len(centres)))))
    return centres, starts.astype(np.int64), np.argsort(cells, kind="stable")
