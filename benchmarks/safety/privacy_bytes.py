"""Every byte of an index file and of what lies beside it, packed parts unpacked."""

from __future__ import annotations

import base64
import binascii
import re
import sqlite3
import struct
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from benchmarks.safety.privacy_books import Marks
from sat_retriever import read_workbook

_PACKED = re.compile(rb"x[\x01\x5e\x9c\xda]")  # how zlib's streams begin
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{8,}={0,2}")
_ENDS = 8  # letters of a mark that must be found: FTS5 leaves out what words share at their start
_STEP = 64  # bytes unpacked at a time, so that a stream that is cut off is read up to there


def haystack(folder: Path) -> bytes:
    """Return all bytes below a folder, those of packed parts as well, and all words, folded."""
    found = [path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()]
    unpacked = [each for content in found for each in _unpacked(content)]
    return b"\0".join((*found, *unpacked)).lower()


def values(path: Path) -> Iterator[bytes]:
    """Yield every value of every table of an index file."""
    with closing(sqlite3.connect(path)) as opened:
        tables = opened.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (table,) in tables:
            if "_words" in table or table.startswith("lexical"):
                continue  # the words themselves are read below, and lie in the file's bytes
            for row in opened.execute(f'SELECT * FROM "{table}"'):
                for value in row:
                    yield value if isinstance(value, bytes) else str(value).encode()
        for words in ("content_words", "lexical"):
            opened.execute(f"CREATE VIRTUAL TABLE temp.{words}_v USING fts5vocab(main,{words},row)")
            yield from (row[0].encode() for row in opened.execute(f"SELECT term FROM {words}_v"))


def found_marks(content: bytes, marks: Marks) -> dict[str, int]:
    """Return the number of marks of each kind in some bytes."""
    counts = {
        kind: sum(_has_text(content, text) for text in texts) for kind, texts in marks.texts.items()
    }
    for kind, numbers in marks.numbers.items():
        counts[kind] = counts.get(kind, 0) + sum(_has_number(content, each) for each in numbers)
    return counts


def found_hashes(index: Path, folder: Path) -> int:
    """Return the number of hashes of cells of a folder's workbooks that an index holds."""
    short: set[bytes] = set()  # of values, four bytes
    long: set[bytes] = set()  # of cells with their row's label, six bytes
    for path in folder.rglob("*"):
        book = read_workbook(path)
        short.update(struct.pack("<I", each) for one in book.profiles for each in one.sketch)
        long.update(
            struct.pack("<Q", each)[:6]
            for one in book.sketches
            for each in (*one.number_sketch, *one.text_sketch)
        )
    with closing(sqlite3.connect(index)) as opened:
        keys = [row[0].encode() for row in opened.execute("SELECT claim FROM key_columns")]
        copies = [row[0].encode() for row in opened.execute("SELECT claim FROM copies")]
    return len(short & _groups(keys, 4)) + len(long & _groups(copies, 6))


def _groups(texts: list[bytes], size: int) -> set[bytes]:
    """Return the groups of so many bytes in the base64 parts of some texts."""
    return {
        plain[at : at + size]
        for text in texts
        for part in _BASE64.findall(text)
        for plain in _decoded(part)
        for at in range(0, len(plain) - size + 1, size)
    }


def _decoded(part: bytes) -> Iterator[bytes]:
    try:
        yield base64.b64decode(part, validate=True)
    except (binascii.Error, ValueError):
        return


def _unpacked(content: bytes) -> Iterator[bytes]:
    """Yield what zlib's streams in some bytes hold, damaged ones up to the damage."""
    for start in _PACKED.finditer(content):
        unpacking, parts = zlib.decompressobj(), []
        try:
            for at in range(start.start(), len(content), _STEP):
                parts.append(unpacking.decompress(content[at : at + _STEP]))
                if unpacking.eof:
                    break
        except zlib.error:
            pass
        if whole := b"".join(parts):
            yield whole


def _has_text(content: bytes, text: str) -> bool:
    end = text[-_ENDS:]
    forms = (end.encode(), end[::-1].encode(), end.encode("utf-16-le"))
    return any(each in content for each in forms)


def _has_number(content: bytes, number: int) -> bool:
    forms = [str(number).encode(), number.to_bytes(6, "big"), number.to_bytes(6, "little")]
    forms += [
        struct.pack(kind, value) for kind in (">d", "<d") for value in (number, number + 0.25)
    ]
    return any(each.lower() in content for each in forms)
