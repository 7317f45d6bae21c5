"""K6: headers repeated as on printed pages."""

from __future__ import annotations

import datetime as dt

from benchmarks.reading.unseen.book import Book, Examples
from benchmarks.reading.unseen.names import GOODS, TOWNS, day, people, price
from benchmarks.reading.unseen.summing import total
from benchmarks.reading.unseen.values import decimal_comma, shown

EXAMPLES = Examples()


@EXAMPLES.xlsx("K6_debtors", "a printed list, the header after each 25 records")
def debtors(book: Book) -> None:
    """Debtors of a vet."""
    page = book.page("Print")
    page.text("Open items", "")
    table = page.table(["Owner", "Animal", "Invoice", "Due", "Open"])
    for place, name in enumerate(people(book.rng, 90)):
        if place and place % 25 == 0:
            table.repeat()
        animal = book.rng.choice(["cat", "dog", "horse", "rabbit"])
        table.add(name, animal, f"V{place + 340}", day(book.rng), price(book.rng, 20, 700))


@EXAMPLES.xlsx("K6_members_text", "texts only, not bold")
def members(book: Book) -> None:
    """Members of an allotment society."""
    table = book.table("Member", "Plot", "Crop this year", bold=False)
    for place, name in enumerate(people(book.rng, 54)):
        if place and place % 18 == 0:
            table.repeat(bold=False)
        crop = book.rng.choice(["beans", "leeks", "onions", "squash"])
        table.add(name, f"{'ABC'[place // 18]}{place % 18 + 1}", crop)


@EXAMPLES.csv("K6_zlecenia_pl", "600 records, the header after each 50", "utf-8-sig", ";")
def orders(book: Book) -> None:
    """Orders of a Polish garage, as its printer wrote them to a file."""
    table = book.table("Zlecenie", "Data", "Część", "Koszt")
    parts = ["klocki hamulcowe", "świeca", "wycieraczki", "żarówka", "łożysko"]
    for place in range(600):
        if place and place % 50 == 0:
            table.repeat()
        on = dt.date(2023, 1, 2) + dt.timedelta(days=place // 3)
        cost = decimal_comma(price(book.rng, 20, 900))
        table.add(
            f"Z/{place + 1}", shown(on.strftime("%d.%m.%Y"), on), book.rng.choice(parts), cost
        )


@EXAMPLES.xlsx("K6_two_row_header", "a header of two rows stands on each page")
def beds(book: Book) -> None:
    """Beds of hospitals by month."""
    page = book.page("Beds")
    names = ["Hospital", "Month", "Beds Open", "Beds Closed", "Patients In", "Patients Out"]
    upper = [None, None, "Beds", None, "Patients", None]
    lower = ["Hospital", "Month", "Open", "Closed", "In", "Out"]
    table = page.table(names, [upper, lower])
    page.merges += [(1, 3, 1, 4), (1, 5, 1, 6)]
    for place in range(36):
        if place and place % 12 == 0:
            row = table.repeat()[0]
            page.merges += [(row, 3, row, 4), (row, 5, row, 6)]
        month = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()[place % 12]
        numbers = [book.rng.randrange(200, 400), book.rng.randrange(0, 30)]
        flows = [book.rng.randrange(100, 900) for _ in range(2)]
        table.add(f"{TOWNS[place // 12]} Infirmary", month, *numbers, *flows)


@EXAMPLES.xlsx("K6_gap_before_header", "a blank row before each repeated header")
def price_list(book: Book) -> None:
    """A price list of a hardware shop over four pages."""
    table = book.page("Prices").table(["Article no", "Article", "Size", "Price"])
    for place in range(64):
        if place and place % 16 == 0:
            table.gap()
            table.repeat()
        goods, size = GOODS[place % 16], book.rng.choice(["small", "medium", "large"])
        table.add(f"H{place + 500}", goods, size, price(book.rng, 2, 90))
    table.notes["may_split"] = True


@EXAMPLES.xlsx("K6_page_totals", "a total of each page, the header again, a grand total")
def tickets(book: Book) -> None:
    """Tickets that a theatre sold, page by page."""
    page = book.page("Sales", row=3, left=2)
    table = page.table(["Show", "Buyer", "Seats", "Paid"])
    for place, name in enumerate(people(book.rng, 60)):
        if place and place % 20 == 0:
            total(table, ["Page total"], [2, 3], "subtotal", "SUM({})")
            table.repeat()
        seats = book.rng.randrange(1, 7)
        table.add(book.rng.choice(["Hamlet", "Aladdin"]), name, seats, seats * 14.5)
    total(table, ["Page total"], [2, 3], "subtotal", "SUM({})")
    total(table, ["Grand total"], [2, 3])


@EXAMPLES.xlsx("K6_units_on_each_page", "the header and the row of units stand on each page")
def soil(book: Book) -> None:
    """Soil samples of a laboratory."""
    table = book.page("Soil").table(["Sample", "Depth", "Phosphorus", "Humus"])
    units = [None, "cm", "mg/kg", "%"]
    table.leave(units, "units")
    for place in range(45):
        if place and place % 15 == 0:
            table.repeat()
            table.leave(units, "units")
        sizes = [book.rng.choice([10, 20, 30]), book.rng.randrange(8, 90)]
        table.add(f"S-{place + 1:02d}", *sizes, price(book.rng, 1, 6))


@EXAMPLES.csv("K6_register_joined", "three registers put into one file, each with its header")
def register(book: Book) -> None:
    """Registers of three schools in one csv file."""
    table = book.table("school", "pupil", "born", "tutor")
    names = people(book.rng, 48)
    for place, school in enumerate(("Oakfield", "St Anne", "Riverside")):
        if place:
            table.repeat()
        for pupil in names[place * 16 : place * 16 + 10 + place * 3]:
            born = day(book.rng, 2012)
            table.add(
                school, pupil, shown(born.isoformat(), born), book.rng.choice(["Mx Hay", "Ms Orr"])
            )
