"""Workbooks small enough to check by hand, and chances for tests."""

import hashlib
import random
from datetime import date

from sat_retriever.questions.facts import SheetFacts
from sat_retriever.synth.book.model import (
    Book,
    Chart,
    Choices,
    Column,
    Combine,
    Layout,
    Lookup,
    Number,
    Own,
    Pivot,
    Sheet,
    SheetAt,
    Take,
    Through,
    Total,
    TotalWhere,
)
from sat_retriever.synth.house.when import When

STAFF = SheetAt("Staff", "hr/Acme_Staff.xlsx")


def chance(*purpose):
    text = "\x1f".join(map(str, purpose))
    return random.Random(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big"))


def facts(kind, *, keys=(), when=None, summary=False):
    period = when.period(f"Acme/sales/{kind}") if when else None
    return SheetFacts(
        "", "sales", kind, "Acme", period, keys, schema=f"sales/{kind}/0", summary=summary
    )


def staff(rows=4):
    ids = tuple(f"E{number:02}" for number in range(rows))
    names = tuple(f"Person Number {number}" for number in range(rows))
    return Book(
        "hr/Acme_Staff.xlsx",
        "HR",
        (
            Sheet(
                "Staff",
                (
                    Column("id", "Employee ID", ids, key="Acme/employee", unique=True),
                    Column("name", "Name", names),
                    Column("rate", "Rate", tuple(10.0 + n for n in range(rows)), "amount"),
                ),
                facts("staff", keys=("Employee ID",)),
            ),
        ),
    )


def month(name, number, rows=4):
    at = range(rows)
    return Sheet(
        name,
        (
            Column("id", "Employee ID", tuple(f"E{n:02}" for n in at), key="Acme/employee"),
            Column("region", "Region", tuple(("North", "South")[n % 2] for n in at)),
            Column("day", "Day", tuple(date(2024, number, 1 + n) for n in at), "date"),
            Column("hours", "Hours", tuple(8 + n for n in at), "integer"),
            Column("rate", "Rate", tuple(Lookup(STAFF, "id", "id", "rate") for _ in at), "amount"),
            Column("pay", "Pay", tuple(Combine("*", Own("hours"), Own("rate")) for _ in at)),
        ),
        facts("month", keys=("Employee ID",), when=When(2024, month=number)),
        Layout(titles=(f"Sales {name}",)),
        totals=(("hours", "SUM"), ("pay", "SUM")),
        choices=(Choices("region", SheetAt("Lists"), "region"),),
    )


def sales(rows=4):
    jan, feb, mar = SheetAt("Jan"), SheetAt("Feb"), SheetAt("Mar")
    summary = Sheet(
        "Summary",
        (
            Column("region", "Region", ("North", "South")),
            Column("all", "All", (Total(jan, "hours"), Total(feb, "hours")), "integer"),
            Column(
                "of", "Of Region", tuple(TotalWhere(mar, "hours", "region", "region") for _ in "ns")
            ),
            Column("run", "Run", (Through("Jan", "Mar", "hours", 0), Number(1.0)), "integer"),
            Column(
                "part",
                "Part",
                (
                    Combine(
                        "/", Take(jan, "hours", 3), Total(SheetAt("Staff", STAFF.book), "rate")
                    ),
                    Combine("-", Own("all"), Number(1)),
                ),
            ),
        ),
        facts("summary", when=When(2024), summary=True),
        charts=(Chart(jan, "region", "hours"),),
        pivots=(Pivot(feb, "region", "hours"),),
    )
    lists = Sheet("Lists", (Column("region", "Region", ("North", "South")),), hidden=True)
    months = [month(name, n + 1, rows) for n, name in enumerate(("Jan", "Feb", "Mar"))]
    return Book("sales/Acme_Sales_2024.xlsx", "Sales", (*months, summary, lists))


def unit(rows=4):
    return (staff(rows), sales(rows))
