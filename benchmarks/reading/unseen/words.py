"""K2: words among numbers; the numbers stay numbers."""

from __future__ import annotations

import datetime as dt

from benchmarks.reading.unseen.book import Book, Examples
from benchmarks.reading.unseen.names import GOODS, TOWNS, day, people, price
from benchmarks.reading.unseen.values import decimal_comma, formed, shown, word

EXAMPLES = Examples()


@EXAMPLES.xlsx("K2_river_levels", "ice on the gauge on some days")
def river_levels(book: Book) -> None:
    """Levels of a river in winter."""
    page = book.page("Gauge")
    page.text("Gauge at the old bridge, in centimetres", "")
    table = page.table(["Day", "Level", "Observer"])
    for place in range(90):
        on = dt.date(2024, 1, 1) + dt.timedelta(days=place)
        level = word("ice") if 20 <= place < 27 else book.rng.randrange(110, 260)
        table.add(on, level, book.rng.choice(["Ann", "Joe"]))


@EXAMPLES.xlsx("K2_lead_in_water", "below and above what can be measured")
def lead(book: Book) -> None:
    """Lead and copper at the taps of a school."""
    table = book.table("Tap", "Lead", "Copper")
    for place, room in enumerate(
        ("Canteen", "Staff room", "Gym", "Lab", "Nursery", "Yard", "Attic")
    ):
        low = word("< 0.5") if place in (1, 4) else price(book.rng, 0.6, 12)
        high = word(">2000") if place == 5 else price(book.rng, 20, 900)
        table.add(f"{room} tap", low, high)


@EXAMPLES.csv("K2_mieten", "German decimal commas, two rents on request", delimiter=";")
def rents(book: Book) -> None:
    """Flats of a housing office."""
    table = book.table("Wohnung", "Zimmer", "Größe", "Kaltmiete")
    for place in range(14):
        rent = word("auf Anfrage") if place in (3, 11) else decimal_comma(price(book.rng, 400, 990))
        size = decimal_comma(price(book.rng, 30, 120))
        table.add(
            f"Haus {place // 4 + 1} links {place % 4 + 1}", book.rng.randrange(1, 5), size, rent
        )


@EXAMPLES.xlsx("K2_exam_absent", "absent and excused pupils")
def exam_absent(book: Book) -> None:
    """Points of an exam."""
    table = book.page("Points").table(["Candidate", "Paper I", "Paper II", "Oral"])
    for place, name in enumerate(people(book.rng, 45)):
        first = word("absent") if place % 11 == 6 else book.rng.randrange(20, 100)
        oral = word("exc.") if place % 17 == 3 else book.rng.randrange(5, 25)
        table.add(name, first, book.rng.randrange(20, 100), oral)


@EXAMPLES.xlsx("K2_vaccine_stock", "two words in one column")
def vaccine_stock(book: Book) -> None:
    """Stock of a pharmacy."""
    table = book.table("Vaccine", "Doses left", "Price")
    table.add("Tetanus", 34, 12.4)
    table.add("Typhoid", word("out of stock"), 31.0)
    table.add("Rabies", 6, 58.9)
    table.add("Measles", 51, 24.15)
    table.add("Cholera", word("discontinued"), 29.9)
    table.add("Hepatitis", 18, 44.0)


@EXAMPLES.xlsx("K2_tenders", "300 bids, a few withdrawn")
def tenders(book: Book) -> None:
    """Bids for works of a county."""
    table = book.page("Bids").table(["Tender", "Bidder", "Bid", "Weeks"])
    for place in range(300):
        bid = word("withdrawn") if place in (77, 78, 190) else price(book.rng, 9000, 90000)
        weeks = word("n/k") if place == 240 else book.rng.randrange(3, 40)
        table.add(f"T-{place // 5 + 1:03d}", f"{book.rng.choice(TOWNS)} Works", bid, weeks)


@EXAMPLES.csv("K2_zbiory", "Polish csv, harvests without data", delimiter=";")
def harvests(book: Book) -> None:
    """Harvests by district."""
    table = book.table("Powiat", "Plony", "Powierzchnia")
    for place, name in enumerate("Bielski Kielecki Nyski Opolski Pilski Radomski Turecki".split()):
        crop = word("brak danych") if place == 2 else decimal_comma(price(book.rng, 2, 8), 2)
        table.add(f"{name} wschodni", crop, book.rng.randrange(900, 8000))


@EXAMPLES.xlsx("K2_hill_race", "runners who did not finish")
def hill_race(book: Book) -> None:
    """Results of a hill race, in minutes."""
    page = book.page("Men", left=2)
    table = page.table(["Bib", "Runner", "Club", "Split", "Finish"])
    for place, name in enumerate(people(book.rng, 60)):
        finish = word(book.rng.choice(["DNF", "DSQ"])) if place > 54 else price(book.rng, 44, 90)
        table.add(
            place + 201, name, f"{book.rng.choice(TOWNS)} Harriers", price(book.rng, 20, 40), finish
        )


@EXAMPLES.csv("K2_cold_store", "a line with the logger above; a probe was offline for a while")
def cold_store(book: Book) -> None:
    """Hourly temperatures of a cold store."""
    page = book.page()
    page.text("Logger 7731, cold store 2", "")
    table = page.table(["time", "probe A", "probe B"])
    for place in range(240):
        at = dt.datetime(2024, 5, 6) + dt.timedelta(hours=place)
        second = word("offline") if 100 <= place < 109 else price(book.rng, -24, -17)
        table.add(shown(at.isoformat(" ", "minutes"), at), price(book.rng, -22, -18), second)


@EXAMPLES.xlsx("K2_deliveries_pending", "dates with words for what is not known yet")
def deliveries(book: Book) -> None:
    """Deliveries to a garden centre."""
    table = book.table("Order", "Goods", "Ordered", "Delivered")
    for place in range(26):
        arrived = word("pending") if place in (9, 21, 22) else day(book.rng, 2024)
        table.add(f"PO{900 + place}", book.rng.choice(GOODS), day(book.rng, 2023), arrived)


@EXAMPLES.xlsx("K2_turnout", "shares with a percent format, one not counted yet")
def turnout(book: Book) -> None:
    """Turnout at an election."""
    table = book.page("Turnout").table(["Ward", "Electors", "Turnout"])
    for place, town in enumerate(TOWNS[:12]):
        share = formed(round(book.rng.uniform(0.3, 0.7), 3), "0.0%")
        table.add(
            f"{town} ward",
            book.rng.randrange(2000, 9000),
            word("counting") if place == 7 else share,
        )


@EXAMPLES.xlsx("K2_market_stalls", "a third of the column is a word")
def market_stalls(book: Book) -> None:
    """Rents of the stalls of a market hall."""
    table = book.page("Stalls").table(["Stall", "Holder", "Rent"])
    for place, name in enumerate(people(book.rng, 24)):
        empty = place % 3 == 2
        rent = word("vacant") if empty else book.rng.randrange(120, 480, 5)
        table.add(f"S{place + 1}", None if empty else name, rent)
