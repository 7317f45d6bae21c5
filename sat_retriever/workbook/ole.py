"""Names of the streams in an OLE2 container, read within tight bounds."""

from __future__ import annotations

import struct
from typing import BinaryIO

MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_END = 0xFFFFFFFA  # this and above are markers, not sector numbers
_MAX_SECTORS = 4096  # of the directory; a real one has a handful
_ENTRY_BYTES = 128


def stream_names(file: BinaryIO) -> frozenset[str]:
    """Names in the directory of an OLE2 file, streams and storages alike.

    A damaged allocation table ends the list early instead of failing: what could
    be read still tells what the file is.
    """
    file.seek(0)
    header = file.read(512)
    if len(header) < 512 or not header.startswith(MAGIC):
        return frozenset()
    shift = struct.unpack_from("<H", header, 30)[0]
    if shift not in (9, 12):
        shift = 9
    size = 1 << shift
    fat_sectors = struct.unpack_from("<109I", header, 76)
    sector = struct.unpack_from("<I", header, 48)[0]
    names: set[str] = set()
    seen: set[int] = set()
    while sector < _END and sector not in seen and len(seen) < _MAX_SECTORS:
        seen.add(sector)
        file.seek((sector + 1) << shift)
        names.update(_entry_names(file.read(size)))
        sector = _next_sector(file, sector, fat_sectors, size)
    return frozenset(names)


def _entry_names(block: bytes) -> list[str]:
    names = []
    for start in range(0, len(block) - _ENTRY_BYTES + 1, _ENTRY_BYTES):
        length = struct.unpack_from("<H", block, start + 64)[0]
        if block[start + 66] in (1, 2, 5) and 2 <= length <= 64:
            names.append(block[start : start + length - 2].decode("utf-16-le", "replace"))
    return names


def _next_sector(file: BinaryIO, sector: int, fat_sectors: tuple[int, ...], size: int) -> int:
    per_sector = size // 4
    index = sector // per_sector
    if index >= len(fat_sectors) or fat_sectors[index] >= _END:
        return _END
    file.seek((fat_sectors[index] + 1) * size + (sector % per_sector) * 4)
    raw = file.read(4)
    return int(struct.unpack("<I", raw)[0]) if len(raw) == 4 else _END
