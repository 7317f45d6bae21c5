"""Keep links up to date while sheets are added and removed; the caller owns the transaction.

`links.across` and `period` decide which sheets are linked. This module reads the claims that they
need, and writes the links that they find.
"""

from __future__ import annotations

from collections.abc import Sequence

from sat_retriever.index.store.copies import CopyTables
from sat_retriever.index.store.links import LinkTables, Origin
from sat_retriever.links.across import Blocks, blocks_of, external_links, join_links
from sat_retriever.links.claims import NO_CLAIMS, NOTHING, Claims, Discovery
from sat_retriever.links.join.keys import BLOCK_LIMIT, KeyColumn
from sat_retriever.period.periods import sibling_links


def unlink(tables: LinkTables, going: Sequence[str], coming: Claims = NO_CLAIMS) -> Blocks:
    """Remove the links that were found for some sheets, before the sheets are deleted.

    Args:
        tables: The tables of links.
        going: Ids of the sheets.
        coming: Claims of the sheets that will be stored in their place.

    Returns:
        The blocks that this change touches; `relink` needs them.
    """
    tables.make_stale(going)
    CopyTables(tables.connection).leave(going)
    tables.drop_found(going)
    blocks = tuple(dict.fromkeys((*tables.blocks_of(going), *blocks_of(coming.keys))))
    return Blocks(blocks, tables.crowded(blocks, BLOCK_LIMIT))


def relink(tables: LinkTables, before: Blocks, coming: Discovery = NOTHING) -> None:
    """Link the sheets that were just stored, and those whose blocks changed.

    Args:
        tables: The tables of links.
        before: The result of `unlink`.
        coming: Links and claims of the sheets that were stored.
    """
    tables.put(coming.links, Origin.OWN)
    tables.put_claims(coming.claims)
    tables.make_stale([sheet_id for sheet_id, _period in coming.claims.periods])
    CopyTables(tables.connection).put(coming.claims.copies)
    connect_externals(tables, list(dict.fromkeys(x.source for x in coming.claims.external)))
    _join(tables, coming.claims.keys)
    for block in before.turned(tables.crowded(before.names, BLOCK_LIMIT)):
        sheet_ids = tables.sheets_in(block, BLOCK_LIMIT)
        tables.drop_among(sheet_ids, Origin.JOIN)
        _join(tables, tables.keys_of(sheet_ids))


def connect_externals(tables: LinkTables, sources: Sequence[str]) -> None:
    """Resolve every reference of some sheets to other workbooks anew."""
    tables.drop_from(sources, Origin.EXTERNAL)
    references = tables.references_of(sources)
    called = {key: tables.workbooks_called(key) for key in {each.key for each in references}}
    tables.put(external_links(references, tables.places(sources), called), Origin.EXTERNAL)


def connect_family(tables: LinkTables, family: str) -> None:
    """Link the sheets of one family over time anew."""
    members = tables.family(family)
    tables.drop_among([sheet_id for sheet_id, _period in members], Origin.PERIOD)
    tables.put(sibling_links(members), Origin.PERIOD)
    tables.settle(family)


def _join(tables: LinkTables, columns: Sequence[KeyColumn]) -> None:
    """Join key columns with those of other workbooks."""
    blocks = blocks_of(columns)
    crowded = tables.crowded(blocks, BLOCK_LIMIT)
    others = tables.key_columns(block for block in blocks if block not in crowded)
    tables.put(join_links(columns, others, crowded), Origin.JOIN)
