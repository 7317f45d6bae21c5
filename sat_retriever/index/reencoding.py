"""Collect new tokens for every sheet of an index in a file, before the index is changed."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np

from sat_retriever.errors import IndexStorageError
from sat_retriever.index.store.opening import Store
from sat_retriever.records.progress import Progress
from sat_retriever.records.tokens import Encoder
from sat_retriever.text.serialize import Serialization, serialize

RowToken = tuple[int, bytes]  # row id of a sheet, and its stored token
AT_ONCE = 1024  # sheets encoded together


@contextmanager
def fresh_tokens(
    store: Store,
    encoder: Encoder,
    serialization: Serialization,
    progress: Progress | None = None,
) -> Iterator[Iterator[RowToken]]:
    """Yield the row id and new token of every sheet, by row id; the caller excludes other writers.

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
            names = store.sheet_ids(part)
            records = store.records(list(names.values()))
            texts = [serialize(records[names[row_id]], serialization) for row_id in part]
            tokens = np.ascontiguousarray(encoder.encode_sheets(texts), dtype="<f4")
            with _room(store.path):
                file.write(tokens.tobytes())
            if progress is not None:
                progress(start + len(part), len(ids))
        with _room(store.path):
            file.seek(0)  # writes the buffer
        size = 4 * encoder.width
        yield ((row_id, file.read(size)) for row_id in ids)


@contextmanager
def _spare_file(path: Path) -> Iterator[IO[bytes]]:
    """Yield a file without a name, on the disk of another file."""
    with _room(path):
        file = tempfile.TemporaryFile(dir=path.parent)  # noqa: SIM115 - closed below
    with file:
        yield file


@contextmanager
def _room(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise IndexStorageError(
            f"the new tokens of {path} cannot be written beside it: {error.strerror or error}; "
            "make room there (the index is as it was)"
        ) from error
