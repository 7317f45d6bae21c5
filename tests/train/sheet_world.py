"""A tiny corpus whose questions can be answered by words, with an index of it."""

from pathlib import Path

from sat_retriever.datasets.labels import Query
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import Column, SheetRecord
from tests.fakes import HashedEncoder

COLOURS = ("red", "blue", "green")
THINGS = ("apple", "car", "sky", "stone")


def records() -> list[SheetRecord]:
    """Twelve sheets, one for each colour and thing, in three workbooks."""
    return [
        SheetRecord(
            f"{colour}#{thing}", f"{colour} {thing}", workbook=f"{colour}.xlsx",
            columns=(Column("id"), Column(thing)), num_rows=row, num_cols=2,
        )
        for colour in COLOURS
        for row, thing in enumerate(THINGS)
    ]  # fmt: skip


def links() -> list[Link]:
    """The apples of all colours are joined, and each sky is made of the same colour's stone."""
    joins = [("red", "blue", 0.5), ("blue", "green", 0.75)]
    return [
        *(Link(f"{a}#apple", f"{b}#apple", "join_key", weight) for a, b, weight in joins),
        *(Link(f"{c}#sky", f"{c}#stone", "formula_reference") for c in COLOURS),
    ]


def index(path: Path, width: int = 16) -> SheetIndex:
    """An index of the corpus."""
    made = SheetIndex.create(path, HashedEncoder(width))
    made.add_records(records(), links(), find_links=False)
    return made


def queries() -> list[Query]:
    """For each sheet a question, half of them with a second sheet that no word names."""
    found = []
    for colour in COLOURS:
        for thing in THINGS:
            own = f"{colour}#{thing}"
            more = (f"{colour}#stone",) if thing == "sky" else ()
            wrong = (f"{COLOURS[COLOURS.index(colour) - 1]}#{thing}",) if thing != "car" else ()
            text = f"which {thing} is {colour}"
            found.append(Query(text, (own, *more), hard_negatives=wrong))
    return found
