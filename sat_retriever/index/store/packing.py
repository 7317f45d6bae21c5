"""Stored form of records, contents and links: packed, and with checksums that tell damage."""

from __future__ import annotations

import json
import re
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from sat_retriever.errors import InputError
from sat_retriever.records.contents import SheetContents
from sat_retriever.records.jsonform import record_from_json, skipped_from_json, to_json
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import SheetRecord, Skipped
from sat_retriever.text.forward import ForwardIndex
from sat_retriever.text.segment import ReadText, read_chunks

Read = TypeVar("Read")
MAX_BYTES = 4 << 20  # of one sheet's contents as JSON, also with its words
_LEVEL = 6
_MALFORMED = (ValueError, TypeError, KeyError, AttributeError, RecursionError)


class RowDamage(Exception):  # noqa: N818 - becomes an `IndexDamagedError` that names the rows
    """A row differs from what was written."""


def checksum(*values: object) -> int:
    """The CRC-32 of some values, stored with their row."""
    plain = [each.encode() if isinstance(each, str) else each for each in values]
    return zlib.crc32(repr(plain).encode())


def register(connection: sqlite3.Connection) -> None:
    """Make `checksum` available in SQL."""
    connection.create_function("checksum", -1, checksum, deterministic=True)


def link_checksum(link: Link, origin: str) -> int:
    """The checksum of a stored link."""
    return checksum(link.source, link.target, link.type, origin, link.evidence, float(link.weight))


def packed_record(record: SheetRecord) -> str:
    """A record without contents as JSON; columns that are those of the main table are left out."""
    data = to_json(replace(record, contents=None), compact=True)
    if record.tables:
        data.setdefault("columns", [])
        if record.columns == record.tables[0].columns:
            del data["columns"]
    return json.dumps(data, separators=(",", ":"))


def record_of(text: str, crc: int) -> SheetRecord:
    """The record in a stored text; raises `RowDamage`."""
    if checksum(text) != crc:
        raise RowDamage("the record is not as it was written")
    return readable(lambda: record_from_json(json.loads(text)))


def stored_name(record: SheetRecord) -> str:
    """The name of a sheet as every database can store it: without NUL and lone surrogates."""
    return record.sheet.encode("utf-8", "replace").decode().replace("\0", "")


def contents_of(data: bytes, crc: int) -> SheetContents:
    """The contents in stored bytes; raises `RowDamage`.

    >>> from sat_retriever.records.contents import CellText
    >>> record = SheetRecord("a.csv#a", "a", contents=SheetContents((CellText("A9", "Source"),)))
    >>> data = packed_contents(record)
    >>> contents_of(data, checksum(data)) == record.contents
    True
    """

    def read() -> SheetContents:
        plain = _plain(data, crc).decode()
        ForwardIndex.unpacked(plain)  # its words have to fit, too
        contents = SheetContents.from_json(json.loads(plain.partition("\n")[0]))
        every = [*contents.notes, *(text for table in contents.tables for text in table)]
        if not all(type(each.cell) is type(each.text) is str for each in every):
            raise ValueError("the contents have a value that is no text")
        return contents

    return readable(read)


def forward_of(data: bytes, crc: int) -> ForwardIndex | None:
    """The texts in stored bytes, with their words; None if these are not stored with them.

    Raises `RowDamage`; a text is read, and may turn out to be damaged, when somebody looks at it.
    """
    return readable(lambda: ForwardIndex.unpacked(_plain(data, crc).decode()))


def may_say(data: bytes, crc: int, phrases: Iterable[str]) -> bool:
    """False if contents in stored bytes have none of some phrases; raises `RowDamage`.

    Reading all texts costs far more.

    >>> from sat_retriever.records.contents import CellText
    >>> texts = (CellText("A9", "Net  Sales"), CellText("B9", "of 2024"))
    >>> data = packed_contents(SheetRecord("a.csv#a", "a", contents=SheetContents(texts)))
    >>> [may_say(data, checksum(data), [each]) for each in ("net sales", "sales of")]
    [True, False]
    """
    text = readable(lambda: _plain(data, crc).decode()).partition("\n")[0].casefold()
    return any(re.search(_written(phrase), text) for phrase in phrases)


def readable(read: Callable[[], Read]) -> Read:
    """The result of a function that reads stored text; raises `RowDamage` if that is malformed."""
    try:
        return read()
    except _MALFORMED as error:
        raise RowDamage(str(error)) from error


def skips_from_text(text: str) -> tuple[Skipped, ...]:
    """The skipped parts of a workbook in a stored text; raises `RowDamage`."""
    return readable(lambda: tuple(map(skipped_from_json, json.loads(text))))


def check_sheet(row: Sequence[Any], width: int) -> None:
    """Raise `RowDamage` unless columns, record, contents, token and words of a sheet match."""
    *columns, text, crc, contents, contents_crc, words, token, months, name, lexical = row
    record = record_of(text, crc)
    if contents is not None:
        contents_of(contents, contents_crc)
    own = (record.sheet_id, record.workbook, record.path, record.format, record.visibility.value)
    plain = json.dumps(to_json(record.metadata))
    if (*own, plain, stored_name(record)) != (*columns, name):
        raise RowDamage("its columns do not fit its record")
    if lexical is None or not isinstance(words, int) or not isinstance(months, int):
        raise RowDamage("its words or times are missing")
    if not isinstance(token, bytes) or len(token) != 4 * width:
        raise RowDamage("its token has another width")
    if not finite(np.frombuffer(token, dtype="<f4").reshape(1, width)):
        raise RowDamage("its token has no direction")


def finite(tokens: np.ndarray[Any, Any]) -> bool:
    """True if the lengths of tokens (n, d) are finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(np.einsum("ij,ij->i", tokens, tokens)).all())


def packed_contents(record: SheetRecord, read: ReadText = read_chunks) -> bytes:
    """The texts of a sheet and their words, read by `read`, compressed.

    The words are left out where they would make it too long.

    Raises:
        InputError: If the texts are too long, or not Unicode.
    """
    texts = ForwardIndex.of(record, read)
    try:
        plain = texts.texts.encode()
        whole = texts.packed().encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"the contents of {record.sheet_id!r} have text that is not Unicode ({error.reason}); "
            "replace lone surrogates in it"
        ) from error
    if len(plain) > MAX_BYTES:
        raise InputError(
            f"{record.sheet_id!r} cannot be kept: its contents take {len(plain):,} bytes; give at "
            f"most {MAX_BYTES:,}"
        )
    return zlib.compress(whole if len(whole) <= MAX_BYTES else plain, _LEVEL)


def _written(phrase: str) -> str:
    """Pattern of a phrase in JSON, in small letters, whatever the white space in it."""
    parts = phrase.casefold().split()
    plain = (json.dumps(part, ensure_ascii=False)[1:-1] for part in parts)
    return r"(?:\s|\\[bfnrt]|\\u00[01][0-9a-f])+".join(map(re.escape, plain))


def _plain(data: bytes, crc: int) -> bytes:
    """The text in stored bytes; never unpacks more than `MAX_BYTES`."""
    if checksum(data) != crc:
        raise RowDamage("the contents are not as they were written")
    unpacking = zlib.decompressobj()
    try:
        plain = unpacking.decompress(data, MAX_BYTES)
    except zlib.error as error:
        raise RowDamage(f"the contents cannot be unpacked: {error}") from error
    if not unpacking.eof or unpacking.unused_data:
        raise RowDamage(f"the contents are cut off, or longer than {MAX_BYTES:,} bytes")
    return plain
