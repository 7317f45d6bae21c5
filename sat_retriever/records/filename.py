"""Turn texts into names of files that Linux, macOS and Windows take."""

from __future__ import annotations

import re
import unicodedata

_NOT_IN_FILES = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]+')
_RESERVED = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[\d¹²³])(?= *(?:\.|$))", re.IGNORECASE
)  # devices of Windows, with any extension


def portable(text: str) -> str:
    """Return a text as a file's name without extension; empty if nothing of it can be kept.

    Texts that differ only in letter case give names that differ only in letter case.

    >>> portable("A/B: C?. "), portable("con"), portable("nul.x"), portable("../..")
    ('A B C', 'con_', 'nul_.x', '')
    """
    plain = _NOT_IN_FILES.sub(" ", unicodedata.normalize("NFC", text))
    name = re.sub(r" {2,}", " ", plain).strip().rstrip(". ")
    device = _RESERVED.match(name)
    return f"{device[0]}_{name[device.end() :]}" if device else name
