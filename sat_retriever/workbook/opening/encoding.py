"""The encoding of a text, found in its bytes or named by the user; stray zero bytes are ignored."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from sat_retriever.errors import InputError
from sat_retriever.workbook.opening.likelihood import likelihoods

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Shares of zero bytes at even or odd offsets in UTF-16 text without a byte-order mark: at which
# they almost certainly are halves of characters, at which they may be, and the other offsets' most.
_SURE, _LIKELY, _OTHER = 0.9, 0.5, 0.1
_PATTERN_BYTES = 65_536
_CHUNK_BYTES = 1 << 20
_LINE_BYTES = 16_384
_TELLING_BYTES = 32_768
_ASCII = bytes(range(128))
_TELLING = re.compile(rb"[^\n]*?[\x80-\xff][^\n]*")
_MARGIN = 4.0  # an encoding is almost as likely as the best one up to this logarithm


@dataclass(frozen=True, slots=True)
class Encoding:
    """The encoding of a text."""

    name: str
    sure: bool = True  # False if another one is almost as likely and would give another text


def encoding_name(name: str | None) -> str:
    """Return Python's name of an encoding; "" without one, `InputError` if it is none of text.

    >>> encoding_name("Windows-1252"), encoding_name(None)
    ('cp1252', '')
    """
    if name is None:
        return ""
    try:
        "".encode(name)
        return codecs.lookup(name).name
    except (LookupError, ValueError, UnicodeError) as error:
        raise InputError(
            f"there is no text encoding {name!r}; name one such as utf-8, cp1252 or cp932"
        ) from error


def find_encoding(file: BinaryIO) -> Encoding:
    """Return the encoding of a text, which is read from its start to its end.

    A byte-order mark decides, then the pattern of zero bytes, then valid UTF-8, then the
    likeliest by letters and words of its language. Unless the codec is UTF-16 or UTF-32, zero
    bytes are not part of the text.

    >>> import io
    >>> find_encoding(io.BytesIO("Größe;Übermaß".encode("cp1252"))).name
    'cp1252'
    """
    head = file.read(_PATTERN_BYTES)
    if wide := wide_encoding(head):
        return Encoding(wide)
    if head.replace(b"\0", b"").startswith(codecs.BOM_UTF8):
        return Encoding("utf-8-sig")
    if _is_utf8(_chunks(file)):
        return Encoding("utf-8")
    return likeliest(_telling_lines(file))


def likeliest(sample: bytes) -> Encoding:
    """Return the likeliest encoding of lines that are not valid UTF-8.

    It is sure if no other that gives another text is almost as likely.
    """
    found = likelihoods(sample)
    best = max(found, key=lambda name: found[name])
    text = sample.decode(best, errors="replace")
    close = (name for name in found if name != best and found[name] > found[best] - _MARGIN)
    sure = all(sample.decode(name, errors="replace") == text for name in close)
    return Encoding(best.replace("utf_8", "utf-8"), sure)


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    """Yield whole lines of a text, many at once, without zero bytes."""
    file.seek(0)
    while chunk := file.read(_CHUNK_BYTES):
        yield (chunk + file.readline(_LINE_BYTES)).replace(b"\0", b"")


def _is_utf8(chunks: Iterable[bytes], *, cut: bool = False) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for chunk in chunks:
            decoder.decode(chunk)
        decoder.decode(b"", final=not cut)
    except UnicodeDecodeError:
        return False
    return True


def _telling_lines(file: BinaryIO) -> bytes:
    """Lines with bytes outside ASCII: the first, and later ones with bytes that none had before."""
    lines, size, seen = list[bytes](), 0, _ASCII
    for chunk in _chunks(file):
        for line in () if chunk.isascii() else _TELLING.findall(chunk):
            new = line.translate(None, seen)
            if size < _TELLING_BYTES or new:
                lines.append(line[:_LINE_BYTES])
                size += len(lines[-1])
                seen += bytes(set(new))
    return b"\n".join(lines)


def wide_encoding(sample: bytes) -> str:
    r"""Name of the UTF-16 or UTF-32 codec of the text that begins with `sample`; "" for others.

    Stray zero bytes in other text are at both even and odd offsets, or leave valid UTF-8 when
    removed.

    >>> wide_encoding("a;ä".encode("utf-16-be")), wide_encoding(b"a;b\0\0\n1;2\n")
    ('utf-16-be', '')
    """
    for mark, name in _BOMS:
        if sample.startswith(mark):
            return "" if name == "utf-8-sig" else name
    head = sample[:_PATTERN_BYTES]
    if wide := _four_bytes(head):
        return wide
    even, odd = head[0::2], head[1::2]
    if not odd:
        return ""
    shares = (even.count(0) / len(even), odd.count(0) / len(odd))
    if max(shares) <= _LIKELY or min(shares) >= _OTHER:
        return ""
    if max(shares) < _SURE and _is_utf8([head.replace(b"\0", b"")], cut=True):
        return ""
    return "utf-16-be" if shares[0] > shares[1] else "utf-16-le"


def _four_bytes(head: bytes) -> str:
    """Name of the UTF-32 codec of a text without a mark: half of its bytes are always zero."""
    quarters = [head[at::4] for at in range(4)]
    if len(head) % 4 or not head:
        return ""
    zeros = [quarter.count(0) / len(quarter) for quarter in quarters]
    if min(zeros[2:]) >= _SURE and zeros[0] < _OTHER:
        return "utf-32-le"
    return "utf-32-be" if min(zeros[:2]) >= _SURE and zeros[3] < _OTHER else ""
