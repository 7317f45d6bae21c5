"""K9: rows that name the section of the records below them."""

from __future__ import annotations

import datetime as dt

from benchmarks.reading.unseen.book import Book, Examples
from benchmarks.reading.unseen.names import TOWNS, people, price
from benchmarks.reading.unseen.summing import total
from benchmarks.reading.unseen.values import decimal_comma, shown

EXAMPLES = Examples()


@EXAMPLES.xlsx("K9_menu", "names of courses in bold in the first column")
def menu(book: Book) -> None:
    """The menu of an inn."""
    page = book.page("Menu")
    table = page.table(["Dish", "Portion g", "Price"])
    for course, dishes in {
        "Starters": ["Beetroot soup", "Smoked trout", "Rye toast"],
        "Mains": ["Beef stew", "Nut roast", "Plaice", "Venison pie"],
        "Puddings": ["Apple crumble", "Sticky toffee"],
        "Cheese": ["Blue board", "Goat board"],
    }.items():
        table.section(course, bold=True)
        for dish in dishes:
            table.add(dish, book.rng.randrange(120, 450, 10), price(book.rng, 4, 22))
    page.text("", "Please tell us of any allergies before you order.")


@EXAMPLES.xlsx("K9_lab_catalogue", "section rows merged across the table")
def lab_catalogue(book: Book) -> None:
    """Tests of a laboratory and their prices."""
    page = book.page("Catalogue", row=2, left=2)
    table = page.table(["Test", "Material", "Days", "Price"])
    for group, tests in {
        "Clinical chemistry": ["Albumin", "Bilirubin", "Ferritin", "Glucose"],
        "Haematology": ["Full count", "Reticulocytes", "Smear"],
        "Immunology": ["Total IgE", "Rheumatoid factor"],
        "Microbiology": ["Throat swab", "Urine culture", "Stool culture"],
    }.items():
        table.section(group, merged=True, bold=True)
        for test in tests:
            material = book.rng.choice(["serum", "whole blood", "swab"])
            table.add(test, material, book.rng.randrange(1, 6), price(book.rng, 3, 60))


@EXAMPLES.xlsx("K9_estimate_with_subtotals", "a subtotal ends each section, a total the table")
def estimate(book: Book) -> None:
    """An estimate of a builder."""
    page = book.page("Estimate")
    page.text("Estimate for 4 Mill Lane")
    page.form(("Client", "Mrs Orr"), ("Valid until", dt.date(2024, 9, 30)))
    page.text("")
    table = page.table(["Work", "Quantity", "Rate", "Amount"])
    for trade, works in {
        "Groundwork": ["Dig trench", "Lay hardcore", "Pour slab"],
        "Carpentry": ["Roof joists", "Floorboards", "Hang doors", "Skirting"],
        "Electrics": ["First fix", "Second fix"],
    }.items():
        table.section(trade, bold=True)
        for work in works:
            quantity, rate = book.rng.randrange(2, 60), book.rng.randrange(12, 90)
            table.add(work, quantity, rate, quantity * rate)
        total(table, [f"Subtotal {trade}"], [3], "subtotal", "SUBTOTAL(9,{})")
    total(table, ["Total estimate"], [3], by="SUBTOTAL(9,{})", bold=True)


@EXAMPLES.csv("K9_rainfall", "csv, a line with the name of each river basin")
def rainfall(book: Book) -> None:
    """Rain by gauge and day, under the names of basins."""
    table = book.table("gauge", "date", "rain mm", "height m")
    for basin in ("Upper Swale", "Lower Swale", "Nidd"):
        table.section(basin)
        for place in range(8):
            on = dt.date(2024, 2, 1) + dt.timedelta(days=place)
            height = book.rng.randrange(20, 500)
            table.add(
                f"{basin[:2].upper()}-{place + 1}",
                shown(on.isoformat(), on),
                price(book.rng, 0, 40),
                height,
            )


@EXAMPLES.xlsx("K9_parts_catalogue", "40 sections, 600 records")
def parts(book: Book) -> None:
    """Spare parts of farm machines."""
    table = book.page("Parts").table(["Part no", "Part", "Weight kg", "Price"])
    makes = ["Baler", "Drill", "Harrow", "Mower", "Plough", "Rake", "Seeder", "Sprayer"]
    number = 4000
    for place in range(40):
        table.section(f"{makes[place % 8]} model {'ABCDE'[place // 8]}", bold=True)
        for _ in range(15):
            number += book.rng.randrange(1, 9)
            part = book.rng.choice(["bearing", "belt", "blade", "bolt", "chain", "hose", "seal"])
            table.add(
                f"{number}-{place:02d}", part, price(book.rng, 0, 20), price(book.rng, 1, 400)
            )


@EXAMPLES.xlsx("K9_gaps_before_sections", "a blank row before each section")
def shifts(book: Book) -> None:
    """Hours of the helpers of three shelters."""
    table = book.page("Hours").table(["Helper", "Weekday", "Hours", "Fares"])
    for place, town in enumerate(TOWNS[2:5]):
        if place:
            table.gap()
        table.section(f"{town} shelter", bold=True)
        for name in people(book.rng, 7):
            weekday = book.rng.choice(["Monday", "Friday", "Sunday"])
            table.add(name, weekday, book.rng.randrange(2, 9), price(book.rng, 1, 9))


@EXAMPLES.xlsx("K9_delegates_text", "a table of texts; the sections are bold and merged")
def delegates(book: Book) -> None:
    """Delegates of a conference by country."""
    table = book.page("Delegates").table(["Delegate", "Institute", "Workshop", "Diet"])
    for country in ("Austria", "Estonia", "Portugal", "Slovenia"):
        table.section(country, merged=True, bold=True)
        for name in people(book.rng, book.rng.randrange(3, 8)):
            place, talk = book.rng.choice(TOWNS), book.rng.choice(["Archives", "Maps", "Letters"])
            table.add(
                name, f"{place} Institute", talk, book.rng.choice(["none", "vegan", "kosher"])
            )


@EXAMPLES.csv("K9_preise_de", "German csv, sections in capitals", "cp1252", ";")
def preise(book: Book) -> None:
    """Prices of a German nursery garden."""
    table = book.table("Pflanze", "Topf cm", "Stück", "Preis")
    for group, plants in {
        "STAUDEN": ["Eisenhut", "Fingerhut", "Phlox", "Salbei"],
        "GEHÖLZE": ["Eibe", "Felsenbirne", "Hasel"],
        "KRÄUTER": ["Minze", "Rosmarin", "Thymian", "Ysop", "Kümmel"],
    }.items():
        table.section(group)
        for plant in plants:
            sizes = [book.rng.choice([9, 11, 14]), book.rng.randrange(3, 90)]
            table.add(plant, *sizes, decimal_comma(price(book.rng, 2, 30)))
