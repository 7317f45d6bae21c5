"""Which of the two value readers takes a sheet, and what happens when one fails."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.limits import Refused
from sat_retriever.workbook.opening.regular import by_descriptor
from sat_retriever.workbook.process.budget import Budget
from sat_retriever.workbook.values.dense import CalamineReader
from sat_retriever.workbook.values.read import SheetName, SheetValues, ValuesFailed
from sat_retriever.workbook.values.sparse import OpenpyxlReader


class Readers:
    """The two value readers of one file, each opened when first needed."""

    def __init__(
        self, file: BinaryIO, values: Path | BinaryIO, budget: Budget, *, safe: bool
    ) -> None:
        """Open nothing yet.

        Args:
            file: The workbook, for openpyxl.
            values: The same workbook in the form that calamine takes it in.
            budget: What may still be read.
            safe: Leave out calamine, which took the process down before.
        """
        self._file = file
        self._budget = budget
        self._values = values
        self._calamine: CalamineReader | ValuesFailed | None = None
        self._openpyxl: OpenpyxlReader | ValuesFailed | None = None
        if safe:
            self._calamine = ValuesFailed("calamine took the process down")

    def listed(self, damage: str = "") -> list[SheetName]:
        """The sheets as the first reader that opens the file lists them.

        Args:
            damage: What is known to be wrong with the file.

        Raises:
            Refused: If no reader opens it, or it is encrypted.
        """
        try:
            return self._open_calamine().sheets()
        except ValuesFailed as first:
            try:
                return self._open_openpyxl().sheets()
            except ValuesFailed:
                why = damage or f"No reader opens the file: {first}."
                over = "limit exceeded" in str(first)
                reason = SkipReason.TOO_LARGE if over else SkipReason.DAMAGED
                raise Refused(reason, why) from first

    def load(self, name: str) -> None:
        """Let calamine parse a sheet ahead of `values`, which meets any failure again."""
        try:
            reader = self._open_calamine()
            reader.load(_index(reader, name))
        except ValuesFailed:
            return

    def values(self, name: str, *, dense: bool, held: bool) -> SheetValues:
        """Values of a sheet: calamine's if the sheet is dense, else openpyxl's.

        Args:
            name: The sheet.
            dense: Whether its used range may be read as one block.
            held: Whether the sheet is known to hold something: if calamine finds
                nothing there, openpyxl is asked, too.

        Raises:
            ValuesFailed: If neither can read it.
        """
        found: SheetValues | None = None
        failure = ValuesFailed("its used range is too large to be read as one block")
        if dense:
            try:
                found = _by_name(self._open_calamine(), name, self._budget)
                if found.area is not None or not held:
                    return found
            except ValuesFailed as failed:
                failure = failed
        try:
            return _by_name(self._open_openpyxl(), name, self._budget)
        except ValuesFailed as second:
            if found is not None:
                return found
            raise failure from second

    def _open_calamine(self) -> CalamineReader:
        if self._calamine is None:
            try:
                self._calamine = _calamine(self._file, self._values)
            except ValuesFailed as failed:
                self._calamine = failed
        if isinstance(self._calamine, ValuesFailed):
            raise self._calamine
        return self._calamine

    def _open_openpyxl(self) -> OpenpyxlReader:
        if self._openpyxl is None:
            try:
                self._openpyxl = OpenpyxlReader.open(self._file)
            except ValuesFailed as failed:
                self._openpyxl = failed
        if isinstance(self._openpyxl, ValuesFailed):
            raise self._openpyxl
        return self._openpyxl


def _calamine(file: BinaryIO, values: Path | BinaryIO) -> CalamineReader:
    """The reader of the opened file itself, since its path may be another file's by now.

    Raises:
        Refused: If the file is encrypted.
        ValuesFailed: If calamine cannot open it.
    """
    if not isinstance(values, Path):
        values.seek(0)
        return CalamineReader.open(values)
    held = by_descriptor(file)
    if held is None:
        return CalamineReader.open(values)
    try:
        return CalamineReader.open(held)
    except ValuesFailed:
        CalamineReader.open(values)  # only by an extension does calamine say what is wrong
        raise


def _by_name(reader: CalamineReader | OpenpyxlReader, name: str, budget: Budget) -> SheetValues:
    return reader.values(_index(reader, name), budget)


def _index(reader: CalamineReader | OpenpyxlReader, name: str) -> int:
    index: int | None = reader.indices.get(name)
    if index is None:
        raise ValuesFailed("the reader does not list the sheet")
    return index
