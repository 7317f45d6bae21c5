"""Tokens of many sheets as bytes, near ones side by side, to find those that are near a question.

Only a large index has them. They say which sheets to score; the scores themselves are of the exact
tokens, which stay in the store.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sat_retriever.encoder.onnx.session import open_session
from sat_retriever.records.tokens import FloatArray

if TYPE_CHECKING:
    import onnxruntime

Rows = NDArray[np.intp]
Mask = NDArray[np.bool_]
"""True for the sheets among which to look, (n,)."""

NEAREST = 512  # sheets by cosine
SCANNED = 16_384  # codes of the nearest cells that are compared with a question
_AT_MOST = 2 * SCANNED  # the same where few of them meet filters
_CELL = 1_024  # tokens in a cell, on average
_SAMPLED = 64  # tokens a cell from which centres are found
_ROUNDS = 5
_PART = 8_192  # tokens that are put into cells at once
_ZERO = 128  # stands for 0 in a code
_NO_SUMS = np.empty(0, dtype=np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class AskedCodes:
    """The token of a question as whole numbers in [-63, 63], to be compared with codes.

    With larger ones, processors without VNNI would cut off sums of two products.
    """

    values: NDArray[np.int8]  # (d, 1) int8
    scale: np.float32

    @classmethod
    def of(cls, token: FloatArray) -> AskedCodes:
        """Return the codes of a token of unit length, (d,)."""
        scale = np.abs(token).max() / np.float32(63)
        return cls(np.rint(token / scale).astype(np.int8)[:, None], scale)


@dataclass(frozen=True, slots=True, eq=False)
class Codes:
    """Tokens as bytes, which say numbers from -127 to 127; their cosines are off by about 0.01."""

    values: NDArray[np.uint8]  # 128 more than each number, (m, d) uint8
    scales: NDArray[np.float32]  # what each token's numbers are multiplied by, (m,) float32

    @classmethod
    def of(cls, tokens: FloatArray) -> Codes:
        """Return the codes of tokens, (m, d).

        >>> found = Codes.of(np.float32([[0.6, -0.8], [0.0, 0.0]]))
        >>> found.values.tolist(), found.floats().round(2).tolist()
        ([[223, 1], [128, 128]], [[0.6000000238418579, -0.800000011920929], [0.0, 0.0]])
        """
        scales = np.abs(tokens).max(axis=1, initial=0) / np.float32(127)
        known = np.where(scales > 0, scales, np.float32(1))
        values = np.rint(tokens / known[:, None]) + np.float32(_ZERO)
        return cls(values.astype(np.uint8), scales.astype(np.float32))

    def __len__(self) -> int:
        return len(self.scales)

    def __getitem__(self, at: NDArray[np.integer] | slice) -> Codes:
        return Codes(self.values[at], self.scales[at])

    def floats(self) -> FloatArray:
        """The tokens, (m, d) float32."""
        found: FloatArray = (self.values - np.float32(_ZERO)) * self.scales[:, None]
        return found

    def cosines(self, asked: AskedCodes, at: NDArray[np.integer] | None = None) -> FloatArray:
        """Cosine of each token, or of those at some places, with another one, (m,) float32.

        Whole numbers are multiplied and added up by onnxruntime, without a rounding, in a third of
        the time that numpy takes by floats.
        """
        if at is None:
            scales, sums = self.scales, _products_of(self.values, asked)
        else:  # in parts that stay in the processor's cache
            scales = self.scales.take(at)
            starts = range(0, len(at), _PART)
            parts = (self.values.take(at[start : start + _PART], axis=0) for start in starts)
            sums = np.concatenate([_NO_SUMS, *(_products_of(part, asked) for part in parts)])
        cosines: FloatArray = sums.astype(np.float32) * (scales * asked.scale)
        return cosines

    @classmethod
    def joined(cls, codes: Sequence[Codes]) -> Codes:
        """Return codes one after the other."""
        values = np.concatenate([each.values for each in codes])
        return cls(values, np.concatenate([each.scales for each in codes]))


@dataclass(frozen=True, slots=True, eq=False)
class TokenTable:
    """Codes of the tokens of n sheets; `table @ token` gives cosines as an array of tokens does."""

    codes: Codes  # codes in cells of near ones, (b,); also of sheets that are gone
    centres: FloatArray  # a direction for each cell, (c, d) float32
    starts: NDArray[np.int64]  # where each cell begins in `codes`, and the end, (c + 1,) int64
    # Position of each code's sheet, (b,) int32; -1 for a sheet that is gone.
    sheets: NDArray[np.int32]
    # Place of each sheet's code, (n,) int32: in `codes`, or b and more in `added`.
    slots: NDArray[np.int32]
    added: Codes  # codes of sheets that came later, (a,)

    @classmethod
    def of(
        cls,
        codes: Codes,
        centres: FloatArray,
        starts: NDArray[np.int64],
        order: NDArray[np.int32],
    ) -> TokenTable:
        """The table of n sheets whose codes lie side by side in cells; see `TokenTable`.

        `order` has the position of each code's sheet, (n,). Parts that do not fit raise
        `ValueError`.
        """
        n = len(order)
        whole = (
            len(codes) == n == len(codes.values)
            and len(centres) == len(starts) - 1
            and starts[0] == 0
            and starts[-1] == n
            and bool((np.diff(starts) >= 0).all())
            and bool((np.bincount(order, minlength=n) == 1).all())
        )
        if not whole:
            raise ValueError("the cells of tokens do not fit together")
        slots = np.empty(n, dtype=np.int32)
        slots[order] = np.arange(n, dtype=np.int32)
        return cls(codes, centres, starts, order, slots, codes[:0])

    @classmethod
    def in_one_cell(cls, codes: Codes) -> TokenTable:
        """The table of sheets whose codes are in their order."""
        order = np.arange(len(codes), dtype=np.int32)
        starts = np.array([0, len(codes)], dtype=np.int64)
        centre = np.zeros((1, codes.values.shape[1]), dtype=np.float32)
        return cls.of(codes, centre, starts, order)

    def __len__(self) -> int:
        return len(self.slots)

    def __getitem__(self, rows: Rows) -> TokenTable:
        """The table of some sheets; its cells are not searched."""
        return TokenTable(
            self.codes, self.centres, self.starts, self.sheets, self.slots.take(rows), self.added
        )

    def __matmul__(self, token: FloatArray) -> FloatArray:
        """Cosine of every sheet with a token of unit length, (n,) float32."""
        asked, at, first = AskedCodes.of(token), self.slots, len(self.sheets)
        if len(at) * 4 > len(self.codes) * 3:
            own = self.codes.cosines(asked), self.added.cosines(asked)
            return np.concatenate(own)[at]
        found = self.codes.cosines(asked, np.minimum(at, first - 1))
        later = np.flatnonzero(at >= first)
        found[later] = self.added.cosines(asked, at[later] - first)
        return found

    def taken(self, rows: Rows | slice) -> Codes:
        """Codes of some sheets, in their order."""
        at, first = self.slots[rows], len(self.sheets)
        found = self.codes[np.minimum(at, first - 1)] if first else self.added[at]
        later = np.flatnonzero(at >= first)
        if first and len(later):
            found.values[later] = self.added.values[at[later] - first]
            found.scales[later] = self.added.scales[at[later] - first]
        return found

    def changed(self, kept: NDArray[np.bool_], added: Codes) -> TokenTable:
        """The table of the sheets to keep, a mask (n,), and of others after them."""
        first = len(self.sheets)
        moved = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
        sheets = np.where(self.sheets < 0, np.int32(-1), moved[self.sheets])
        later = first + len(self.added) + np.arange(len(added), dtype=np.int32)
        slots = np.concatenate((self.slots[kept], later)).astype(np.int32)
        return TokenTable(
            self.codes, self.centres, self.starts, sheets, slots, Codes.joined((self.added, added))
        )

    def without_cells(self) -> TokenTable:
        """The same sheets in one cell, so that all are compared."""
        ends = np.array([0, len(self.codes)], dtype=np.int64)
        return replace(self, centres=np.zeros_like(self.centres[:1]), starts=ends)

    def sum(self) -> NDArray[np.float64]:
        """Sum of all tokens, by their codes, (d,)."""
        total = np.zeros(self.codes.values.shape[1])
        for start in range(0, len(self), _PART):
            total += self.taken(slice(start, start + _PART)).floats().sum(axis=0, dtype=np.float64)
        return total

    def nearest(
        self, token: FloatArray, masks: Sequence[Mask | None], *, all_cells: bool = False
    ) -> list[Rows]:
        """Positions of about the 512 sheets of the highest cosine within each mask.

        Sheets of the nearest cells are compared, and all that came later; or all sheets, also where
        there is one cell.

        Source: Jégou, Douze and Schmid (2011), an inverted file. Departs: codes are of the tokens
        themselves, one byte a number, not of their distance from the centre.
        """
        asked = AskedCodes.of(token)
        every = all_cells or len(self.centres) == 1
        if every:
            sheets, cosines = np.arange(len(self)), self @ token
        else:
            sheets, cosines = self._scanned(token, asked, masks)
        if len(self.added) and not every:
            later = np.flatnonzero(self.slots >= len(self.sheets))
            own = self.added.cosines(asked)[self.slots[later] - len(self.sheets)]
            sheets, cosines = np.concatenate((sheets, later)), np.concatenate((cosines, own))
        found = []
        for mask in masks:
            allowed = None if mask is None else np.flatnonzero(mask[sheets])
            own = cosines if allowed is None else cosines[allowed]
            best = _most_of(own)
            found.append(sheets[best if allowed is None else allowed[best]])
        return found

    def _scanned(
        self, token: FloatArray, asked: AskedCodes, masks: Sequence[Mask | None]
    ) -> tuple[Rows, FloatArray]:
        """Positions and cosines of the sheets of the nearest cells."""
        wanted = [mask for mask in masks if mask is not None]
        sheets: list[Rows] = []
        cosines: list[FloatArray] = []
        seen, met = 0, [0] * len(wanted)
        for cell in np.argsort(-(np.einsum("cd,d->c", self.centres, token))).tolist():
            enough = seen >= SCANNED and min(met, default=NEAREST) >= NEAREST
            if enough or seen >= _AT_MOST:
                break
            start, end = self.starts[cell : cell + 2].tolist()
            end = min(end, start + SCANNED)  # a cell of equal tokens may be large
            own = self.sheets[start:end].astype(np.intp)
            cosine = self.codes[start:end].cosines(asked)
            there = own >= 0
            own, cosine = (own, cosine) if there.all() else (own[there], cosine[there])
            sheets.append(own)
            cosines.append(cosine)
            seen += len(own)
            met = [n + int(np.count_nonzero(m[own])) for n, m in zip(met, wanted, strict=True)]
        return np.concatenate(sheets), np.concatenate(cosines)


Tokens = FloatArray | TokenTable
"""Tokens of n sheets as they are, or their codes."""


@cache
def _products() -> onnxruntime.InferenceSession:
    """The product of a matrix of bytes with a column, as whole numbers."""
    return open_session(Path(__file__).with_name("products.onnx"), 1, "cpu")


def _products_of(values: NDArray[np.uint8], asked: AskedCodes) -> NDArray[np.int32]:
    """Products of codes, (m, d), with those of a question, (m,)."""
    if not len(values):
        return _NO_SUMS
    found: NDArray[np.int32] = _products().run(None, {"codes": values, "asked": asked.values})[0]
    return found[:, 0] - np.int32(_ZERO * int(asked.values.sum(dtype=np.int32)))


def _most_of(cosines: FloatArray) -> Rows:
    """Places of the 512 highest cosines, in any order."""
    if len(cosines) <= NEAREST:
        return np.arange(len(cosines))
    return np.argpartition(cosines, len(cosines) - NEAREST)[-NEAREST:]


def cell_order(tokens: TokenTable, seed: int = 0) -> tuple[FloatArray, NDArray[np.int64], Rows]:
    """Centres (c, d), starts (c + 1,), and the positions of n sheets in the order of their cells.

    Source: Lloyd (1982), by cosine (Dhillon and Modha 2001), from a sample.
    """
    n = len(tokens)
    count = max(1, n // _CELL)
    sample = np.random.default_rng(seed).choice(n, min(n, _SAMPLED * count), replace=False)
    found = tokens.taken(np.sort(sample)).floats()
    centres = found[:: max(1, len(found) // count)][:count].copy()
    for _ in range(_ROUNDS):
        cell = (found @ centres.T).argmax(axis=1)
        order = np.argsort(cell, kind="stable")
        _, first = np.unique(cell[order], return_index=True)
        sums = np.add.reduceat(found[order], first, axis=0)
        centres = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)
    cells = np.empty(n, dtype=np.int64)
    for start in range(0, n, _PART):
        part = tokens.taken(np.arange(start, min(start + _PART, n))).floats()
        cells[start : start + len(part)] = (part @ centres.T).argmax(axis=1)
    starts = np.concatenate(([0], np.cumsum(np.bincount(cells, minlength=len(centres)))))
    return centres, starts.astype(np.int64), np.argsort(cells, kind="stable")
