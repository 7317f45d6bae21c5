"""Encrypted workbooks: the check before any reader opens a file, and decryption in memory."""

from __future__ import annotations

import io
from collections.abc import Iterator
from struct import unpack_from
from typing import BinaryIO

from sat_retriever._extras import require
from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.limits import Limits, Refused
from sat_retriever.workbook.opening.ole import MAGIC, Container

ENCRYPTED = (
    "The workbook is encrypted; give its password to read it "
    "(--password or SAT_PASSWORD, in Python password=)."
)
_AS_OF_OLD = (
    "The workbook has the encryption of Excel 5 and 95, which is not supported; "
    "open it in Excel with its password and save it without one."
)
_FILE_PASS, _BOUND_SHEET, _END = 0x002F, 0x0085, 0x000A


def encryption_refusal(file: BinaryIO, limits: Limits) -> Refused | None:
    """The refusal of an encrypted workbook; None for a plain one, and for any other file.

    calamine reports an XOR-encrypted workbook as damaged, so this function searches for the record
    that marks encryption. The file is left at its start. A damaged container, and one that no
    password can open, raises `Refused`.
    """
    file.seek(0)
    try:
        if file.read(len(MAGIC)) != MAGIC:
            return None
        container = Container(file, limits.file_bytes)
        container.check()
        stream, pieces = container.workbook()
        if "encryptedpackage" in container.names:
            return Refused(SkipReason.ENCRYPTED, ENCRYPTED)
        if not _has_file_pass(pieces):
            return None
        if stream == "book":
            raise Refused(SkipReason.ENCRYPTED, _AS_OF_OLD)
        return Refused(SkipReason.ENCRYPTED, ENCRYPTED)
    finally:
        file.seek(0)


def _has_file_pass(pieces: Iterator[bytes]) -> bool:
    """True if the encryption record precedes the list of sheets, which is itself encrypted."""
    for kind in _records(pieces):
        if kind in (_FILE_PASS, _BOUND_SHEET, _END):
            return kind == _FILE_PASS
    return False


def _records(pieces: Iterator[bytes]) -> Iterator[int]:
    held, at = bytearray(), 0
    for piece in pieces:
        held += piece
        while at + 4 <= len(held):
            kind, size = unpack_from("<HH", held, at)
            yield kind
            at += 4 + size
        at, held = max(0, at - len(held)), held[at:]


class _Bounded(io.BytesIO):
    def __init__(self, limit: int) -> None:
        super().__init__()
        self._limit = limit

    def write(self, data: bytes) -> int:  # type: ignore[override]
        if self.tell() + len(data) > self._limit:
            message = f"The decrypted workbook is over the limit of {self._limit:,} bytes."
            raise Refused(SkipReason.TOO_LARGE, message)
        return super().write(data)


def decrypt(file: BinaryIO, password: str, limits: Limits) -> BinaryIO:
    """Decrypt a workbook to a file in memory, at its start; nothing is written to disk.

    Raises `Refused` if the password is wrong, the encryption is unknown or damaged, or the result
    is over the limit, and `MissingExtraError` if msoffcrypto-tool is not installed.
    """
    msoffcrypto = require("msoffcrypto", "encrypted")
    errors = require("msoffcrypto.exceptions", "encrypted")
    plain = _Bounded(limits.file_bytes)
    file.seek(0)
    try:
        office = msoffcrypto.OfficeFile(file)
        try:
            office.load_key(password=password, verify_password=True)
        except TypeError:
            office.load_key(password=password)
        office.decrypt(plain)
    except errors.InvalidKeyError as error:
        wrong = "The password does not open the workbook."
        raise Refused(SkipReason.WRONG_PASSWORD, wrong) from error
    except (Refused, MemoryError):
        raise
    except Exception as error:
        message = f"The workbook cannot be decrypted: {type(error).__name__}."
        raise Refused(SkipReason.UNSUPPORTED, message) from error
    plain.seek(0)
    return plain
