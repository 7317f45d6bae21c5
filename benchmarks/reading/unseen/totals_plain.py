"""K5: totals without a telling word, records that look like totals, records below totals."""

from __future__ import annotations

from benchmarks.reading.unseen.book import Book, Examples
from benchmarks.reading.unseen.names import CROPS, TOWNS, people, price
from benchmarks.reading.unseen.summing import summed, total

EXAMPLES = Examples()


@EXAMPLES.xlsx("K5_no_label_formula", "sums by formula in a row without any label")
def no_label(book: Book) -> None:
    """Boxes that a food bank gave out."""
    table = book.table("Parish", "Boxes", "Adults", "Children")
    for town in TOWNS[:11]:
        table.add(f"{town} parish", *[book.rng.randrange(4, 160) for _ in range(3)])
    total(table, [None], [1, 2, 3], by="SUM({})")


@EXAMPLES.csv("K5_no_label_csv", "sums of three columns in a row without any label")
def no_label_csv(book: Book) -> None:
    """Hours of the workers of a print shop."""
    table = book.table("worker", "hours", "overtime", "pieces")
    for name in people(book.rng, 17):
        table.add(
            name,
            book.rng.randrange(90, 180),
            book.rng.randrange(1, 20),
            book.rng.randrange(400, 3000),
        )
    total(table, [None], [1, 2, 3])


@EXAMPLES.xlsx("K5_whole_county", "the last row is the county: formulas that sum all its districts")
def whole_county(book: Book) -> None:
    """Births and deaths by district."""
    page = book.page("Districts")
    page.text("Births and deaths by district, 2022", "")
    table = page.table(["District", "Births", "Deaths", "Moved in", "Moved out"])
    for town in TOWNS[4:13]:
        table.add(town, *[book.rng.randrange(100, 1900) for _ in range(4)])
    total(table, ["Northshire"], [1, 2, 3, 4], by="SUM({})")
    page.text("", "Source: registry office. People who moved within a district are not counted.")


@EXAMPLES.xlsx("K5_outline_subtotals", "SUBTOTAL formulas as a spreadsheet's outline makes them")
def outline(book: Book) -> None:
    """Harvest by holding, with the rows that Data, Subtotal puts in."""
    table = book.page("Harvest").table(["Holding", "Crop", "Tonnes", "Loads"])
    for holding in ("Hill Farm", "Low Farm", "Manor", "Priory"):
        for crop in book.rng.sample(CROPS, book.rng.randrange(2, 6)):
            table.add(holding, crop, price(book.rng, 3, 90), book.rng.randrange(1, 20))
        total(table, [f"{holding} Total"], [2, 3], "subtotal", "SUBTOTAL(9,{})", bold=True)
    total(table, ["Grand Total"], [2, 3], by="SUBTOTAL(9,{})", bold=True)


@EXAMPLES.xlsx("K5_total_first", "the total stands above all records")
def total_first(book: Book) -> None:
    """Members of a sports federation; the total comes first."""
    counts = {town: [book.rng.randrange(20, 700) for _ in range(3)] for town in TOWNS[:19]}
    table = book.page("Members").table(["Club", "Juniors", "Adults", "Trainers"])
    sums = [summed(column) for column in zip(*counts.values(), strict=True)]
    table.leave(["All clubs, total", *sums], "total", bold=True)
    table.extend([f"{town} AC", *numbers] for town, numbers in counts.items())


@EXAMPLES.xlsx("K5_firms_like_totals", "firms whose names begin with words of totals; no total")
def firms_like_totals(book: Book) -> None:
    """Creditors of a garage."""
    table = book.table("Creditor", "Contact", "Owed", "Days")
    firms = [
        "Total Fitness Ltd",
        "Adams & Son",
        "Sum & Substance Books",
        "Totalplan Oy",
        "Summers Tyres",
    ]
    firms += [
        "Gesamtwerk Berlin",
        "Grand Total Wines",
        "Average Joe's Gym",
        "Kerr Paints",
        "Totally Clean",
    ]
    for firm, name in zip(firms, people(book.rng, len(firms)), strict=True):
        table.add(firm, name, price(book.rng, 20, 3000), book.rng.randrange(3, 90))


@EXAMPLES.xlsx("K5_late_entries", "a total, and records that came later below it")
def late_entries(book: Book) -> None:
    """Entries of a flower show; some were late and are not in the total."""
    table = book.page("Entries").table(["Exhibitor", "Class", "Stems", "Fee"])
    names = people(book.rng, 19)
    classes = ["Roses", "Dahlias", "Sweet peas"]

    def enter(chosen: list[str]) -> None:
        for name in chosen:
            table.add(
                name, book.rng.choice(classes), book.rng.randrange(3, 13), book.rng.choice([2, 2.5])
            )

    enter(names[:15])
    total(table, ["Total"], [2, 3], by="SUM({})", bold=True)
    enter(names[15:])
