"""The content part of an ods without uninteresting rows.

A parser calls Python for every cell and every text, so rows are removed by byte search before
parsing. That is safe: a "<" always begins a tag outside comments and CDATA, and with those no
row is removed. A row's tag that is cut at a wrong ">" is not well-formed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_ROW, _ROW_END = b"<table:table-row", b"</table:table-row>"
_TEXT = re.compile(rb"<text:p>[^<]*</text:p>")
_CARRY_LIMIT = 64 << 20


def thinned(chunks: Iterator[bytes], keep: Callable[[bytes], bool]) -> Iterator[bytes]:
    """Yield the bytes without the content of rows that are not kept, and without plain texts.

    Args:
        chunks: A content part in UTF-8; other bytes pass unchanged.
        keep: Predicate on a row's bytes; True keeps the row.
    """
    pending = b""
    plain = True
    for chunk in chunks:
        pending += chunk
        plain = plain and _is_plain(pending) and len(pending) < _CARRY_LIMIT
        if not plain:
            yield pending
            pending = b""
            continue
        cut = pending.rfind(_ROW_END) + len(_ROW_END)
        if cut < len(_ROW_END):
            continue
        yield _thin(pending[:cut], keep)
        pending = pending[cut:]
    yield pending


def _is_plain(block: bytes) -> bool:
    """True if every "<" begins a tag; a declaration at the very start is allowed."""
    # One byte is searched first, because that is many times faster.
    if b"!" in block and b"<!" in block:
        return False
    return b"?" not in block or block.find(b"<?", 1) < 0


def _thin(block: bytes, keep: Callable[[bytes], bool]) -> bytes:
    parts = block.split(_ROW_END)
    for index, part in enumerate(parts):
        start = part.rfind(_ROW)
        end = part.find(b">", start)
        if start < 0 or part[end - 1 : end] == b"/":
            continue
        kept = keep(part[start:])
        parts[index] = _TEXT.sub(b"", part) if kept else part[: end + 1]
    return _ROW_END.join(parts)
