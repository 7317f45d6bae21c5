"""Notes of what a write leaves to a second pass; the caller owns the transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from enum import StrEnum

from sat_retriever.index.store.session import Session


class Kind(StrEnum):
    """What a note names."""

    BLOCK = "block"  # a block that key columns have left
    FILE = "file"  # a file name whose workbooks came or went
    JOINS = "joins"  # a sheet whose key columns are not compared with those of others yet
    REFERENCES = "references"  # a sheet whose references are not resolved yet


class Unsettled:
    """Statements on notes and crowded blocks, the same for every store.

    A link rests on blocks that are not in `crowded_blocks`, whatever was written since. Whoever
    changes that table notes the sheets of the blocks, so that in the end all links fit it.

    Args:
        connection: An open store in a transaction.
    """

    def __init__(self, connection: Session) -> None:
        self._connection = connection

    def note(self, kind: Kind, names: Iterable[str]) -> None:
        """Leave names to the second pass."""
        self._connection.executemany(
            "INSERT INTO unsettled (kind, name) VALUES (?, ?) ON CONFLICT DO NOTHING",
            [(kind.value, name) for name in dict.fromkeys(names)],
        )

    def note_blocks_of(self, sheet_ids: Sequence[str]) -> None:
        """Note the blocks of sheets, before these go."""
        listed, value = self._connection.listed(sheet_ids)
        self._connection.execute(
            "INSERT INTO unsettled (kind, name) SELECT DISTINCT 'block', b.block FROM sheets s "
            "JOIN key_columns k ON k.sheet = s.id JOIN key_blocks b ON b.key_column = k.id "
            f"WHERE s.sheet_id IN {listed} ON CONFLICT DO NOTHING",
            (value,),
        )

    def page(self, kind: Kind, limit: int) -> list[str]:
        """Return the first names that are noted."""
        sql = "SELECT name FROM unsettled WHERE kind = ? ORDER BY name LIMIT ?"
        return [row[0] for row in self._connection.execute(sql, (kind.value, limit)).fetchall()]

    def settled(self, kind: Kind, names: Sequence[str]) -> None:
        """Take notes away."""
        listed, value = self._connection.listed(names)
        self._connection.execute(
            f"DELETE FROM unsettled WHERE kind = ? AND name IN {listed}", (kind.value, value)
        )

    def crowded(self, blocks: Sequence[str], limit: int) -> Set[str]:
        """Return those of some blocks that have more than `limit` columns.

        Where that is new, it is recorded, and the sheets of the block are noted.
        """
        listed, value = self._connection.listed(blocks)
        rows = self._connection.execute(
            f"SELECT x.item, EXISTS (SELECT 1 FROM key_blocks b WHERE b.block = x.item "
            "ORDER BY b.key_column LIMIT 1 OFFSET ?), "
            f"EXISTS (SELECT 1 FROM crowded_blocks c WHERE c.block = x.item) FROM {listed} x",
            (limit, value),
        ).fetchall()
        self._turn([block for block, now, before in rows if now and not before], crowded=True)
        self._turn([block for block, now, before in rows if before and not now], crowded=False)
        return {block for block, now, _before in rows if now}

    def _turn(self, blocks: Sequence[str], *, crowded: bool) -> None:
        """Record that blocks became crowded, or no longer are, and note their sheets."""
        if not blocks:
            return
        listed, value = self._connection.listed(blocks)
        if crowded:
            self._connection.insert("crowded_blocks", ("block",), [(block,) for block in blocks])
        else:
            self._connection.execute(
                f"DELETE FROM crowded_blocks WHERE block IN {listed}", (value,)
            )
        self._connection.execute(
            "INSERT INTO unsettled (kind, name) SELECT DISTINCT 'joins', s.sheet_id "
            "FROM key_blocks b JOIN key_columns k ON k.id = b.key_column "
            f"JOIN sheets s ON s.id = k.sheet WHERE b.block IN {listed} ON CONFLICT DO NOTHING",
            (value,),
        )
