"""The state of a large index in mapped files beside it, so that a new process need not read it.

All of it comes from the index file: deleting the folder is safe, and one that is damaged, of
another index or of a newer state is passed over. Writers replace it whole, by a rename. Readers
share its memory.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from sat_retriever.index.search.columns import (
    Columns,
    Frequent,
    Periods,
    is_large,
    take_columns,
)
from sat_retriever.index.search.frequent_words import (
    COUNTS,
    FrequentInContents,
    FrequentInNames,
)
from sat_retriever.index.search.tokens import Codes, TokenTable, cell_order
from sat_retriever.index.store.rows import IdArray
from sat_retriever.index.store.store import Store
from sat_retriever.records.files import forget_unused
from sat_retriever.text.lexical import Bm25

FORMAT = 4
_STATE = "state.json"
_COMMON = 500  # sheets from which a word is frequent, or one in
_SHARE = 2_000
# A word that one sheet in so many has, in names or in contents, has a place for every sheet: there
# it takes no more space than its postings.
_DENSE_IN_NAMES, _DENSE_IN_CONTENTS = 16, 32
_CHECKED = 64  # sheets at the end, and as many among all, that are compared with the index file
# Of these sheets as many must be visible to a group, or the state is not used for it: too few were
# compared, or the group sees so small a part that reading it costs less.
_CHECKED_SEEN = 8
_PART = 8_192  # tokens in memory while they are written
_PLAIN: Mapping[str, tuple[str, int | None]] = {
    "ids": ("<i8", None),
    "token_sum": ("<f8", None),
    "lengths": ("<f4", 2),
    "tie_rank": ("<i8", None),
    "workbooks": ("<i8", None),
    "documentation": ("<i8", None),
    "main": ("<i8", None),
}  # type and width of each array that is written as it is
_RENEWED = 8  # one sheet in so many has come or gone: the mapped state is written anew
_WAIT_S = 600.0  # time that a process waits for another one that writes the mapped state


def read_columns(store: Store, width: int) -> Columns | None:
    """The latest mapped state that fits and is no newer, else None; the caller reads the store.

    Of a store that is open for some groups it is the part of their sheets.
    """
    folders = store.beside.glob("g*") if store.beside else ()
    for folder in sorted(folders, reverse=True):
        try:
            state = json.loads((folder / _STATE).read_text(encoding="utf-8"))
            if _fits(store, state, width):
                found = _columns(folder, state, width)
                return found if store.principals is None else _seen_part(store, found, width)
        except (OSError, ValueError, KeyError, TypeError, IndexError):
            continue
    return None


def write_columns(home: Path, store: Store, columns: Columns, width: int) -> Path:
    """Write an unchanging state in place of earlier ones; raises `OSError` if `home` refuses."""
    home.mkdir(exist_ok=True)
    if isinstance(store.path, Path):
        hide(home, store.path)
    name = f"g{columns.generation:012}-{secrets.token_hex(4)}"
    draft = home / f".{name}"
    draft.mkdir()
    try:
        for each in _PLAIN:
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
        (draft / _STATE).write_text(json.dumps(state), encoding="utf-8")
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


def _sample(store: Store, ids: IdArray) -> dict[str, int]:
    spread = ids[np.linspace(0, len(ids) - 1, _CHECKED).astype(np.intp)] if len(ids) else ids
    return store.checksums(np.union1d(spread, ids[-_CHECKED:]).tolist())


def _columns(folder: Path, state: Mapping[str, Any], width: int) -> Columns:
    """Map the arrays of a state; `ValueError` for one that does not fit, `OSError` without it."""
    plain = {name: _load(folder, name, *kind) for name, kind in _PLAIN.items()}
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


def _save(folder: Path, name: str, values: NDArray[Any]) -> None:
    kind = _PLAIN[name][0] if name in _PLAIN else values.dtype
    np.save(folder / f"{name}.npy", np.asarray(values).astype(kind, copy=False), allow_pickle=False)


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


def _open(folder: Path, name: str, kind: str, shape: tuple[int, int]) -> np.memmap[Any, Any]:
    return open_memmap(folder / f"{name}.npy", mode="w+", dtype=np.dtype(kind), shape=shape)


def _load_cells(folder: Path, width: int) -> TokenTable:
    return TokenTable.of(
        Codes(_load(folder, "tokens.codes", "|u1", width), _load(folder, "tokens.scales", "<f4")),
        _load(folder, "tokens.centres", "<f4", width),
        _load(folder, "tokens.starts", "<i8"),
        _load(folder, "tokens.order", "<i4"),
    )


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


def latest_mapped(store: Store, width: int) -> Columns | None:
    """The latest mapped state of a store, written first where readers keep it and it lacks much.

    One process of a host writes it while others wait: each would have to read as much.
    """
    known = read_columns(store, width)
    home = store.beside if store.kept_by_readers else None
    if home is None:
        return known
    if not _is_to_renew(store, known):
        with suppress(OSError):
            os.utime(home)  # it is in use
        return known
    from filelock import FileLock  # only a large index needs it

    with suppress(OSError), FileLock(home.with_name(f"{home.name}.lock"), _WAIT_S):
        known = read_columns(store, width)
        if _is_to_renew(store, known):
            known = take_columns(store, width, known)
            write_columns(home, store, known, width)
            forget_unused(home.parent)
            known = read_columns(store, width)
    return known


def renew_mapped(store: Store, width: int) -> bool:
    """Write the mapped state of a large index, unless the last one lacks little; True if written.

    The caller keeps others from writing. An index works without a mapped state, so that a folder
    that cannot be written to is no error. Of an index that is no longer large it is removed.
    """
    home = None if store.kept_by_readers else store.beside
    if home is None or store.principals is not None:
        return False
    if not is_large(store.counts()["sheets"]):
        shutil.rmtree(home, ignore_errors=True)
        return False
    with store.reading():
        known = read_columns(store, width)
        if not _is_to_renew(store, known):
            return False
        columns = take_columns(store, width, known)
    try:
        write_columns(home, store, columns, width)
    except OSError:
        return False
    return True


def _is_to_renew(store: Store, known: Columns | None) -> bool:
    return is_large(store.counts()["sheets"]) and (known is None or lacks_much(store, known))


def lacks_much(store: Store, known: Columns) -> bool:
    """True if many sheets of a large index came or went since a state was read."""
    sheets = store.counts()["sheets"]
    if not is_large(sheets):
        return False
    later = store.count_after(int(known.ids[-1]) if len(known.ids) else -1)
    gone = len(known.ids) + later - sheets
    return not isinstance(known.tokens, TokenTable) or (later + gone) * _RENEWED > sheets
