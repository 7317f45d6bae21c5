"""Make sheets with one main table under header rows."""

from __future__ import annotations

import datetime as dt

from benchmarks.reading.sheets.sheet import (
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
from sat_retriever.workbook.values.grid import Value


def plain(rng: Rng, part: str) -> Sheet:
    """Make one table from A1 on."""
    sheet = Sheet("plain")
    table(sheet, rng, part, 1, 1, fields_of(rng, part), rng.randint(2, 40))
    return sheet


def titled(rng: Rng, part: str) -> Sheet:
    """Make a title and notes above, with or without a blank row, merged or not."""
    sheet = Sheet("titled")
    fields = fields_of(rng, part)
    lines = rng.randint(1, 4)
    for row in range(1, lines + 1):
        sheet.put(row, 1, [sentence(rng, part, 2, 12)])
        if rng.random() < 0.3:
            sheet.merges.append(Area(row, 1, row, len(fields)))
    if rng.random() < 0.3:
        sheet.put(lines + 1, 1, ["Date:", dt.datetime(2024, 3, 1)])
        lines += 1
    top = lines + 1 + rng.choice([0, 1, 1, 2])
    table(sheet, rng, part, top, 1, fields, rng.randint(3, 30))
    return sheet


def offset(rng: Rng, part: str) -> Sheet:
    """Make a table that starts outside A1."""
    sheet = Sheet("offset")
    top, left = rng.randint(2, 9), rng.randint(2, 6)
    table(sheet, rng, part, top, left, fields_of(rng, part), rng.randint(3, 30))
    return sheet


def multi_row(rng: Rng, part: str) -> Sheet:
    """Make two or three header rows; upper ones span columns, merged or written once."""
    sheet = Sheet("multi_row")
    words = words_of(rng, part)
    groups, merged = rng.randint(2, 4), rng.random() < 0.7
    width, levels = rng.randint(2, 3), rng.choice([2, 2, 2, 3])
    top, left = rng.choice([1, 1, 3]), 1
    if top > 1:
        sheet.put(1, 1, [sentence(rng, part)])
    last = top + levels - 1
    names = [words.pop().title()]
    label_row = top if merged and rng.random() < 0.5 else last
    sheet.put(label_row, left, [names[0]])
    if label_row == top:
        sheet.merges.append(Area(top, left, last, left))
    leaves = [words.pop().title() for _ in range(width)]
    whole = words.pop().title()
    for group in range(groups):
        start = left + 1 + group * width
        upper = words.pop().title()
        sheet.put(last - 1, start, [upper])
        if merged:
            sheet.merges.append(Area(last - 1, start, last - 1, start + width - 1))
        sheet.put(last, start, list(leaves))
        for position, leaf in enumerate(leaves):
            parts = [upper, leaf] if merged or position == 0 else [leaf]
            if levels == 3 and (merged or (group == 0 and position == 0)):
                parts = [whole, *parts]
            names.append(" / ".join(parts))
    if levels == 3:
        sheet.put(top, left + 1, [whole])
        if merged:
            sheet.merges.append(Area(top, left + 1, top, left + groups * width))
    count = rng.randint(4, 20)
    for row in range(count):
        numbers = [value_of(rng, "number", part, row) for _ in range(groups * width)]
        sheet.put(last + 1 + row, left, [words[row % len(words)].title(), *numbers])
    area = Area(top, left, last + count, left + groups * width)
    sheet.tables.append(Truth(top, levels, False, area, count, tuple(names)))
    return sheet


def totals(rng: Rng, part: str) -> Sheet:
    """Make a totals row at the end, with its label in one of several languages."""
    sheet = Sheet("totals")
    names = [word.title() for word in words_of(rng, part)]
    width, count = rng.randint(2, 6), rng.randint(4, 20)
    fields = [Field(names[0], "word"), *(Field(name, "number") for name in names[1 : width + 1])]
    truth = table(sheet, rng, part, 1, 1, fields, count)
    label = rng.choice(
        ["Total", "TOTAL", "Grand Total", "Summe", "Total:", "Sum", "合计", "Totale"]
    )
    sums: list[Value] = [
        sum(
            float(v) for r in range(2, count + 2) if isinstance(v := sheet.cells.get((r, c)), float)
        )
        for c in range(2, width + 2)
    ]
    sheet.put(count + 2, 1, [label, *sums])
    area = Area(1, 1, count + 2, width + 1)
    sheet.tables[0] = Truth(1, 1, False, area, count, truth.names)
    return sheet


def units(rng: Rng, part: str) -> Sheet:
    """Make a row of units right below the header."""
    sheet = Sheet("units")
    names = [word.title() for word in words_of(rng, part)]
    pool = ["kg", "m", "%", "EUR", "kWh", "°C", "m/s", "USD", "t", "mm", "MW", "hours"]
    width, count = rng.randint(3, 7), rng.randint(4, 20)
    wrap = rng.choice(["{}", "({})", "[{}]"])
    sheet.put(1, 1, [names[0], *names[1 : width + 1]])
    sheet.put(2, 2, [wrap.format(rng.choice(pool)) for _ in range(width)])
    for row in range(count):
        numbers = [value_of(rng, "number", part, row) for _ in range(width)]
        sheet.put(3 + row, 1, [names[row].lower(), *numbers])
    area = Area(1, 1, count + 2, width + 1)
    sheet.tables.append(Truth(1, 1, False, area, count, tuple(names[: width + 1])))
    return sheet


def footnotes(rng: Rng, part: str) -> Sheet:
    """Make remarks right below the data, or after a blank row."""
    sheet = Sheet("footnotes")
    truth = table(sheet, rng, part, 1, 1, fields_of(rng, part, 3, 8), rng.randint(4, 20))
    row = truth.area.bottom + rng.choice([1, 2])
    for _ in range(rng.randint(1, 3)):
        mark = rng.choice(["* ", "Note: ", "Source: ", "1) ", ""])
        sheet.put(row, 1, [mark + sentence(rng, part, 8, 15)])
        row += 1
    return sheet


def spacers(rng: Rng, part: str) -> Sheet:
    """Make blank rows inside the data."""
    sheet = Sheet("spacers")
    fields = [Field(words, kind) for words, kind in typed_fields(rng, part, rng.randint(3, 6))]
    sheet.put(1, 1, [item.name for item in fields])
    row, count = 1 + rng.choice([1, 1, 2]), rng.randint(6, 20)
    for index, line in enumerate(data_of(rng, fields, count, part)):
        sheet.put(row, 1, line)
        row += 1 + (index % rng.randint(3, 5) == 2 and index + 1 < count)
    area = Area(1, 1, row - 1, len(fields))
    names = tuple(item.name for item in fields)
    sheet.tables.append(Truth(1, 1, False, area, count, names))
    return sheet


def index_column(rng: Rng, part: str) -> Sheet:
    """Make an index or labels in a first column without a name."""
    sheet = Sheet("index_column")
    fields = [Field("", "id"), *fields_of(rng, part, 3, 7)]
    count, counting = rng.randint(4, 25), rng.random() < 0.5
    sheet.put(1, 2, [item.name for item in fields[1:]])
    for row, line in enumerate(data_of(rng, fields, count, part)):
        line[0] = float(row) if counting else f"{WORDS[part][row]}"
        sheet.put(2 + row, 1, line)
    area = Area(1, 1, count + 1, len(fields))
    names = tuple(item.name for item in fields)
    sheet.tables.append(Truth(1, 1, False, area, count, names))
    return sheet


def ragged_header(rng: Rng, part: str) -> Sheet:
    """Make duplicate names, and blank ones over filled columns."""
    sheet = Sheet("ragged_header")
    fields = fields_of(rng, part, 5, 9)
    fields[-1] = Field(fields[1].name, fields[1].kind)
    blank = rng.randint(2, len(fields) - 2)
    fields[blank] = Field("", fields[blank].kind)
    truth = table(sheet, rng, part, 1, 1, fields, rng.randint(5, 25))
    sheet.cells.pop((1, 1 + blank))
    sheet.tables[0] = truth
    return sheet


def messy(rng: Rng, part: str) -> Sheet:
    """Make numbers typed as text, gaps marked "n/a", line breaks in headers, sparse columns."""
    sheet = Sheet("messy")
    fields = fields_of(rng, part, 4, 9)
    count, top = rng.randint(6, 30), rng.choice([1, 1, 2, 4])
    if top == 4:
        sheet.put(1, 1, [sentence(rng, part, 2, 5)])
    typed = rng.random() < 0.5
    sparse = rng.randrange(1, len(fields))
    names = [item.name.replace(" ", "\n") if rng.random() < 0.3 else item.name for item in fields]
    sheet.put(top, 1, list(names))
    for row, line in enumerate(data_of(rng, fields, count, part)):
        for col, value in enumerate(line):
            roll = rng.random()
            if col == sparse and row and roll < 0.8:
                line[col] = None
            elif col and roll < 0.08:
                line[col] = rng.choice(["n/a", "-", "?", "tbd"])
            elif typed and isinstance(value, float):
                line[col] = f"{value:,.2f}" if value % 1 else str(int(value))
        sheet.put(top + 1 + row, 1, line)
    area = Area(top, 1, top + count, len(fields))
    sheet.tables.append(
        Truth(top, 1, False, area, count, tuple(name.replace("\n", " ") for name in names))
    )
    return sheet


def sections(rng: Rng, part: str) -> Sheet:
    """Make lone section titles inside the data, which are no records."""
    sheet = Sheet("sections")
    words = [word.title() for word in words_of(rng, part)]
    width = rng.randint(3, 6)
    names = [words.pop() for _ in range(width + 1)]
    sheet.put(1, 1, list(names))
    row, count = 2, 0
    for _ in range(rng.randint(2, 4)):
        sheet.put(row, 1, [words.pop()])
        for _ in range(rng.randint(2, 5)):
            row += 1
            numbers = [value_of(rng, "number", part, row) for _ in range(width)]
            sheet.put(row, 1, ["  " + rng.choice(words), *numbers])
            count += 1
        row += 1
    area = Area(1, 1, row - 1, width + 1)
    sheet.tables.append(Truth(1, 1, False, area, count, tuple(names)))
    return sheet


def report(rng: Rng, part: str) -> Sheet:
    """Make a published table: parameters and title, blank rows and sections, notes below."""
    sheet = Sheet("report")
    words = [word.title() for word in words_of(rng, part)]
    keys = [words.pop() for _ in range(rng.randint(3, 4))]
    for row, key in enumerate(keys):
        sheet.put(1 + row, 1, [key + ":", sentence(rng, part, 1, 3)])
    sheet.put(7, 1, [sentence(rng, part, 4, 9)])
    start, width = rng.randint(2000, 2030), rng.randint(4, 20)
    corner = rng.choice([None, words.pop()])
    sheet.put(8, 1, [corner, *(float(start + i) for i in range(width))])
    row, count = 9 + rng.choice([0, 1]), 0
    for section in range(rng.randint(2, 4)):
        if section or rng.random() < 0.5:
            sheet.put(row, 1, [words.pop()])
            row += 1
        for _ in range(rng.randint(3, 6)):
            sheet.put(row, 1, ["  " + words.pop(), *(round(rng.random(), 4) for _ in range(width))])
            row, count = row + 1, count + 1
        last = row - 1
        row += rng.choice([0, 1, 1, 2])
    for note in range(rng.randint(1, 3)):
        sheet.put(last + 2 + note, 1, [f"{note + 1}/ {sentence(rng, part, 6, 14)}"])
    names = (corner or "", *(str(start + i) for i in range(width)))
    sheet.tables.append(Truth(8, 1, False, Area(8, 1, last, width + 1), count, names))
    colons = tuple(key + ":" for key in keys)
    sheet.tables.append(Truth(None, 0, True, Area(1, 1, len(keys), 2), 1, colons))
    return sheet


def pivot(rng: Rng, part: str) -> Sheet:
    """Make a pivot table's output: filter above, two label columns, sparse groups, totals."""
    sheet = Sheet("pivot")
    words = [word.title() for word in words_of(rng, part)]
    sheet.put(1, 1, [words.pop(), "(All)"])
    outer, inner, measures = (
        words.pop(),
        words.pop(),
        [words.pop() for _ in range(rng.randint(2, 5))],
    )
    sheet.put(3, 1, [outer, inner, *measures, "Grand Total"])
    row = 4
    for _ in range(rng.randint(2, 4)):
        group = words.pop()
        for index in range(rng.randint(2, 4)):
            numbers = [value_of(rng, "number", part, row) for _ in range(len(measures) + 1)]
            sheet.put(row, 1, [group if index == 0 else None, rng.choice(words), *numbers])
            row += 1
    count = row - 4
    sheet.put(row, 1, ["Grand Total", None, *[1.0 * row for _ in range(len(measures) + 1)]])
    area = Area(3, 1, row, len(measures) + 3)
    names = (outer, inner, *measures, "Grand Total")
    sheet.tables.append(Truth(3, 1, False, area, count, names))
    return sheet
