"""Make project workbooks: budgets, progress, milestones, and the registry of all projects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sat_retriever.synth.book.model import Book
from sat_retriever.synth.categories.filing import Filing, Mode
from sat_retriever.synth.categories.projects.plan import ID, running_in
from sat_retriever.synth.categories.projects.sheets import budget, milestones, progress, registry
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When

_MODES: tuple[Mode, ...] = ("each", "each", "year")


def books(house: House, years: Sequence[int]) -> Iterator[Book]:
    """Yield for each year budgets, progress, the registry that sums both, and milestones."""
    filing = Filing(house, ID, house.chance(ID, "filing").choice(_MODES))
    for year in sorted(years):
        when, running = When(year), running_in(house, year)
        makers = (budget, progress, registry, milestones)
        yield from filing.bound(make(filing, running, when) for make in makers)
