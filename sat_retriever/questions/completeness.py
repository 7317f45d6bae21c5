"""Check that a question names all its answers: no other sheet fits its words as well."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache

from sat_retriever.questions.facts import SheetFacts
from sat_retriever.questions.needs import Need
from sat_retriever.text.period.periods import SheetPeriod
from sat_retriever.text.period.spans import Span, span_of
from sat_retriever.text.period.spellings import spelled
from sat_retriever.text.segment import stems

_LOOKED_AT = 2_000  # sheets with a word; a word of more sheets is too common to tell them apart
_TIME = re.compile(r"\b(?:years?|quarters?|months?|hal(?:f|ves)|latest|last|annual|season)\b", re.I)


@dataclass(frozen=True, slots=True)
class Described:
    """The words that describe each sheet, and the sheets by word.

    Attributes:
        facts: Facts by sheet id.
        own: Stems of kind, category and entity, by sheet id.
        all: The own stems and those of the sheet id, which has the names of folders, file and tab.
        sheets: Sheet ids by stem.
    """

    facts: Mapping[str, SheetFacts]
    own: Mapping[str, frozenset[str]]
    all: Mapping[str, frozenset[str]]
    sheets: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, facts: Iterable[SheetFacts]) -> Described:
        """Collect the words of all facts."""
        by_id, own, every = {}, {}, {}
        sheets: dict[str, list[str]] = {}
        for each in facts:
            named = frozenset().union(*map(_stems, (each.kind, each.category, each.entity)))
            by_id[each.sheet_id] = each
            own[each.sheet_id] = named
            every[each.sheet_id] = named | _stems(each.sheet_id)
            for word in sorted(every[each.sheet_id]):
                sheets.setdefault(word, []).append(each.sheet_id)
        return cls(by_id, own, every, sheets)

    def forgotten(self, text: str, meant: Sequence[str], keys: Sequence[str] = ()) -> str | None:
        """Find an unintended sheet that a question's words describe too; None if there is none.

        The words of the question in an intended sheet's kind, category and owner describe that
        sheet. Another sheet with all of them is forgotten if the question names no time, or if its
        period lies within that of an intended sheet with the same description.

        Args:
            text: The question.
            meant: The intended sheets: the answers, or the sheets that take from them.
            keys: Key columns that it names; sheets without them are not described.
        """
        asked = _stems(text)
        timed = bool(spelled(text).units) or bool(_TIME.search(text))
        known = set(meant)
        times: dict[frozenset[str], set[Span | None]] = {}  # periods of those meant, by description
        for sheet in meant:
            if said := asked & self.own.get(sheet, _NONE):
                times.setdefault(said, set()).add(_span(self.facts[sheet].period))
        for said in sorted(times, key=sorted):
            rarest = min(said, key=lambda word: (len(self.sheets[word]), word))
            for sheet in self.sheets[rarest][:_LOOKED_AT]:
                if (
                    sheet not in known
                    and (not keys or Need(keys=tuple(keys)).holds(self.facts[sheet]))
                    and said <= self.all[sheet]
                    and (not timed or _within(self.facts[sheet].period, times[said]))
                ):
                    return sheet
        return None


def _within(period: SheetPeriod | None, spans: Set[Span | None]) -> bool:
    """True if a sheet's period lies within one of some spans; if unknown, so must all spans be."""
    if period is None:
        return spans == {None}
    return any(span is not None and span.covers(period) for span in spans)


def _span(period: SheetPeriod | None) -> Span | None:
    return None if period is None else span_of(period)


_NONE: frozenset[str] = frozenset()


@lru_cache(maxsize=65_536)
def _stems(text: str) -> frozenset[str]:
    return frozenset(stems(text))
