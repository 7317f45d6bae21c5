"""K3: types of csv columns."""

from __future__ import annotations

import datetime as dt

from benchmarks.reading.unseen.book import Book, Examples
from benchmarks.reading.unseen.names import GOODS, TOWNS, people, price
from benchmarks.reading.unseen.values import (
    Cell,
    date_as,
    decimal_comma,
    decimal_point,
    either,
    shown,
)

EXAMPLES = Examples()


@EXAMPLES.csv("K3_fatture", "Italian: points of thousands, decimal commas", delimiter=";")
def invoices(book: Book) -> None:
    """Invoices of an Italian wholesaler."""
    table = book.table("Fattura", "Cliente", "Imponibile", "IVA")
    for place in range(40):
        net = price(book.rng, 80, 24000)
        vat = round(net * 0.22, 2)
        client = f"{book.rng.choice(['Bianchi', 'Conti', 'Greco', 'Serra'])} srl"
        table.add(
            f"FT{place + 1:03d}",
            client,
            decimal_comma(net, thousands="."),
            decimal_comma(vat, thousands="."),
        )


@EXAMPLES.csv("K3_kantone", "Swiss: apostrophes of thousands, decimal points", delimiter=";")
def cantons(book: Book) -> None:
    """Budgets of Swiss communes."""
    table = book.table("Gemeinde", "Einwohner", "Aufwand", "Ertrag")
    for name in "Aarberg Brienz Cham Davos Engelberg Flims Glarus Herisau Ilanz".split():
        people_ = decimal_point(book.rng.randrange(1200, 20000), 0, "'")
        budget = [decimal_point(price(book.rng, 90000, 4000000), 2, "'") for _ in range(2)]
        table.add(name, people_, *budget)


@EXAMPLES.csv("K3_depenses", "French: spaces of thousands, decimal commas", delimiter=";")
def spending(book: Book) -> None:
    """Spending of a French town hall, with spaces that do not break."""
    table = book.table("Service", "Poste", "Montant")
    for service in ("Écoles", "Voirie", "Culture", "Sports", "Espaces verts"):
        for post in ("Énergie", "Entretien", "Personnel"):
            table.add(service, post, decimal_comma(price(book.rng, 300, 95000), thousands="\u00a0"))


@EXAMPLES.csv("K3_barcodes", "barcodes and shelf codes with leading zeros")
def barcodes(book: Book) -> None:
    """Articles of a village shop."""
    table = book.table("barcode", "article", "shelf", "price")
    for place in range(30):
        code = (
            str(book.rng.randrange(10**11, 10**12))
            if place % 5
            else f"00{place:02d}4477{place:04d}"
        )
        shelf = f"{book.rng.randrange(1, 60):03d}"
        table.add(code, book.rng.choice(GOODS), shelf, decimal_point(price(book.rng, 1, 80)))


@EXAMPLES.csv("K3_firmware", "versions of two and three parts")
def firmware(book: Book) -> None:
    """Devices of a hospital and their firmware."""
    table = book.table("device", "ward", "firmware", "hours")
    releases = ["1.9", "1.10", "2.0", "1.9.1", "2.0.3"]
    for place in range(25):
        release = releases[place % 5] if place < 5 else book.rng.choice(releases)
        table.add(
            f"pump {place + 1}",
            book.rng.choice(["ICU", "ER"]),
            release,
            book.rng.randrange(40, 9000),
        )


@EXAMPLES.csv("K3_volunteers", "phone numbers of several countries", delimiter=";")
def volunteers(book: Book) -> None:
    """Volunteers of a refuge."""
    table = book.table("Name", "Mobile", "Landline", "Hours")
    for place, name in enumerate(people(book.rng, 20)):
        start = ("+48 601 ", "+44 7700 ", "0049 171 ")[place % 3]
        mobile = f"{start}{book.rng.randrange(100, 999)} {book.rng.randrange(100, 999)}"
        table.add(name, mobile, f"0{book.rng.randrange(10**8, 10**9)}", book.rng.randrange(2, 40))


@EXAMPLES.csv("K3_dates_day_first", "days first, with slashes; some days are beyond 12")
def day_first(book: Book) -> None:
    """Planning applications of a borough."""
    table = book.table("application", "received", "decision", "fee")
    for place in range(50):
        received = dt.date(2023, 1, 1 + place % 9) + dt.timedelta(days=place * 6)
        decision = book.rng.choice(["granted", "refused"])
        fee = book.rng.choice([96, 206, 462])
        table.add(f"23/{place + 100:05d}/FUL", date_as(received, "%d/%m/%Y"), decision, fee)


@EXAMPLES.csv("K3_moments_month_first", "American dates with the time of day")
def month_first(book: Book) -> None:
    """Check-ins of a gym."""
    table = book.table("member", "checked in", "visits")
    for place in range(36):
        at = dt.datetime(2024, 2, 3, 6, 15) + dt.timedelta(hours=place * 11)
        table.add(
            f"M{book.rng.randrange(100, 999)}",
            shown(at.strftime("%m/%d/%Y %H:%M"), at),
            place % 7 + 1,
        )


@EXAMPLES.csv("K3_ledger_minus", "the minus stands behind, decimal points", delimiter="\t")
def ledger(book: Book) -> None:
    """A ledger of a mainframe."""
    table = book.table("Text", "Cost centre", "Amount")
    for place in range(18):
        amount = price(book.rng, 3, 9000)
        cost = "wages power repairs rent".split()[place % 4]
        written = f"{amount:,.2f}"
        pair = shown(f"{written}-", -amount) if place % 3 == 0 else shown(written, amount)
        table.add(f"{cost} {TOWNS[place]}", f"CC{place % 4}", pair)


@EXAMPLES.csv("K3_profit_parentheses", "losses in parentheses with a dollar sign")
def profit(book: Book) -> None:
    """Profits and losses of clinics, as a controller prints them."""
    table = book.table("clinic", "quarter", "profit", "change")
    for place in range(16):
        amount, change = price(book.rng, 100, 60000), book.rng.randrange(1, 40)
        text = f"(${amount:,.2f})" if place % 4 == 1 else f"${amount:,.2f}"
        profit_ = either(text, -amount if place % 4 == 1 else amount, text)
        moved = shown(f"({change})", -change) if place % 3 == 2 else shown(str(change), change)
        table.add(f"{TOWNS[place // 4]} clinic", f"Q{place % 4 + 1}", profit_, moved)


@EXAMPLES.csv("K3_anteile", "shares as percent texts with decimal commas", delimiter=";")
def shares(book: Book) -> None:
    """Shares of owners of a vineyard cooperative."""
    table = book.table("Mitglied", "Hektar", "Anteil")
    parts = [12.5, 7.0, 22.25, 3.75, 18.5, 9.0, 27.0]
    for name, part in zip(people(book.rng, len(parts)), parts, strict=True):
        hectares = decimal_comma(price(book.rng, 1, 30))
        text = f"{part:g}".replace(".", ",")
        table.add(name, hectares, shown(f"{text} %", round(part / 100, 6)))
    table.notes["accept_columns"] = {"2": [parts]}


@EXAMPLES.csv("K3_room_rates", "pounds and euros before the number")
def room_rates(book: Book) -> None:
    """Room rates of an inn in two currencies, a column for each."""
    table = book.table("room", "beds", "rate", "rate in euros")
    for place, name in enumerate(("Badger", "Heron", "Otter", "Swift", "Wren", "Fox", "Hare")):
        pounds = price(book.rng, 45, 190)
        euros = round(pounds * 1.17, 2)
        rates = [_money("£", pounds), _money("€", euros)]
        table.add(f"The {name}", place % 3 + 1, *rates)


def _money(sign: str, value: float) -> Cell:
    """An amount with its sign: the number, or the text as it stands."""
    return either(f"{sign}{value:.2f}", value, f"{sign}{value:.2f}")


@EXAMPLES.csv("K3_house_numbers", "one house number has a letter", delimiter="|")
def house_numbers(book: Book) -> None:
    """Deliveries of a milkman."""
    table = book.table("street", "house", "pints")
    for place in range(22):
        house = "12b" if place == 13 else str(book.rng.randrange(1, 99))
        table.add(f"{TOWNS[place % 5]} Lane", house, book.rng.randrange(1, 5))


@EXAMPLES.csv("K3_dates_by_the_file", "one column of dates is decided by the other", delimiter=";")
def dates_by_the_file(book: Book) -> None:
    """Stays of a hospital: all days of arrival could be months, the days of leaving not."""
    table = book.table("Case", "Admitted", "Discharged", "Cost")
    for place in range(24):
        admitted = dt.date(2023, place % 12 + 1, place % 11 + 1)
        discharged = admitted + dt.timedelta(days=9 + place % 8)
        cost = decimal_comma(price(book.rng, 900, 9000))
        dates = [date_as(admitted, "%d/%m/%Y"), date_as(discharged, "%d/%m/%Y")]
        table.add(f"case {place + 1}", *dates, cost)
