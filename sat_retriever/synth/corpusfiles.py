"""Write the `sheets.json` and `dependency_edges.json` of a made corpus row by row."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from sat_retriever.records.files import draft_of, writing
from sat_retriever.records.links import Link, LinkType, in_order
from sat_retriever.records.sheets import SheetRecord

# If a pair has several types, the published files use the first of these as its type.
_FIRST = (LinkType.JOIN_KEY.value, LinkType.AGGREGATION.value)
_PARTS = ("edges", "edge_types", "edge_all_types", "edge_directions")


class SheetsFile:
    """A writer of `sheets.json`, one sheet a line; the file appears when it is complete."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._draft = path.with_name(f".{path.name}.partial")
        with writing(path):
            self._file: TextIO = self._draft.open("w", encoding="utf-8", newline="\n")
        self._file.write("{")
        self._written = 0

    def add(self, number: int, record: SheetRecord, category: str) -> None:
        """Write one sheet under its number.

        Fields beyond the published ones: `workbook`, `sheet` and `path` name the sheet in its
        file, `category` is its category in the statistics.
        """
        entry = {
            "sheet_id": number,
            "name": record.name,
            "num_rows": record.num_rows,
            "num_cols": record.num_cols,
            "columns": [{"name": column.name} for column in record.columns],
            "source": "synth",
            "workbook": record.workbook,
            "sheet": record.sheet,
            "path": record.path,
            "category": category,
        }
        comma = "," if self._written else ""
        with writing(self._path):
            self._file.write(f'{comma}\n"{number}": {_dumps(entry)}')
        self._written += 1

    def __enter__(self) -> SheetsFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            with writing(self._path):
                with self._file:  # closed even if the last lines do not fit on the disk
                    self._file.write("\n}\n")
                if kind is None:
                    self._draft.replace(self._path)
        finally:
            self._draft.unlink(missing_ok=True)


class EdgesFile:
    """A writer of `dependency_edges.json`; its four parts are separate files until the end.

    Source: the published file. Departs: `sibling_period` is also a type, and every type of a
    pair has its direction (source = the dependent sheet).
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._drafts = {name: path.with_name(f".{path.name}.{name}.partial") for name in _PARTS}
        with writing(path):
            self._files = {
                name: draft.open("w", encoding="utf-8", newline="\n")
                for name, draft in self._drafts.items()
            }
        self._edges = 0
        self._primary: Counter[str] = Counter()
        self._all: Counter[str] = Counter()
        self.sheets = 0
        self._connected = 0

    def add(self, links: Iterable[Link], number_of: Mapping[str, int]) -> None:
        """Write the links among one group of sheets, which no later call mentions.

        If two sheets depend on each other by the same type of link, one direction is kept.
        """
        pairs: dict[tuple[int, int], dict[str, tuple[int, int]]] = {}
        for link in links:
            ends = number_of[link.source], number_of[link.target]
            pairs.setdefault((min(ends), max(ends)), {}).setdefault(link.type, ends)
        for (first, second), ways in sorted(pairs.items()):
            self._add_pair(f"{first},{second}", [first, second], ways)
        self._connected += len({end for pair in pairs for end in pair})
        self.sheets += len(number_of)

    def _add_pair(self, pair: str, edge: list[int], ways: dict[str, tuple[int, int]]) -> None:
        types = _by_rank(ways)
        directions = {kind: {"source": ways[kind][0], "target": ways[kind][1]} for kind in types}
        rows = {
            "edges": _dumps(edge),
            "edge_types": f'"{pair}": {_dumps(types[0])}',
            "edge_all_types": f'"{pair}": {_dumps(types)}',
            "edge_directions": f'"{pair}": {_dumps(directions)}',
        }
        comma = ",\n" if self._edges else ""
        with writing(self._path):
            for name, row in rows.items():
                self._files[name].write(f"{comma}{row}")
        self._edges += 1
        self._primary[types[0]] += 1
        self._all.update(types)

    def stats(self) -> dict[str, Any]:
        """Return the counts at the end of the file."""
        return {
            "total_edges": self._edges,
            "total_sheets": self.sheets,
            "connected_sheets": self._connected,
            "isolated_sheets": self.sheets - self._connected,
            "edge_type_counts": _counts(self._primary),
            "edge_type_counts_all": _counts(self._all),
        }

    def __enter__(self) -> EdgesFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            with writing(self._path), ExitStack() as closing:
                for file in self._files.values():
                    closing.callback(file.close)
            if kind is None:
                self._join()
        finally:
            for draft in self._drafts.values():
                draft.unlink(missing_ok=True)

    def _join(self) -> None:
        with draft_of(self._path) as draft, draft.open("w", encoding="utf-8", newline="\n") as out:
            out.write("{\n")
            for name, part in self._drafts.items():
                opening, closing = "[]" if name == "edges" else "{}"
                out.write(f'"{name}": {opening}\n')
                with part.open(encoding="utf-8") as lines:
                    for line in lines:
                        out.write(line)
                out.write(f"\n{closing},\n")
            out.write(f'"stats": {_dumps(self.stats())}\n}}\n')


def write_rows(rows: Iterable[Mapping[str, Any]], path: Path) -> int:
    """Write objects as one JSON list, one a line; return their number."""
    written = 0
    with draft_of(path) as draft, draft.open("w", encoding="utf-8", newline="\n") as file:
        file.write("[")
        for row in rows:
            file.write(f"{',' if written else ''}\n{_dumps(row)}")
            written += 1
        file.write("\n]\n")
    return written


def _counts(counter: Counter[str]) -> dict[str, int]:
    return {kind: counter[kind] for kind in _by_rank(counter)}


def _by_rank(types: Iterable[str]) -> list[str]:
    """Order types of links; the first is the type of the pair.

    >>> _by_rank(["formula_reference", "aggregation"])
    ['aggregation', 'formula_reference']
    """
    ordered = in_order(types)
    first = [kind for kind in _FIRST if kind in ordered]
    return [*first, *(kind for kind in ordered if kind not in first)]


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
