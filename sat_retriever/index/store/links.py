"""Store links; the caller owns the transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

from sat_retriever.index.store.damage import link_checksum
from sat_retriever.index.store.session import Session
from sat_retriever.records.links import Link


class Origin(StrEnum):
    """The origin of a stored link."""

    GIVEN = "given"  # by the user; only the user removes it
    OWN = "own"  # found inside one workbook
    EXTERNAL = "external"  # by formulas that name another workbook
    JOIN = "join"  # by key columns of two workbooks
    PERIOD = "period"  # by the names of a family of sheets


class LinkTable:
    """Statements on links, within one transaction; the same for every store.

    Args:
        connection: An open store in a transaction.
    """

    def __init__(self, connection: Session) -> None:
        self._connection = connection

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
        """Remove the links of an origin that start at the sheets."""
        listed, value = self._connection.listed(sheet_ids)
        self._connection.execute(
            f"DELETE FROM links WHERE source IN {listed} AND origin = ?", (value, origin.value)
        )

    def drop_among(self, sheet_ids: Sequence[str], origin: Origin) -> None:
        """Remove the links of an origin that start or end at the sheets."""
        self._drop(sheet_ids, "origin = ?", origin)

    def drop_found(self, sheet_ids: Sequence[str]) -> None:
        """Remove every found link that starts or ends at one of the sheets."""
        self._drop(sheet_ids, "origin != ?", Origin.GIVEN)

    def _drop(self, sheet_ids: Sequence[str], condition: str, origin: Origin) -> None:
        listed, value = self._connection.listed(sheet_ids)
        for end in ("source", "target"):
            self._connection.execute(
                f"DELETE FROM links WHERE {end} IN {listed} AND {condition}", (value, origin.value)
            )
