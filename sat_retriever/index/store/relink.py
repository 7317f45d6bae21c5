"""Keep links up to date while sheets are added and removed; the caller owns the transaction.

A write stores a workbook's own links, and its claims on other workbooks, and notes what these
touch. Links between workbooks are found in a second pass over the notes, page by page: the
database joins claims with what they may mean, and `links.across` and `period` decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from enum import StrEnum

from sat_retriever.index.store.claims import ClaimTables
from sat_retriever.index.store.copies import CopyTables
from sat_retriever.index.store.links import LinkTable, Origin
from sat_retriever.index.store.rows import Session, Statements
from sat_retriever.links.claims import Discovery, blocks_of, external_links, join_links, meant
from sat_retriever.links.join.keys import BLOCK_LIMIT
from sat_retriever.text.period.periods import sibling_links

# Taken together in one transaction, so that memory and the wait of others stay small.
_SHEETS = 128
_BLOCKS = 8_192
_FILES = 512
_FAMILIES = 256
_COPIES = 256  # beside the rest of their groups


class NoteKind(StrEnum):
    """What a note names."""

    BLOCK = "block"  # a block that key columns have left
    FILE = "file"  # a file name whose workbooks came or went
    JOINS = "joins"  # a sheet whose key columns are not compared with those of others yet
    REFERENCES = "references"  # a sheet whose references are not resolved yet


class Unsettled(Statements):
    """Statements on notes and crowded blocks.

    A link rests on blocks that are not in `crowded_blocks`, whatever was written since. Whoever
    changes that table notes the sheets of the blocks, so that in the end all links fit it.
    """

    def note(self, kind: NoteKind, names: Iterable[str]) -> None:
        self._connection.executemany(
            "INSERT INTO unsettled (kind, name) VALUES (?, ?) ON CONFLICT DO NOTHING",
            [(kind.value, name) for name in dict.fromkeys(names)],
        )

    def note_blocks_of(self, sheet_ids: Sequence[str]) -> None:
        """Note the blocks of sheets, before these go."""
        self._run_in(
            "INSERT INTO unsettled (kind, name) SELECT DISTINCT 'block', b.block FROM sheets s "
            "JOIN key_columns k ON k.sheet = s.id JOIN key_blocks b ON b.key_column = k.id "
            "WHERE s.sheet_id IN {} ON CONFLICT DO NOTHING",
            sheet_ids,
        )

    def page(self, kind: NoteKind, limit: int) -> list[str]:
        sql = "SELECT name FROM unsettled WHERE kind = ? ORDER BY name LIMIT ?"
        return [row[0] for row in self._connection.execute(sql, (kind.value, limit)).fetchall()]

    def settled(self, kind: NoteKind, names: Sequence[str]) -> None:
        sql = "DELETE FROM unsettled WHERE name IN {} AND kind = ?"
        self._run_in(sql, names, "text", kind.value)

    def crowded(self, blocks: Sequence[str], limit: int) -> Set[str]:
        """Those of some blocks that have more than `limit` columns.

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
        if not blocks:
            return
        if crowded:
            self._connection.insert("crowded_blocks", ("block",), [(block,) for block in blocks])
        else:
            self._run_in("DELETE FROM crowded_blocks WHERE block IN {}", blocks)
        self._run_in(
            "INSERT INTO unsettled (kind, name) SELECT DISTINCT 'joins', s.sheet_id "
            "FROM key_blocks b JOIN key_columns k ON k.id = b.key_column "
            "JOIN sheets s ON s.id = k.sheet WHERE b.block IN {} ON CONFLICT DO NOTHING",
            blocks,
        )


def unlink(connection: Session, going: Sequence[str]) -> None:
    """Remove the links that were found for some sheets, before the sheets are deleted."""
    if not going:
        return
    ClaimTables(connection).make_stale(going)
    CopyTables(connection).leave(going)
    LinkTable(connection).drop_found(going)
    Unsettled(connection).note_blocks_of(going)


def relink(connection: Session, coming: Discovery) -> None:
    """Store links inside workbooks, and claims of sheets, which were just stored."""
    claims, notes = coming.claims, Unsettled(connection)
    LinkTable(connection).put(coming.links, Origin.OWN)
    ClaimTables(connection).put(claims)
    ClaimTables(connection).make_stale([sheet_id for sheet_id, _period in claims.periods])
    CopyTables(connection).put(claims.copies)
    notes.note(NoteKind.JOINS, (column.sheet_id for column in claims.keys))
    notes.note(NoteKind.REFERENCES, (reference.source for reference in claims.external))


def settle_blocks(connection: Session) -> None:
    """Find out which blocks are no longer crowded since columns left them."""
    notes = Unsettled(connection)
    blocks = notes.page(NoteKind.BLOCK, _BLOCKS)
    notes.crowded(blocks, BLOCK_LIMIT)
    notes.settled(NoteKind.BLOCK, blocks)


def settle_joins(connection: Session) -> None:
    """Join the key columns of some noted sheets with those of other workbooks."""
    notes, claims, links = Unsettled(connection), ClaimTables(connection), LinkTable(connection)
    sheets = notes.page(NoteKind.JOINS, _SHEETS)
    columns = claims.keys_of(sheets)
    crowded = notes.crowded(blocks_of(columns), BLOCK_LIMIT)
    notes.settled(NoteKind.JOINS, sheets)
    links.drop_among(sheets, Origin.JOIN)
    links.put(join_links(columns, claims.keys_beside(sheets), crowded), Origin.JOIN)


def settle_files(connection: Session) -> None:
    """Note the sheets whose references may mean a workbook that came or went."""
    notes = Unsettled(connection)
    files = notes.page(NoteKind.FILE, _FILES)
    notes.note(NoteKind.REFERENCES, ClaimTables(connection).sources_of(files))
    notes.settled(NoteKind.FILE, files)


def settle_references(connection: Session) -> None:
    """Resolve the references of some noted sheets to other workbooks anew."""
    notes, claims, links = Unsettled(connection), ClaimTables(connection), LinkTable(connection)
    sheets = notes.page(NoteKind.REFERENCES, _SHEETS)
    references = claims.references_of(sheets)
    called = claims.workbooks_called(sorted({each.key for each in references}))
    found = meant(references, claims.places(sheets), called)
    records = claims.records_of(sorted({workbook for _reference, workbook in found}))
    links.drop_from(sheets, Origin.EXTERNAL)
    links.put(external_links(found, records), Origin.EXTERNAL)
    notes.settled(NoteKind.REFERENCES, sheets)


def settle_families(connection: Session) -> None:
    """Link the sheets of some stale families over time anew."""
    claims, links = ClaimTables(connection), LinkTable(connection)
    names = claims.stale_families(_FAMILIES)
    families = claims.families(names)
    links.drop_among([sheet for each in families.values() for sheet, _ in each], Origin.PERIOD)
    links.put((x for each in families.values() for x in sibling_links(each)), Origin.PERIOD)
    claims.settle(names)


def settle_copies(connection: Session) -> None:
    """Find the groups of some stale sheets anew."""
    CopyTables(connection).group_stale(_COPIES)


STEPS = (
    ("unsettled WHERE kind = 'block'", settle_blocks),
    ("unsettled WHERE kind = 'joins'", settle_joins),
    ("unsettled WHERE kind = 'file'", settle_files),
    ("unsettled WHERE kind = 'references'", settle_references),
    ("stale_families", settle_families),
    ("stale_copies", settle_copies),
)
"""Where work of the second pass is noted, and the function that does a page of it, in order."""
