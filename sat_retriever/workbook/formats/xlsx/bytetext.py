"""Texts and attributes of plain XML, taken from its bytes without a parser."""

from __future__ import annotations

import re

_ATTRIBUTE = re.compile(rb'([A-Za-z:]+)="([^"]*)"')
_ENTITY = re.compile(r"&(#x[0-9A-Fa-f]{1,6}|#[0-9]{1,7}|[a-z]{2,4});")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


class NotPlain(Exception):  # noqa: N818 - a signal between the two readers
    """Signal that byte search cannot be trusted with the XML."""


def attributes_of(raw: bytes) -> dict[str, str]:
    """The attributes of a tag by name.

    Raises:
        NotPlain: If a name or value is not plain text.
    """
    return {text_of(key): text_of(value) for key, value in _ATTRIBUTE.findall(raw)}


def text_of(raw: bytes) -> str:
    r"""Decode the bytes between two tags, or two quotes.

    Raises:
        NotPlain: If they are not UTF-8, or have an unknown entity.

    >>> text_of(b"a &lt; b\r\n")
    'a < b\n'
    """
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise NotPlain("bytes that are not UTF-8") from error
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _ENTITY.sub(_character, text) if "&" in text else text


def _character(match: re.Match[str]) -> str:
    name = match[1]
    if not name.startswith("#"):
        if name not in _NAMED:
            raise NotPlain(f"entity {name}")
        return _NAMED[name]
    code = int(name[2:], 16) if name[1] == "x" else int(name[1:])
    if code > 0x10FFFF or code == 0:
        raise NotPlain(f"character {code}")
    return chr(code)
