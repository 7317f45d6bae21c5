"""Make the workbooks of a company: records, references of formulas, profiles of columns."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sat_retriever.links.join.sketches import value_hash
from sat_retriever.records.formats import FormulaState
from sat_retriever.records.sheets import Column, ColumnType, SheetRecord
from sat_retriever.records.structure import SKETCH_SIZE, ColumnProfile, Reference, Use

MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()

Sheets = dict[str, dict[str, tuple[str, int, int] | None]]  # header → pool, cells, different ones


@dataclass(frozen=True, slots=True)
class Book:
    """A made workbook.

    Attributes:
        records: Its sheets.
        references: References of its formulas.
        profiles: Profiles of its columns.
    """

    records: tuple[SheetRecord, ...]
    references: tuple[Reference, ...]
    profiles: tuple[ColumnProfile, ...]


class Maker:
    """A maker of workbooks, the same ones for the same seed.

    Args:
        seed: Seed of everything random.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._pools: dict[str, list[int]] = {}

    def books(self, sheets: int) -> Iterator[Book]:
        """Yield workbooks with about `sheets` sheets in all, team after team."""
        made = 0
        team = 0
        while made < sheets:
            for book in self._team(team):
                if made >= sheets:
                    return
                yield book
                made += len(book.records)
            team += 1

    def _team(self, team: int) -> Iterator[Book]:
        """Yield some 160 sheets: a register, a budget and the sales of each month of a year."""
        folder = f"team {team:04}/{2015 + team % 10}"
        yield self._register(team, f"team {team:04}/Register {team}.xlsx")
        yield self._budget(team, f"{folder}/Budget {2015 + team % 10}.xlsx")
        for month in range(1, 13):
            yield self._sales(team, f"{folder}/Sales {2015 + team % 10}-{month:02}.xlsx")
        for number in range(self._random.randint(1, 6)):
            yield self._notes(team, f"team {team:04}/Notes {number}.xlsx")

    def _register(self, team: int, path: str) -> Book:
        sheets: Sheets = {
            "Customers": {
                f"Customer {team} ID": ("customers", 300, 300),
                "Name": ("names", 300, 300),
            },
            "Products": {"Product code": ("products", 200, 200), "Price": None, "Unit": None},
        }
        return self._book(team, path, sheets, ())

    def _budget(self, team: int, path: str) -> Book:
        lines: dict[str, tuple[str, int, int] | None] = {
            "Account": ("accounts", 60, 60),
            "Plan": None,
            "Actual": None,
        }
        links = [("Year", month, Use.AGGREGATE) for month in MONTHS]
        return self._book(team, path, {"Year": lines, **dict.fromkeys(MONTHS, lines)}, links)

    def _sales(self, team: int, path: str) -> Book:
        sheets: Sheets = {
            "Orders": {
                "Order no": ("orders", 400, 400),
                f"Customer {team} ID": ("customers", 400, 150),
                "Product": ("products", 400, 90),
                "Amount": None,
            },
            "Returns": {"Order no": ("orders", 40, 40), "Reason": None, "Amount": None},
            "Customers": {"Customer ID": ("customers", 150, 150), "Name": ("names", 150, 150)},
            "Summary": {"Product": ("products", 90, 90), "Sum": None},
        }
        links = [("Summary", "Orders", Use.AGGREGATE), ("Orders", "Customers", Use.LOOKUP)]
        return self._book(team, path, sheets, links, external=f"Register {team}.xlsx")

    def _notes(self, team: int, path: str) -> Book:
        count = self._random.randint(1, 20)
        sheets: Sheets = {
            f"Sheet{n}": {f"Topic {n}": None, "Date": None, "Remark": None} for n in range(count)
        }
        return self._book(team, path, sheets, ())

    def _book(
        self,
        team: int,
        path: str,
        sheets: Sheets,
        links: Sequence[tuple[str, str, Use]],
        external: str = "",
    ) -> Book:
        """Return a workbook of sheets, given as column → pool of values, cells, distinct values."""
        records, profiles = [], []
        for name, columns in sheets.items():
            types = [ColumnType.TEXT if pool else ColumnType.NUMBER for pool in columns.values()]
            named = tuple(Column(c, type=t) for c, t in zip(columns, types, strict=True))
            records.append(self._record(path, name, named))
            for place, pool in enumerate(columns.values()):
                if pool is not None:
                    kind, cells, distinct = pool
                    sketch = self._sketch(f"{team} {kind}", distinct)
                    profiles.append(ColumnProfile(name, 0, place, cells, distinct, sketch))
        references = [
            Reference(source, use, "B2", f"SUM({target}!B2:B99)", 20, first=target, area="B2:B99")
            for source, target, use in links
        ]
        if external:
            formula = f"'[{external}]Customers'!A2"
            references.append(
                Reference("Orders", Use.VALUE, "C2", formula, 30, external, first="Customers")
            )
        return Book(tuple(records), tuple(references), tuple(profiles))

    def _record(self, path: str, name: str, columns: tuple[Column, ...]) -> SheetRecord:
        return SheetRecord(
            sheet_id=f"{path}#{name}",
            sheet=name,
            workbook=path.rpartition("/")[2],
            path=path,
            columns=columns,
            num_rows=100,
            num_cols=len(columns),
            format="xlsx",
            formulas=FormulaState.READ,
        )

    def _sketch(self, pool: str, distinct: int) -> tuple[int, ...]:
        """Return a sketch of some values of a pool; pool sizes do not grow with the corpus."""
        if pool not in self._pools:
            if len(self._pools) > 20:  # drop those of other teams
                self._pools.clear()
            self._pools[pool] = [value_hash(f"{pool} {n}") for n in range(420)]
        return tuple(sorted(self._random.sample(self._pools[pool], distinct))[:SKETCH_SIZE])
