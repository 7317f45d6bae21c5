"""Paths as text that can be stored and displayed."""

from __future__ import annotations

from pathlib import PurePath


def printable(path: PurePath) -> str:
    r"""The POSIX form of a path; bytes that are not Unicode become escapes.

    >>> from pathlib import PurePosixPath
    >>> printable(PurePosixPath("a", "caf\udce9.csv"))
    'a/caf\\xe9.csv'
    """
    raw = path.as_posix().encode("utf-8", "surrogateescape")
    return raw.decode("utf-8", "backslashreplace")
