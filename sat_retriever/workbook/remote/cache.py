"""Copies of workbooks at a URL, kept for the next read in a private folder of bounded size."""

from __future__ import annotations

import hashlib
import os
import secrets
from contextlib import suppress
from pathlib import Path

from sat_retriever.errors import InputError, PathNotFoundError, RemoteError
from sat_retriever.records.files import own_folder
from sat_retriever.stages import Cache, looked_up
from sat_retriever.workbook.limits import Limits, Refused
from sat_retriever.workbook.remote.downloads import downloads_folder
from sat_retriever.workbook.remote.file import RemoteFile, download, suffix_of
from sat_retriever.workbook.remote.listing import existing_file
from sat_retriever.workbook.remote.url import joined, shown

MOST_BYTES = 1 << 30  # bytes of all kept copies together; the longest unused go first


def local_copy(root: str, relative: str, *, keep: bool) -> Path:
    """A private copy of a workbook at a URL, as it is there now.

    One small request asks for its version; only a version that is not kept yet is downloaded.
    Without `keep` the copy is deleted when the process ends. Raises `PathNotFoundError` if the
    workbook is gone, `RemoteError` if it cannot be downloaded, `InputError` if it is too large.
    """
    url = shown(joined(root, relative))
    try:
        file = existing_file(root, relative)
        folder = own_folder("workbooks") if keep else downloads_folder()
        return _copy(file, folder, Limits().file_bytes)
    except PathNotFoundError as error:
        raise PathNotFoundError(f"there is no longer a file at {url!r}; index it again") from error
    except Refused as refused:
        raise InputError(f"{url!r} cannot be read: {refused.message}") from refused
    except OSError as error:
        reason = error.strerror or str(error)
        raise RemoteError(f"{url!r} cannot be kept on this machine: {reason}") from error


def _copy(file: RemoteFile, folder: Path, most: int) -> Path:
    name = _name(file)
    kept = folder / name
    there = kept.is_file() and not kept.is_symlink()
    looked_up(Cache.COPIES, found=there)
    if there:
        with suppress(OSError):
            os.utime(kept)
        return kept
    draft = folder / f".{secrets.token_hex(8)}.partial"
    os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        download(file.root, file.relative, draft, file.size, most)
        draft.replace(kept)
    finally:
        draft.unlink(missing_ok=True)
    _trim(folder, kept)
    return kept


def _name(file: RemoteFile) -> str:
    """A name that no key can steer; random if nothing tells one version from the next."""
    version = file.version or (str(file.mtime_ns) if file.mtime_ns else secrets.token_hex(8))
    said = "\0".join((file.url, version, str(file.size)))
    return hashlib.blake2b(said.encode("utf-8", "replace"), digest_size=20).hexdigest() + suffix_of(
        file.relative
    )


def _trim(folder: Path, newest: Path) -> None:
    found = []
    for path in folder.iterdir():
        with suppress(OSError):
            state = path.stat(follow_symlinks=False)
            found.append((path != newest, state.st_mtime_ns, path, state.st_size))
    total = 0
    for _, _, path, size in sorted(found, key=lambda each: (each[0], -each[1])):
        total += size
        if total > MOST_BYTES and path != newest:
            with suppress(OSError):
                path.unlink()
