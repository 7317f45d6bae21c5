"""Collect new tokens for every sheet of an index in a file, before the index is changed."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO

import numpy as np

from sat_retriever.errors import IndexStorageError
from sat_retriever.index.store.place import Place
from sat_retriever.index.store.rows import RowToken
from sat_retriever.index.store.store import Store
from sat_retriever.index.sync.encoding import token_text
from sat_retriever.records.progress import Progress
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.records.tokens import Encoder
from sat_retriever.text.serialize import Serialization

AT_ONCE = 1024  # sheets encoded together


@contextmanager
def fresh_tokens(
    store: Store,
    encoder: Encoder,
    serialization: Serialization,
    progress: Progress | None = None,
) -> Iterator[Iterator[RowToken]]:
    """Yield the row id and new tokens of every sheet, by row id; the caller excludes other writers.

    The tokens are in a nameless file beside the index. Memory holds a thousand of them, and a
    killed process leaves no file behind.

    Args:
        store: The store of the records.
        encoder: Encoder of the tokens.
        serialization: The form of a record's text.
        progress: Called with the number of sheets done, and of all.

    Raises:
        IndexStorageError: If there is no space for the tokens.
    """
    ids = np.sort(store.ids_by_sheet_id()).tolist()
    with _spare_file(store.path) as file:
        for start in range(0, len(ids), AT_ONCE):
            part = ids[start : start + AT_ONCE]
            sheets = _records(store, part)
            tokens = encoder.encode_sheets([token_text(each, serialization) for each in sheets])
            with _room(store.path):
                file.write(np.ascontiguousarray(tokens, dtype="<f4").tobytes())
            if progress is not None:
                progress(start + len(part), len(ids))
        with _room(store.path):
            file.seek(0)  # writes the buffer
        yield ((row_id, file.read(4 * encoder.width)) for row_id in ids)


def _records(store: Store, row_ids: Sequence[int]) -> list[SheetRecord]:
    """Records of some sheets with their contents, in the order of the row ids."""
    names = store.sheet_ids(row_ids)
    records, contents = store.records([*names.values()]), store.contents([*names.values()])
    ids = [names[row_id] for row_id in row_ids]
    return [replace(records[each], contents=contents.get(each)) for each in ids]


@contextmanager
def _spare_file(place: Place) -> Iterator[IO[bytes]]:
    """Yield a file without a name, on the disk of an index file, or of temporary files."""
    folder = place.parent if isinstance(place, Path) else None
    with _room(place):
        file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed below
    with file:
        yield file


@contextmanager
def _room(place: Place) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise IndexStorageError(
            f"the new tokens of {place} cannot be written {_where(place)}: "
            f"{error.strerror or error}; make room there (the index is as it was)"
        ) from error


def _where(place: Place) -> str:
    return "beside it" if isinstance(place, Path) else f"to {tempfile.gettempdir()}"
