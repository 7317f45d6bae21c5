"""K1: first records that look like units, and real rows of units."""

from __future__ import annotations

import datetime as dt

from benchmarks.reading.unseen.book import Book, Examples
from benchmarks.reading.unseen.names import TOWNS, people, price
from benchmarks.reading.unseen.summing import total
from benchmarks.reading.unseen.values import either, shown, word

EXAMPLES = Examples()


@EXAMPLES.xlsx("K1_vitamins", "first record: Retinol, A, fat")
def vitamins(book: Book) -> None:
    """Vitamins that a pharmacy makes up, all texts."""
    table = book.table("Vitamin", "Letter", "Soluble in", "Kept in")
    table.add("Retinol", "A", "fat", "drawer")
    table.add("Ascorbic acid", "C", "water", "shelf")
    table.add("Calciferol", "D", "fat", "drawer")
    table.add("Tocopherol", "E", "fat", "shelf")
    table.add("Phylloquinone", "K", "fat", "fridge")
    table.add("Biotin", "H", "water", "shelf")


@EXAMPLES.xlsx("K1_blood_donors", "groups and signs, all texts")
def blood_donors(book: Book) -> None:
    """Donors of a blood bank."""
    table = book.page("Donors").table(["Donor", "Group", "Rhesus", "Fridge"])
    for name in people(book.rng, 22):
        group, sign = book.rng.choice(["A", "B", "O", "AB", "A"]), book.rng.choice(["+", "+", "-"])
        table.add(name, group, sign, book.rng.choice(["F1", "F2", "F3"]))


@EXAMPLES.xlsx("K1_elements", "symbols of elements that are symbols of units as well")
def elements(book: Book) -> None:
    """Elements in a school laboratory."""
    table = book.table("Element", "Symbol", "State at 20 degrees", "Shelf")
    table.add("Nitrogen", "N", "g", "B")
    table.add("Carbon", "C", "s", "A")
    table.add("Potassium", "K", "s", "oil")
    table.add("Sulphur", "S", "s", "A")
    table.add("Vanadium", "V", "s", "A")
    table.add("Tungsten", "W", "s", "C")


@EXAMPLES.xlsx("K1_list_of_units", "the records are units")
def list_of_units(book: Book) -> None:
    """The units that a metrology office uses."""
    page = book.page("Units")
    page.text("Units in use at the calibration office", "")
    table = page.table(["Quantity", "Unit", "Symbol", "System"])
    for quantity, unit, symbol in [
        ("Length", "metre", "m"),
        ("Mass", "kilogram", "kg"),
        ("Time", "second", "s"),
        ("Current", "ampere", "A"),
        ("Temperature", "kelvin", "K"),
        ("Pressure", "pascal", "Pa"),
        ("Frequency", "hertz", "Hz"),
    ]:
        table.add(quantity, unit, symbol, "SI")


@EXAMPLES.csv("K1_answer_key", "answers of one letter")
def answer_key(book: Book) -> None:
    """Answers of pupils in a multiple choice test."""
    table = book.table("pupil", "Q one", "Q two", "Q three", "Q four")
    for name in people(book.rng, 18):
        table.add(name, *[book.rng.choice("ABCD") for _ in range(4)])


@EXAMPLES.xlsx("K1_shopping_units", "a column of units is data")
def shopping(book: Book) -> None:
    """Goods that a kitchen orders, all texts."""
    table = book.table("Goods", "Ordered by", "Store")
    table.add("Flour", "kg", "dry")
    table.add("Cream", "l", "cold")
    table.add("Saffron", "g", "locked")
    table.add("Eggs", "pcs", "cold")
    table.add("Napkins", "box", "dry")
    table.add("Oil", "l", "dry")
    table.add("Salmon", "kg", "frozen")


@EXAMPLES.xlsx("K1_new_branch_dashes", "the first record has dashes: a branch not open yet")
def new_branch(book: Book) -> None:
    """Takings of the branches of a bakery."""
    table = book.page("Takings").table(["Branch", "January", "February", "March"])
    table.add("Ashford (opens April)", *[either("-", None, "-") for _ in range(3)])
    for town in TOWNS[1:9]:
        table.add(town, *[price(book.rng, 800, 4000) for _ in range(3)])


@EXAMPLES.xlsx("K1_swimmers", "the first swimmer did not start")
def swimmers(book: Book) -> None:
    """Times of a school gala in seconds."""
    table = book.table("Swimmer", "Heat", "Semi-final", "Final")
    names = people(book.rng, 9)
    table.add(names[0], *[word("DNS") for _ in range(3)])
    for name in names[1:]:
        table.add(name, *[price(book.rng, 27, 45) for _ in range(3)])


@EXAMPLES.xlsx("K1_water_quality", "a row of units below the header")
def water_quality(book: Book) -> None:
    """Samples of a river laboratory."""
    page = book.page("Results", row=2, left=2)
    table = page.table(["Sample", "Station", "Temperature", "Nitrate", "Conductivity"])
    table.leave([None, None, "°C", "mg/l", "µS/cm"], "units")
    for place in range(40):
        heat, salt = price(book.rng, 4, 21), price(book.rng, 0, 40)
        station = book.rng.choice(["Weir", "Bridge", "Outfall"])
        table.add(f"WQ{place + 1:03d}", station, heat, salt, book.rng.randrange(180, 900))


@EXAMPLES.xlsx("K1_milk_yield", "a row of units with a dash")
def milk_yield(book: Book) -> None:
    """Milk recording of a dairy farm."""
    table = book.page("Herd").table(["Cow", "Milk", "Fat", "Protein", "Cells"])
    table.leave(["-", "kg", "%", "%", "1000/ml"], "units")
    for name in "Alma Bella Clover Daisy Erika Flora Gerda Heidi Irma Juno Kuni Lotte".split():
        shares = [price(book.rng, 3, 5), price(book.rng, 3, 4)]
        table.add(name, price(book.rng, 18, 42), *shares, book.rng.randrange(40, 600))


@EXAMPLES.csv("K1_weather_logger", "csv with a row of units", delimiter=";")
def weather_logger(book: Book) -> None:
    """Daily values of a weather station."""
    table = book.table("Day", "Air temperature", "Rain", "Wind", "Pressure")
    table.leave([None, "°C", "mm", "m/s", "hPa"], "units")
    for place in range(90):
        on = dt.date(2024, 3, 1) + dt.timedelta(days=place)
        values = [price(book.rng, -2, 18), price(book.rng, 0, 12), price(book.rng, 0, 15)]
        table.add(shown(on.isoformat(), on), *values, price(book.rng, 985, 1035))


@EXAMPLES.xlsx("K1_energy_report", "units in parentheses, and a total")
def energy_report(book: Book) -> None:
    """Energy of the buildings of a university."""
    page = book.page("2023")
    page.text("Energy report 2023", "Estates department", "")
    table = page.table(["Building", "Electricity", "Heat", "Cost", "Emissions"])
    table.leave([None, "(kWh)", "(kWh)", "(EUR)", "(t CO2)"], "units")
    for name in "Library|Gym|Chemistry|Boiler house|Halls|Refectory|Observatory".split("|"):
        used = [book.rng.randrange(9000, 400000) for _ in range(2)]
        table.add(name, *used, price(book.rng, 2000, 90000), price(book.rng, 2, 120))
    total(table, ["Total"], [1, 2, 3, 4], by="SUM({})", bold=True)


@EXAMPLES.xlsx("K1_blood_counts", "two header rows and a row of units")
def blood_counts(book: Book) -> None:
    """Results of a hospital laboratory."""
    page = book.page("Lab")
    names = ["Patient", "Blood count Haemoglobin", "Blood count Platelets"]
    names += ["Chemistry Sodium", "Chemistry Creatinine"]
    upper = [None, "Blood count", None, "Chemistry", None]
    lower = ["Patient", "Haemoglobin", "Platelets", "Sodium", "Creatinine"]
    table = page.table(names, [upper, lower])
    page.merges += [(1, 2, 1, 3), (1, 4, 1, 5)]
    table.leave([None, "g/dl", "10^9/l", "mmol/l", "µmol/l"], "units")
    for name in people(book.rng, 24):
        counts = [price(book.rng, 9, 17), book.rng.randrange(120, 420)]
        table.add(name, *counts, book.rng.randrange(131, 147), book.rng.randrange(45, 130))


@EXAMPLES.xlsx("K1_timber_stock", "units without the label columns, records with empty cells")
def timber_stock(book: Book) -> None:
    """Stock of a sawmill."""
    table = book.page("Stock").table(["Lot", "Wood", "Length", "Boards", "Volume", "Price"])
    table.leave([None, None, "m", "pcs", "m³", "€/m³"], "units")
    for place in range(16):
        wood = book.rng.choice(["Ash", "Beech", "Larch", "Oak", "Spruce"])
        size = [book.rng.choice([2.4, 3.0, 4.2]), book.rng.randrange(20, 200)]
        cost = book.rng.choice([None, book.rng.randrange(300, 1900)])
        table.add(f"L{place + 1:02d}", wood, *size, price(book.rng, 1, 20), cost)
