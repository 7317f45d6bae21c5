"""Make warehouse workbooks: entries, exits, ledgers, stocktakes and a yearly summary."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sat_retriever.synth.book.model import Book
from sat_retriever.synth.categories.filing import Filed, Filing, Mode
from sat_retriever.synth.categories.inventory.balances import annual, ledger, stocktake
from sat_retriever.synth.categories.inventory.items import ID, Item, items_of
from sat_retriever.synth.categories.inventory.movements import entry, exit_, register
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When, months

_MODES: tuple[Mode, ...] = ("each", "together", "kind", "kind", "year")


def books(house: House, years: Sequence[int]) -> Iterator[Book]:
    """Yield the register of materials, then for each year entries, exits, ledgers and counts."""
    mode = house.chance(ID, "filing").choice(_MODES)
    filing = Filing(house, ID, mode, {"annual": "ledger"} if mode == "kind" else {})
    items = items_of(house)
    yield from filing.bound([register(filing, items)])
    for year in sorted(years):
        yield from filing.bound(_year(filing, items, year, first=year - 1 not in years))


def _year(filing: Filing, items: Sequence[Item], year: int, *, first: bool) -> Iterator[Filed]:
    """Yield all sheets of a year: by kind if a kind has a workbook, else by month."""

    def ledger_of(filing: Filing, items: Sequence[Item], when: When) -> Filed:
        return ledger(filing, items, when, first=first)

    makers: tuple[Callable[[Filing, Sequence[Item], When], Filed], ...]
    makers = (entry, exit_, ledger_of, stocktake)
    every = months(When(year))
    if filing.mode == "kind":
        yield from (make(filing, items, month) for make in makers for month in every)
    else:
        yield from (make(filing, items, month) for month in every for make in makers)
    yield annual(filing, items, year)
