"""Add parts to an .xlsx that XlsxWriter does not write."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from xml.sax.saxutils import quoteattr

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
CONTENT = "application/vnd.openxmlformats-officedocument.spreadsheetml."
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_EPOCH = (1980, 1, 1, 0, 0, 0)
_NUMBER = re.compile(r'Id="rId(\d+)"')


class Parts:
    """The parts of a package, to which more can be added.

    Args:
        parts: Content by name, in the order of the file.
    """

    def __init__(self, parts: Mapping[str, bytes]) -> None:
        self._parts = dict(parts)

    @classmethod
    def read(cls, content: bytes) -> Parts:
        """Read the parts of a package."""
        with zipfile.ZipFile(io.BytesIO(content)) as package:
            return cls({name: package.read(name) for name in package.namelist()})

    def add(self, name: str, text: str, content_type: str = "") -> None:
        """Add a part and declare its content type."""
        self._parts[name] = (_HEAD + text).encode()
        if content_type:
            override = f'<Override PartName="/{name}" ContentType="{content_type}"/>'
            self.insert("[Content_Types].xml", "</Types>", override)

    def insert(self, name: str, before: str, text: str) -> None:
        """Insert text before a mark in a part.

        Raises:
            ValueError: If the part does not have the mark.
        """
        part = self._parts[name].decode()
        at = part.find(before)
        if at < 0:
            raise ValueError(f"{name} has no {before}")
        self._parts[name] = (part[:at] + text + part[at:]).encode()

    def relate(self, name: str, kind: str, target: str, *, external: bool = False) -> str:
        """Add a relationship of a part; return its id."""
        folder, _, file = name.rpartition("/")
        relations = f"{folder}/_rels/{file}.rels"
        if relations not in self._parts:
            self._parts[relations] = (
                f'{_HEAD}<Relationships xmlns="{_PACKAGE}"></Relationships>'.encode()
            )
        known = [int(each) for each in _NUMBER.findall(self._parts[relations].decode())]
        relation = f"rId{max(known, default=0) + 1}"
        mode = ' TargetMode="External"' if external else ""
        entry = (
            f'<Relationship Id="{relation}" Type="{OFFICE}/{kind}"'
            f" Target={quoteattr(target)}{mode}/>"
        )
        self.insert(relations, "</Relationships>", entry)
        return relation

    def text(self, name: str) -> str:
        """Return the content of a part."""
        return self._parts[name].decode()

    def written(self) -> bytes:
        """Return the package; equal parts give equal bytes."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as package:
            for name, content in self._parts.items():
                entry = zipfile.ZipInfo(name, _EPOCH)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = 0o600 << 16
                package.writestr(entry, content)
        return buffer.getvalue()
