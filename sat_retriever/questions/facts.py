"""Facts about one sheet that a question can ask for, and the facts that a question needs."""

from __future__ import annotations

from dataclasses import dataclass

from sat_retriever.text.period.periods import Grain, SheetPeriod
from sat_retriever.text.period.spans import Span

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SheetFacts:
    """The attributes of one sheet; sheets with common attributes are a query's positives.

    Source: paper, appendix on data sets (positives share a key attribute).

    Attributes:
        category: Broad subject in everyday words: "inventory"; empty if unknown.
        kind: Content of the sheet in everyday words: "warehouse entry".
        entity: Owner of the data: a company, market, institution or region.
        period: Time of the data; `family` is equal for sheets with the same content for
            different times.
        keys: Columns that identify things and join sheets, in everyday words.
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


@dataclass(frozen=True, slots=True)
class Need:
    """A need for sheets with given attributes; an empty attribute allows every value.

    Attributes:
        spans: The period lies within one of these.
        keys: The sheet has all of these columns, as keys or under that header.
    """

    kinds: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    grain: Grain | None = None
    keys: tuple[str, ...] = ()

    def holds(self, facts: SheetFacts) -> bool:
        """True if a sheet has the needed attributes.

        >>> Need(kinds=("payroll",)).holds(SheetFacts("a", "hr", "payroll", "Acme"))
        True
        """
        if self.kinds and facts.kind not in self.kinds:
            return False
        if self.categories and facts.category not in self.categories:
            return False
        if self.entities and facts.entity not in self.entities:
            return False
        if self.grain and (facts.period is None or facts.period.grain is not self.grain):
            return False
        if any(key not in facts.keys and key.casefold() not in facts.columns for key in self.keys):
            return False
        period = facts.period
        return not self.spans or (
            period is not None and any(span.covers(period) for span in self.spans)
        )


@dataclass(frozen=True, slots=True)
class Sources:
    """A need for what the sheets that `of` describes take from; and these too with `itself`."""

    of: Need
    types: tuple[str, ...]
    itself: bool = False


Asked = Need | Sources
