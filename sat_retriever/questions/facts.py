"""The facts about one sheet that a question can ask for."""

from __future__ import annotations

from dataclasses import dataclass

from sat_retriever.period.periods import SheetPeriod


@dataclass(frozen=True, slots=True)
class SheetFacts:
    """The attributes of one sheet; a query's positives are the sheets that share some.

    Source: paper, appendix on data sets (positives share a key attribute).

    Attributes:
        sheet_id: The sheet.
        category: Broad subject as one says it: "inventory"; empty when unknown.
        kind: What the sheet holds, as one says it: "warehouse entry".
        entity: Whose data it is: a company, market, institution or region.
        period: The time it is about; `family` is equal for sheets that hold the same for
            different times.
        keys: Columns that identify things and join sheets, as one says them.
        schema: Equal for sheets with equal columns.
        workbook: Equal for the sheets of one workbook.
        summary: Whether it gathers from other sheets.
        columns: Its headers, case-folded: who asks for a key's column means any such column.
    """

    sheet_id: str
    category: str
    kind: str
    entity: str = ""
    period: SheetPeriod | None = None
    keys: tuple[str, ...] = ()
    schema: str = ""
    workbook: str = ""
    summary: bool = False
    columns: tuple[str, ...] = ()
