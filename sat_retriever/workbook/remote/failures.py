"""Errors of file systems, in this package's words and without secrets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sat_retriever.errors import PathNotFoundError, RemoteError, SatError
from sat_retriever.workbook.limits import Refused
from sat_retriever.workbook.remote.url import shown

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


@contextmanager
def translated(url: str) -> Iterator[None]:
    """Turn errors of a file system into this package's.

    Raises:
        PathNotFoundError: If there is nothing at the URL.
        RemoteError: If it cannot be read for another reason.
    """
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
    said = " ".join(f"{type(each).__name__} {each}" for each in _chain(error))
    for signs, reason in _REASONS:
        if any(sign in said for sign in signs):
            return reason
    text = " ".join(str(error).split()) or "no reason was given"
    return f"{type(error).__name__}: {shown(text)[:_LONGEST]}"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error and its causes, at most five."""
    found: BaseException | None = error
    for _ in range(5):
        if found is None:
            return
        yield found
        found = found.__cause__
