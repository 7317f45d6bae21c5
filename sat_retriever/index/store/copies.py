"""Groups of copies in a store, kept up to date while sheets come and go."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import Any, TypeVar

from sat_retriever.index.store.claims import row_ids
from sat_retriever.index.store.conditions import asked_in
from sat_retriever.index.store.links import Ask
from sat_retriever.index.store.packing import readable
from sat_retriever.index.store.rows import Statements
from sat_retriever.links.copies.claims import (
    CopyClaim,
    claim_from_text,
    claim_to_text,
    versions_from_text,
    versions_to_text,
)
from sat_retriever.links.copies.likeness import are_copies, group_of
from sat_retriever.links.copies.versions import Member
from sat_retriever.records.filters import Filters
from sat_retriever.text.period.relation import overlapping, unpacked

NEAREST = 16
"""Sheets before a sheet, and after it, that it is compared with in each of its blocks."""
MEMBERS = 500  # of one group that are put in order; those of the newest files
_HELD = 20_000  # claims in memory while groups are found
_TOGETHER = 128  # sheets whose neighbours are looked up together

Read = TypeVar("Read")
Conditions = Callable[[Filters], tuple[str, list[Any]]]


class CopyTables(Statements):
    """Statements on claims and groups of copies.

    A sheet is compared with its neighbours in blocks. So a sheet that comes or goes changes
    comparisons only of those near it. A sheet that came is noted as stale, as are those near one
    that went; their groups, and those of their neighbours, are found anew.
    Groups depend on the sheets alone, not on the order in which they came.
    """

    def put(self, claims: Sequence[CopyClaim]) -> None:
        """Store the claims of sheets, which are stored already and have none."""
        rows = row_ids(self._connection, [claim.sheet_id for claim in claims])
        stored = [(rows[claim.sheet_id], claim) for claim in claims if claim.sheet_id in rows]
        self._connection.insert(
            "copies",
            ("sheet", "versions", "claim"),
            [(row, versions_to_text(x.versions), claim_to_text(x)) for row, x in stored],
        )
        self._connection.insert(
            "copy_blocks",
            ("block", "place", "sheet"),
            [(*block, row) for row, x in stored for block in dict.fromkeys(x.blocks())],
        )
        self._connection.insert("stale_copies", ("sheet",), [(row,) for row, _claim in stored])

    def leave(self, sheet_ids: Sequence[str]) -> None:
        """Note, before sheets go, whose groups have to be found anew without them."""
        near = _near("SELECT id FROM sheets WHERE sheet_id IN {}")
        sql = f"INSERT INTO stale_copies (sheet) SELECT DISTINCT n.sheet FROM {near}"
        self._run_in(f"{sql} ON CONFLICT DO NOTHING", sheet_ids)

    def group_stale(self, limit: int) -> None:
        """Find the groups of stale sheets and their neighbours anew, of at most `limit` sheets."""
        sql = "SELECT sheet FROM stale_copies ORDER BY sheet LIMIT ?"
        stale = [row[0] for row in self._connection.execute(sql, (limit,)).fetchall()]
        rows = [*stale, *self._beside(stale)]
        families: dict[int, int | None] = {}
        for start in range(0, len(rows), _TOGETHER):
            self._group([x for x in rows[start : start + _TOGETHER] if x not in families], families)
        self._connection.executemany(
            "UPDATE copies SET family = ? WHERE sheet = ? AND coalesce(family, -1) != ?",
            [(family, each, -1 if family is None else family) for each, family in families.items()],
        )
        self._run_in("DELETE FROM stale_copies WHERE sheet IN {}", stale, "bigint")

    def _group(self, row_ids: Sequence[int], families: dict[int, int | None]) -> None:
        near, texts = _Known(self._neighbours), _Known(self._texts)
        near.learn(row_ids)
        texts.learn(chain(near, *near.values()))
        claim = lru_cache(maxsize=_HELD)(
            lambda row: readable(lambda: claim_from_text("", texts[row]))
        )
        for row_id in row_ids:
            if row_id not in families:
                group = group_of(
                    row_id,
                    near.__getitem__,
                    lambda one, other: are_copies(claim(one), claim(other)),
                )
                families |= dict.fromkeys(group, min(group) if len(group) > 1 else None)

    def _beside(self, row_ids: Sequence[int]) -> list[int]:
        near = list(dict.fromkeys(chain.from_iterable(self._neighbours(row_ids).values())))
        sql = "SELECT sheet FROM stale_copies WHERE sheet IN {}"
        stale = {row[0] for row in self._run_in(sql, near, "bigint")}
        return [row_id for row_id in near if row_id not in stale]

    def _neighbours(self, row_ids: Sequence[int]) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {row_id: [] for row_id in row_ids}
        sql = f"SELECT DISTINCT g.sheet, n.sheet FROM {_near('SELECT item FROM {} x')}"
        for row_id, other in self._run_in(sql, row_ids, "bigint"):
            found[row_id].append(other)
        return found

    def _texts(self, row_ids: Sequence[int]) -> dict[int, str]:
        sql = "SELECT sheet, claim FROM copies WHERE sheet IN {}"
        return dict(self._run_in(sql, row_ids, "bigint"))


class _Known(dict[int, Read]):
    """Facts by row id, each looked up once: many together, or one that is missing by itself."""

    def __init__(self, look_up: Callable[[Sequence[int]], dict[int, Read]]) -> None:
        super().__init__()
        self._look_up = look_up

    def learn(self, row_ids: Iterable[int]) -> None:
        self.update(self._look_up([row for row in dict.fromkeys(row_ids) if row not in self]))

    def __missing__(self, row_id: int) -> Read:
        self.learn([row_id])
        return self[row_id]


def _near(sheets: str) -> str:
    """Rows `n` of blocks, near those `g` of some sheets: at most `NEAREST` before and after."""
    first, last = (
        "coalesce((SELECT m.place FROM copy_blocks m WHERE m.block = c.block AND m.place "
        f"{sign} c.place ORDER BY m.place {order} LIMIT 1 OFFSET {NEAREST - 1}), {outermost})"
        for sign, order, outermost in (("<", "DESC", "''"), (">", "ASC", "'~'"))
    )
    # DISTINCT keeps a planner from working the ends out anew for each row of a block.
    ends = (
        f"SELECT DISTINCT c.sheet, c.block, {first} AS first, {last} AS last "
        f"FROM copy_blocks c WHERE c.sheet IN ({sheets})"
    )
    return (
        f"({ends}) g JOIN copy_blocks n ON n.block = g.block "
        "AND n.place BETWEEN g.first AND g.last AND n.sheet != g.sheet WHERE 1 = 1"
    )


class StoredCopies:
    """Reads groups of copies; `conditions` makes SQL of filters, apart from their period."""

    def __init__(self, ask: Ask, ask_in: Ask, conditions: Conditions) -> None:
        self._ask = ask
        self._ask_in = ask_in
        self.conditions = conditions

    def families(self, sheet_ids: Sequence[str]) -> dict[str, int]:
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
        return readable(
            lambda: [Member(name, versions_from_text(v), at, file) for name, v, at, file in rows]
        )

    def count(self, family: int, filters: Filters | None = None) -> int:
        return len(self._members(family, filters))

    def _members(self, family: int, filters: Filters | None) -> list[tuple[str, str, int, str]]:
        filters = filters or Filters()
        where, values = self.conditions(replace(filters, period=None))
        rows = self._ask(
            "SELECT s.sheet_id, c.versions, coalesce(w.mtime_ns, 0), coalesce(w.content_hash, ''), "
            "t.months FROM copies c JOIN sheets s ON s.id = c.sheet JOIN tokens t ON t.id = s.id "
            "LEFT JOIN workbooks w ON w.id = s.workbook_id "
            f"WHERE c.family = ? AND {where} "
            "ORDER BY w.mtime_ns IS NULL, w.mtime_ns DESC, s.sheet_id",
            [family, *values],
        )
        months = unpacked([row[-1] for row in rows])
        asked = asked_in(filters)
        met = overlapping(months, asked) if asked else [True] * len(rows)
        return [tuple(row[:-1]) for row, each in zip(rows, met, strict=True) if each]
