"""Store the claims of sheets about other workbooks; the caller owns the transaction."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

from sat_retriever.index.store.packing import readable, record_of
from sat_retriever.index.store.rows import Session, SqlType, Statements, run_in
from sat_retriever.links.claims import Claims, Located
from sat_retriever.links.formula.relations import ExternalReference
from sat_retriever.links.join.keys import KeyColumn
from sat_retriever.records.jsonform import to_json
from sat_retriever.records.sheets import ColumnType, SheetRecord
from sat_retriever.records.structure import Use
from sat_retriever.text.period.periods import Grain, SheetPeriod


class ClaimTables(Statements):
    """Statements on claims."""

    def put(self, claims: Claims) -> None:
        named = [x.source for x in claims.external] + [x.sheet_id for x in claims.keys]
        rows = row_ids(self._connection, [*named, *(each for each, _period in claims.periods)])
        self._connection.insert(
            "external_references",
            ("sheet", "file", "claim"),
            [(rows[x.source], x.key, text_of(x)) for x in claims.external if x.source in rows],
        )
        periods = [(x, period) for x, period in claims.periods if x in rows]
        self._connection.insert(
            "periods",
            ("sheet", "family", "claim"),
            [(rows[x], period.family, text_of(period)) for x, period in periods],
        )
        keys = [column for column in claims.keys if column.sheet_id in rows]
        numbered = list(zip(self._connection.new_ids("key_columns", len(keys)), keys, strict=True))
        self._connection.insert(
            "key_columns",
            ("id", "sheet", "claim"),
            [(number, rows[column.sheet_id], text_of(column)) for number, column in numbered],
        )
        self._connection.insert(
            "key_blocks",
            ("block", "key_column"),
            [
                (block, number)
                for number, column in numbered
                for block in dict.fromkeys(column.blocks)
            ],
        )

    def drop(self, sheet_ids: Sequence[str]) -> None:
        of_sheets = "WHERE sheet IN (SELECT id FROM sheets WHERE sheet_id IN {})"
        for table in ("external_references", "periods", "key_columns", "copies"):
            self._run_in(f"DELETE FROM {table} {of_sheets}", sheet_ids)

    # ---- references

    def references_of(self, sheet_ids: Sequence[str]) -> list[ExternalReference]:
        rows = self._run_in(
            "SELECT r.claim FROM sheets s JOIN external_references r ON r.sheet = s.id "
            "WHERE s.sheet_id IN {} ORDER BY s.sheet_id, r.rowid",
            sheet_ids,
        )
        return readable(lambda: [_reference(claim) for (claim,) in rows])

    def sources_of(self, files: Sequence[str]) -> list[str]:
        """Ids of the sheets whose formulas name a workbook file, in their order."""
        rows = self._run_in(
            "SELECT DISTINCT s.sheet_id FROM external_references r JOIN sheets s ON s.id = r.sheet "
            "WHERE r.file IN {} ORDER BY s.sheet_id",
            files,
        )
        return [sheet_id for (sheet_id,) in rows]

    def places(self, sheet_ids: Sequence[str]) -> dict[str, str]:
        """The full path of the workbook of each sheet that has a file."""
        rows = self._run_in(
            "SELECT s.sheet_id, w.root, w.path FROM sheets s JOIN workbooks w "
            "ON w.id = s.workbook_id WHERE s.sheet_id IN {}",
            sheet_ids,
        )
        return {sheet_id: _place(root, path) for sheet_id, root, path in rows}

    def workbooks_called(self, files: Sequence[str]) -> dict[str, list[Located]]:
        """Row id and full path of the workbooks of each case-folded file name."""
        found: dict[str, list[Located]] = {file: [] for file in files}
        rows = self._run_in(
            "SELECT file, id, root, path FROM workbooks WHERE file IN {} ORDER BY root, path", files
        )
        for file, number, root, path in rows:
            found[file].append((number, _place(root, path)))
        return found

    def records_of(self, workbooks: Sequence[int]) -> dict[int, list[SheetRecord]]:
        """Records of workbooks by row id, in tab order."""
        found: dict[int, list[SheetRecord]] = {number: [] for number in workbooks}
        rows = self._run_in(
            "SELECT workbook_id, record, crc FROM sheets WHERE workbook_id IN {} ORDER BY id",
            workbooks,
            "bigint",
        )
        for number, record, crc in rows:
            found[number].append(record_of(record, crc))
        return found

    # ---- key columns

    def keys_of(self, sheet_ids: Sequence[str]) -> list[KeyColumn]:
        return self._keys(
            "SELECT k.claim FROM sheets s JOIN key_columns k ON k.sheet = s.id "
            "WHERE s.sheet_id IN {} ORDER BY s.sheet_id, k.id",
            sheet_ids,
        )

    def keys_beside(self, sheet_ids: Sequence[str]) -> list[KeyColumn]:
        """The settled key columns that share a block with those of the sheets.

        Crowded blocks do not count, nor do columns of sheets that are settled later.
        """
        # The number of partners cannot be guessed from averages, so they are counted first: a
        # planner that expects too many reads whole tables.
        partners = self._run_in(
            "SELECT DISTINCT o.key_column FROM sheets s JOIN key_columns k ON k.sheet = s.id "
            "JOIN key_blocks b ON b.key_column = k.id JOIN key_blocks o ON o.block = b.block "
            "WHERE s.sheet_id IN {} AND NOT EXISTS "
            "(SELECT 1 FROM crowded_blocks c WHERE c.block = b.block)",
            sheet_ids,
        )
        return self._keys(
            "SELECT k.claim FROM key_columns k JOIN sheets s ON s.id = k.sheet WHERE k.id IN {} "
            "AND NOT EXISTS (SELECT 1 FROM unsettled u WHERE u.kind = 'joins' "
            "AND u.name = s.sheet_id) ORDER BY k.id",
            [number for (number,) in partners],
            "bigint",
        )

    def _keys(self, sql: str, values: Sequence[Any], kind: SqlType = "text") -> list[KeyColumn]:
        rows = self._run_in(sql, values, kind)
        return readable(lambda: [key_from_text(claim) for (claim,) in rows])

    # ---- families of periods

    def make_stale(self, sheet_ids: Sequence[str]) -> None:
        """Record that the families of the sheets must be linked anew."""
        self._run_in(
            "INSERT INTO stale_families SELECT DISTINCT p.family FROM sheets s "
            "JOIN periods p ON p.sheet = s.id WHERE s.sheet_id IN {} ON CONFLICT DO NOTHING",
            sheet_ids,
        )

    def stale_families(self, limit: int) -> list[str]:
        sql = "SELECT family FROM stale_families ORDER BY family LIMIT ?"
        return [row[0] for row in self._connection.execute(sql, (limit,)).fetchall()]

    def families(self, names: Sequence[str]) -> dict[str, list[tuple[str, SheetPeriod]]]:
        """Sheet ids and periods of families, in the order of sheet ids."""
        found: dict[str, list[tuple[str, SheetPeriod]]] = {name: [] for name in names}
        rows = self._run_in(
            "SELECT p.family, s.sheet_id, p.claim FROM periods p JOIN sheets s ON s.id = p.sheet "
            "WHERE p.family IN {} ORDER BY s.sheet_id",
            names,
        )
        for family, sheet_id, claim in rows:
            found[family].append((sheet_id, readable(partial(_period, claim))))
        return found

    def settle(self, families: Sequence[str]) -> None:
        self._run_in("DELETE FROM stale_families WHERE family IN {}", families)


def row_ids(connection: Session, sheet_ids: Sequence[str]) -> dict[str, int]:
    """The row id of each sheet id that exists."""
    sql = "SELECT sheet_id, id FROM sheets WHERE sheet_id IN {}"
    return dict(run_in(connection, sql, list(dict.fromkeys(sheet_ids))))


def text_of(claim: object) -> str:
    """A claim as it is stored."""
    return json.dumps(to_json(claim, compact=True), separators=(",", ":"))


def key_from_text(claim: str) -> KeyColumn:
    """A key column as it was stored."""
    data = json.loads(claim)
    kind = ColumnType(data.get("type", ColumnType.UNKNOWN))
    return KeyColumn(**{**data, "type": kind, "blocks": tuple(data.get("blocks", ()))})


def _reference(claim: str) -> ExternalReference:
    data = json.loads(claim)
    return ExternalReference(**{**data, "use": Use(data["use"])})


def _period(claim: str) -> SheetPeriod:
    data = json.loads(claim)
    return SheetPeriod(**{**data, "grain": Grain(data["grain"])})


def _place(root: str, path: str) -> str:
    return f"{root.rstrip('/')}/{path}"
