"""K5: totals and subtotals with words of many languages."""

from __future__ import annotations

import datetime as dt

from benchmarks.reading.unseen.book import Book, Examples
from benchmarks.reading.unseen.names import TOWNS, people, price
from benchmarks.reading.unseen.summing import total, total_of_rows
from benchmarks.reading.unseen.values import decimal_comma, formula, shown

EXAMPLES = Examples()


@EXAMPLES.xlsx(
    "K5_subventions_fr", "French: subtotals of each block and a grand total of their cells"
)
def subventions(book: Book) -> None:
    """Grants of a French town by kind of club."""
    page = book.page("Subventions")
    page.text("Subventions aux associations", "")
    table = page.table(["Domaine", "Association", "Demandé", "Accordé"])
    parts = []
    for area in ("Sport", "Culture", "Jeunesse"):
        for place in range(book.rng.randrange(3, 7)):
            asked = book.rng.randrange(500, 9000, 100)
            table.add(area, f"Les Amis {place + 1}", asked, asked // 2)
        parts.append(total(table, [f"Sous-total {area}"], [2, 3], "subtotal", "SUM({})"))
    total_of_rows(table, ["Total général"], [2, 3], parts)


@EXAMPLES.csv("K5_ventas_es", "Spanish csv with a total at the end", delimiter=";")
def ventas(book: Book) -> None:
    """Sales of a Spanish fruit seller."""
    table = book.table("Fruta", "Cajas", "Importe")
    for fruit in "Naranjas Limones Fresas Higos Uvas Peras Ciruelas".split():
        table.add(fruit, book.rng.randrange(2, 60), decimal_comma(price(book.rng, 30, 900)))
    _csv_total(book, "Suma total")


@EXAMPLES.csv("K5_faktury_pl", "Polish csv with a total at the end", delimiter=";")
def faktury(book: Book) -> None:
    """Invoices of a Polish joiner."""
    table = book.table("Klient", "Godziny", "Kwota")
    for place, name in enumerate(people(book.rng, 31)):
        table.add(name, place % 9 + 1, decimal_comma(price(book.rng, 50, 990)))
    _csv_total(book, "Razem")


def _csv_total(book: Book, label: str) -> None:
    """A total of whole numbers in the second column and of amounts in the third."""
    table = book.pages[0].tables[0]
    whole = sum(table.values(1))
    amount = decimal_comma(round(sum(table.values(2)), 2)).written
    table.leave([label, whole, amount], "total")


@EXAMPLES.xlsx("K5_rozpocet_cs", "Czech: subtotals after each chapter and a total, values only")
def rozpocet(book: Book) -> None:
    """Budget of a Czech village."""
    table = book.page("Rozpočet").table(["Kapitola", "Položka", "Plán", "Skutečnost"])
    for chapter in ("Doprava", "Školství", "Zeleň"):
        for item in ("mzdy", "materiál", "služby", "energie"):
            table.add(chapter, item, *[book.rng.randrange(20, 900) for _ in range(2)])
        total(table, [f"Celkem {chapter}"], [2, 3], "subtotal")
    total(table, ["Celkem za obec"], [2, 3])


@EXAMPLES.xlsx("K5_leltar_hu", "Hungarian: the word stands in the second column")
def leltar(book: Book) -> None:
    """Inventory of a Hungarian school kitchen."""
    table = book.table("Kód", "Megnevezés", "Darab", "Érték")
    for place, name in enumerate(("Tányér", "Fazék", "Merőkanál", "Tálca")):
        table.add(
            f"K{place + 11}", name, book.rng.randrange(5, 200), book.rng.randrange(900, 80000)
        )
    total(table, [None, "Összesen:"], [2, 3], by="SUM({})", bold=True)


@EXAMPLES.xlsx("K5_vedomost_ru", "Russian: subtotals by brigade and a total of all")
def vedomost(book: Book) -> None:
    """Pay sheet of a Russian building firm."""
    table = book.page("Ведомость").table(["Работник", "Бригада", "Часы", "Сумма"])
    names = ["Иванов П.", "Сидоров К.", "Кузнецов А.", "Орлов Д.", "Белов С."]
    for brigade in (1, 2, 3):
        for name in names[: brigade + 2]:
            hours = book.rng.randrange(80, 180)
            table.add(name, f"№ {brigade}", hours, hours * 450)
        total(table, ["Итого по бригаде"], [2, 3], "subtotal", "SUBTOTAL(9,{})")
    total(table, ["Всего"], [2, 3], by="SUBTOTAL(9,{})")


@EXAMPLES.xlsx("K5_uriage_ja", "Japanese: subtotals and a total")
def uriage(book: Book) -> None:
    """Sales of a Japanese noodle chain."""
    table = book.page("売上").table(["地区", "店舗", "数量", "金額"])
    for area, shops in (("関東", ["新宿店", "横浜店", "千葉店"]), ("関西", ["梅田店", "京都店"])):
        for shop in shops:
            count = book.rng.randrange(200, 900)
            table.add(area, shop, count, count * 780)
        total(table, ["小計"], [2, 3], "subtotal")
    total(table, ["合計"], [2, 3])


@EXAMPLES.xlsx("K5_five_languages", "one sheet each in Turkish, Greek, Korean, Swedish and Hebrew")
def five_languages(book: Book) -> None:
    """Nights of the hotels of one firm, in the words of each country."""
    for name, header, label in [
        ("Türkiye", ["Otel", "Oda", "Gece"], "Genel Toplam"),
        ("Ελλάδα", ["Ξενοδοχείο", "Δωμάτια", "Νύχτες"], "Σύνολο"),
        ("한국", ["호텔", "객실", "숙박"], "합계"),
        ("Sverige", ["Hotell", "Rum", "Nätter"], "Summa"),
        ("ישראל", ["מלון", "חדרים", "לילות"], 'סה"כ'),
    ]:
        table = book.page(name).table(header)
        for place in range(book.rng.randrange(4, 8)):
            rooms = book.rng.randrange(12, 80)
            table.add(
                f"Hotel {'ABCDEFGH'[place]}{place + 1}", rooms, rooms * book.rng.randrange(40, 200)
            )
        total(table, [label], [1, 2], by="SUM({})" if len(label) % 2 else "")


@EXAMPLES.csv("K5_spenden_long", "900 records, a total of a word in capitals", delimiter=";")
def spenden(book: Book) -> None:
    """Gifts to a German animal shelter."""
    table = book.table("Datum", "Spender", "Betrag")
    for place in range(900):
        on = dt.date(2022, 1, 1) + dt.timedelta(days=place)
        giver = book.rng.choice(TOWNS) + book.rng.choice(
            [" Apotheke", " Grundschule", " Stammtisch"]
        )
        table.add(shown(on.strftime("%d.%m.%Y"), on), giver, decimal_comma(price(book.rng, 5, 200)))
    amount = round(sum(table.values(2)), 2)
    table.leave(["SUMME", None, decimal_comma(amount, thousands=".").written], "total")


@EXAMPLES.xlsx("K5_budget_lines", "Total staff costs, Total running costs, Total expenditure")
def budget_lines(book: Book) -> None:
    """Budget of a nursery school."""
    page = book.page("Budget", left=2)
    page.text("Sunflower Nursery, budget in pounds")
    page.form(("Prepared by", "Ms Hay"), ("Agreed on", dt.date(2024, 2, 1)))
    page.text("")
    table = page.table(["Line", "Budget", "Spent", "Left"])
    costs = {
        "staff": ["Teachers", "Assistants", "Cook", "Cleaner"],
        "running": ["Rent", "Heating", "Toys", "Insurance", "Phone"],
    }
    for group, lines in costs.items():
        for line in lines:
            planned = book.rng.randrange(900, 40000, 10)
            spent = planned * 7 // 10
            table.add(line, planned, spent, planned - spent)
        total(table, [f"Total {group} costs"], [1, 2, 3], "subtotal", "SUM({})", bold=True)
    total(table, ["Total expenditure"], [1, 2, 3], bold=True)


@EXAMPLES.xlsx("K5_mean_below_total", "a total, and below it an average of each column")
def mean_below_total(book: Book) -> None:
    """Eggs of the hens of a farm by week."""
    table = book.page("Eggs").table(["Week", "Barn A", "Barn B", "Barn C"])
    for week in range(1, 27):
        table.add(f"Week {week}", *[book.rng.randrange(900, 2100) for _ in range(3)])
    total(table, ["Total"], [1, 2, 3], by="SUM({})", bold=True)
    cells = []
    for column in (1, 2, 3):
        numbers = table.values(column, whole=True)
        area = f"{'ABCD'[column]}{table.rows[0]}:{'ABCD'[column]}{table.rows[-1]}"
        cells.append(formula(f"=AVERAGE({area})", round(sum(numbers) / len(numbers), 3), "0.0"))
    table.leave(["Average per week", *cells], "total", bold=True)
