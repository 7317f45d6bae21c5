"""URLs of folders and workbooks: told from paths, checked, and shown without secrets."""

from __future__ import annotations

import re
from pathlib import Path, PurePath

from sat_retriever.errors import InputError

Named = str | Path  # A path or a URL, as a user names it

_URL = re.compile(r"([a-z][a-z0-9+.-]+)://(.*)", re.IGNORECASE | re.DOTALL)
_LOST = re.compile(r"([a-z][a-z0-9+.-]+):/[^/]", re.IGNORECASE)
_PASSWORD = re.compile(r"//[^/\s]*:[^/\s]*@")  # as far as the last @, which a password may hold
_QUERY = re.compile(r"(?<=://)([^\s?]*)\?[^\s\"']*")
_LONGEST = 1024  # bytes of an object's name, as in S3


def is_url(named: Named) -> bool:
    r"""True for a URL; a drive such as `C:\` is no URL.

    >>> is_url("s3://bucket/reports"), is_url("C:/reports"), is_url("reports")
    (True, False, False)
    """
    return isinstance(named, str) and _URL.match(named) is not None


def is_lost_url(named: str | PurePath) -> bool:
    """True for a `Path` that was made of a URL, which loses a slash.

    >>> from pathlib import PurePosixPath
    >>> is_lost_url(PurePosixPath("s3://bucket/reports"))
    True
    """
    return isinstance(named, PurePath) and _LOST.match(str(named)) is not None


def scheme_of(url: str) -> str:
    """The file system that a URL names, in lower case.

    >>> scheme_of("S3://bucket")
    's3'
    """
    return url.partition("://")[0].lower()


def canonical(url: str) -> str:
    """A URL in the one form that an index stores: no slash at its end, nothing secret.

    Raises `InputError` if it holds a password or a query, chains file systems, or its path has
    empty, relative or unprintable parts.

    >>> canonical("S3://bucket/reports/")
    's3://bucket/reports'
    """
    rest = url.partition("://")[2].rstrip("/")
    if _PASSWORD.search(url):
        raise InputError(
            f"{shown(url)!r} holds a password, which an index must not store; give it to the file "
            "system by its environment variables or configuration"
        )
    if "?" in rest:
        raise InputError(
            f"{shown(url)!r} has a query, which may be secret and is not stored; name the folder "
            "or file without it"
        )
    if "::" in rest:
        raise InputError(f"{shown(url)!r} chains file systems; name one URL")
    host, _, path = rest.partition("/")
    if not rest or not host.isprintable() or not is_plain(path or host):
        raise InputError(
            f"{shown(url)!r} is not a URL of a folder or file; write one such as s3://bucket/folder"
        )
    return f"{scheme_of(url)}://{rest}"


def is_plain(path: str) -> bool:
    """True if a path below a URL can be part of a sheet's id: no `..`, `//`, control characters.

    >>> is_plain("2024/Sales Q1.xlsx"), is_plain("../x.xlsx"), is_plain("a//b.xlsx")
    (True, False, False)
    """
    if not path.isprintable() or len(path.encode("utf-8", "replace")) > _LONGEST:
        return False
    return all(part not in ("", ".", "..") for part in path.split("/"))


def shown(text: str) -> str:
    """A text whose URLs tell no password and no query, for messages.

    >>> shown("no s3://me:pw@host/a?sig=x here")
    'no s3://…@host/a?… here'
    """
    return _QUERY.sub(r"\1?…", _PASSWORD.sub("//…@", text))


def parent_of(url: str) -> str:
    """The folder that a file's URL lies in.

    >>> parent_of("s3://bucket/2024/a.xlsx")
    's3://bucket/2024'
    """
    return url.rpartition("/")[0]


def joined(root: str, path: str) -> str:
    """The URL or path of a workbook below a root.

    >>> joined("s3://bucket", "2024/a.xlsx")
    's3://bucket/2024/a.xlsx'
    """
    return f"{root.rstrip('/')}/{path}"


def under(root: str, place: str) -> str:
    """The path of a workbook relative to a root above it; `joined` undoes it.

    >>> under("s3://bucket", "s3://bucket/2024/a.xlsx")
    '2024/a.xlsx'
    """
    return place[len(root.rstrip("/")) + 1 :]
