"""K8: labels merged down rows."""

from __future__ import annotations

from benchmarks.reading.unseen.book import Book, Examples
from benchmarks.reading.unseen.names import GOODS, TOWNS, day, people, price
from benchmarks.reading.unseen.summing import total

EXAMPLES = Examples()


@EXAMPLES.xlsx("K8_ward_rota", "one merged column of weekdays")
def rota(book: Book) -> None:
    """A rota of a ward."""
    table = book.page("Rota").table(["Weekday", "Shift", "Nurse", "Beds"])
    for weekday in "Monday Tuesday Wednesday Thursday Friday".split():
        for shift in ("early", "late", "night"):
            table.add(weekday, shift, people(book.rng, 1)[0], book.rng.randrange(12, 30))
    table.merge_labels(0)


@EXAMPLES.xlsx("K8_departments_teams", "two merged columns, the inner within the outer")
def departments(book: Book) -> None:
    """Staff of a council by department and team."""
    table = book.page("Staff").table(["Department", "Team", "Officer", "Grade"])
    teams = {"Highways": ["Lighting", "Repairs"], "Housing": ["Repairs", "Lettings", "Advice"]}
    for department, names in teams.items():
        for team in names:
            for name in people(book.rng, book.rng.randrange(1, 5)):
                table.add(department, team, name, book.rng.randrange(4, 12))
    table.merge_labels(0, 1)


@EXAMPLES.xlsx("K8_years_of_harvest", "merged numbers: years")
def harvest_years(book: Book) -> None:
    """Harvest of an orchard by year and fruit."""
    page = book.page("Orchard", row=3, left=2)
    table = page.table(["Year", "Fruit", "Crates", "Price"])
    for year in range(2018, 2024):
        for fruit in ("apple", "pear", "plum", "quince"):
            table.add(year, fruit, book.rng.randrange(20, 400), price(book.rng, 4, 30))
    table.merge_labels(0)


@EXAMPLES.xlsx("K8_teacher_in_the_middle", "a merged column in the middle, beside real empty cells")
def teacher(book: Book) -> None:
    """Lessons with their teacher; empty remarks stay empty."""
    table = book.page("Lessons").table(["Lesson", "Teacher", "Room", "Pupils", "Remark"])
    lesson = 0
    for name in people(book.rng, 7):
        for _ in range(book.rng.randrange(1, 5)):
            lesson += 1
            remark = book.rng.choice([None, None, None, "bring a coat"])
            room = book.rng.choice(["Lab", "Hall", None])
            table.add(f"Lesson {lesson}", name, room, book.rng.randrange(8, 31), remark)
    table.merge_labels(1)


@EXAMPLES.xlsx("K8_depots_last_column", "the last column is merged: the depot of several articles")
def depots(book: Book) -> None:
    """Articles and the depot that sends them."""
    table = book.table("Article", "Pieces", "Sent from")
    for place, goods in enumerate(GOODS):
        table.add(goods, book.rng.randrange(3, 200), f"Depot {TOWNS[place // 5]}")
    table.merge_labels(2)


@EXAMPLES.xlsx("K8_merged_with_subtotals", "merged labels, a subtotal after each, a total")
def with_subtotals(book: Book) -> None:
    """Takings of the stalls of a fair by day."""
    table = book.page("Takings").table(["Fair day", "Stall", "Visitors", "Takings"])
    for weekday in ("Friday", "Saturday", "Sunday"):
        for stall in ("Candyfloss", "Carousel", "Shooting", "Tombola"):
            table.add(weekday, stall, book.rng.randrange(20, 300), price(book.rng, 60, 900))
        total(table, [f"Total {weekday}"], [2, 3], "subtotal", "SUM({})", bold=True)
    total(table, ["Total of the fair"], [2, 3], bold=True)
    table.merge_labels(0)


@EXAMPLES.xlsx("K8_visits_by_date", "merged dates, 240 records")
def visits(book: Book) -> None:
    """Home visits of a nursing service."""
    table = book.page("Visits").table(["Date", "Nurse", "Patient", "Minutes"])
    days = sorted({day(book.rng, 2024) for _ in range(60)})
    while len(table.records) < 240:
        on = days.pop(0)
        nurse = book.rng.choice(["Ada", "Bo", "Cyd"])
        for name in people(book.rng, min(book.rng.randrange(3, 8), 240 - len(table.records))):
            table.add(on, nurse, name, book.rng.randrange(10, 60, 5))
    table.merge_labels(0, 1)


@EXAMPLES.xlsx("K8_header_of_two_rows", "a header of two rows, merged sites, some with no site")
def two_row_header(book: Book) -> None:
    """Deliveries to building sites; vans without a site stay without one."""
    page = book.page("Sites")
    page.text("Deliveries to sites", "")
    names = ["Site", "Van", "Sand Loads", "Sand Tonnes", "Brick Loads", "Brick Tonnes"]
    upper = ["Site", "Van", "Sand", None, "Brick", None]
    lower = [None, None, "Loads", "Tonnes", "Loads", "Tonnes"]
    table = page.table(names, [upper, lower])
    page.merges += [(3, 1, 4, 1), (3, 2, 4, 2), (3, 3, 3, 4), (3, 5, 3, 6)]
    for place in range(18):
        site = f"{TOWNS[place // 4]} Road" if place < 16 else None
        loads = [book.rng.randrange(1, 9), price(book.rng, 2, 30)]
        table.add(
            site, f"Van {place + 1}", *loads, book.rng.randrange(1, 9), price(book.rng, 2, 30)
        )
    filled = table.rows[:16]
    for first in range(0, 16, 4):
        table.merge_rows(filled[first : first + 4], 0)
