"""Tables that an index file and an index in PostgreSQL both have, for copies between the two."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Table:
    """A table of both stores.

    Attributes:
        name: Its name.
        columns: Names of its columns.
        types: Their types in PostgreSQL, for COPY.
    """

    name: str
    columns: tuple[str, ...]
    types: tuple[str, ...]

    @property
    def target(self) -> str:
        """The table and its columns, as statements that insert name them."""
        return f"{self.name} ({', '.join(self.columns)})"

    @property
    def reading(self) -> str:
        """The statement that reads it, by its first column."""
        return f"SELECT {', '.join(self.columns)} FROM {self.name} ORDER BY {self.columns[0]}"


def _table(name: str, columns: str) -> Table:
    """A table from columns such as "id:int8 claim"; a column without a type is a text."""
    parts = [each.partition(":") for each in columns.split()]
    names, types = [part[0] for part in parts], [part[2] or "text" for part in parts]
    return Table(name, tuple(names), tuple(types))


META = _table("meta", "key value")
WORKBOOKS = _table(
    "workbooks",
    "id:int8 root path file size:int8 mtime_ns:int8 checked_ns:int8 content_hash skipped within "
    "version",
)
SHEETS = _table(
    "sheets",
    "id:int8 sheet_id workbook_id:int8 workbook path format visibility metadata record crc:int8",
)
TOKENS = _table(
    "tokens", "id:int8 words:int8 token:bytea months:int8 texts:int8 documentation:int8 main:int8"
)
CONTENTS = _table("contents", "id:int8 packed:bytea crc:int8")
# Each after those that it refers to.
OTHERS = (
    _table("spellings", "word reversed"),
    _table("links", "source target type origin weight:float8 evidence crc:int8"),
    _table("external_references", "rowid:int8 sheet:int8 file claim"),
    _table("periods", "sheet:int8 family claim"),
    _table("stale_families", "family"),
    _table("key_columns", "id:int8 sheet:int8 claim"),
    _table("key_blocks", "block key_column:int8"),
    _table("copies", "sheet:int8 family:int8 versions claim"),
    _table("copy_blocks", "block place sheet:int8"),
    _table("stale_copies", "sheet:int8"),
    _table("unsettled", "kind name"),
    _table("crowded_blocks", "block"),
    _table("permissions", "sheet:int8 name"),
)
TABLES = (META, WORKBOOKS, SHEETS, TOKENS, CONTENTS, *OTHERS)
TYPES = {each.name: dict(zip(each.columns, each.types, strict=True)) for each in TABLES}
"""Types of the columns of each table in PostgreSQL, by their names."""
