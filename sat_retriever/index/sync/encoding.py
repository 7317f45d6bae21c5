"""Turn read workbooks into the rows of a store, each with its links, tokens and words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sat_retriever.errors import InputError
from sat_retriever.index.settings import IndexState
from sat_retriever.index.store.rows import SheetRow
from sat_retriever.links.claims import Discovery, discover
from sat_retriever.links.copies.claims import copy_claims
from sat_retriever.records.sheets import SheetRecord, Skipped
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.lexical import sheet_words
from sat_retriever.text.opening import contents_text
from sat_retriever.text.serialize import Serialization, serialize
from sat_retriever.workbook.read import Workbook


@dataclass(frozen=True, slots=True)
class LinkedWorkbook:
    """A workbook that was read, with its links, but without tokens."""

    records: tuple[SheetRecord, ...]
    discovery: Discovery  # links between them, and their claims about other workbooks
    skipped: tuple[Skipped, ...]  # its parts that gave no record, or a partial one
    content_hash: str  # hash of its bytes; empty if they could not be read


@dataclass(frozen=True, slots=True)
class EncodedWorkbook:
    """A `LinkedWorkbook` whose sheets are rows with tokens and words, ready to be stored."""

    rows: tuple[SheetRow, ...]
    discovery: Discovery
    skipped: tuple[Skipped, ...]
    content_hash: str


def linked(book: Workbook) -> LinkedWorkbook:
    """A workbook with the links inside it and the claims of its sheets."""
    own = discover(book.records, book.references, book.structure, book.profiles)
    claims = replace(own.claims, copies=copy_claims(book.records, book.sketches))
    discovery = replace(own, claims=claims)
    return LinkedWorkbook(book.records, discovery, book.skipped, book.content_hash)


def encoded_workbooks(books: Sequence[LinkedWorkbook], state: IndexState) -> list[EncodedWorkbook]:
    """Workbooks with the rows of their sheets, which are encoded together.

    Raises:
        InputError: If a record has a value that cannot be stored.
        EncoderError: If the encoder cannot be loaded, or fails.
    """
    rows = iter(encoded([record for book in books for record in book.records], state))
    return [
        EncodedWorkbook(
            tuple(next(rows) for _ in book.records),
            book.discovery,
            book.skipped,
            book.content_hash,
        )
        for book in books
    ]


def encoded(records: Sequence[SheetRecord], state: IndexState) -> list[SheetRow]:
    """Records with their tokens and words, in their order; without records no encoder is loaded.

    Raises:
        InputError: If a record has a value that cannot be stored.
    """
    for record in records:
        _check(record)
    texts = [token_text(record, state.settings.serialization) for record in records]
    tokens: Iterable[FloatArray] = state.encoder.encode_sheets(texts) if texts else ()
    return [
        SheetRow(record, token, sheet_words(record))
        for record, token in zip(records, tokens, strict=True)
    ]


def token_text(record: SheetRecord, serialization: Serialization) -> str:
    """The text of a sheet's token: of names and contents, or of names where there are none."""
    return contents_text(record) or serialize(record, serialization)


def _check(record: SheetRecord) -> None:
    for key, value in record.metadata.items():
        if not isinstance(value, (str, int, float, bool)):
            raise InputError(
                f"the metadata {key!r} of {record.sheet_id!r} is a {type(value).__name__}; "
                "give a text, number or boolean"
            )
    parts = (record.sheet_id, record.sheet, record.workbook, record.path)
    try:
        "".join((*parts, *(column.name for column in record.columns))).encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"the record {record.sheet_id!r} has text that is not Unicode ({error.reason}); "
            "replace lone surrogates in its names"
        ) from error
