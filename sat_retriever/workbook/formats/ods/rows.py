"""The content part of an ods without the rows that hold nothing of interest.

A parser calls Python for every cell and every text. Rows are cut out by byte search
before they reach it. That is safe: outside of comments and CDATA, with which nothing is
cut, a "<" always begins a tag, and a row's own tag cut at a wrong ">" is not well-formed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_ROW, _ROW_END = b"<table:table-row", b"</table:table-row>"
_TEXT = re.compile(rb"<text:p>[^<]*</text:p>")
_CARRY_LIMIT = 64 << 20


def thinned(chunks: Iterator[bytes], keep: Callable[[bytes], bool]) -> Iterator[bytes]:
    """The bytes, of rows that are not kept only their tags, of the others no plain texts.

    Args:
        chunks: A content part in UTF-8; any other bytes pass as they are.
        keep: True if a row, given as its bytes, is kept.
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
    """True if every "<" begins a tag; the declaration at the very start is one."""
    # One byte is searched first, for that is many times faster.
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
