"""State of reading a workbook: the request, the opened file, and the remaining budget."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import BinaryIO

from sat_retriever.records.structure import DataSource, SourceKind
from sat_retriever.workbook.budget import Budget
from sat_retriever.workbook.request import Request
from sat_retriever.workbook.tables.contents import MAX_CONTENTS
from sat_retriever.workbook.tables.profile import MAX_PROFILES
from sat_retriever.workbook.tables.records import Source
from sat_retriever.workbook.tables.role import Setting
from sat_retriever.workbook.values.readers import Readers


@dataclass(slots=True)
class Reading:
    """State of reading one workbook.

    Attributes:
        request: Parts of the workbook to read.
        source: Common properties of all its records.
        file: The opened file, decrypted if it was encrypted.
        damage: Known damage as a sentence; empty if there is none.
        budget: Remaining work budget.
        readers: Its value readers.
        profiles_left: Number of profiles that it may still have.
        tabs: Names of its sheets, casefolded.
        formulas: Number of cells with a formula, by sheet, where it is known.
        drawn: Charts and pivot tables of other sheets' data, by the sheet they stand on.
        contents_left: Number of bytes that the contents of its sheets may still take.
    """

    request: Request
    source: Source
    file: BinaryIO
    damage: str = ""
    profiles_left: int = MAX_PROFILES
    tabs: frozenset[str] = frozenset()
    formulas: dict[str, int] = field(default_factory=dict)
    drawn: dict[str, set[SourceKind]] = field(default_factory=dict)
    contents_left: int = MAX_CONTENTS
    budget: Budget = field(init=False)
    readers: Readers = field(init=False)

    def __post_init__(self) -> None:
        self.budget = Budget(self.request.limits)
        self.readers = Readers(self.file, safe=self.request.safe)

    def show(self, sources: Iterable[DataSource]) -> None:
        """Note the charts and pivot tables that show another sheet than their own."""
        for source in sources:
            own = source.text.replace("'", "").startswith(f"{source.sheet}!")
            if source.kind in (SourceKind.CHART, SourceKind.PIVOT) and not own:
                self.drawn.setdefault(source.sheet, set()).add(source.kind)

    def setting(self, sheet: str) -> Setting:
        """What is known of a sheet beside its values."""
        drawn = self.drawn.get(sheet, ())
        return Setting(
            sheet,
            self.tabs,
            self.formulas.get(sheet, 0),
            charts=SourceKind.CHART in drawn,
            pivots=SourceKind.PIVOT in drawn,
        )
