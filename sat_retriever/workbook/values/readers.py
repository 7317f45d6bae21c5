"""The two value readers of a file: choice between them, and fallback to the second."""

from __future__ import annotations

import io
from typing import BinaryIO

from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.limits import Budget, Refused
from sat_retriever.workbook.opening.regular import by_descriptor
from sat_retriever.workbook.values.dense import CalamineReader
from sat_retriever.workbook.values.read import ListedSheet, SheetValues, ValuesFailed
from sat_retriever.workbook.values.sparse import OpenpyxlReader


class Readers:
    """The two value readers of one file, each opened when first needed."""

    def __init__(self, file: BinaryIO, *, safe: bool) -> None:
        """Prepare the readers without opening the file."""
        self._file = file
        self._calamine: CalamineReader | ValuesFailed | None = None
        self._openpyxl: OpenpyxlReader | ValuesFailed | None = None
        if safe:
            self._calamine = ValuesFailed("calamine crashed the process")

    def listed(self, damage: str = "") -> list[ListedSheet]:
        """The sheets as listed by the first reader that opens the file.

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
                raise Refused(SkipReason.DAMAGED, why) from first

    def load(self, name: str) -> None:
        """Let calamine parse a sheet in advance; `values` meets any failure again."""
        try:
            reader = self._open_calamine()
            reader.load(_index(reader, name))
        except ValuesFailed:
            return

    def values(self, name: str, budget: Budget, *, dense: bool, held: bool) -> SheetValues:
        """Values of a sheet: calamine's if the sheet is dense, else openpyxl's.

        Args:
            dense: True if its used range may be read as one block.
            held: True if the sheet is known to have cells; if calamine then finds
                none, openpyxl is tried, too.

        Raises:
            ValuesFailed: If neither reader can read it.
        """
        found: SheetValues | None = None
        failure = ValuesFailed("its used range is too large to be read as one block")
        if dense:
            try:
                found = _by_name(self._open_calamine(), name, budget)
                if found.area is not None or not held:
                    return found
            except ValuesFailed as failed:
                failure = failed
        try:
            return _by_name(self._open_openpyxl(), name, budget)
        except ValuesFailed as second:
            if found is not None:
                return found
            raise failure from second

    def _open_calamine(self) -> CalamineReader:
        if self._calamine is None:
            try:
                self._calamine = _calamine(self._file)
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


def _calamine(file: BinaryIO) -> CalamineReader:
    """Open calamine on the opened file itself, since its path may now be another file's.

    calamine gets its own file position, because openpyxl and the XML scan read at the same time.
    """
    held = by_descriptor(file)
    if held is None:  # in memory, or on a system that has no such paths
        file.seek(0)
        return CalamineReader.open(io.BytesIO(file.read()))
    return CalamineReader.open(held)


def _by_name(reader: CalamineReader | OpenpyxlReader, name: str, budget: Budget) -> SheetValues:
    return reader.values(_index(reader, name), budget)


def _index(reader: CalamineReader | OpenpyxlReader, name: str) -> int:
    index: int | None = reader.indices.get(name)
    if index is None:
        raise ValuesFailed("the reader does not list the sheet")
    return index
