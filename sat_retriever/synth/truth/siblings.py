"""Link made sheets to those with the same content for another time, by their facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from sat_retriever.questions.facts import SheetFacts
from sat_retriever.records.links import Link, LinkType
from sat_retriever.synth.book.model import Book
from sat_retriever.synth.truth.records import sheet_id
from sat_retriever.text.period.periods import Grain, SheetPeriod

_A_YEAR = {Grain.YEAR: 1, Grain.HALF: 2, Grain.QUARTER: 4, Grain.MONTH: 12, Grain.WEEK: 53}


def true_siblings(facts: Iterable[SheetFacts]) -> list[Link]:
    """Link sheets to the same sheet of earlier periods, with at most two links a sheet.

    Sheets of one `period.family` and grain have the same content. Each is linked to the latest
    earlier period, and to the same part of the nearest earlier year; for years, both are the
    same link. If several sheets share a period, the first (by sheet id) is linked to the first
    of the earlier period, the second to the second, and so on, in rotation if that period has
    fewer. The weight is 1 / distance, in periods or in years.

    Raises:
        ValueError: If a period has a length that no template makes.
    """
    families: dict[tuple[str, Grain], dict[int, list[SheetFacts]]] = {}
    for each in sorted(facts, key=lambda each: each.sheet_id):
        if each.period is not None:
            family = families.setdefault((each.period.family, each.period.grain), {})
            family.setdefault(_moment(each), []).append(each)
    return [
        link for (_, grain), times in sorted(families.items()) for link in _of_family(grain, times)
    ]


def facts_in_time(books: Iterable[Book]) -> list[SheetFacts]:
    """Return the facts, with sheet ids, of all sheets with a period.

    A sheet without facts (lists of choices, settings) gets the period of its workbook: the one
    of all its other sheets, or their year if workbooks of its kind have more than one. Two
    workbooks are of one kind if they have the same content for different times.

    Args:
        books: All workbooks of one house's category.
    """
    held = list(books)
    found = [
        replace(sheet.facts, sheet_id=sheet_id(book.path, sheet.name), workbook=book.path)
        for book in held
        for sheet in book.sheets
        if sheet.facts and sheet.facts.period
    ]
    for same in _of_one_kind(held):
        yearly = any(len({_time(period) for period in _periods(book)}) > 1 for book in same)
        for book in same:
            first = _periods(book)[0]
            told = {period.year for period in _periods(book)}
            if yearly:
                first = SheetPeriod("", Grain.YEAR, first.year, 0, str(first.year))
            if len(told) == 1:
                family = min(period.family for each in same for period in _periods(each))
                found += _without_facts(book, first, family)
    return found


def _without_facts(book: Book, period: SheetPeriod, family: str) -> Iterator[SheetFacts]:
    for sheet in book.sheets:
        if sheet.facts is None:
            own = replace(period, family=f"{family}#{sheet.name}")
            yield SheetFacts(sheet_id(book.path, sheet.name), book.category, "", period=own)


def _of_one_kind(books: Sequence[Book]) -> list[list[Book]]:
    """Group workbooks with periods that share a family, directly or through others."""
    groups: list[tuple[set[str], list[Book]]] = []
    for book in books:
        families = {period.family for period in _periods(book)}
        if families:
            joined = [group for group in groups if group[0] & families]
            groups = [group for group in groups if not group[0] & families]
            members = [each for _, inside in joined for each in inside]
            groups.append((families.union(*(names for names, _ in joined)), [*members, book]))
    return [members for _, members in groups]


def _periods(book: Book) -> list[SheetPeriod]:
    return [sheet.facts.period for sheet in book.sheets if sheet.facts and sheet.facts.period]


def _time(period: SheetPeriod) -> tuple[Grain, int, int]:
    return period.grain, period.year, period.part


def _of_family(grain: Grain, times: dict[int, list[SheetFacts]]) -> list[Link]:
    a_year = _A_YEAR[grain]
    moments = sorted(times)
    found = []
    for moment in moments:
        earlier = [each for each in moments if each < moment]
        same_part = [each for each in earlier if (moment - each) % a_year == 0]
        weights: dict[int, float] = {}
        if same_part:
            weights[same_part[-1]] = a_year / (moment - same_part[-1])
        if earlier:  # the period before is more informative than the year before
            weights[earlier[-1]] = 1 / (moment - earlier[-1])
        for other, weight in sorted(weights.items(), reverse=True):
            found += [
                _link(sheet, times[other][place % len(times[other])], weight)
                for place, sheet in enumerate(times[moment])
            ]
    return found


def _link(later: SheetFacts, earlier: SheetFacts, weight: float) -> Link:
    ends = (later.sheet_id, earlier.sheet_id)
    labels = " -> ".join(each.period.label for each in (later, earlier) if each.period)
    return Link(*ends, LinkType.SIBLING_PERIOD.value, round(weight, 4), labels)


def _moment(facts: SheetFacts) -> int:
    """Return the number of a sheet's period since year 0, counted in its own length."""
    period = facts.period
    if period is None or period.grain not in _A_YEAR:
        raise ValueError(f"{facts.sheet_id}: no template makes sheets of the period {period}")
    return period.year * _A_YEAR[period.grain] + max(period.part - 1, 0)
