"""The files at a URL, listed in pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sat_retriever.errors import InputError, PathNotFoundError, RemoteError
from sat_retriever.records.formats import extension_of
from sat_retriever.workbook.remote.file import RemoteFile
from sat_retriever.workbook.remote.systems import PAGED, SINGLE, file_system, translated
from sat_retriever.workbook.remote.url import joined, parent_of, scheme_of, shown

MOST = 5_000_000  # most objects of one listing
_DEPTH = 64  # folders in folders, so that a loop of links ends

Told = Mapping[str, Any]


def file_at(url: str) -> RemoteFile | None:
    """The file at a URL; None if it is a folder, or if only a listing can tell.

    An object of S3 without the extension of a workbook may be called as a folder is: `a` beside
    `a/b.xlsx`. Then the folder is meant.

    Raises `PathNotFoundError` if there is nothing, and no listing could tell otherwise,
    `RemoteError` if the file system refuses or cannot be reached.
    """
    root = parent_of(url)
    if url.count("/") < 3:  # a bucket
        return None
    with translated(url):
        system, path = file_system(url)
        system.invalidate_cache()
        try:
            told = system.info(path)
        except FileNotFoundError:
            if scheme_of(url) in PAGED:
                return None
            raise
        name = url.rpartition("/")[2]
        if told.get("type") == "directory" or (
            scheme_of(url) in PAGED and not extension_of(name) and _is_prefix(system, path)
        ):
            return None
    return RemoteFile.of(root, name, told)


def files_below(url: str, root: str) -> Iterator[list[RemoteFile]]:
    """Yield the files below a folder's URL in pages, in the file system's order.

    Hidden folders may be left out. Names are as the server gives them: they can be anything. Paths
    are relative to `root`, this folder or one above. Raises `PathNotFoundError` without such a
    folder or bucket, `InputError` if the file system has no folders, `RemoteError` if it refuses,
    cannot be reached, or has more than `MOST` files.
    """
    if scheme_of(url) in SINGLE:
        raise InputError(
            f"{shown(url)!r} is not a file; over http only single files are read, and no links of "
            "a page are followed"
        )
    ahead = url[len(root.rstrip("/")) + 1 :]
    listed = 0
    with translated(url):
        system, base = file_system(url)
        pages = _paged(system, base) if scheme_of(url) in PAGED else _walked(system, base)
        for page in pages:
            found = []
            for told in page:
                name = str(told["name"])
                path = name[len(base) + 1 :] if name.startswith(f"{base}/") else name
                found.append(RemoteFile.of(root, joined(ahead, path) if ahead else path, told))
            listed += len(found)
            if listed > MOST:
                raise RemoteError(
                    f"{shown(url)!r} holds more than {MOST:,} files; name a folder below it"
                )
            yield found


def _paged(system: Any, base: str) -> Iterator[list[Told]]:
    """The objects below a prefix of S3, at most 1,000 a page."""
    bucket, _, prefix = base.partition("/")
    asked = {"Bucket": bucket, "Prefix": f"{prefix}/" if prefix else ""}
    while True:
        page = system.call_s3("list_objects_v2", **asked)
        if "IsTruncated" not in page:  # a portal's page is no empty bucket, whose sheets would go
            raise RemoteError(
                f"what answers for bucket {bucket!r} is no S3 server; check the address"
            )
        yield [
            {**told, "name": f"{bucket}/{told['Key']}"}
            for told in page.get("Contents", ())
            if not told["Key"].endswith("/")  # marks of folders
        ]
        token = page.get("NextContinuationToken")
        if not page.get("IsTruncated"):
            return
        if not token or token == asked.get("ContinuationToken"):
            raise RemoteError(f"the listing of bucket {bucket!r} does not end; try again later")
        asked["ContinuationToken"] = token


def _is_prefix(system: Any, base: str) -> bool:
    """True if objects lie below a name of S3, as far as this may be asked."""
    try:
        return any(_paged(system, base))
    except PermissionError:
        return False


def _walked(system: Any, base: str) -> Iterator[list[Told]]:
    system.invalidate_cache()
    for _, folders, files in system.walk(base, maxdepth=_DEPTH, detail=True, on_error="raise"):
        # `..` is no hidden folder but a bad name, which its files are told by.
        for name in [each for each in folders if each.startswith(".") and each.strip(".")]:
            del folders[name]
        yield list(files.values())
        system.invalidate_cache()


def existing_file(root: str, relative: str) -> RemoteFile:
    """A file as it is now."""
    url = joined(root, relative)
    with translated(url):
        system, base = file_system(root)
        system.invalidate_cache()
        told = system.info(f"{base}/{relative}")
    if told.get("type") == "directory":
        raise PathNotFoundError(f"{shown(url)!r} is no longer a file; index it again")
    return RemoteFile.of(root, relative, told)
