"""K7: two tables of texts, one below the other, with a blank row between them."""

from __future__ import annotations

from benchmarks.reading.unseen.book import Book, Examples, Page
from benchmarks.reading.unseen.names import TOWNS, people

EXAMPLES = Examples()
Rows = list[list[str | None]]


def both(page: Page, first: Rows, second: Rows, bold: bool = True, gap: int = 1) -> None:
    """Write two tables whose first rows are their headers."""
    for place, (header, *records) in enumerate((first, second)):
        page.row += gap if place else 0
        page.table([str(each) for each in header], bold=bold).extend(records)


@EXAMPLES.xlsx("K7_courses_and_rooms", "four columns above three")
def courses(book: Book) -> None:
    """Courses of an evening school, and its rooms."""
    names = people(book.rng, 9)
    first: Rows = [["Course", "Lecturer", "Weekday", "Room"]]
    subjects = "Italian Pottery Yoga Bookkeeping Drawing Cooking Guitar Photography Sewing".split()
    for place, subject in enumerate(subjects):
        weekday = ("Monday", "Tuesday", "Thursday")[place % 3]
        first.append([subject, names[place], weekday, f"{'EGM'[place % 3]}{place % 4 + 1}"])
    second: Rows = [["Building", "Caretaker", "Key kept at"]]
    second += [["East wing", "Mr Doyle", "porter"], ["Gym hall", "Ms Finch", "sports office"]]
    second += [["Main house", "Mr Doyle", "reception"], ["Annexe", "Mrs Gale", "library"]]
    both(book.page("Autumn"), first, second)


@EXAMPLES.csv("K7_suppliers_contacts", "csv, three columns above four")
def suppliers(book: Book) -> None:
    """Suppliers of a café, and whom to call."""
    first: Rows = [["supplier", "goods", "town"]]
    goods = "coffee milk pastry fruit napkins juice".split()
    first += [[f"{town} Trading", each, town] for town, each in zip(TOWNS[:6], goods, strict=True)]
    second: Rows = [["contact", "works for", "role", "language"]]
    roles = ["sales", "driver", "accounts", "sales"]
    for place, name in enumerate(people(book.rng, 4)):
        language = "English" if place % 2 else "Polish"
        second.append([name, f"{TOWNS[place]} Trading", roles[place], language])
    both(book.page(), first, second)


@EXAMPLES.xlsx("K7_titled_tables", "each table has a title of its own")
def titled(book: Book) -> None:
    """Committees and councillors of a parish, each with a title."""
    page = book.page("Parish")
    names = people(book.rng, 11)
    page.text("Committees of the parish council", bold=True)
    table = page.table(["Committee", "Chair", "Meets in"])
    for place, title in enumerate(("Planning", "Finance", "Footpaths", "Burials")):
        table.add(title, names[place], ("Village hall", "Library")[place % 2])
    page.text("", "Councillors and their wards", bold=True)
    table = page.table(["Councillor", "Ward", "Party"])
    for name in names:
        table.add(name, f"{book.rng.choice(TOWNS)} ward", book.rng.choice(["Green", "Independent"]))


@EXAMPLES.xlsx("K7_allergens_same_width", "both of three columns, headers not bold")
def allergens(book: Book) -> None:
    """Dishes and allergens of a canteen."""
    first: Rows = [["Dish", "Served on", "Cook"]]
    first += [["Lentil soup", "Monday", "Iris"], ["Fish pie", "Tuesday", "Tom"]]
    first += [
        ["Pancakes", "Wednesday", "Iris"],
        ["Chilli", "Thursday", "Wim"],
        ["Curry", "Friday", "Tom"],
    ]
    second: Rows = [["Allergen", "Found in", "Sign on the menu"]]
    second += [["Milk", "Pancakes", "M"], ["Wheat", "Pancakes", "W"], ["Fish", "Fish pie", "F"]]
    second += [["Celery", "Lentil soup", "C"]]
    both(book.page("Menu"), first, second, bold=False)


@EXAMPLES.xlsx("K7_long_above_short", "150 records above five")
def long_above_short(book: Book) -> None:
    """Residents of a home, and its contacts for emergencies."""
    first: Rows = [["Resident", "Wing", "Diet", "Next of kin"]]
    for name in people(book.rng, 150):
        diet = book.rng.choice(["normal", "soft", "vegetarian", None])
        kin = (
            f"{book.rng.choice(['daughter', 'son', 'niece', 'sister'])} in {book.rng.choice(TOWNS)}"
        )
        first.append([name, book.rng.choice(["North", "South"]), diet, kin])
    second: Rows = [["Service", "Who to ask for", "Hours"]]
    second += [
        ["Doctor", "Dr Lowe", "day"],
        ["Chemist", "Mrs Bell", "day"],
        ["Lift", "Otis desk", "all hours"],
    ]
    second += [["Chaplain", "Fr Burke", "Sunday"], ["Plumber", "Jim", "all hours"]]
    both(book.page("Home"), first, second)


@EXAMPLES.xlsx("K7_begins_in_c3", "begins in C3, two blank rows between")
def shifted(book: Book) -> None:
    """Vehicles and drivers of a fire brigade."""
    first: Rows = [["Vehicle", "Call sign", "Station"]]
    kinds = ["Ladder", "Pump", "Tender", "Boat", "Command car"]
    first += [
        [kind, f"Fox {word}", TOWNS[6]]
        for kind, word in zip(kinds, "one two three four five".split(), strict=True)
    ]
    second: Rows = [["Driver", "Licence class", "May drive"]]
    classes = [
        ("heavy", "Ladder, Pump"),
        ("boat", "Boat"),
        ("light", "Command car"),
        ("heavy", "Tender"),
    ]
    for name, (licence, drives) in zip(people(book.rng, 4), classes, strict=True):
        second.append([name, licence, drives])
    both(book.page("Fire", row=3, left=3), first, second, gap=2)


@EXAMPLES.xlsx("K7_two_sheets", "two sheets, each with two tables")
def two_sheets(book: Book) -> None:
    """Plays and actors of two seasons."""
    for season in ("Spring", "Autumn"):
        names = people(book.rng, 12)
        first: Rows = [["Play", "Author", "Director", "Stage"]]
        for place, play in enumerate(("The Well", "Dust", "Nine Days", "Harbour", "Ash Wednesday")):
            first.append([f"{play}", names[place], names[-1], ("large", "small")[place % 2]])
        second: Rows = [["Actor", "Plays in", "Part"]]
        parts = ["Mother", "Judge", "Sailor", "Nurse", "Ghost", "Clerk"]
        for place, part in enumerate(parts):
            second.append([names[5 + place], ("Dust", "Harbour", "The Well")[place % 3], part])
        both(book.page(season), first, second)


@EXAMPLES.csv("K7_asociaciones", "Spanish csv, two columns below four", delimiter=";")
def asociaciones(book: Book) -> None:
    """Associations of a Spanish town, and the posts of its council."""
    first: Rows = [["Asociación", "Presidenta", "Barrio", "Actividad"]]
    first += [["Amigos del Río", "Lucía Peña", "Centro", "limpieza"]]
    first += [["Coral San Juan", "Inés Ortega", "Norte", "música"]]
    first += [["Club de Ajedrez", "Nuria Vidal", "Centro", "torneos"]]
    first += [["Huerto Común", "Alba Rey", "Sur", "talleres"]]
    first += [["Peña Ciclista", "Rosa Gil", "Sur", "rutas"]]
    second: Rows = [["Concejalía", "Responsable"]]
    second += [
        ["Deportes", "Mario Sanz"],
        ["Cultura", "Elena Cruz"],
        ["Medio Ambiente", "Juan Lara"],
    ]
    both(book.page(), first, second)
