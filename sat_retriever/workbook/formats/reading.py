"""State of reading a workbook: the request, the opened file, and the remaining budget."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import BinaryIO

from sat_retriever.workbook.budget import Budget
from sat_retriever.workbook.request import Request
from sat_retriever.workbook.tables.profile import MAX_PROFILES
from sat_retriever.workbook.tables.records import Source
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
    """

    request: Request
    source: Source
    file: BinaryIO
    damage: str = ""
    profiles_left: int = MAX_PROFILES
    budget: Budget = field(init=False)
    readers: Readers = field(init=False)

    def __post_init__(self) -> None:
        self.budget = Budget(self.request.limits)
        self.readers = Readers(self.file, safe=self.request.safe)
