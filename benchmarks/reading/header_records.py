"""Read labelled sheets as the library does, from the file to the record.

The detector then knows formula cells, whose values a workbook may lack: a program that writes
formulas without calculating them leaves them empty.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openpyxl

from benchmarks.reading.header_scoring import Answer, Truth, labelled, readings_of
from sat_retriever.records.area import Area, area_of
from sat_retriever.records.sheets import SheetRecord, Table
from sat_retriever.workbook.read import read_workbook

Records = Mapping[str, SheetRecord]


@dataclass(frozen=True, slots=True)
class RecordCase:
    """A sheet's truth and its record; None if the library gives none."""

    truth: Truth
    record: SheetRecord | None


def record_cases(data: Path, split: str) -> list[RecordCase]:
    """Return the labelled sheets of one part, each workbook read once in each state."""
    labels = labelled(split)
    numbers = {
        file: i for i, file in enumerate(dict.fromkeys(label["file"] for _, label in labels))
    }
    books: dict[tuple[str, bool], Records] = {}
    cases = []
    for name, label in labels:
        key = label["file"], label.get("emptied", False)
        if key not in books:
            books[key] = _records(data / label["file"], emptied=key[1])
        truth = Truth(
            name,
            label["layout"],
            readings_of(label),
            workbook=numbers[label["file"]],
            formulas=_formulas(label),
        )
        cases.append(RecordCase(truth, books[key].get(label["sheet"])))
    return cases


def _formulas(label: Mapping[str, Any]) -> str:
    if label.get("emptied", False):
        return "emptied"
    return "as_found" if label.get("uncalculated", False) else "saved"


def _records(path: Path, *, emptied: bool) -> Records:
    """Return the records of a workbook by sheet name."""
    with tempfile.TemporaryDirectory() as folder:
        book = read_workbook(without_values(path, Path(folder)) if emptied else path)
    return {record.sheet: record for record in book.records}


def without_values(path: Path, folder: Path) -> Path:
    """Copy a workbook with openpyxl, which saves formulas without their values."""
    copy = folder / f"{path.stem}.xlsx"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # parts of a workbook that openpyxl does not know
        openpyxl.load_workbook(path).save(copy)
    return copy


def record_answers(data: Path, split: str) -> dict[str, list[Answer]]:
    """Return every method's tables of every sheet of a part."""
    cases = record_cases(data, split)
    return {
        method: [(case.truth, tuple(finder(case.record)) if case.record else ()) for case in cases]
        for method, finder in METHODS.items()
    }


def _detected(record: SheetRecord) -> Iterator[Table]:
    yield from record.tables


def _first_filled_row(record: SheetRecord) -> Iterator[Table]:
    """Take the first row of the used range as the header of all of it (naive)."""
    used = area_of(record.range or "")
    if used is not None:
        yield Table(used.a1(), used.top, 1, False, used.bottom - used.top, ())


def _row_1(record: SheetRecord) -> Iterator[Table]:
    """Take row 1 as the header of everything (naive)."""
    used = area_of(record.range or "")
    if used is not None:
        left = 1 if used.top > 1 else used.left
        area = Area(1, left, used.bottom, used.right)
        yield Table(area.a1(), 1, 1, False, used.bottom - 1, ())


METHODS: dict[str, Callable[[SheetRecord], Iterator[Table]]] = {
    "detected": _detected,
    "first_filled_row": _first_filled_row,
    "row_1": _row_1,
}
