"""Store the per-query rows of a benchmark: one file of compressed blocks, a block a result.

`rows.xz` is a chain of xz streams, so `xz -dc rows.xz` prints it. Each stream is one block of two
lines: a header {"result", "count", "hash"}, then the rows as a JSON list of column tables. Rows
with the same keys make one table, {key: [value of each row]}. The hash of the second line is also
in the result's summary: a block is valid only while a summary names its hash.

The file is never changed in place. A writer, which must hold the benchmark's lock, copies the
streams that stay, adds its own and replaces the file. An incomplete last stream, from a copy that
was cut off, is ignored by readers and removed by the next write.
"""

from __future__ import annotations

import hashlib
import json
import lzma
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from sat_retriever.records.files import draft_of

FILE = "rows.xz"
_PRESET = 9 | lzma.PRESET_EXTREME
Row = Mapping[str, Any]


class DamagedRowsError(Exception):
    """A file of rows is unreadable, or lacks a block that a summary names."""


@dataclass(frozen=True, slots=True)
class Block:
    """The rows of one result.

    Attributes:
        result: Name of the result's summary, without its ending.
        count: Number of rows.
        hash: Sixteen hex digits over the rows.
        columns: The rows as JSON, one table of columns after the other.
        stream: The block as it is stored.
    """

    result: str
    count: int
    hash: str
    columns: bytes
    stream: bytes

    @classmethod
    def of(cls, result: str, rows: Sequence[Row]) -> Block:
        """Make the block of some rows, each with at least one key; equal rows give equal bytes."""
        columns = json.dumps(_tables(rows), ensure_ascii=False, separators=(",", ":")).encode()
        digest = hashlib.sha256(columns).hexdigest()[:16]
        header = json.dumps({"result": result, "count": len(rows), "hash": digest}).encode()
        stream = lzma.compress(b"%s\n%s\n" % (header, columns), preset=_PRESET)
        return cls(result, len(rows), digest, columns, stream)

    @property
    def key(self) -> tuple[str, str]:
        """Result and hash, which name the block."""
        return self.result, self.hash

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows, each with its keys in their original order."""
        return [
            dict(zip(table, values, strict=True))
            for table in json.loads(self.columns)
            for values in zip(*table.values(), strict=True)
        ]


def blocks(path: Path) -> Iterator[Block]:
    """Yield the blocks of a file, one decompressed at a time; none if the file is missing.

    Raises:
        DamagedRowsError: If a part of the file other than its end is unreadable.
    """
    rest = path.read_bytes() if path.is_file() else b""
    while rest:
        reader = lzma.LZMADecompressor(lzma.FORMAT_XZ)
        try:
            content = reader.decompress(rest)
        except lzma.LZMAError as error:
            place = path.stat().st_size - len(rest)
            message = f"{path} is damaged after byte {place} ({error}); take it from git again"
            raise DamagedRowsError(message) from error
        if not reader.eof:  # cut off
            return
        stream, rest = rest[: len(rest) - len(reader.unused_data)], reader.unused_data
        header, columns = content.splitlines()
        yield Block(**json.loads(header), columns=columns, stream=stream)


def write_blocks(path: Path, kept: Iterable[Block]) -> None:
    """Replace a file by one of these blocks; remove it if there are none.

    Raises:
        OutputError: If it cannot be written.
    """
    streams = [block.stream for block in kept]
    if not streams:
        path.unlink(missing_ok=True)
        return
    with draft_of(path) as draft:
        draft.write_bytes(b"".join(streams))


def _tables(rows: Sequence[Row]) -> list[dict[str, list[Any]]]:
    """Turn rows into columns, with a new table whenever the keys change.

    >>> _tables([{"a": 1}, {"a": 2}, {"b": 3}])
    [{'a': [1, 2]}, {'b': [3]}]
    """
    return [
        {key: list(column) for key, column in zip(keys, zip(*values, strict=True), strict=True)}
        for keys, values in (
            (keys, [tuple(row.values()) for row in same]) for keys, same in groupby(rows, key=tuple)
        )
    ]
