"""The file system behind a URL, an implementation of fsspec, and its errors in our words."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

from sat_retriever._extras import require
from sat_retriever.errors import (
    InputError,
    MissingExtraError,
    PathNotFoundError,
    RemoteError,
    SatError,
)
from sat_retriever.workbook.limits import Refused
from sat_retriever.workbook.remote.url import scheme_of, shown

if TYPE_CHECKING:
    from sat_retriever.workbook.remote.items import ItemTree

EXTRA = "remote"
OWN_EXTRA = "drives"
# Services whose file systems are here, each with the packages that it needs.
_OWN = {
    "sharepoint": ("fsspec", "httpx"),
    "onedrive": ("fsspec", "httpx"),
    "gdrive": ("fsspec", "httpx", "joserfc"),
}
# File systems that list all objects below a folder in pages, and so know that there is none.
PAGED = frozenset({"s3", "s3a"})
# File systems without folders: a page's links are never followed.
SINGLE = frozenset({"http", "https"})

_PACKAGES = {
    "s3": "s3fs",
    "s3a": "s3fs",
    "az": "adlfs",
    "abfs": "adlfs",
    "abfss": "adlfs",
    "gs": "gcsfs",
    "gcs": "gcsfs",
    "http": "aiohttp requests",
    "https": "aiohttp requests",
    "sftp": "paramiko",
    "ssh": "paramiko",
    "smb": "smbprotocol",
    "webdav": "webdav4",
}
# Of this machine, of another file system, or code; none of them is a place of workbooks.
_REFUSED = frozenset(
    "file local asynclocal dir cached blockcache filecache simplecache reference zip tar "
    "libarchive data dask jlab jupyter pyscript generic async_wrapper asyncwrapper".split()
)
# One stream a file, so that bytes are counted as they come; no listing is kept.
_OPTIONS = {scheme: {"max_concurrency": 1, "use_listings_cache": False} for scheme in PAGED}
_LONGEST = 200
# Names of error classes, and words of errors, since no implementation shares them with another.
_REASONS = (
    (
        ("NoCredentials", "PartialCredentials", "DefaultCredentials", "CredentialUnavailable"),
        "no credentials were found; set them as the file system's own tools read them",
    ),
    (
        ("SlowDown", "Throttl", "TooManyRequests", "RequestLimitExceeded", "reduce your request"),
        "the server asks to slow down; try again later",
    ),
    (
        (
            "PermissionError", "AccessDenied", "Forbidden", "Unauthorized", "InvalidAccessKey",
            "SignatureDoesNotMatch", "ExpiredToken", "AuthenticationFailed", "Access Denied",
        ),
        "access is denied; check the credentials and what they allow",
    ),
    (
        ("InvalidObjectState",),
        "it is archived; restore it first",
    ),
    (
        (
            "EndpointConnection", "ConnectTimeout", "ReadTimeout", "ConnectionError", "Timeout",
            "ClientConnector", "ConnectionClosed", "ConnectionRefused", "ServerDisconnected",
            "gaierror", "Could not connect", "ConnectionReset", "SSLError",
        ),
        "the server cannot be reached, or does not answer; check the network and the address",
    ),
)  # fmt: skip


class ReasonError(Exception):
    """An error whose message is the reason, in words for the user and without secrets."""


def file_system(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the URL's path on it.

    Credentials come from where the implementation looks for them: environment, profiles,
    fsspec's configuration.
    """
    fsspec, scheme = check_system(url), scheme_of(url)
    if scheme in _OWN:
        name = "SAT_DRIVE_URL" if scheme == "gdrive" else "SAT_GRAPH_URL"
        return _own(scheme, os.environ.get(name, "").strip(), os.getpid()), url.split("://", 1)[1]
    found, path = fsspec.core.url_to_fs(url, **_OPTIONS.get(scheme, {}))
    return found, str(path).rstrip("/")


@cache
def _own(scheme: str, address: str, _process: int) -> ItemTree:
    """The one file system of a service in this process, whose threads share its token."""
    if scheme == "gdrive":
        from sat_retriever.workbook.remote import googledrive

        return googledrive.GoogleDrive(address or googledrive.ADDRESS)
    from sat_retriever.workbook.remote import graph

    kind = graph.SharePoint if scheme == "sharepoint" else graph.OneDrive
    return kind(address or graph.ADDRESS)


def check_system(url: str) -> ModuleType:
    """Return fsspec if it has a file system for a URL.

    Raises `InputError` if it has none for workbooks, `MissingExtraError` without its package.
    """
    scheme = scheme_of(url)
    for package in _OWN.get(scheme, ()):
        require(package, OWN_EXTRA)
    fsspec = require("fsspec", EXTRA)
    if scheme in _OWN:
        return fsspec
    if scheme in _REFUSED:
        raise InputError(f"{shown(url)!r} is not a remote folder or file; name it by its path")
    try:
        fsspec.get_filesystem_class(scheme)
    except ImportError as error:
        if scheme in PAGED:
            require("s3fs", EXTRA)
        raise _missing(scheme) from error
    except ValueError as error:
        raise _missing(scheme) from error
    return fsspec


def _missing(scheme: str) -> InputError | MissingExtraError:
    if scheme in _PACKAGES:
        return MissingExtraError(
            f"{scheme}:// needs a package that is not installed; run: "
            f"pip install {_PACKAGES[scheme]}"
        )
    return InputError(
        f"no file system is known for {scheme}://; install its implementation of fsspec, or check "
        "the spelling"
    )


@contextmanager
def translated(url: str) -> Iterator[None]:
    """Turn errors of a file system into `PathNotFoundError` and `RemoteError`."""
    try:
        yield
    except (SatError, Refused):
        raise
    except FileNotFoundError as error:
        raise PathNotFoundError(
            f"there is nothing at {shown(url)!r}; check the spelling"
        ) from error
    except Exception as error:  # implementations raise errors of any class
        raise RemoteError(f"{shown(url)!r} cannot be read: {reason_of(error)}") from error


def reason_of(error: BaseException) -> str:
    """The reason of an error in words; its own message, without secrets, if it is not known.

    >>> reason_of(PermissionError("Access Denied"))
    'access is denied; check the credentials and what they allow'
    """
    if isinstance(error, ReasonError):
        return str(error)
    said = " ".join(f"{type(each).__name__} {each}" for each in _chain(error))
    for signs, reason in _REASONS:
        if any(sign in said for sign in signs):
            return reason
    text = " ".join(str(error).split()) or "no reason was given"
    return f"{type(error).__name__}: {shown(text)[:_LONGEST]}"


def _chain(error: BaseException) -> Iterator[BaseException]:
    found: BaseException | None = error
    for _ in range(5):
        if found is None:
            return
        yield found
        found = found.__cause__
