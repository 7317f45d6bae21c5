"""Digest of a file's content, which distinguishes a changed workbook from a touched one."""

from __future__ import annotations

import hashlib
from typing import BinaryIO


def content_hash(file: BinaryIO) -> str:
    """BLAKE2b of the file's bytes, 32 hex digits; the file is left at its start.

    >>> import io
    >>> content_hash(io.BytesIO(b"a,b")) == content_hash(io.BytesIO(b"a,c"))
    False
    """
    file.seek(0)
    digest = hashlib.blake2b(digest_size=16)
    while chunk := file.read(1 << 20):
        digest.update(chunk)
    file.seek(0)
    return digest.hexdigest()
