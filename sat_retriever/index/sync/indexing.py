"""Index folders of workbooks, or open an index, in one call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from sat_retriever.encoder.load import EncoderLike, as_encoder
from sat_retriever.encoder.onnx.device import Device
from sat_retriever.errors import InputError, PathNotFoundError
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.permissions import Given
from sat_retriever.index.store.opening import store_exists
from sat_retriever.index.store.place import IndexUrl, Place, place_of
from sat_retriever.records.filters import Filters
from sat_retriever.records.permissions import Principals
from sat_retriever.records.progress import PathProgress
from sat_retriever.records.tokens import Encoder
from sat_retriever.workbook.remote.systems import check_system
from sat_retriever.workbook.remote.url import Named, canonical, is_lost_url, is_url


def index_paths(
    paths: Sequence[str | Path] | str | Path,
    index: str | Path | IndexUrl,
    *,
    encoder: EncoderLike | None = None,
    device: Device = "auto",
    permissions: Given | None = None,
    progress: PathProgress | None = None,
) -> SheetIndex:
    """Return an open index that is up to date with the workbooks under some paths.

    Args:
        paths: Folders and files, also at URLs; see `SheetIndex.sync`.
        index: The index file, or its URL in PostgreSQL; created if it does not exist.
        encoder: Encoder of a new index: a name or folder, an encoder, or an embedding model of
            LlamaIndex or LangChain; None takes the general one. An existing index keeps its own,
            and a given encoder must equal it.
        device: Device that encoder and rerankers are loaded on: "cuda", "cpu", or "auto" for CUDA
            where it can be used.
        permissions: Who may see which sheet; see `SheetIndex.permit`. None goes on as before.
        progress: Called with the number of workbooks done, of all, and the path.

    Raises:
        PathNotFoundError: If a path does not exist.
        RemoteError: If a URL cannot be listed.
        MissingExtraError: If a URL is named without the extra or package that it needs.
        EncoderError: If the encoder cannot be loaded.
        FingerprintMismatchError: If the index was written with another encoder.
        IndexBusyError: If another process is writing to the index.
        IndexStorageError: If the file cannot be written.
    """
    check_named([paths] if isinstance(paths, (str, Path)) else paths)
    given = None if encoder is None else as_encoder(encoder, device=device)
    made = _created(place_of(index), given, device)
    try:
        if permissions is not None:
            made.permit(permissions)
        made.sync(paths, progress=progress)
    except BaseException:
        made.close()
        raise
    return made


def check_named(paths: Iterable[Named]) -> None:
    """Refuse paths that do not exist and URLs that cannot be used, before an index is created.

    Nothing is asked of a URL's server yet. Raises `PathNotFoundError`, `InputError` for a URL that
    an index does not store, or `MissingExtraError` for one whose package is not installed.
    """
    for path in paths:
        if is_url(path):
            check_system(canonical(str(path)))
        elif not str(path) or not Path(path).exists():
            hint = "give a URL as text, not as a Path" if is_lost_url(path) else "check the path"
            raise PathNotFoundError(f"there is nothing at {str(path)!r}; {hint}")


def _created(place: Place, encoder: Encoder | None, device: Device) -> SheetIndex:
    if not store_exists(place):
        with suppress(InputError):  # another process may have made it meanwhile
            return SheetIndex.create(place, encoder, device=device)
    return SheetIndex.open(place, encoder, device=device)


def open_index(index: SheetIndex | str | Path | IndexUrl) -> SheetIndex:
    """Return an open index, or open it from its path or URL.

    Raises:
        IndexNotFoundError: If there is no such file.
        IndexFormatError: If the file is not an index.
    """
    return index if isinstance(index, SheetIndex) else SheetIndex.open(index)


def index_for(
    index: SheetIndex | str | Path | IndexUrl,
    filters: Filters | None,
    principals: Principals | None = None,
) -> SheetIndex:
    """An index as `open_index` gives it, with filters whose metadata fields it has.

    With `principals` it is what they see; see `SheetIndex.seen_by`. Raises `InputError` if no sheet
    has a metadata field that the filters name.
    """
    opened = open_index(index)
    try:
        found = opened if principals is None else opened.seen_by(principals)
        found.search.check_filters(filters)
    except BaseException:
        if opened is not index:
            opened.close()
        raise
    return found
