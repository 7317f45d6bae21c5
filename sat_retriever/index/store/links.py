"""The links of a store: their table, which the caller's transaction changes, and its reader."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from enum import StrEnum
from typing import Any

from sat_retriever.index.store.packing import RowDamage, link_checksum
from sat_retriever.index.store.rows import Statements
from sat_retriever.records.links import Link

_COLUMNS = "source, target, type, origin, weight, evidence"
_PART = 10_000  # rows read at a time

Ask = Callable[..., list[Any]]  # runs a statement with its values; returns rows
Listed = Callable[[Sequence[str]], tuple[str, Any]]
Translated = Callable[[], AbstractContextManager[None]]


class Origin(StrEnum):
    """The origin of a stored link."""

    GIVEN = "given"  # by the user; only the user removes it
    OWN = "own"  # found inside one workbook
    EXTERNAL = "external"  # by formulas that name another workbook
    JOIN = "join"  # by key columns of two workbooks
    PERIOD = "period"  # by the names of a family of sheets


class LinkTable(Statements):
    """Statements on links."""

    def put(self, links: Iterable[Link], origin: Origin) -> None:
        """Add links; each replaces one with the same ends, type and origin."""
        self._connection.executemany(
            "INSERT INTO links (source, target, type, origin, weight, evidence, crc) "
            "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (source, target, type, origin) DO UPDATE "
            "SET weight = excluded.weight, evidence = excluded.evidence, crc = excluded.crc",
            [
                (
                    *(x.source, x.target, x.type, origin.value, x.weight, x.evidence),
                    link_checksum(x, origin.value),
                )
                for x in links
            ],
        )

    def drop_from(self, sheet_ids: Sequence[str], origin: Origin) -> None:
        sql = "DELETE FROM links WHERE source IN {} AND origin = ?"
        self._run_in(sql, sheet_ids, "text", origin.value)

    def drop_among(self, sheet_ids: Sequence[str], origin: Origin) -> None:
        self._drop(sheet_ids, "origin = ?", origin)

    def drop_found(self, sheet_ids: Sequence[str]) -> None:
        self._drop(sheet_ids, "origin != ?", Origin.GIVEN)

    def _drop(self, sheet_ids: Sequence[str], condition: str, origin: Origin) -> None:
        for end in ("source", "target"):
            sql = f"DELETE FROM links WHERE {end} IN {{}} AND {condition}"
            self._run_in(sql, sheet_ids, "text", origin.value)


class StoredLinks:
    """A reader of links; of several origins of one link only the best is returned.

    `ask` runs a statement with a sequence of values, `ask_in` one whose `{}` stands for a list of
    values. `listed` is an expression for the texts of a list, as `x IN` takes it, and the value of
    its placeholder. `translated` turns errors of the database and of damaged rows into this
    package's.
    """

    def __init__(self, ask: Ask, ask_in: Ask, listed: Listed, translated: Translated) -> None:
        self._ask = ask
        self._ask_in = ask_in
        self._listed = listed
        self._translated = translated

    def of(self, sheet_ids: Sequence[str]) -> list[Link]:
        """Links that start or end at one of the sheets, ordered by ends and type."""
        found = {
            tuple(row)
            for end in ("source", "target")
            for row in self._ask_in(
                f"SELECT {_COLUMNS} FROM links WHERE {end} IN ({{}})", sheet_ids
            )
        }
        return self._links(found)

    def between(
        self, some: Sequence[str], others: Sequence[str], types: Sequence[str] | None = None
    ) -> list[Link]:
        """Links with one end in `some` and one in `others`, by ends and type; None takes all types.

        Every pair is looked up, so sheets with thousands of links are as fast as others.
        """
        (each, one), (_, other) = self._listed(some), self._listed(others)
        # An expression keeps types out of the look-up: one a pair, not one a pair and type.
        typed = "" if types is None else f" AND type || '' IN {each}"
        wanted = () if types is None else (self._listed(types)[1],)
        sql = f"SELECT {_COLUMNS} FROM links WHERE source IN {each} AND target IN {each}{typed}"
        values = [one, other, *wanted]
        if one != other:
            sql, values = f"{sql} UNION ALL {sql}", [*values, other, one, *wanted]
        return self._links({tuple(row) for row in self._ask(sql, values)})

    def targets(self, sheet_ids: Sequence[str], limit: int) -> dict[str, list[Link]]:
        """Links that start at each of a few sheets, by target and type.

        They are those of the first `limit` rows of a sheet. One statement looks up all sheets.
        """
        one = (
            f"SELECT * FROM (SELECT {_COLUMNS} FROM links WHERE source = ? "
            "ORDER BY target, type, origin LIMIT ?) x"
        )
        values = [value for sheet_id in sheet_ids for value in (sheet_id, limit)]
        rows = self._ask(" UNION ALL ".join([one] * len(sheet_ids)), values) if sheet_ids else []
        found: dict[str, list[Link]] = {sheet_id: [] for sheet_id in sheet_ids}
        for link in self._links(rows):
            found[link.source].append(link)
        return found

    def all(self) -> Iterator[Link]:
        """Yield every link, ordered by ends and type; the file may change meanwhile."""
        last: tuple[str, str, str, str] = ("", "", "", "")
        held: list[Any] = []
        while rows := self._ask(
            f"SELECT {_COLUMNS} FROM links WHERE (source, target, type, origin) > "
            "(?, ?, ?, ?) ORDER BY source, target, type, origin LIMIT ?",
            (*last, _PART),
        ):
            last = rows[-1][:4]
            # The last link may continue in the next part, with another origin.
            cut = next((n for n, row in enumerate(rows) if row[:3] == last[:3]), 0)
            yield from self._links([*held, *rows[:cut]])
            held = rows[cut:]
        yield from self._links(held)

    def counts(self) -> dict[str, int]:
        return dict(
            self._ask(
                "SELECT type, count(*) FROM (SELECT DISTINCT source, target, type FROM links) x "
                "GROUP BY type ORDER BY type"
            )
        )

    def unresolved(self, limit: int) -> dict[str, int]:
        """Missing workbook files that formulas name, with their number, most frequent first."""
        return dict(
            self._ask(
                "SELECT file, count(*) AS n FROM external_references WHERE file NOT IN "
                "(SELECT file FROM workbooks) GROUP BY file ORDER BY n DESC, file LIMIT ?",
                (limit,),
            )
        )

    def _links(self, rows: Iterable[Any]) -> list[Link]:
        with self._translated():
            return list(merged(rows))


def merged(rows: Iterable[tuple[str, str, str, str, float, str]]) -> Iterator[Link]:
    """Yield one link per pair and type, from (source, target, type, origin, weight, evidence).

    A given link has priority over found ones, and the strongest of these over the others. The
    result is sorted by ends and type.
    """
    best: dict[tuple[str, str, str], tuple[bool, float, str, Link]] = {}
    for source, target, kind, origin, weight, evidence in rows:
        if not isinstance(weight, float):
            raise RowDamage(f"the weight of a link is {weight!r}")
        given = origin == Origin.GIVEN.value
        ranked = (given, weight, origin, Link(source, target, kind, weight, evidence))
        key = (source, target, kind)
        if key not in best or ranked[:3] > best[key][:3]:
            best[key] = ranked
    for key in sorted(best):
        yield best[key][3]
