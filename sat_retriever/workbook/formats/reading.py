"""A workbook while it is read: what is asked for, its opened file, and what it may still cost."""

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
    """A workbook while it is read.

    Attributes:
        request: What is asked for.
        source: What all its records have in common.
        file: The opened file, decrypted if it was encrypted.
        damage: What is known to be wrong with it, as a sentence; empty if nothing is.
        budget: What may still be read of it.
        readers: Its value readers.
        profiles_left: Profiles that it may still have.
        tabs: Names of its sheets, casefolded.
        formulas: Number of cells with a formula, by sheet, where it is known.
        drawn: Charts and pivot tables of other sheets' data, by the sheet they stand on.
        contents_left: Bytes that the contents of its sheets may still take.
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
