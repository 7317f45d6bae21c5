"""The mapped state of a large index, read: whole, or the part of the sheets that groups see."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sat_retriever.index.search.columns import (
    Columns,
    Frequent,
    Periods,
    is_large,
    take_columns,
)
from sat_retriever.index.search.frequent_words import FrequentInContents, FrequentInNames
from sat_retriever.index.search.tokens import Codes, TokenTable
from sat_retriever.index.store.store import Store

FORMAT = 4
STATE = "state.json"
ARRAYS: Mapping[str, tuple[str, int | None]] = {
    "ids": ("<i8", None),
    "token_sum": ("<f8", None),
    "lengths": ("<f4", 2),
    "tie_rank": ("<i8", None),
    "workbooks": ("<i8", None),
    "documentation": ("<i8", None),
    "main": ("<i8", None),
}  # type and width of each array that is written as it is
# Of the sheets that are compared with the index file as many must be visible to a group, or the
# state is not used for it: too few were compared, or the group sees so small a part that reading it
# costs less.
_CHECKED_SEEN = 8


def read_columns(store: Store, width: int) -> Columns | None:
    """The latest mapped state that fits and is no newer, else None; the caller reads the store.

    Of a store that is open for some groups it is the part of their sheets.
    """
    folders = store.beside.glob("g*") if store.beside else ()
    for folder in sorted(folders, reverse=True):
        try:
            state = json.loads((folder / STATE).read_text(encoding="utf-8"))
            if _fits(store, state, width):
                found = _columns(folder, state, width)
                return found if store.principals is None else _seen_part(store, found, width)
        except (OSError, ValueError, KeyError, TypeError, IndexError):
            continue
    return None


def _fits(store: Store, state: Mapping[str, Any], width: int) -> bool:
    meta = store.meta()
    known = (state["format"], state["fingerprint"], state["width"])
    if known != (FORMAT, meta["fingerprint"], width) or not is_large(state["sheets"]):
        return False
    if state["generation"] > store.generation():
        return False
    now = store.checksums([int(each) for each in state["sample"]])
    same = state["generation"] == store.generation()
    if store.principals is not None:
        same = False  # sheets may be hidden
        if len(now) < _CHECKED_SEEN:
            return False
    return all(now.get(each) == crc or (each not in now and not same)
               for each, crc in state["sample"].items())  # fmt: skip


def _columns(folder: Path, state: Mapping[str, Any], width: int) -> Columns:
    """Map the arrays of a state; `ValueError` for one that does not fit, `OSError` without it."""
    plain = {name: _load(folder, name, *kind) for name, kind in ARRAYS.items()}
    n = int(state["sheets"])
    sized = ("ids", "lengths", "tie_rank", "workbooks")
    pointing = (plain["documentation"], plain["main"])
    whole = (
        all(len(plain[name]) == n for name in sized)
        and len(plain["token_sum"]) == width
        and bool((np.diff(plain["ids"]) > 0).all())
        and all(_ascend_below(rows, n) for rows in pointing)
    )
    periods = Periods(
        _load(folder, "periods.kinds", "<i2", 5), _load(folder, "periods.codes", "<i4")
    )
    codes = periods.codes
    whole &= len(codes) == n and bool(codes.min() >= 0 and codes.max() < len(periods.kinds))
    tokens = _load_cells(folder, width)
    if not whole or len(tokens) != n:
        raise ValueError("the mapped state is damaged")
    return Columns(
        generation=int(state["generation"]),
        tokens=tokens,
        tokens_summed=int(state["tokens_summed"]),
        periods=periods,
        frequent=Frequent(
            _load_names(folder, state["names"], n),
            _load_contents(folder, state["contents"], n),
            int(plain["ids"][-1]),
        ),
        **plain,
    )


def _seen_part(store: Store, whole: Columns, width: int) -> Columns:
    """The columns of the sheets that some groups see, with what a mapped state has of them.

    A state knows no permissions: which sheets these are is read from the store. All that is learnt
    from many sheets is learnt from these alone; cells are not, so they are not used. Mapped arrays
    stay mapped. `ValueError` if the state lacks one of the sheets.
    """
    found = take_columns(store, width, whole)
    tokens = found.tokens
    if not isinstance(tokens, TokenTable):
        return found  # they are few, and were read
    if len(tokens) != len(found.ids):
        raise ValueError("the mapped state lacks a sheet")
    return replace(
        found,
        tokens=tokens.without_cells(),
        token_sum=tokens.sum(),
        tokens_summed=len(tokens),
    )


def _ascend_below(rows: NDArray[Any], bound: int) -> bool:
    """True if positions ascend from 0 or more to less than a bound."""
    return not len(rows) or bool(rows[0] >= 0 and rows[-1] < bound and (np.diff(rows) > 0).all())


def _load(folder: Path, name: str, kind: str, width: int | None = None) -> NDArray[Any]:
    found = np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False))
    shape = (len(found),) if width is None else (len(found), width)
    if found.dtype != np.dtype(kind) or found.shape != shape:
        raise ValueError(f"{name} has another type or shape")
    return found


def _load_cells(folder: Path, width: int) -> TokenTable:
    return TokenTable.of(
        Codes(_load(folder, "tokens.codes", "|u1", width), _load(folder, "tokens.scales", "<f4")),
        _load(folder, "tokens.centres", "<f4", width),
        _load(folder, "tokens.starts", "<i8"),
        _load(folder, "tokens.order", "<i4"),
    )


def _load_names(folder: Path, words: Sequence[str], sheets: int) -> FrequentInNames:
    found = FrequentInNames(
        **_load_postings(folder, "names", words, sheets),
        dense_fields=_load(folder, "names.dense_fields", "|u1", sheets),
        dense_impacts=_load(folder, "names.dense_impacts", "|u1", sheets),
        fields=_load(folder, "names.fields", "|u1"),
        posting_impacts=_load(folder, "names.impacts", "|u1"),
    )
    found.check(len(found.dense_fields))
    if len(found.dense_impacts) != len(found.dense_fields) or not (
        len(found.fields) == len(found.posting_impacts) == len(found.rows)
    ):
        raise ValueError("the frequent words of names do not fit together")
    return found


def _load_contents(folder: Path, words: Sequence[str], sheets: int) -> FrequentInContents:
    found = FrequentInContents(
        **_load_postings(folder, "contents", words, sheets),
        dense_bits=_load(folder, "contents.dense_bits", "|u1", -(-sheets // 8)),
        shares_of_255=_load(folder, "contents.shares", "|u1"),
    )
    found.check(len(found.dense_bits))
    if len(found.shares_of_255) != sheets:
        raise ValueError("the shares of contents are of other sheets")
    return found


def _load_postings(folder: Path, name: str, words: Sequence[str], sheets: int) -> dict[str, Any]:
    kinds = {"dense": "<i8", "having": "<i8", "starts": "<i8", "rows": "<u4"}
    found: dict[str, Any] = {x: _load(folder, f"{name}.{x}", kind) for x, kind in kinds.items()}
    numbers = {word: number for number, word in enumerate(words)}
    return {"numbers": numbers, "before": sheets, "kept": None, **found}
