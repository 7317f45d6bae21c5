"""K0: ordinary tables, which must stay right."""

from __future__ import annotations

import datetime as dt

from benchmarks.reading.unseen.book import Book, Examples
from benchmarks.reading.unseen.names import CROPS, GOODS, TOWNS, day, people, person, price
from benchmarks.reading.unseen.values import shown

EXAMPLES = Examples()


@EXAMPLES.xlsx("K0_school_marks", "a title; empty cells where a pupil missed a test")
def school_marks(book: Book) -> None:
    """Marks of a class."""
    page = book.page("Class 7b")
    page.text("Kingsmead School, autumn term, class 7b", "")
    table = page.table(["Pupil", "Form tutor", "English", "Maths", "Science", "Remark"])
    for name in people(book.rng, 28):
        marks = [_mark(book) for _ in range(3)]
        remark = book.rng.choice([None, None, None, "moved from Hull", "extra time"])
        table.add(name, book.rng.choice(["Ms Patel", "Mr Boyd"]), *marks, remark)


def _mark(book: Book) -> int | None:
    """A mark, or none of a pupil who missed the test."""
    return None if book.rng.random() < 0.15 else book.rng.randrange(35, 100)


@EXAMPLES.xlsx("K0_fleet_wide", "24 columns")
def fleet(book: Book) -> None:
    """A list of vans with their mileage by month and what is known of each."""
    months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
    start = ["Plate", "Maker", "Model", "Depot", "Driver", "Bought", "Last service", "Fuel"]
    table = book.table(
        *start, *[f"Miles {each}" for each in months], "Seats", "MOT", "Leased", "Note"
    )
    for place in range(40):
        rng = book.rng
        maker, model = rng.choice([("Ford", "Transit"), ("Fiat", "Ducato"), ("Opel", "Vivaro")])
        head = [f"LK{10 + place} {rng.choice('ABDFG')}XN", maker, model, rng.choice(TOWNS)]
        dates = [day(rng, 2019), day(rng, 2023)]
        miles = [rng.randrange(300, 2900) for _ in months]
        tail = [rng.choice([2, 3, 6]), day(rng, 2024), rng.random() < 0.5]
        note = rng.choice([None, None, "dent left door"])
        table.add(
            *head, person(rng), *dates, rng.choice(["diesel", "electric"]), *miles, *tail, note
        )


@EXAMPLES.csv("K0_meter_readings", "2,000 records with ISO dates and decimal points")
def meter_readings(book: Book) -> None:
    """Daily readings of water meters."""
    table = book.table("date", "meter", "reading_m3", "battery_v", "alarm")
    for place in range(2000):
        on = dt.date(2022, 1, 1) + dt.timedelta(days=place // 4)
        level = round(120 + place * 0.37 + place % 4, 2)
        alarm = book.rng.choice([None] * 9 + ["leak"])
        battery = round(book.rng.uniform(2.9, 3.6), 2)
        table.add(shown(on.isoformat(), on), f"WM-{place % 4 + 1}", level, battery, alarm)


@EXAMPLES.xlsx("K0_ward_admissions", "two header rows, the upper one merged")
def ward_admissions(book: Book) -> None:
    """Admissions and discharges by ward."""
    page = book.page("Wards")
    names = ["Ward", "Admitted Women", "Admitted Men", "Discharged Women", "Discharged Men"]
    upper = [None, "Admitted", None, "Discharged", None]
    table = page.table(names, [upper, ["Ward", "Women", "Men", "Women", "Men"]])
    page.merges += [(1, 2, 1, 3), (1, 4, 1, 5)]
    wards = "Cardiology Maternity Oncology Orthopaedics Paediatrics Respiratory Stroke Surgery"
    for ward in wards.split():
        table.add(ward, *[book.rng.randrange(4, 90) for _ in range(4)])


@EXAMPLES.xlsx("K0_library_loans", "codes with leading zeros as texts, empty dates of return")
def library_loans(book: Book) -> None:
    """Loans of a town library."""
    table = book.table("Card", "Barcode", "Reader", "Lent", "Returned", "Renewals")
    for place, name in enumerate(people(book.rng, 150)):
        lent = day(book.rng)
        back = lent + dt.timedelta(days=14) if book.rng.random() < 0.7 else None
        card, barcode = f"00{4100 + place * 7}", f"0{31200500 + place * 13}"
        table.add(card, barcode, name, lent, back, book.rng.randrange(0, 4))


@EXAMPLES.xlsx("K0_farm_fields", "begins in C4; units stand in the names of the columns")
def farm_fields(book: Book) -> None:
    """Fields of a farm."""
    page = book.page("Fields", row=4, left=3)
    table = page.table(["Field", "Crop", "Area (ha)", "Yield (t/ha)", "Sown"])
    for name in "Backfield Brook Church Hilltop Long Mill Quarry Spinney West Windmill".split():
        size, harvest = price(book.rng, 2, 30), price(book.rng, 3, 9)
        table.add(f"{name} Piece", book.rng.choice(CROPS), size, harvest, day(book.rng))


@EXAMPLES.xlsx("K0_council_grants", "three sheets of the same columns")
def council_grants(book: Book) -> None:
    """Grants of a town council by year."""
    for year in (2021, 2022, 2023):
        table = book.page(f"Grants {year}").table(["Ref", "Club", "Purpose", "Amount", "Paid on"])
        for place in range(book.rng.randrange(9, 16)):
            club = f"{book.rng.choice(TOWNS)} {book.rng.choice(['Band', 'Bowls Club', 'Scouts'])}"
            purpose = book.rng.choice(["new roof", "instruments", "summer camp", "floodlights"])
            amount = book.rng.randrange(200, 5000, 50)
            table.add(f"G{year % 100}/{place + 1:02d}", club, purpose, amount, day(book.rng, year))


@EXAMPLES.csv("K0_invoice_lines", "quoted texts with commas and quotes", delimiter=",")
def invoice_lines(book: Book) -> None:
    """Lines of invoices of a hardware shop."""
    table = book.table("invoice", "article", "description", "pieces", "unit price")
    for place in range(60):
        goods = book.rng.choice(GOODS)
        text = book.rng.choice(
            [f"{goods}, large", f'{goods} 12" steel', goods, f"{goods}, red, new"]
        )
        pieces = book.rng.randrange(1, 30)
        table.add(f"R-{700 + place // 4}", f"A{place:03d}x", text, pieces, price(book.rng))


@EXAMPLES.xlsx("K0_bus_times", "times of day, some empty where the bus does not stop")
def bus_times(book: Book) -> None:
    """A timetable of one line, a row for each stop."""
    page = book.page("Line 14")
    page.text("Line 14, Monday to Friday", "")
    table = page.table(["Stop", "Zone", "Run A", "Run B", "Run C", "Run D"])
    for place, stop in enumerate(TOWNS[:14]):
        times = []
        for run in range(4):
            minute = 372 + run * 55 + place * 6
            skipped = run == 3 and place % 3 == 1
            times.append(None if skipped else dt.time(minute // 60, minute % 60))
        table.add(f"{stop} Cross", 1 + place // 5, *times)


@EXAMPLES.xlsx("K0_clinic_patients", "true and false, dates of birth, notes below")
def clinic_patients(book: Book) -> None:
    """Patients of a clinic, with notes a blank row below the list."""
    page = book.page("List")
    table = page.table(["Patient no", "Name", "Born", "Smoker", "Weight kg", "Seen by"])
    for place, name in enumerate(people(book.rng, 35)):
        weight = book.rng.choice([None, round(book.rng.uniform(48, 110), 1)])
        smoker = book.rng.random() < 0.3
        born = day(book.rng, 1940 + place * 2 % 60)
        table.add(
            f"P-{2200 + place}", name, born, smoker, weight, book.rng.choice(["Dr Lowe", "Dr Shah"])
        )
    page.text(
        "", "Weights were taken without shoes.", "List made for the practice meeting in June."
    )


@EXAMPLES.xlsx("K0_visitor_survey", "long texts, many empty cells")
def visitor_survey(book: Book) -> None:
    """Answers of visitors of a museum."""
    table = book.table(
        "Answer no", "How did you hear of us?", "What did you like?", "Age", "Postcode area"
    )
    ways = ["a friend", "the local newspaper, page two", "the poster at the station", None]
    likes = [
        "The steam engine that the volunteers run every second Sunday; my son would not leave.",
        "Friendly staff and good cake, but please open the upper gallery again soon.",
        "Quiet rooms.",
        None,
    ]
    for place in range(80):
        age = book.rng.choice([None, book.rng.randrange(9, 90)])
        row = [book.rng.choice(ways), book.rng.choice(likes), age]
        table.add(1001 + place, *row, book.rng.choice(["YO", "LS", "HG", None]))


@EXAMPLES.xlsx("K0_payroll_long", "1,200 records")
def payroll(book: Book) -> None:
    """Hours and pay of a care home group."""
    page = book.page("Export")
    table = page.table(["Staff no", "Month", "Home", "Grade", "Hours", "Pay"], bold=False)
    for place in range(1200):
        month = dt.date(2023, place % 12 + 1, 1)
        hours = book.rng.randrange(40, 180)
        grade = book.rng.choice(["Carer", "Senior carer", "Cook", "Nurse"])
        home = book.rng.choice(TOWNS[:6])
        table.add(30100 + place // 12, month, home, grade, hours, round(hours * 11.44, 2))
