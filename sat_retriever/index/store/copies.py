"""Groups of copies in a store, kept up to date while sheets come and go."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import Any

from sat_retriever.index.store.conditions import asked_in
from sat_retriever.index.store.damage import readable
from sat_retriever.index.store.session import Session
from sat_retriever.index.store.stored_links import Ask
from sat_retriever.links.copies.claims import (
    CopyClaim,
    claim_from_text,
    claim_to_text,
    versions_from_text,
    versions_to_text,
)
from sat_retriever.links.copies.groups import group_of
from sat_retriever.links.copies.likeness import are_copies
from sat_retriever.links.copies.order import Member
from sat_retriever.period.relation import overlapping, unpacked
from sat_retriever.records.filters import Filters

NEAREST = 16
"""Sheets before a sheet, and after it, that it is compared with in each of its blocks."""
MEMBERS = 500  # of one group that are put in order; those of the newest files
_HELD = 20_000  # claims in memory while groups are found

Conditions = Callable[[Filters], tuple[str, list[Any]]]


class CopyTables:
    """Statements on claims and groups of copies; the caller owns the transaction.

    A sheet is compared with its neighbours in blocks. So a sheet that comes or goes changes
    comparisons only of those near it: these are noted as stale, and their groups found anew.
    Groups depend on the sheets alone, not on the order in which they came.

    Args:
        connection: An open store in a transaction.
    """

    def __init__(self, connection: Session) -> None:
        self._connection = connection

    def put(self, claims: Iterable[CopyClaim]) -> None:
        """Store the claims of sheets, which are stored already."""
        for claim in claims:
            found = self._rows("SELECT id FROM sheets WHERE sheet_id = ?", claim.sheet_id)
            if not found:
                continue
            row_id = found[0][0]
            self._connection.execute("DELETE FROM copies WHERE sheet = ?", (row_id,))
            self._connection.execute(
                "INSERT INTO copies (sheet, family, versions, claim) VALUES (?, NULL, ?, ?)",
                (row_id, versions_to_text(claim.versions), claim_to_text(claim)),
            )
            self._connection.executemany(
                "INSERT INTO copy_blocks (block, place, sheet) VALUES (?, ?, ?) "
                "ON CONFLICT (block, place) DO UPDATE SET sheet = excluded.sheet",
                [(*block, row_id) for block in claim.blocks()],
            )
            self._make_stale({row_id, *self._neighbours(row_id)})

    def leave(self, sheet_ids: Iterable[str]) -> None:
        """Note, before sheets go, whose groups have to be found anew without them."""
        sql = "SELECT c.sheet FROM sheets s JOIN copies c ON c.sheet = s.id WHERE s.sheet_id = ?"
        for sheet_id in sheet_ids:
            for (row_id,) in self._rows(sql, sheet_id):
                self._make_stale(self._neighbours(row_id))

    def group_stale(self, limit: int) -> None:
        """Find the groups of stale sheets anew, of at most `limit` sheets and their groups."""
        claim = lru_cache(maxsize=_HELD)(self._claim)
        stale = self._rows("SELECT sheet FROM stale_copies ORDER BY sheet LIMIT ?", limit)
        done: set[int] = set()
        for (row_id,) in stale:
            if row_id in done:
                continue
            group = group_of(
                row_id, self._neighbours, lambda one, other: are_copies(claim(one), claim(other))
            )
            family = min(group) if len(group) > 1 else None
            self._connection.executemany(
                "UPDATE copies SET family = ? WHERE sheet = ? AND coalesce(family, -1) != ?",
                [(family, each, -1 if family is None else family) for each in group],
            )
            done |= group
        self._connection.executemany(
            "DELETE FROM stale_copies WHERE sheet = ?", [(each,) for each in done]
        )

    def _make_stale(self, row_ids: Iterable[int]) -> None:
        self._connection.executemany(
            "INSERT INTO stale_copies (sheet) VALUES (?) ON CONFLICT DO NOTHING",
            [(each,) for each in row_ids],
        )

    def _neighbours(self, row_id: int) -> set[int]:
        """The sheets that a sheet is compared with."""
        found: set[int] = set()
        for block, place in self._rows(
            "SELECT block, place FROM copy_blocks WHERE sheet = ?", row_id
        ):
            for sign, order in ((">", "ASC"), ("<", "DESC")):
                sql = (
                    f"SELECT sheet FROM copy_blocks WHERE block = ? AND place {sign} ? "
                    f"ORDER BY place {order} LIMIT {NEAREST}"
                )
                found.update(chain.from_iterable(self._rows(sql, block, place)))
        return found

    def _claim(self, row_id: int) -> CopyClaim:
        text = self._rows("SELECT claim FROM copies WHERE sheet = ?", row_id)[0][0]
        return readable(lambda: claim_from_text("", text))

    def _rows(self, sql: str, *values: Any) -> list[Any]:
        return self._connection.execute(sql, values).fetchall()


class StoredCopies:
    """Reads groups of copies.

    Args:
        ask: Runs a statement with a sequence of values.
        ask_in: Runs a statement whose `{}` stands for a list of values.
        conditions: Translates filters, apart from their period, to the store's SQL.
    """

    def __init__(self, ask: Ask, ask_in: Ask, conditions: Conditions) -> None:
        self._ask = ask
        self._ask_in = ask_in
        self._conditions = conditions

    def exist(self) -> bool:
        """True if any sheet has a copy."""
        return bool(self._ask("SELECT 1 FROM copies WHERE family IS NOT NULL LIMIT 1"))

    def families(self, sheet_ids: Sequence[str]) -> dict[str, int]:
        """The group of each sheet that is in one."""
        return dict(
            self._ask_in(
                "SELECT s.sheet_id, c.family FROM sheets s JOIN copies c ON c.sheet = s.id "
                "WHERE c.family IS NOT NULL AND s.sheet_id IN ({})",
                sheet_ids,
            )
        )

    def members(self, family: int, filters: Filters | None = None) -> list[Member]:
        """Members of a group that meet the filters; at most 500, those of the newest files."""
        rows = self._members(family, filters)[:MEMBERS]
        return readable(lambda: [Member(name, versions_from_text(v), at) for name, v, at in rows])

    def count(self, family: int, filters: Filters | None = None) -> int:
        """Number of the members that meet the filters."""
        return len(self._members(family, filters))

    def _members(self, family: int, filters: Filters | None) -> list[tuple[str, str, int]]:
        """Sheet id, versions and time of the members that meet the filters, the newest first."""
        filters = filters or Filters()
        where, values = self._conditions(replace(filters, period=None))
        rows = self._ask(
            "SELECT s.sheet_id, c.versions, coalesce(w.mtime_ns, 0), t.months FROM copies c "
            "JOIN sheets s ON s.id = c.sheet JOIN tokens t ON t.id = s.id "
            "LEFT JOIN workbooks w ON w.id = s.workbook_id "
            f"WHERE c.family = ? AND {where} "
            "ORDER BY w.mtime_ns IS NULL, w.mtime_ns DESC, s.sheet_id",
            [family, *values],
        )
        months = unpacked([row[3] for row in rows])
        asked = asked_in(filters)
        met = overlapping(months, asked) if asked else [True] * len(rows)
        return [(name, v, at) for (name, v, at, _), each in zip(rows, met, strict=True) if each]
