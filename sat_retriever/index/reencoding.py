"""New tokens for every sheet of an index, collected in a file before the index is changed."""

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

RowToken = tuple[int, bytes]  # row id of a sheet, and its token as it is stored
AT_ONCE = 1024  # sheets encoded together


@contextmanager
def fresh_tokens(
    store: Store,
    encoder: Encoder,
    serialization: Serialization,
    progress: Progress | None = None,
) -> Iterator[Iterator[RowToken]]:
    """Row id and new token of every sheet, by row id; the caller keeps other writers out.

    The tokens wait in a nameless file beside the index: memory holds a thousand of them, and
    nothing is left behind by a process that is killed.

    Args:
        store: Where the records are.
        encoder: Makes the tokens.
        serialization: How a record becomes text.
        progress: Called with sheets done, and sheets in all.

    Raises:
        IndexStorageError: If there is no room for the tokens.
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
            file.seek(0)  # writes what is still buffered
        size = 4 * encoder.width
        yield ((row_id, file.read(size)) for row_id in ids)


@contextmanager
def _spare_file(path: Path) -> Iterator[IO[bytes]]:
    """A file without a name on the disk of another one."""
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
