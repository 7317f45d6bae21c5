"""Real workbooks with people's words about their sheets: what is asked, and what is searched."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.corpora import CORPORA, Places
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.datasets.labels.query import read_queries
from sat_retriever.datasets.tables import load_tables, read_tables, tables_files
from sat_retriever.errors import CorpusError

LISTS, EPS = "real_lists", "eps"
CELLS = 2_000  # filled cells of a sheet that plain parts read
SheetRows = Sequence[Sequence[str]]  # filled rows of a sheet, each its filled cells as texts


@dataclass(frozen=True, slots=True)
class Source:
    """One source of lists.

    Attributes:
        name: Its folder, and its name in result files.
        role: Its use: "validation" for choices, "train" for learning.
        dataset: Its questions and its workbooks or tables.
        parts: Places of the questions of each part.
        excluded: Ids of sheets that hold the questions themselves; no ranking has them.
    """

    name: str
    role: str
    dataset: Dataset
    parts: Mapping[str, Places]
    excluded: frozenset[str] = field(default=frozenset())

    def sheets(self) -> dict[str, SheetRows]:
        """The rows of every sheet with a filled cell, by its id, without those excluded."""
        root = self.dataset.root
        found = _of_tables(self.dataset.files[0]) if root is None else _of_workbooks(root)
        return {each: rows for each, rows in found if rows and each not in self.excluded}


def names(data: Path) -> list[str]:
    """Names of the sources: validation, then EPS, then training; by the role that each states."""
    roles = {path.parent.name: _told(path)["role"] for path in sorted(_lists(data))}
    validation = [name for name, role in roles.items() if role == "validation"]
    return [*validation, EPS, *(name for name in roles if name not in validation)]


def read(data: Path, name: str) -> Source:
    """Read a source.

    Raises:
        CorpusError: If its workbooks or its questions are missing.
    """
    if name == EPS:
        whole = CORPORA["eps_whole"]
        dataset = whole.read(data)
        parts = {"trans": whole.parts["development"], "test": whole.parts["test"]}
        kept = {part: of(dataset) for part, of in parts.items()}
        return Source(name, "validation", dataset, _whole(dataset) | kept)
    folder = data / LISTS / name
    told = _told(folder / "meta.json")
    if tables_files(folder, name)[0].is_file():
        dataset = load_tables(folder, name, titles=False)  # the source names none
        return Source(name, told["role"], dataset, _whole(dataset))
    root = folder / "workbooks"
    if not root.is_dir():
        raise CorpusError(f"{name}: there is no folder {root}")
    queries = read_queries(folder / "query.json", known=None)
    dataset = Dataset(name, (), queries, files=(folder / "query.json",), root=root)
    return Source(name, told["role"], dataset, _whole(dataset), frozenset(told["excluded"]))


def _whole(dataset: Dataset) -> dict[str, Places]:
    return {"all": tuple(range(len(dataset.queries)))}


def _lists(data: Path) -> Iterator[Path]:
    return (data / LISTS).glob("*/meta.json")


def _told(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _of_tables(path: Path) -> Iterator[tuple[str, SheetRows]]:
    for table in read_tables(path):
        yield table.table_id, _filled([table.headers, *table.rows])


def _of_workbooks(root: Path) -> Iterator[tuple[str, SheetRows]]:
    from python_calamine import CalamineWorkbook, SheetTypeEnum

    for path in sorted(each for each in root.rglob("*.xls[xm]")):
        book = CalamineWorkbook.from_path(path)
        for sheet in book.sheets_metadata:
            if sheet.typ == SheetTypeEnum.WorkSheet:
                rows = book.get_sheet_by_name(sheet.name).to_python()
                yield f"{path.relative_to(root).as_posix()}#{sheet.name}", _filled(rows)


def _filled(rows: Sequence[Sequence[object]]) -> list[list[str]]:
    """The first filled cells as texts, row by row."""
    texts = ([text for cell in row if (text := _text(cell))] for row in rows)
    left = CELLS
    found = []
    for row in filter(None, texts):
        found.append(list(islice(row, left)))
        left -= len(found[-1])
        if not left:
            break
    return found


def _text(cell: object) -> str:
    """A cell as one reads it.

    >>> _text(2020.0), _text(" a "), _text(" ")
    ('2020', 'a', '')
    """
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell).strip()
