"""Access to a ZIP package of parts (OPC) within limits: content, relationships, targets."""

from __future__ import annotations

import lzma
import posixpath
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO
from xml.parsers import expat

from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.limits import MIB, Limits, Refused

ZIP_ERRORS: tuple[type[Exception], ...] = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    KeyError,
    ValueError,
    RuntimeError,
    NotImplementedError,
)
_RATIO_FROM = 64 * MIB
_CHUNK = 1 << 20
_ENTRY_BYTES = 600  # generous size of one entry in the table of contents

Attributes = dict[str, str]

Chunks = Callable[[], Iterator[bytes]]  # opens a part anew, and yields its bytes piece by piece


class BadXmlError(Exception):
    """A part is not well-formed; results from before the error remain valid."""


@dataclass(frozen=True, slots=True)
class Relationship:
    """One entry of a `.rels` part; `target` is a part name, or a URL if external."""

    id: str
    type: str
    target: str
    external: bool


class Package:
    """An opened package; part names ignore case and leading slashes."""

    def __init__(self, archive: zipfile.ZipFile, limits: Limits) -> None:
        self.archive = archive
        self.limits = limits
        self._parts = {part_key(info.filename): info for info in archive.infolist()}

    @classmethod
    def open(cls, file: BinaryIO, limits: Limits) -> Package:
        """Open a package; `Refused` if damaged, with too many entries, or too large unpacked."""
        archive = open_archive(file, limits)
        check_sizes(archive.infolist(), limits)
        return cls(archive, limits)

    def __contains__(self, part: str) -> bool:
        return part_key(part) in self._parts

    def size(self, part: str) -> int:
        """Declared unpacked bytes of a part; 0 if the part does not exist."""
        info = self._parts.get(part_key(part))
        return info.file_size if info else 0

    def chunks(self, part: str) -> Iterator[bytes]:
        """Yield a part about 1 MiB at a time; raises `BadXmlError` if it is missing or damaged."""
        info = self._parts.get(part_key(part))
        if info is None:
            raise BadXmlError(f"part {part} is missing")
        try:
            with self.archive.open(info) as stream:
                while chunk := stream.read(_CHUNK):
                    yield chunk
        except ZIP_ERRORS as error:
            raise BadXmlError(f"part {part} is damaged") from error

    def bomb(self) -> Refused | None:
        """The refusal of the first XML part that declares entities; None if no part does.

        Declarations precede the first element, so the first chunk of each part is enough.
        """
        for part in self._parts:
            if part.endswith((".xml", ".rels")):
                with suppress(BadXmlError):
                    if b"<!ENTITY" in next(self.chunks(part), b""):
                        return entity_bomb(part)
        return None

    def each(self, part: str, visit: Callable[[str, Attributes], None]) -> None:
        """Call `visit(local name, attributes)` for every element of a part, in order.

        Raises `Refused` if it declares entities or nests too deeply, `BadXmlError` if it is not
        sound.
        """
        parser = guarded_parser(part)
        depth = 0

        def start(name: str, attributes: Attributes) -> None:
            nonlocal depth
            depth += 1
            if depth > self.limits.xml_depth:
                raise too_deep(part)
            visit(local(name), attributes)

        def end(_name: str) -> None:
            nonlocal depth
            depth -= 1

        parser.StartElementHandler = start
        parser.EndElementHandler = end
        feed(parser, self.chunks(part))

    def relationships(self, part: str) -> dict[str, Relationship]:
        """The part's relationships by id; empty without a readable `.rels` part."""
        folder, name = posixpath.split(part)
        rels = posixpath.join(folder, "_rels", f"{name}.rels")
        found: dict[str, Relationship] = {}

        def visit(tag: str, attributes: Attributes) -> None:
            if tag != "Relationship" or "Target" not in attributes:
                return
            external = attributes.get("TargetMode") == "External"
            target = attributes["Target"]
            target = target if external else resolve(folder, target)
            kind = attributes.get("Type", "").rpartition("/")[2]
            identity = attributes.get("Id", "")
            found[identity] = Relationship(identity, kind, target, external)

        if rels in self:
            with suppress(BadXmlError):
                self.each(rels, visit)
        return found


def open_archive(file: BinaryIO, limits: Limits) -> zipfile.ZipFile:
    """Open a ZIP archive after a check of the size of its table of contents."""
    try:
        if _listed_bytes(file) > limits.entries * _ENTRY_BYTES:
            many = f"The package lists more than {limits.entries:,} entries."
            raise Refused(SkipReason.TOO_LARGE, many)
        return zipfile.ZipFile(file)
    except ZIP_ERRORS as error:
        broken = "The ZIP package is cut off or its table of contents is damaged."
        raise Refused(SkipReason.DAMAGED, broken) from error


def _listed_bytes(file: BinaryIO) -> int:
    """Size of the table of contents as stated in the end record; 0 without one."""
    size = file.seek(0, 2)
    file.seek(max(0, size - 65_557 - 76))
    tail = file.read()
    file.seek(0)
    end = tail.rfind(b"PK\x05\x06")
    if end < 0 or end + 22 > len(tail):
        return 0
    listed = int(struct.unpack_from("<I", tail, end + 12)[0])
    end = tail.rfind(b"PK\x06\x06")
    if listed == 0xFFFFFFFF and 0 <= end <= len(tail) - 56:
        listed = int(struct.unpack_from("<Q", tail, end + 40)[0])
    return min(listed, size)


def check_sizes(entries: list[zipfile.ZipInfo], limits: Limits) -> None:
    """Check the sizes in a package's table of contents."""
    if len(entries) > limits.entries:
        many = f"The package has {len(entries):,} entries; the limit is {limits.entries:,}."
        raise Refused(SkipReason.TOO_LARGE, many)
    unpacked = sum(entry.file_size for entry in entries)
    packed = sum(entry.compress_size for entry in entries)
    if unpacked > _RATIO_FROM and unpacked > limits.ratio * max(packed, 1):
        bomb = f"The package unpacks {packed:,} bytes to {unpacked:,}: a ZIP bomb."
        raise Refused(SkipReason.ZIP_BOMB, bomb)
    if unpacked > limits.unpacked_bytes:
        much = f"The package unpacks to {unpacked:,} bytes; the limit is {limits.unpacked_bytes:,}."
        raise Refused(SkipReason.TOO_LARGE, much)


def guarded_parser(part: str) -> expat.XMLParserType:
    """An expat parser that refuses entity declarations and reads no other file.

    A plain DOCTYPE without declarations is accepted, because some writers add one.
    """
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)

    def refuse(*_declaration: object) -> None:
        raise entity_bomb(part)

    parser.EntityDeclHandler = refuse
    return parser


def feed(parser: expat.XMLParserType, chunks: Iterator[bytes]) -> None:
    """Parse a whole document; raises `BadXmlError` if it is not well-formed."""
    try:
        for chunk in chunks:
            parser.Parse(chunk, False)
        parser.Parse(b"", True)
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise BadXmlError(str(error)) from error


def entity_bomb(part: str) -> Refused:
    """The refusal of a part that declares entities."""
    bomb = f"Part {part} declares XML entities, as XML bombs do; they were not expanded."
    return Refused(SkipReason.XML_BOMB, bomb)


def too_deep(part: str) -> Refused:
    """The refusal of a part whose elements nest beyond the limit."""
    return Refused(SkipReason.XML_BOMB, f"Part {part} nests XML elements too deeply.")


def local(name: str) -> str:
    """The element or attribute name without its namespace.

    >>> local("urn:x sheet"), local("sheet")
    ('sheet', 'sheet')
    """
    return name.rpartition(" ")[2]


def local_names(attributes: Attributes) -> Attributes:
    """The attributes by their local names."""
    return {local(key): value for key, value in attributes.items()}


def count_in(text: str | None, default: int) -> int:
    """A count of rows or columns in an attribute or text; the default if it is not valid."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 9 else default


def resolve(folder: str, target: str) -> str:
    """The part name of a relationship's target.

    >>> resolve("xl", "worksheets/sheet1.xml"), resolve("xl/worksheets", "/xl/a.xml")
    ('xl/worksheets/sheet1.xml', 'xl/a.xml')
    """
    target = target.replace("\\", "/").partition("#")[0]
    whole = target if target.startswith("/") else posixpath.join(folder, target)
    return posixpath.normpath(whole.lstrip("/")).lstrip("/")


def part_key(name: str) -> str:
    """The form of a part's name in which it is compared: slashes and case do not count."""
    return name.replace("\\", "/").lstrip("/").lower()
