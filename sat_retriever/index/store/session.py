"""What links, claims and copies need of a database: statements that every store understands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, Protocol, TypeAlias

Kind: TypeAlias = Literal["text", "bigint"]


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

    def listed(self, values: Sequence[Any], kind: Kind = "text", /) -> tuple[str, Any]:
        """Return a subquery whose column `item` has some values, and the value of its `?`."""

    def insert(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], /) -> None:
        """Add new rows to a table, the fastest way."""

    def new_ids(self, table: str, count: int, /) -> list[int]:
        """Return ids for new rows of a table, ascending, after those of all its rows."""
