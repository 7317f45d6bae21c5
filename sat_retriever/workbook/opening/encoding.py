"""Detection of a text's encoding from its first bytes; stray zero bytes are ignored."""

from __future__ import annotations

import codecs

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


def detect_encoding(sample: bytes) -> str:
    """Name of the codec for the text that begins with `sample`.

    A byte-order mark decides, then the pattern of zero bytes, then valid UTF-8, then
    charset-normalizer's best guess; Windows-1252 is the last resort. Unless the codec is UTF-16
    or UTF-32, zero bytes are not part of the text.

    >>> detect_encoding("a;ä".encode("utf-16")), detect_encoding("a;ä".encode())
    ('utf-16', 'utf-8')
    """
    wide = wide_encoding(sample)
    if wide:
        return wide
    plain = sample.replace(b"\0", b"")
    if plain.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    if _is_utf8(plain):
        return "utf-8"
    import charset_normalizer

    best = charset_normalizer.from_bytes(plain[:32_768]).best()
    return best.encoding if best is not None else "cp1252"


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
    even, odd = head[0::2], head[1::2]
    if not odd:
        return ""
    shares = (even.count(0) / len(even), odd.count(0) / len(odd))
    if max(shares) <= _LIKELY or min(shares) >= _OTHER:
        return ""
    if max(shares) < _SURE and _is_utf8(head.replace(b"\0", b"")):
        return ""
    return "utf-16-be" if shares[0] > shares[1] else "utf-16-le"


def _is_utf8(sample: bytes) -> bool:
    """True if bytes are UTF-8; the last character may be cut."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return False
    return True
