"""The mapped state of a large index, written: arrays in files of a folder, which is renamed."""

from __future__ import annotations

import json
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from sat_retriever.index.search.columns import Columns
from sat_retriever.index.search.frequent_words import COUNTS
from sat_retriever.index.search.mapped_read import ARRAYS, FORMAT, STATE
from sat_retriever.index.search.tokens import TokenTable, cell_order
from sat_retriever.index.store.rows import IdArray
from sat_retriever.index.store.store import Store
from sat_retriever.text.lexical import Bm25

_COMMON = 500  # sheets from which a word is frequent, or one in
_SHARE = 2_000
# A word that one sheet in so many has, in names or in contents, has a place for every sheet: there
# it takes no more space than its postings.
_DENSE_IN_NAMES, _DENSE_IN_CONTENTS = 16, 32
_CHECKED = 64  # sheets at the end, and as many among all, that are compared with the index file
_PART = 8_192  # tokens in memory while they are written


def write_columns(home: Path, store: Store, columns: Columns, width: int) -> Path:
    """Write an unchanging state in place of earlier ones; raises `OSError` if `home` refuses."""
    home.mkdir(exist_ok=True)
    if isinstance(store.path, Path):
        hide(home, store.path)
    name = f"g{columns.generation:012}-{secrets.token_hex(4)}"
    draft = home / f".{name}"
    draft.mkdir()
    try:
        for each in ARRAYS:
            _save(draft, each, getattr(columns, each))
        _save(draft, "periods.kinds", columns.periods.kinds.astype("<i2"))
        _save(draft, "periods.codes", columns.periods.codes.astype("<i4"))
        if isinstance(columns.tokens, TokenTable):
            _save_cells(draft, columns.tokens, width)
        names, contents = _save_names(draft, store, columns), _save_contents(draft, store, columns)
        state = {
            "format": FORMAT,
            "generation": columns.generation,
            "fingerprint": store.meta()["fingerprint"],
            "width": width,
            "sheets": len(columns.ids),
            "tokens_summed": columns.tokens_summed,
            "sample": _sample(store, columns.ids),
            "names": names,
            "contents": contents,
        }
        (draft / STATE).write_text(json.dumps(state), encoding="utf-8")
        draft.rename(home / name)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    for other in home.iterdir():
        if other.name != name:  # readers that have mapped it keep what they have
            shutil.rmtree(other, ignore_errors=True)
    return home / name


def hide(home: Path, index: Path) -> None:
    """Let those alone into a folder who may read an index file."""
    file, folder = index.stat(), home.stat()
    mode = stat.S_IMODE(file.st_mode)
    if file.st_gid != folder.st_gid:
        mode &= ~stat.S_IRWXG
    mode |= stat.S_IRWXU | (mode & 0o444) >> 2  # who may read may enter
    if mode != stat.S_IMODE(folder.st_mode):
        home.chmod(mode)


def _sample(store: Store, ids: IdArray) -> dict[str, int]:
    spread = ids[np.linspace(0, len(ids) - 1, _CHECKED).astype(np.intp)] if len(ids) else ids
    return store.checksums(np.union1d(spread, ids[-_CHECKED:]).tolist())


def _save(folder: Path, name: str, values: NDArray[Any]) -> None:
    kind = ARRAYS[name][0] if name in ARRAYS else values.dtype
    np.save(folder / f"{name}.npy", np.asarray(values).astype(kind, copy=False), allow_pickle=False)


def _open(folder: Path, name: str, kind: str, shape: tuple[int, int]) -> np.memmap[Any, Any]:
    return open_memmap(folder / f"{name}.npy", mode="w+", dtype=np.dtype(kind), shape=shape)


def _save_cells(folder: Path, tokens: TokenTable, width: int) -> None:
    centres, starts, order = cell_order(tokens)
    values = _open(folder, "tokens.codes", "u1", (len(order), width))
    scales = np.empty(len(order), dtype=np.float32)
    for start in range(0, len(order), _PART):
        part = slice(start, start + _PART)
        codes = tokens.taken(order[part])
        values[part], scales[part] = codes.values, codes.scales
    values.flush()
    _save(folder, "tokens.scales", scales)
    _save(folder, "tokens.centres", centres.astype("<f4"))
    _save(folder, "tokens.starts", starts.astype("<i8"))
    _save(folder, "tokens.order", order.astype("<i4"))


def _save_names(folder: Path, store: Store, columns: Columns) -> list[str]:
    """Save the frequent words of names; an impact is at least 1."""
    n, formula = len(columns.ids), Bm25.of_names(columns.lengths[:, 0])
    words = store.common_words(max(_COMMON, n // _SHARE), contents=False)
    fields, impacts = [np.empty(0, "u1")], [np.empty(0, "u1")]

    def postings() -> Iterator[NDArray[np.intp]]:
        for found in store.all_postings(words):
            marks = np.zeros(n, dtype=np.uint8)
            for field, rows in enumerate(found):
                marks[np.searchsorted(columns.ids, rows)] |= np.uint8(1 << field)
            rows = np.flatnonzero(marks)
            fields.append(marks[rows])
            shares = formula.shares(rows, COUNTS[fields[-1]])
            impacts.append(np.ceil(shares * 255).clip(1, 255).astype(np.uint8))
            yield rows

    dense = _save_postings(folder, "names", postings(), n // _DENSE_IN_NAMES)
    for name, parts in (("fields", fields), ("impacts", impacts)):
        of_all = _open(folder, f"names.dense_{name}", "u1", (len(dense), n))
        for place, (number, rows) in enumerate(dense.items()):
            of_all[place, rows] = parts[1 + number]
            parts[1 + number] = parts[0]
        of_all.flush()
        _save(folder, f"names.{name}", np.concatenate(parts))
    return words


def _save_contents(folder: Path, store: Store, columns: Columns) -> list[str]:
    """Save the frequent words of contents."""
    n, formula = len(columns.ids), Bm25.of_contents(columns.lengths[:, 1])
    words: list[str] = []
    if formula.sheets:
        words = store.common_words(max(_COMMON, n // _SHARE), contents=True)

    def postings() -> Iterator[NDArray[np.intp]]:
        for found in store.all_content_postings(words):
            rows = np.searchsorted(columns.ids, found)
            yield rows[columns.ids.take(rows, mode="clip") == found]

    dense = _save_postings(folder, "contents", postings(), n // _DENSE_IN_CONTENTS)
    bits = _open(folder, "contents.dense_bits", "u1", (len(dense), -(-n // 8)))
    for place, rows in enumerate(dense.values()):
        having = np.zeros(n, dtype=np.bool_)
        having[rows] = True
        bits[place] = np.packbits(having)
    bits.flush()
    shares = formula.shares(np.arange(n), np.ones(n, dtype=np.float32))
    _save(folder, "contents.shares", np.ceil(shares * 255).astype(np.uint8))
    return words


def _save_postings(
    folder: Path, name: str, postings: Iterable[NDArray[np.intp]], least: int
) -> dict[int, NDArray[np.uint32]]:
    """Save positions of the sheets with each word; return those of words that so many have.

    These have the number of their word.
    """
    dense: dict[int, NDArray[np.uint32]] = {}
    places, having, rows = [], [], [np.empty(0, "<u4")]
    for number, found in enumerate(postings):
        is_dense = len(found) >= max(least, 1)
        places.append(len(dense) if is_dense else -1)
        having.append(len(found))
        if is_dense:
            dense[number] = found.astype("<u4")
        else:
            rows.append(found.astype("<u4"))
    ends = np.where(np.array(places, dtype="<i8") < 0, np.array(having, dtype="<i8"), 0).cumsum()
    _save(folder, f"{name}.dense", np.array(places, dtype="<i8"))
    _save(folder, f"{name}.having", np.array(having, dtype="<i8"))
    _save(folder, f"{name}.starts", np.concatenate(([0], ends)).astype("<i8"))
    _save(folder, f"{name}.rows", np.concatenate(rows))
    return dense
