"""Make sheets without a plain header row: several tables, sideways, no header, prose."""

from __future__ import annotations

import datetime as dt

from benchmarks.reading.sheets.sheet import (
    TOPICS,
    WORDS,
    Field,
    Rng,
    Sheet,
    Truth,
    data_of,
    fields_of,
    sentence,
    table,
    typed_fields,
    value_of,
    words_of,
)
from sat_retriever.records.area import Area
from sat_retriever.records.structure import TableObject
from sat_retriever.workbook.values.grid import Value


def side_by_side(rng: Rng, part: str) -> Sheet:
    """Make two tables beside each other, of equal height or not."""
    sheet = Sheet("side_by_side")
    big, small = fields_of(rng, part, 4, 7), fields_of(rng, part, 2, 3)
    count = rng.randint(8, 25)
    other = count if rng.random() < 0.4 else rng.randint(3, count)
    top = rng.choice([1, 1, 2, 4])
    if top == 4:
        sheet.put(1, 1, [sentence(rng, part)])
    gap = rng.randint(1, 2)
    if rng.random() < 0.5:
        table(sheet, rng, part, top, 1, big, count)
        table(sheet, rng, part, top, len(big) + 1 + gap, small, other)
    else:
        table(sheet, rng, part, top, len(small) + 1 + gap, big, count)
        table(sheet, rng, part, top, 1, small, other)
    return sheet


def stacked(rng: Rng, part: str) -> Sheet:
    """Make two tables one above the other, with a blank row or two, with titles or not."""
    sheet = Sheet("stacked")
    row = 1
    counts = [rng.randint(10, 20), rng.randint(3, 6)]
    fields = [fields_of(rng, part, 4, 7), fields_of(rng, part, 3, 4)]
    order = [0, 1] if rng.random() < 0.5 else [1, 0]
    made = []
    for index in order:
        if rng.random() < 0.4:
            sheet.put(row, 1, [sentence(rng, part)])
            row += rng.choice([1, 2])
        made.append(table(sheet, rng, part, row, 1, fields[index], counts[index]))
        row = made[-1].area.bottom + rng.randint(2, 3)
    sheet.tables.sort(key=lambda truth: -truth.num_rows)
    return sheet


def stacked_tight(rng: Rng, part: str) -> Sheet:
    """Make a second header right below the first table's data."""
    sheet = Sheet("stacked_tight")
    fields = [Field(words, kind) for words, kind in typed_fields(rng, part, 5)]
    first = table(sheet, rng, part, 1, 1, fields, rng.randint(10, 16))
    again = [Field(words, kind) for words, kind in typed_fields(rng, part, 4)]
    table(sheet, rng, part, first.area.bottom + 1, 1, again, rng.randint(3, 6))
    return sheet


def form(rng: Rng, part: str) -> Sheet:
    """Make a form: keys in the first column, one value beside each."""
    sheet = Sheet("form")
    fields = fields_of(rng, part, 5, 9)
    kinds = {item.kind for item in fields}
    if not kinds & {"int", "number", "date", "bool", "id", "ratio", "year"}:
        fields[-1] = Field(fields[-1].name, "date")
    colon = rng.random() < 0.5
    names = []
    for row, item in enumerate(fields):
        name = item.name + (":" if colon else "")
        names.append(name)
        sheet.put(1 + row, 1, [name, value_of(rng, item.kind, part, row)])
    area = Area(1, 1, len(fields), 2)
    sheet.tables.append(Truth(None, 0, True, area, 1, tuple(names)))
    return sheet


def sideways(rng: Rng, part: str) -> Sheet:
    """Make one field a row, one record a column."""
    sheet = Sheet("sideways")
    fields = fields_of(rng, part, 4, 8)
    if len({item.kind in {"int", "number", "id", "ratio", "year"} for item in fields}) == 1:
        fields[-1] = Field(fields[-1].name, "date")
        fields[0] = Field(fields[0].name, "name")
    count = rng.randint(3, 10)
    for row, item in enumerate(fields):
        values = [value_of(rng, item.kind, part, col) for col in range(count)]
        sheet.put(1 + row, 1, [item.name, *values])
    area = Area(1, 1, len(fields), 1 + count)
    names = tuple(item.name for item in fields)
    sheet.tables.append(Truth(None, 0, True, area, count, names))
    return sheet


def year_matrix(rng: Rng, part: str) -> Sheet:
    """Make row labels, with years (or periods) as numbers across."""
    sheet = Sheet("year_matrix")
    start, step, count = rng.randint(1990, 2025), rng.choice([1, 1, 5]), rng.randint(3, 25)
    years: list[Value] = [float(start + step * i) for i in range(count)]
    corner = rng.choice([None, "Unit: %", sentence(rng, part, 1, 2)])
    top = rng.choice([1, 1, 3])
    if top == 3:
        sheet.put(1, 1, [sentence(rng, part)])
    sheet.put(top, 1, [corner, *years])
    kind = rng.choice(["number", "ratio", "int", "zero"])
    rows = rng.randint(2, 20)
    labels = words_of(rng, part)
    for row in range(rows):
        zeros: list[Value] = [0.0] * count
        numbers = zeros if kind == "zero" else [value_of(rng, kind, part, row) for _ in years]
        sheet.put(top + 1 + row, 1, [labels[row], *numbers])
    names = (corner or "", *(str(start + step * i) for i in range(count)))
    sheet.tables.append(Truth(top, 1, False, Area(top, 1, top + rows, count + 1), rows, names))
    return sheet


def no_header(rng: Rng, part: str) -> Sheet:
    """Make data from the first row on."""
    sheet = Sheet("no_header")
    fields = fields_of(rng, part, 4, 8)
    if not any(item.kind in {"int", "number", "date", "ratio"} for item in fields):
        fields[-1] = Field(fields[-1].name, "number")
    count = rng.randint(5, 30)
    lines = data_of(rng, fields, count, part)
    for row, line in enumerate(lines):
        sheet.put(1 + row, 1, line)
    used = [col for _, col in sheet.cells]
    area = Area(1, 1, count, max(used))
    sheet.tables.append(Truth(None, 0, False, area, count, ("",) * max(used)))
    return sheet


def declared(rng: Rng, part: str) -> Sheet:
    """Make a table object of the workbook over misleading data."""
    sheet = Sheet("declared")
    names = [word.title() for word in words_of(rng, part)[: rng.randint(2, 5)]]
    top, left, count = rng.randint(1, 6), rng.randint(1, 4), rng.randint(3, 12)
    sheet.put(top, left, list(names))
    for row in range(count):
        sheet.put(top + 1 + row, left, [rng.choice(WORDS[part]).title() for _ in names])
    area = Area(top, left, top + count, left + len(names) - 1)
    sheet.objects.append(TableObject("Table1", area, 1, 0, tuple(names)))
    sheet.tables.append(Truth(top, 1, False, area, count, tuple(names)))
    return sheet


def date_header(rng: Rng, part: str) -> Sheet:
    """Make months as real dates across."""
    sheet = Sheet("date_header")
    count, rows = rng.randint(3, 12), rng.randint(2, 15)
    months = [dt.datetime(2022 + i // 12, i % 12 + 1, 1) for i in range(count)]
    corner = rng.choice(["Account", "Item", None])
    sheet.put(1, 1, [corner, *months])
    labels = words_of(rng, part)
    for row in range(rows):
        numbers = [value_of(rng, "number", part, row) for _ in months]
        sheet.put(2 + row, 1, [labels[row], *numbers])
    names = (corner or "", *(month.date().isoformat() for month in months))
    area = Area(1, 1, rows + 1, count + 1)
    sheet.tables.append(Truth(1, 1, False, area, rows, names))
    return sheet


def text_only(rng: Rng, part: str) -> Sheet:
    """Make texts in every column: names, categories, mail addresses, remarks."""
    sheet = Sheet("text_only")
    kinds = rng.sample(["name", "category", "email", "text", "code", "word"], rng.randint(2, 5))
    if not {"category", "email", "text", "code"} & set(kinds):
        kinds.append("category")
    pool = {k: [f.name for t in TOPICS[part] for f in t if f.kind == k] for k in kinds}
    names = [rng.choice(pool[kind] or [kind.title()]) for kind in kinds]
    fields = [Field(name, kind) for name, kind in zip(names, kinds, strict=True)]
    table(sheet, rng, part, 1, 1, fields, rng.randint(5, 30))
    return sheet


def single_row(rng: Rng, part: str) -> Sheet:
    """Make only a header (an empty template)."""
    sheet = Sheet("single_row")
    fields = fields_of(rng, part, 3, 8)
    table(sheet, rng, part, rng.choice([1, 3]), 1, fields, 0)
    return sheet


def single_column(rng: Rng, part: str) -> Sheet:
    """Make a list with its header."""
    sheet = Sheet("single_column")
    kind = rng.choice(["number", "int", "date", "code", "category"])
    pool = [item.name for topic in TOPICS[part] for item in topic if item.kind == kind]
    table(sheet, rng, part, 1, 1, [Field(rng.choice(pool), kind)], rng.randint(4, 30))
    return sheet


def prose(rng: Rng, part: str) -> Sheet:
    """Make a page to read: title, sources, notes."""
    sheet = Sheet("prose")
    sheet.put(1, 1, [sentence(rng, part)])
    sheet.put(3, 1, ["Source:", sentence(rng, part, 2, 5)])
    row = 4
    for value in (
        float(rng.randint(2000, 2024)),
        sentence(rng, part, 5, 9),
        "https://example.org/a",
    ):
        sheet.put(row, 2, [value])
        row += 1
    row += 1
    sheet.put(row, 1, ["Notes"])
    for _ in range(rng.randint(4, 15)):
        row += 1 + (rng.random() < 0.2)
        sheet.put(row, 1, [sentence(rng, part, 8, 16)])
    area = Area(1, 1, row, 2)
    sheet.tables.append(Truth(None, 0, False, area, 0, ("", "")))
    return sheet


def text_without_header(rng: Rng, part: str) -> Sheet:
    """Make texts only, from the first row on: repeated categories, similar mails and codes."""
    sheet = Sheet("text_without_header")
    kinds = ["category", *rng.sample(["email", "code", "name"], rng.randint(1, 3))]
    rng.shuffle(kinds)
    fields = [Field("", kind) for kind in kinds]
    count = rng.randint(8, 30)
    for row in range(count):
        values = [value_of(rng, kind, part, row) for kind in kinds]
        sheet.put(1 + row, 1, values)
    area = Area(1, 1, count, len(fields))
    sheet.tables.append(Truth(None, 0, False, area, count, ("",) * len(fields)))
    return sheet
