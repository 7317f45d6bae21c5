"""What links, claims and copies need of a database: statements that every store understands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol


class Rows(Protocol):
    """The result of one statement."""

    @property
    def rowcount(self) -> int:
        """Number of rows that were changed."""

    def fetchall(self) -> list[Any]:
        """Return all rows that are left."""

    def fetchone(self) -> Any:
        """Return the next row; None after the last."""


class Session(Protocol):
    """A connection in a transaction; `?` in a statement stands for a value."""

    def execute(self, sql: str, values: Sequence[Any] = ..., /) -> Rows:
        """Run one statement."""

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]], /) -> Rows:
        """Run one statement for each row of values."""
