"""Folders of workbooks to an open index, in one call."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from sat_retriever.encoder import SheetEncoder
from sat_retriever.errors import InputError, PathNotFoundError
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.filters import Filters
from sat_retriever.records.progress import PathProgress
from sat_retriever.records.tokens import Encoder


def index_paths(
    paths: Sequence[str | Path] | str | Path,
    index: str | Path,
    *,
    encoder: Encoder | str | Path | None = None,
    progress: PathProgress | None = None,
) -> SheetIndex:
    """An open index that is up to date with the workbooks under some paths.

    Args:
        paths: Folders and files; see `SheetIndex.sync`.
        index: The index file; made if there is none.
        encoder: Sheet Encoder of a new index, or its name or folder: the general one by
            default. An index that is there already keeps its own; a given one must be that.
        progress: Called with workbooks done, workbooks in all, and the path.

    Raises:
        PathNotFoundError: If a path does not exist.
        EncoderError: If the encoder cannot be loaded.
        FingerprintMismatchError: If the index was written with another encoder.
        IndexBusyError: If another process is writing to the index.
        IndexStorageError: If the file cannot be written.
    """
    for path in [paths] if isinstance(paths, (str, Path)) else paths:
        if not Path(path).exists():  # before an index is made
            raise PathNotFoundError(f"there is nothing at {str(path)!r}; check the path")
    given = SheetEncoder.load(encoder) if isinstance(encoder, (str, Path)) else encoder
    made = _created(Path(index), given)
    try:
        made.sync(paths, progress=progress)
    except BaseException:
        made.close()
        raise
    return made


def _created(path: Path, encoder: Encoder | None) -> SheetIndex:
    if not path.exists():
        with suppress(InputError):  # another process may have made it meanwhile
            return SheetIndex.create(path, encoder)
    return SheetIndex.open(path, encoder)


def open_index(index: SheetIndex | str | Path) -> SheetIndex:
    """An index as it is, or opened from its path.

    Raises:
        IndexNotFoundError: If there is no such file.
        IndexFormatError: If the file is no index.
    """
    return index if isinstance(index, SheetIndex) else SheetIndex.open(index)


def index_for(index: SheetIndex | str | Path, filters: Filters | None) -> SheetIndex:
    """An index as `open_index` gives it, whose sheets can have what the filters ask for.

    Raises:
        IndexNotFoundError: If there is no such file.
        IndexFormatError: If the file is no index.
        InputError: If no sheet has a metadata field that the filters name.
    """
    found = open_index(index)
    try:
        found.check_filters(filters)
    except BaseException:
        if found is not index:
            found.close()
        raise
    return found
