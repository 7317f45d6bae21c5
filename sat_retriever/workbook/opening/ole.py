"""Reading of an OLE2 container within strict limits: its streams and its damage.

Readers of such files follow a chain of sectors even if it loops, so that 1.5 KB can fill the
memory. `Container.check` first follows the chains itself, each sector once.
"""

from __future__ import annotations

import sys
from array import array
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct, unpack, unpack_from
from typing import BinaryIO

from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.limits import Refused

MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
WORKBOOK_STREAMS = ("workbook", "book")  # of Excel 97 and later, of Excel 5 and 95
_READ = frozenset({*WORKBOOK_STREAMS, "encryptioninfo", "encryptedpackage"})
_MACROS = "_vba_project_cur"  # marks macros: calamine then reads streams of other names, too
_MARKERS = 0xFFFFFFFA  # this and larger values are not sector numbers
_END_OF_CHAIN, _NOWHERE = 0xFFFFFFFE, 0xFFFFFFFF
_HEADER_BYTES = 512
_STREAM = 2  # kind of an entry
_ENTRY = Struct("<64sHBx3I36xIQ")  # name, its bytes, kind, neighbours, start, size
_MAX_ENTRIES = 1 << 16  # a real directory has a handful
_MINI_BYTES, _MINI_BELOW = 64, 4096  # bytes of a mini sector; smaller streams are in mini sectors


class _DamageError(Exception):
    """A chain or the directory is damaged; the message says which."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """A stream, storage or root of the directory; a free entry has kind 0."""

    name: str
    kind: int
    neighbours: tuple[int, int, int]  # left, right, child
    start: int
    size: int


class _Table:
    """An allocation table: for each sector, the next one in its chain."""

    def __init__(self, unit: int, count: int) -> None:
        self.unit = unit
        self.count = max(0, count)
        self.next = array("I")
        self._taken = bytearray(self.count)

    def take(self, sector: int, what: str) -> None:
        if sector >= self.count:
            raise _DamageError(f"{what} leaves the file at sector {sector:,}")
        if self._taken[sector]:
            raise _DamageError(f"{what} loops or meets another: sector {sector:,} occurs twice")
        self._taken[sector] = 1

    def chain(self, start: int, size: int | None = None) -> Iterator[int]:
        """Yield the sectors of a chain that hold `size` bytes, or all of them."""
        left = sys.maxsize if size is None else -(-size // self.unit)
        sector = start
        while left > 0 and sector != _END_OF_CHAIN:
            yield sector
            left -= 1
            sector = self.next[sector] if sector < len(self.next) else _NOWHERE

    def take_chain(self, what: str, start: int, size: int | None = None) -> Iterator[int]:
        for sector in self.chain(start, size):
            self.take(sector, what)
            yield sector


class Container:
    """The streams of an OLE2 file as far as its directory can be read; `names` in lower case."""

    def __init__(self, file: BinaryIO, most: int) -> None:
        """Read table and directory until damage; a file of more than `most` bytes is not read."""
        self._file = file
        size = file.seek(0, 2)
        file.seek(0)
        self._header = file.read(_HEADER_BYTES).ljust(_HEADER_BYTES, b"\0")
        self._sector = 4096 if unpack_from("<H", self._header, 30)[0] == 12 else 512
        count = -(-size // self._sector) - 1 if size <= most else 0
        self._table = _Table(self._sector, count)
        self._mini = _Table(_MINI_BYTES, 0)
        self._mini_stream = array("I")  # its sectors
        self._entries: list[_Entry] = []
        self._damage = ""
        steps = [self._read_table, self._read_directory]
        if size > most:
            self._damage, steps = f"it has {size:,} bytes; the limit is {most:,}", []
        for step in steps:
            try:
                step()
            except _DamageError as damage:
                self._damage = self._damage or str(damage)
        self.names = frozenset(entry.name for entry in self._entries if entry.kind)

    def check(self) -> None:
        """Refuse a container whose chains or directory loop, leave the file, or share a sector.

        Time and memory are linear in the number of sectors. A declared size that is too large is
        harmless, because a chain without a loop ends.
        """
        try:
            if self._damage:
                raise _DamageError(self._damage)
            self._check_tree()
            self._check_streams()
        except _DamageError as damage:
            message = f"The OLE2 container is damaged: {damage}."
            raise Refused(SkipReason.DAMAGED, message) from damage

    def workbook(self) -> tuple[str, Iterator[bytes]]:
        """Name and pieces of a checked container's workbook stream; both empty without one."""
        for name in WORKBOOK_STREAMS:
            for entry in self._entries:
                if entry.name == name and entry.kind:
                    return name, self._pieces(entry)
        return "", iter(())

    def _read_table(self) -> None:
        """Read the table: the header lists 109 of its sectors, further lists the rest."""
        listed = list(unpack_from("<109I", self._header, 76))
        [more] = unpack_from("<I", self._header, 68)
        while more < _MARKERS:
            self._table.take(more, "the list of allocation sectors")
            *numbers, more = self._numbers(more) or [_NOWHERE]
            listed += numbers
        for sector in listed:
            if sector < _MARKERS:
                self._table.take(sector, "the allocation table")
                if len(self._table.next) < self._table.count:
                    self._table.next.extend(self._numbers(sector))

    def _read_directory(self) -> None:
        [start] = unpack_from("<I", self._header, 48)
        for sector in self._table.take_chain("the directory", start):
            block = self._block(sector)
            for at in range(0, len(block) - _ENTRY.size + 1, _ENTRY.size):
                self._entries.append(self._entry(block, at))
            if len(self._entries) > _MAX_ENTRIES:
                raise _DamageError(f"the directory has more than {_MAX_ENTRIES:,} entries")

    def _entry(self, block: bytes, at: int) -> _Entry:
        name, _length, kind, left, right, child, start, size = _ENTRY.unpack_from(block, at)
        shown = name.decode("utf-16-le", "replace").partition("\0")[0].lower()
        size = size if self._sector == 4096 else size & 0xFFFFFFFF
        return _Entry(shown, kind, (left, right, child), start, size)

    def _check_tree(self) -> None:
        """Check that the directory reaches each entry at most once, and names no missing ones."""
        seen = bytearray(len(self._entries))
        waiting = [0] if self._entries else []
        while waiting:
            number = waiting.pop()
            if number >= len(seen):
                raise _DamageError(f"the directory names entry {number:,}, which does not exist")
            if seen[number]:
                raise _DamageError(f"the directory's tree loops: entry {number:,} occurs twice")
            seen[number] = 1
            neighbours = self._entries[number].neighbours
            waiting += [neighbour for neighbour in neighbours if neighbour != _NOWHERE]

    def _check_streams(self) -> None:
        """Check the chains that a reader follows: those of `_READ`, or all streams with macros."""
        if not self._entries:
            raise _DamageError("its directory is empty")
        root = self._entries[0]
        mini_start, mini_count = unpack_from("<II", self._header, 60)
        taken = self._table.take_chain("the mini stream", root.start, root.size)
        self._mini_stream.extend(taken)
        mini = self._mini = _Table(
            _MINI_BYTES, len(self._mini_stream) * self._sector // _MINI_BYTES
        )
        size = mini_count * self._sector
        for sector in self._table.take_chain("the mini allocation table", mini_start, size):
            mini.next.extend(self._numbers(sector))
        macros = _MACROS in self.names
        for entry in self._entries[1:]:
            if entry.name in _READ or (macros and entry.kind == _STREAM):
                what = f"the stream {entry.name}" if entry.name in _READ else "a stream of macros"
                table = mini if entry.size < _MINI_BELOW else self._table
                deque(table.take_chain(what, entry.start, entry.size), maxlen=0)

    def _pieces(self, entry: _Entry) -> Iterator[bytes]:
        left = entry.size
        in_mini = left < _MINI_BELOW
        for sector in (self._mini if in_mini else self._table).chain(entry.start, left):
            block = self._mini_block(sector) if in_mini else self._block(sector)
            yield block[:left]
            left -= len(block)

    def _mini_block(self, sector: int) -> bytes:
        place, at = divmod(sector * _MINI_BYTES, self._sector)
        return self._block(self._mini_stream[place])[at : at + _MINI_BYTES]

    def _block(self, sector: int) -> bytes:
        self._file.seek((sector + 1) * self._sector)
        return self._file.read(self._sector)

    def _numbers(self, sector: int) -> list[int]:
        block = self._block(sector)
        return list(unpack(f"<{len(block) // 4}I", block[: len(block) // 4 * 4]))
