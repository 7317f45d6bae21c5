"""Store links, and claims across workbooks; the caller owns the transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any

from sat_retriever.index.store.damage import link_checksum, readable, record_of
from sat_retriever.index.store.session import Session
from sat_retriever.links.claims import Claims
from sat_retriever.links.formula.external import ExternalReference
from sat_retriever.links.join.keys import KeyColumn
from sat_retriever.period.periods import Grain, SheetPeriod
from sat_retriever.records.jsonform import to_json
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import ColumnType, SheetRecord
from sat_retriever.records.structure import Use


class Origin(StrEnum):
    """The origin of a stored link."""

    GIVEN = "given"  # by the user; only the user removes it
    OWN = "own"  # found inside one workbook
    EXTERNAL = "external"  # by formulas that name another workbook
    JOIN = "join"  # by key columns of two workbooks
    PERIOD = "period"  # by the names of a family of sheets


class LinkTables:
    """Statements on links and claims, within one transaction; the same for every store.

    Args:
        connection: An open store in a transaction.
    """

    def __init__(self, connection: Session) -> None:
        self.connection = connection

    # ---- links

    def put(self, links: Iterable[Link], origin: Origin) -> None:
        """Add links; each replaces one with the same ends, type and origin."""
        self.connection.executemany(
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

    def drop_from(self, sheet_ids: Iterable[str], origin: Origin) -> None:
        """Remove the links of an origin that start at the sheets."""
        self.connection.executemany(
            "DELETE FROM links WHERE source = ? AND origin = ?",
            [(sheet_id, origin.value) for sheet_id in sheet_ids],
        )

    def drop_among(self, sheet_ids: Iterable[str], origin: Origin) -> None:
        """Remove the links of an origin that start or end at the sheets."""
        values = [(sheet_id, origin.value) for sheet_id in sheet_ids]
        for end in ("source", "target"):
            self.connection.executemany(f"DELETE FROM links WHERE {end} = ? AND origin = ?", values)

    def drop_found(self, sheet_ids: Sequence[str]) -> None:
        """Remove every found link that starts or ends at one of the sheets."""
        for end in ("source", "target"):
            self.connection.executemany(
                f"DELETE FROM links WHERE {end} = ? AND origin != ?",
                [(sheet_id, Origin.GIVEN.value) for sheet_id in sheet_ids],
            )

    # ---- claims

    def put_claims(self, claims: Claims) -> None:
        """Store claims of stored sheets on other workbooks."""
        for reference in claims.external:
            self.connection.execute(
                "INSERT INTO external_references (sheet, file, claim) "
                "SELECT id, ?, ? FROM sheets WHERE sheet_id = ?",
                (reference.key, text_of(reference), reference.source),
            )
        for sheet_id, period in claims.periods:
            self.connection.execute(
                "INSERT INTO periods (sheet, family, claim) "
                "SELECT id, ?, ? FROM sheets WHERE sheet_id = ?",
                (period.family, text_of(period), sheet_id),
            )
        for column in claims.keys:
            self._put_key(column)

    def _put_key(self, column: KeyColumn) -> None:
        self.connection.execute(
            "INSERT INTO key_columns (sheet, claim) SELECT id, ? FROM sheets WHERE sheet_id = ?",
            (text_of(column), column.sheet_id),
        )
        newest = (
            "SELECT max(k.id) FROM key_columns k JOIN sheets s ON s.id = k.sheet "
            "WHERE s.sheet_id = ?"
        )
        [(added,)] = self._rows(newest, column.sheet_id)
        if added is not None:
            self.connection.executemany(
                "INSERT INTO key_blocks (block, key_column) VALUES (?, ?) ON CONFLICT DO NOTHING",
                [(block, added) for block in column.blocks],
            )

    def drop_claims(self, sheet_ids: Iterable[str]) -> None:
        """Delete the claims of sheets on other workbooks; the sheets stay."""
        values = [(sheet_id,) for sheet_id in sheet_ids]
        for table in ("external_references", "periods", "key_columns", "copies"):
            self.connection.executemany(
                f"DELETE FROM {table} WHERE sheet = (SELECT id FROM sheets WHERE sheet_id = ?)",
                values,
            )

    def references_of(self, sheet_ids: Iterable[str]) -> list[ExternalReference]:
        """Return references of the sheets to other workbooks, in the order of the sheets."""
        sql = (
            "SELECT claim FROM external_references WHERE sheet = "
            "(SELECT id FROM sheets WHERE sheet_id = ?) ORDER BY rowid"
        )
        claims = [claim for each in sheet_ids for (claim,) in self._rows(sql, each)]
        return readable(lambda: [_reference(claim) for claim in claims])

    def sources_of(self, file: str) -> list[str]:
        """Return the ids of the sheets whose formulas name a workbook file, in their order."""
        sql = (
            "SELECT DISTINCT s.sheet_id FROM external_references r JOIN sheets s ON s.id = r.sheet "
            "WHERE r.file = ? ORDER BY s.sheet_id"
        )
        return [row[0] for row in self._rows(sql, file)]

    def sheets_of(self, root: str, path: str) -> list[str]:
        """Return the sheet ids of one workbook in tab order."""
        sql = (
            "SELECT s.sheet_id FROM sheets s JOIN workbooks w ON w.id = s.workbook_id "
            "WHERE w.root = ? AND w.path = ? ORDER BY s.id"
        )
        return [row[0] for row in self._rows(sql, root, path)]

    def workbooks_called(self, file: str) -> list[tuple[str, list[SheetRecord]]]:
        """Return full path and records, in tab order, of workbooks with a case-folded file name."""
        found = []
        sql = "SELECT id, root, path FROM workbooks WHERE file = ? ORDER BY root, path"
        for identity, root, path in self._rows(sql, file):
            records = self._rows(
                "SELECT record, crc FROM sheets WHERE workbook_id = ? ORDER BY id", identity
            )
            read = [record_of(record, crc) for record, crc in records]
            found.append((f"{root.rstrip('/')}/{path}", read))
        return found

    def places(self, sheet_ids: Iterable[str]) -> dict[str, str]:
        """Return the full path of the workbook of each sheet that has a file."""
        sql = (
            "SELECT w.root, w.path FROM sheets s JOIN workbooks w ON w.id = s.workbook_id "
            "WHERE s.sheet_id = ?"
        )
        return {
            sheet_id: f"{root.rstrip('/')}/{path}"
            for sheet_id in sheet_ids
            for root, path in self._rows(sql, sheet_id)
        }

    def keys_of(self, sheet_ids: Iterable[str]) -> list[KeyColumn]:
        """Return key columns of the sheets, in their order."""
        sql = (
            "SELECT claim FROM key_columns WHERE sheet = "
            "(SELECT id FROM sheets WHERE sheet_id = ?) ORDER BY id"
        )
        claims = [claim for each in sheet_ids for (claim,) in self._rows(sql, each)]
        return readable(lambda: [key_from_text(claim) for claim in claims])

    def blocks_of(self, sheet_ids: Iterable[str]) -> list[str]:
        """Return blocks of the sheets' key columns."""
        sql = (
            "SELECT DISTINCT b.block FROM sheets s JOIN key_columns k "
            "ON k.sheet = s.id JOIN key_blocks b ON b.key_column = k.id WHERE s.sheet_id = ?"
        )
        found = (block for each in sheet_ids for (block,) in self._rows(sql, each))
        return list(dict.fromkeys(found))

    def crowded(self, blocks: Iterable[str], limit: int) -> set[str]:
        """Return the blocks that have more than `limit` columns."""
        sql = "SELECT count(*) FROM (SELECT 1 FROM key_blocks WHERE block = ? LIMIT ?)"
        return {block for block in blocks if self._rows(sql, block, limit + 1)[0][0] > limit}

    def sheets_in(self, block: str, limit: int) -> list[str]:
        """Return the sheets of the first `limit` columns of a block, in the order of insertion."""
        sql = (
            "SELECT s.sheet_id FROM (SELECT key_column FROM key_blocks WHERE block = ? "
            "ORDER BY key_column LIMIT ?) b JOIN key_columns k ON k.id = b.key_column "
            "JOIN sheets s ON s.id = k.sheet ORDER BY s.sheet_id"
        )
        return list(dict.fromkeys(row[0] for row in self._rows(sql, block, limit)))

    def key_columns(self, blocks: Iterable[str]) -> list[KeyColumn]:
        """Return columns of any of the blocks, in the order of insertion."""
        found: dict[int, str] = {}
        sql = (
            "SELECT k.id, k.claim FROM key_blocks b JOIN key_columns k ON k.id = b.key_column "
            "WHERE b.block = ?"
        )
        for block in blocks:
            found.update(self._rows(sql, block))
        return readable(lambda: [key_from_text(found[identity]) for identity in sorted(found)])

    # ---- families of periods

    def make_stale(self, sheet_ids: Iterable[str]) -> None:
        """Record that the families of the sheets must be linked anew."""
        self.connection.executemany(
            "INSERT INTO stale_families SELECT family FROM periods WHERE sheet = "
            "(SELECT id FROM sheets WHERE sheet_id = ?) ON CONFLICT DO NOTHING",
            [(sheet_id,) for sheet_id in sheet_ids],
        )

    def stale_families(self, limit: int) -> list[str]:
        """Return families to link anew, at most `limit` of them."""
        sql = "SELECT family FROM stale_families ORDER BY family LIMIT ?"
        return [row[0] for row in self._rows(sql, limit)]

    def family(self, name: str) -> list[tuple[str, SheetPeriod]]:
        """Return sheet ids and periods of a family, in the order of sheet ids."""
        sql = (
            "SELECT s.sheet_id, p.claim FROM periods p JOIN sheets s ON s.id = p.sheet "
            "WHERE p.family = ? ORDER BY s.sheet_id"
        )
        rows = self._rows(sql, name)
        return readable(lambda: [(sheet_id, _period(claim)) for sheet_id, claim in rows])

    def settle(self, family: str) -> None:
        """Record that a family has been linked."""
        self.connection.execute("DELETE FROM stale_families WHERE family = ?", (family,))

    def _rows(self, sql: str, *values: Any) -> list[Any]:
        return self.connection.execute(sql, values).fetchall()


def text_of(claim: object) -> str:
    """Return a claim in its stored form."""
    return json.dumps(to_json(claim, compact=True), separators=(",", ":"))


def _reference(claim: str) -> ExternalReference:
    data = json.loads(claim)
    return ExternalReference(**{**data, "use": Use(data["use"])})


def _period(claim: str) -> SheetPeriod:
    data = json.loads(claim)
    return SheetPeriod(**{**data, "grain": Grain(data["grain"])})


def key_from_text(claim: str) -> KeyColumn:
    """Return a stored key column."""
    data = json.loads(claim)
    kind = ColumnType(data.get("type", ColumnType.UNKNOWN))
    return KeyColumn(**{**data, "type": kind, "blocks": tuple(data.get("blocks", ()))})
