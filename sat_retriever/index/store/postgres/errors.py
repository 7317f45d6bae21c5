"""Translate errors of PostgreSQL and of its driver to this package's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg_pool import PoolClosed

from sat_retriever.errors import (
    IndexBusyError,
    IndexDamagedError,
    IndexFormatError,
    IndexStorageError,
    InputError,
    SatError,
)
from sat_retriever.index.store.damage import RowDamage
from sat_retriever.index.store.place import IndexUrl

# Beginnings of SQLSTATE, the error that each becomes, and its message; the first one counts.
_KINDS: tuple[tuple[tuple[str, ...], type[SatError], str], ...] = (
    (
        ("40", "55P03", "55006"),
        IndexBusyError,
        "{url} is being written to by others ({text}); try again later",
    ),
    (
        ("42501", "25006"),
        IndexStorageError,
        "the server refuses this at {url} ({text}); open it as a role that has the right, on a "
        "server that accepts writes",
    ),
    (
        ("3F000", "42P01", "42703"),
        IndexFormatError,
        "{url} is no complete index ({text}); index the folder anew",
    ),
    (
        ("54",),
        InputError,
        "a name is too long for PostgreSQL ({text}); shorten paths and names of sheets to 1,000 "
        "bytes",
    ),
    (
        ("22",),
        InputError,
        "PostgreSQL cannot store a value ({text}); remove it from the names",
    ),
    (
        ("08", "28", "3D", "53", "55", "57", "58", "?"),
        IndexStorageError,
        "cannot use {url}: {text}; check the server and the role",
    ),
    (("",), IndexFormatError, "{url} is not a readable index: {text}; index the folder anew"),
)
_UNSENT = "22000"  # a value that the driver itself refuses
_NO_STATE = "?"  # the server gave none: it cannot be reached, or the connection broke


@contextmanager
def translated(url: IndexUrl) -> Iterator[None]:
    """Turn errors of the database and of damaged rows into this package's."""
    try:
        yield
    except (psycopg.Error, PoolClosed) as error:
        raise as_own(error, url) from error
    except RowDamage as error:
        raise IndexDamagedError(
            f"{url} has damaged rows ({error}); repair them from their files with: "
            f"sat index FOLDER --verify --index '{url}'"
        ) from error


def as_own(error: Exception, url: IndexUrl) -> SatError:
    """Return this package's error for one of the driver's.

    Args:
        error: The error; its text has no value of a row, and no password.
        url: Place of the index.
    """
    if isinstance(error, PoolClosed):
        return IndexFormatError(f"{url} was closed; open it again")
    state = getattr(error, "sqlstate", None)
    if state is None:
        state = _UNSENT if isinstance(error, psycopg.DataError) else _NO_STATE
    kind, message = next((kind, text) for starts, kind, text in _KINDS if state.startswith(starts))
    return kind(message.format(url=url, text=_text(error)))


def _text(error: Exception) -> str:
    """The first line of an error, without details, which could quote rows."""
    primary = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    return (primary or str(error) or type(error).__name__).strip().partition("\n")[0]
