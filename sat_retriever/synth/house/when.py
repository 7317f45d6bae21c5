"""Define the year, quarter or month of made sheets."""

from __future__ import annotations

from dataclasses import dataclass

from sat_retriever.text.period.periods import Grain, SheetPeriod


@dataclass(frozen=True, slots=True, order=True)
class When:
    """A period.

    Attributes:
        year: Calendar year.
        quarter: 1 to 4; 0 for a year or month.
        month: 1 to 12; 0 for a year or quarter.
    """

    year: int
    quarter: int = 0
    month: int = 0

    def period(self, family: str) -> SheetPeriod:
        """Return the period as facts have it.

        >>> When(2024, quarter=3).period("sales").label, When(2024, month=7).period("x").part
        ('2024 Q3', 7)
        """
        if self.month:
            return SheetPeriod(
                family, Grain.MONTH, self.year, self.month, f"{self.year}-{self.month:02}"
            )
        if self.quarter:
            return SheetPeriod(
                family, Grain.QUARTER, self.year, self.quarter, f"{self.year} Q{self.quarter}"
            )
        return SheetPeriod(family, Grain.YEAR, self.year, 0, str(self.year))
