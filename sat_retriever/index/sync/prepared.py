"""Turn read workbooks into what an index stores of them, on this machine or on another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sat_retriever.index.state import IndexState
from sat_retriever.index.store.rows import SheetRow
from sat_retriever.index.sync.encoding import encoded
from sat_retriever.links.claims import Discovery, discover
from sat_retriever.links.copies.claims import copy_claims
from sat_retriever.records.sheets import SheetRecord, Skipped
from sat_retriever.workbook.read import Workbook


@dataclass(frozen=True, slots=True)
class Found:
    """A workbook that was read, and its links, but without tokens.

    Attributes:
        records: Its sheets in tab order.
        discovery: Links between them, and their claims about other workbooks.
        skipped: Its parts that gave no record, or a partial one.
        content_hash: Hash of its bytes; empty if they could not be read.
    """

    records: tuple[SheetRecord, ...]
    discovery: Discovery
    skipped: tuple[Skipped, ...]
    content_hash: str


@dataclass(frozen=True, slots=True)
class Prepared:
    """A workbook that is ready to be stored; the attributes are those of `Found`.

    Attributes:
        rows: Its sheets with their tokens and words, in tab order.
        discovery: See `Found`.
        skipped: See `Found`.
        content_hash: See `Found`.
    """

    rows: tuple[SheetRow, ...]
    discovery: Discovery
    skipped: tuple[Skipped, ...]
    content_hash: str


def found_in(book: Workbook) -> Found:
    """Return the links inside a workbook and the claims of its sheets, with its records."""
    own = discover(book.records, book.references, book.structure, book.profiles)
    claims = replace(own.claims, copies=copy_claims(book.records, book.sketches))
    discovery = replace(own, claims=claims)
    return Found(book.records, discovery, book.skipped, book.content_hash)


def prepared(books: Sequence[Found], state: IndexState) -> list[Prepared]:
    """Return workbooks with the rows of their sheets, which are encoded together.

    Raises:
        InputError: If a record has a value that cannot be stored.
        EncoderError: If the encoder cannot be loaded, or fails.
    """
    rows = iter(encoded([record for book in books for record in book.records], state))
    return [
        Prepared(
            tuple(next(rows) for _ in book.records),
            book.discovery,
            book.skipped,
            book.content_hash,
        )
        for book in books
    ]
