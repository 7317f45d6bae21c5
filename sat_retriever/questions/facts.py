"""Facts about one sheet that a question can ask for."""

from __future__ import annotations

from dataclasses import dataclass

from sat_retriever.text.period.periods import SheetPeriod

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SheetFacts:
    """The attributes of one sheet; sheets with common attributes are a query's positives.

    Source: paper, appendix on data sets (positives share a key attribute).

    Attributes:
        sheet_id: The sheet.
        category: Broad subject in everyday words: "inventory"; empty if unknown.
        kind: Content of the sheet in everyday words: "warehouse entry".
        entity: Owner of the data: a company, market, institution or region.
        period: Time of the data; `family` is equal for sheets with the same content for
            different times.
        keys: Columns that identify things and join sheets, in everyday words.
        schema: Equal for sheets with equal columns.
        workbook: Equal for the sheets of one workbook.
        summary: True if it gathers data from other sheets.
        columns: Headers, case-folded; a question for a key's column means any such column.
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
