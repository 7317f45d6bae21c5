"""Decryption of a workbook with its password, in memory only."""

from __future__ import annotations

import io
from typing import BinaryIO

from sat_retriever._extras import require
from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.limits import Limits, Refused


class _Bounded(io.BytesIO):
    """A memory file that refuses to grow beyond the size limit of a workbook."""

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

    Raises:
        Refused: If the password is wrong, the encryption is unknown or damaged, or the result
            is over the limit.
        MissingExtraError: If msoffcrypto-tool is not installed.
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
