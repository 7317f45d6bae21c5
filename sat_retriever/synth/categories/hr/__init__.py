"""Make staff workbooks: roster, payroll, attendance, training and leave."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sat_retriever.synth.book.model import Book
from sat_retriever.synth.categories.filing import Filed, Filing, Mode, either
from sat_retriever.synth.categories.hr.events import has_lists, leave, lists, training
from sat_retriever.synth.categories.hr.people import ID, Person, staff_in, staff_of
from sat_retriever.synth.categories.hr.rosters import attendance, headcount, payroll, roster
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When, months

_MODES: tuple[Mode, ...] = ("each", "kind", "kind", "year")


def books(house: House, years: Sequence[int]) -> Iterator[Book]:
    """Yield the workbooks of each year: roster, payroll, attendance, training, leave, headcount.

    A house has one payroll and one attendance sheet either per year or per month.
    """
    filing = Filing(house, ID, house.chance(ID, "filing").choice(_MODES), {"lists": "leave"})
    staff = staff_of(house)
    for year in sorted(years):
        yield from filing.bound(_year(filing, year, staff_in(staff, year)))


def _year(filing: Filing, year: int, staff: Sequence[Person]) -> Iterator[Filed]:
    when = When(year)
    yield roster(filing, staff, when)
    monthly = either(filing.house, ID, "monthly", share=0.4)
    periods = months(when) if monthly else (when,)
    yield from (payroll(filing, staff, period) for period in periods)
    yield training(filing, staff, when)
    yield leave(filing, staff, when)
    if has_lists(filing):
        yield lists(filing, when)
    yield from (attendance(filing, staff, period) for period in periods)
    yield headcount(filing, when)
