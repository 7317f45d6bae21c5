"""Values of tables mean what people see in the cells: scales, units, words among numbers."""

import datetime as dt

import pytest
from openpyxl import Workbook

from sat_retriever.records.sheets import ColumnType
from sat_retriever.tools.sql.query import TableQuery
from sat_retriever.workbook.values.numberformat import FRACTION
from tests.builders import indexed

DAY, EVE = dt.datetime(2024, 4, 3), dt.datetime(2024, 12, 28)
HOURS = dt.timedelta(hours=1)


def formatted(code, *values):
    return [(value, code) for value in values]


def column(header, cells, kind, unit, values=None):
    """Header, cells as values or (value, format), and what is right; None for the cells' values."""
    plain = [cell[0] if isinstance(cell, tuple) else cell for cell in cells]
    return header, cells, kind, unit, plain if values is None else values


COLUMNS = {
    "percents": column("Margin", formatted("0%", 0.19, 0.07, 0.25, 0.125), "number", FRACTION),
    "percents and texts": column(
        "Margin",
        [*formatted("0.0%", 0.19, 0.25), "7%", "12.5%"],
        "number",
        FRACTION,
        [0.19, 0.25, 0.07, 0.125],
    ),
    "percents under a header of percent": column(
        "Margin (%)",
        [*formatted("0%", 0.19, 0.25, 0.5), "7 %"],
        "number",
        FRACTION,
        [0.19, 0.25, 0.5, 0.07],
    ),
    "percents in texts": column(
        "Margin", ["19%", "7%", "25%", "3%"], "number", "%", [19, 7, 25, 3]
    ),
    "a percent sign in quotes": column("Margin", formatted('0"%"', 19, 7, 25, 3), "number", "%"),
    "percents beside plain fractions": column("Margin", [0.19, 0.25, "7%", 0.5], "mixed", None),
    "rounded by the format": column(
        "Share", formatted("0%", 0.125, 0.335, 1, 0), "number", FRACTION
    ),
    "kilograms": column("Mass", formatted('0.0" kg"', 1.5, 2, 3, 4), "number", "kg"),
    "kilograms in some cells": column("Mass", [*formatted('0" kg"', 1.5, 2, 3), 4], "number", "kg"),
    "kilograms in one cell": column("Mass", [*formatted('0" kg"', 1.5), 2, 3, 4], "number", None),
    "kilograms and grams": column(
        "Mass", [*formatted('0" kg"', 1, 2, 3), *formatted('0" g"', 4)], "number", "kg or g"
    ),
    "kilograms and a text in grams": column(
        "Mass", [*formatted('0" kg"', 1, 2, 3), "4 g"], "mixed", None
    ),
    "kilograms in Chinese numerals": column(
        "Mass", formatted('[DBNum1]0" kg"', 1, 2, 3, 4), "number", "kg"
    ),
    "kilograms of too long a code": column(
        "Mass", formatted('0" kg";' + "0" * 255, 1, 2, 3, 4), "number", "kg"
    ),
    "sixteenths of a dollar": column(
        "Price", formatted('# ??/16" USD"', 1.5, 2, 3, 4), "number", "USD"
    ),
    "an amount a kilogram": column("Dose", formatted('0/"kg"', 1, 2, 3, 4), "number", "/kg"),
    "pieces": column("Stock", formatted(r'#,##0\ "pcs"', 1200, 2, 3, 4), "number", "pcs"),
    "a code for euros": column("Cost", formatted('#,##0 "EUR"', 1200, 2, 3, 4), "number", "EUR"),
    "euros of a locale": column("Cost", formatted("#,##0.00 [$€-407]", 1, 2, 3, 4), "number", "€"),
    "dollars": column("Cost", formatted("$#,##0", 1200, 2, 3, 4), "number", "$"),
    "an accountant's dollars": column(
        "Cost",
        formatted('_("$"* #,##0_);_("$"* (#,##0);_("$"* "-"??_);_(@_)', 1, -2, 0, 4),
        "number",
        "$",
    ),
    "euros a kilogram": column(
        "Price", formatted('[$€-2] 0.00"/kg"', 1, 2, 3, 4), "number", "€/kg"
    ),
    "a header says more": column("Cost (kEUR)", formatted("#,##0 €", 1, 2, 3, 4), "number", "kEUR"),
    "a lone locale": column("Cost", formatted("[$-409]#,##0", 1, 2, 3, 4), "number", None),
    "millions of the format": column(
        "Revenue", formatted('0.0,,"M"', 1.2e6, 8e5, 2e6, 3e6), "number", None
    ),
    "millions of euros of the format": column(
        "Revenue", formatted('0.0,," M€"', 1.2e6, 8e5, 2e6, 3e6), "number", "€"
    ),
    "millions of the format and the header": column(
        "Revenue (EUR million)", formatted("0.0,,", 1.2e6, 8e5, 2e6, 3e6), "number", "EUR"
    ),
    "millions that only the header names": column(
        "Sales (millions)", formatted("#,##0.0,,", 1.2e6, 8e5, 2e6, 3e6), "number", "ones"
    ),
    "a quarter": column("Quarter", formatted('"Q"0', 1, 2, 3, 4), "number", None),
    "scales in texts": column(
        "Revenue",
        ["1.2M", "3k", "2 Mio.", 800000],
        "number",
        None,
        [1200000, 3000, 2000000, 800000],
    ),
    "one scale beside a large number": column(
        "Revenue",
        ["1.2M", "3M", 800000, 900000],
        "number",
        None,
        [1200000, 3000000, 800000, 900000],
    ),
    "one letter that may be months": column("Term", ["3M", 6, "12M", 24], "mixed", None),
    "money in millions": column(
        "Revenue", ["€1.2M", "€300k", "€2M", "5 €"], "number", "€", [1200000, 300000, 2000000, 5]
    ),
    "durations": column(
        "Spent",
        formatted("[h]:mm", 30 * HOURS, 2.5 * HOURS, HOURS / 12, 101.25 * HOURS),
        "duration",
        None,
    ),
    "minutes": column(
        "Spent", formatted("[mm]:ss", *[HOURS / n for n in (2, 3, 4, 5)]), "duration", None
    ),
    "durations and times": column(
        "Spent",
        [*formatted("[h]:mm", 30 * HOURS, HOURS), *formatted("h:mm", dt.time(9), dt.time(1))],
        "duration",
        None,
        [30 * HOURS, HOURS, 9 * HOURS, HOURS],
    ),
    "times": column(
        "Start",
        [dt.time(9, 30), dt.time(10), dt.time(16, 45), "closed"],
        "time",
        None,
        [dt.time(9, 30), dt.time(10), dt.time(16, 45), None],
    ),
    "a month with a year": column(
        "Month", formatted("mmm yy", DAY, EVE, DAY, EVE), "date", None, [DAY.date(), EVE.date()] * 2
    ),
    "days in the format of a number": column(
        "Term", formatted('0" days"', 5, 6, 7, 8), "number", "days"
    ),
    "a word": column("Pb", [1.5, "n.d.", 3, 4.5], "number", None, [1.5, None, 3, 4.5]),
    "a limit": column("Pb", [0.1, "<0.05", 0.3, 0.2], "number", None, [0.1, None, 0.3, 0.2]),
    "a limit with a unit": column("Pb", [1, "> 1,000 mg", 3, 2], "number", None, [1, None, 3, 2]),
    "a phrase with a number": column(
        "Price", [1, "see note 3", 3, 2], "number", None, [1, None, 3, 2]
    ),
    "a code among numbers": column("Batch", [1200, 4500, "12-B", 3102], "mixed", None),
    "a code among texts": column("Batch", ["1200", "4500", "A7", "3102"], "text", None),
    "zeros before a number": column("Key", ["007", "12", "13", "14"], "text", None),
    "keys of one length": column("Account", ["100", "101", "200", "201"], "text", None),
    "quantities as texts": column(
        "Stock", ["9", "104", "12", "7"], "number", None, [9, 104, 12, 7]
    ),
    "half words": column("Status", [1, 2, "open", "closed"], "mixed", None),
    "dates and a word": column(
        "Due", [DAY, "open", EVE, DAY], "date", None, [DAY.date(), None, EVE.date(), DAY.date()]
    ),
    "ISO texts": column(
        "Due",
        [DAY, "2024-12-28", EVE, DAY],
        "date",
        None,
        [DAY.date(), EVE.date(), EVE.date(), DAY.date()],
    ),
    "white space": column("Stock", [3, " ", "\u00a0", 5], "number", None, [3, None, None, 5]),
}
TYPES = {
    "number": {ColumnType.NUMBER, ColumnType.INTEGER}, "text": {ColumnType.TEXT},
    "mixed": {ColumnType.TEXT}, "date": {ColumnType.DATE}, "time": {ColumnType.TIME},
    "duration": {ColumnType.TIME},
}  # fmt: skip


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """One sheet for each column, below the names of four items."""
    folder = tmp_path_factory.mktemp("shown")
    book = Workbook()
    book.remove(book.active)
    for name, (header, cells, *_) in COLUMNS.items():
        sheet = book.create_sheet(name[:31])
        sheet.append(["Item", "Kind", header])
        for row, (item, cell) in enumerate(
            zip(("Ink", "Cap", "Nib", "Pen"), cells, strict=True), 2
        ):
            value, code = cell if isinstance(cell, tuple) else (cell, None)
            sheet.append([item, "blue", value])
            if code:
                sheet.cell(row, 3).number_format = code
    book.save(folder / "a.xlsx")
    with indexed(folder, folder / "x.sat") as index:
        yield index


@pytest.mark.parametrize("name", COLUMNS)
def test_the_data_of_a_column_mean_what_its_cells_show(index, name):
    _, _, kind, unit, values = COLUMNS[name]
    sheet = f"a.xlsx#{name[:31]}"
    found = index.table(sheet).columns[2]
    assert (found.kind, found.unit) == (kind, unit)
    assert list(found.values) == values
    shown = index.records([sheet])[sheet].columns[2]
    assert shown.type in TYPES[kind]
    assert shown.unit == unit


def test_a_schema_tells_the_units_of_formats(index):
    schema = TableQuery.over([index.table("a.xlsx#percents and texts")]).schema
    assert f"margin number: Margin, in {FRACTION}, e.g. 0.19" in schema


def test_words_among_numbers_are_told_and_kept(index):
    table = index.table("a.xlsx#a word")
    assert table.columns[2].stored == [1.5, "n.d.", 3, 4.5]
    assert table.columns[2].words == (("n.d.", 1),)
    assert table.note == "Texts in 'Pb', read as empty: 'n.d.'."
    frame, arrow = table.to_pandas(), table.to_arrow()
    assert frame["Pb"].isna().tolist() == [False, True, False, False]
    assert (frame.attrs["note"], arrow.schema.metadata[b"note"].decode()) == (table.note,) * 2
    query = TableQuery.over([table]).run("SELECT count(pb) AS n, avg(pb) FROM a_word")
    assert query.rows == ((3, 3.0),)
    assert table.note in query.note
