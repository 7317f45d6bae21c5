"""Contents of a sheet as the bytes that an index file keeps: compressed JSON."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable

from sat_retriever.records.contents import SheetContents

MAX_BYTES = 4 << 20  # of one sheet's contents as JSON
_LEVEL = 6


def packed(contents: SheetContents) -> bytes:
    """The contents as bytes; `unpacked` reads them.

    Raises:
        ValueError: If they are longer than `MAX_BYTES`, or a text is not Unicode.
    """
    text = json.dumps(contents.to_json(), ensure_ascii=False, separators=(",", ":"))
    plain = text.encode()
    if len(plain) > MAX_BYTES:
        raise ValueError(f"its contents take {len(plain):,} bytes; give at most {MAX_BYTES:,}")
    return zlib.compress(plain, _LEVEL)


def unpacked(data: bytes) -> SheetContents:
    """The contents in some bytes; never unpacks more than `MAX_BYTES`.

    >>> from sat_retriever.records.contents import CellText
    >>> found = SheetContents((CellText("A9", "Source"),))
    >>> unpacked(packed(found)) == found
    True

    Raises:
        ValueError: If they hold no contents, or too long ones.
    """
    contents = SheetContents.from_json(json.loads(_plain(data)))
    texts = [*contents.notes, *(text for table in contents.tables for text in table)]
    if not all(type(each.cell) is type(each.text) is str for each in texts):
        raise ValueError("the contents have a value that is no text")
    return contents


def may_hold(data: bytes, phrases: Iterable[str]) -> bool:
    """False if the contents in some bytes have none of some phrases; unpacking costs far more.

    >>> from sat_retriever.records.contents import CellText
    >>> data = packed(SheetContents((CellText("A9", "Net  Sales"), CellText("B9", "of 2024"))))
    >>> may_hold(data, ["net sales"]), may_hold(data, ["sales of"])
    (True, False)

    Raises:
        ValueError: If they are no bytes of contents.
    """
    text = _plain(data).decode().casefold()
    return any(re.search(_written(phrase), text) for phrase in phrases)


def _written(phrase: str) -> str:
    """Pattern of a phrase in JSON, in small letters, whatever the white space in it."""
    parts = phrase.casefold().split()
    plain = (json.dumps(part, ensure_ascii=False)[1:-1] for part in parts)
    return r"(?:\s|\\[bfnrt]|\\u00[01][0-9a-f])+".join(map(re.escape, plain))


def _plain(data: bytes) -> bytes:
    unpacking = zlib.decompressobj()
    try:
        plain = unpacking.decompress(data, MAX_BYTES)
    except zlib.error as error:
        raise ValueError(f"the contents cannot be unpacked: {error}") from error
    if not unpacking.eof or unpacking.unused_data:
        raise ValueError(f"the contents are cut off, or longer than {MAX_BYTES:,} bytes")
    return plain
