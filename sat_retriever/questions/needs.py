"""Define the need behind a question: a predicate over the facts about sheets."""

from __future__ import annotations

from dataclasses import dataclass

from sat_retriever.questions.facts import SheetFacts
from sat_retriever.text.period.periods import Grain
from sat_retriever.text.period.spans import Span


@dataclass(frozen=True, slots=True)
class Need:
    """A need for sheets with given attributes; an empty attribute allows every value.

    Attributes:
        kinds: The kind is one of these.
        categories: The category is one of these.
        entities: The entity is one of these.
        spans: The period lies within one of these.
        grain: The period has this length.
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
    """A need for the sheets that described sheets take from; all described sheets count.

    Attributes:
        of: The need that describes the taking sheets.
        types: Link types that count as taking.
        itself: True if the taking sheets are requested as well.
    """

    of: Need
    types: tuple[str, ...]
    itself: bool = False


Asked = Need | Sources
