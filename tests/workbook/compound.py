"""Small OLE2 files and the workbook streams in them, byte by byte."""

import struct

SECTOR, MINI = 512, 64
END, FREE, TABLE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD


def compound(streams):
    """An OLE2 file with these streams; the first ones below 4,096 bytes lie in the mini stream.

    Its sectors: 0 the allocation table, 1 and 2 the directory, 3 the mini allocation table, then
    the mini stream, then the large streams. Holds 7 streams and 61 KB.
    """
    small, large = b"", []
    mini_table, entries = [], []
    for name, data in streams.items():
        if len(data) < 4096:
            start, count = len(small) // MINI, -(-len(data) // MINI)
            mini_table += [*range(start + 1, start + count), END]
            small += data.ljust(count * MINI, b"\0")
            entries.append((name, start, len(data)))
        else:
            large.append((name, data))
    table, body = [TABLE, 2, END, END], b""
    root = len(table) if small else END
    for name, data in [("", small), *large]:
        start, count = len(table), -(-len(data) // SECTOR)
        table += [*range(start + 1, start + count), END] if count else []
        body += data.ljust(count * SECTOR, b"\0")
        if name:
            entries.append((name, start, len(data)))
    header = struct.pack(
        "<8s16x5H6x3I4x5I", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 0x3E, 3, 0xFFFE, 9, 6,
        0, 1, 1, 4096, 3, 1, END, 0,
    )  # fmt: skip
    header += struct.pack("<109I", 0, *[FREE] * 108)
    found = entry("Root Entry", 5, root, len(small), child=1)
    for number, (name, start, size) in enumerate(entries, start=2):
        right = number if number <= len(entries) else FREE
        found += entry(name, 2, start, size, right=right)
    return b"".join(
        (header, numbers(table), found.ljust(2 * SECTOR, b"\0"), numbers(mini_table), body)
    )


def entry(name, kind, start, size, *, left=FREE, right=FREE, child=FREE):
    """One entry of a directory."""
    raw = name.encode("utf-16-le") + b"\0\0"
    head = struct.pack("<64sHBB3I", raw, len(raw), kind, 1, left, right, child)
    return head + struct.pack("<36xIQ", start, size)


def numbers(values):
    """One sector of numbers."""
    return struct.pack("<128I", *values, *[FREE] * (128 - len(values)))


def workbook_stream(rows, *, prolog=b"", version=0x0600):
    """A workbook of one sheet, "Stock"; texts and numbers, as Excel 97 wrote them."""
    begin = record(0x809, struct.pack("<HHHH8x", version, 5, 3515, 1996)) + prolog
    end = record(0x0A, b"")
    place = len(begin) + 4 + 6 + 2 + 5 + len(end)
    sheets = record(0x85, struct.pack("<IHBB", place, 0, 5, 0) + b"Stock")
    cells = b"".join(
        cell(row, col, value) for row, values in enumerate(rows) for col, value in enumerate(values)
    )
    sheet = record(0x809, struct.pack("<HHHH8x", version, 0x10, 3515, 1996))
    size = struct.pack("<IIHHH", 0, len(rows), 0, len(rows[0]), 0)
    return begin + sheets + end + sheet + record(0x200, size) + cells + end


def cell(row, col, value):
    place = struct.pack("<HHH", row, col, 0)
    if isinstance(value, str):
        text = value.encode("latin-1")
        return record(0x204, place + struct.pack("<HB", len(text), 0) + text)
    return record(0x203, place + struct.pack("<d", value))


def record(kind, content):
    """One record of a workbook stream."""
    return struct.pack("<HH", kind, len(content)) + content
