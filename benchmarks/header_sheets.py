"""Made sheets with known tables: one seeded maker for every layout the detector must read."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from benchmarks.header_words import TOPICS, WORDS, Field
from sat_retriever.workbook.grid import Area, Grid, TableObject, Value


@dataclass(frozen=True, slots=True)
class Truth:
    """What a table of a made sheet is.

    Attributes:
        header_row: 1-based topmost header row; None without (or transposed).
        header_height: Header rows.
        transposed: Headers in the first column.
        area: From the first header cell to the last data cell.
        num_rows: Data records.
        names: Canonical column names.
    """

    header_row: int | None
    header_height: int
    transposed: bool
    area: Area
    num_rows: int
    names: tuple[str, ...]


@dataclass(slots=True)
class Sheet:
    """A made sheet: cells written one by one, and the tables that are right."""

    layout: str
    cells: dict[tuple[int, int], Value] = field(default_factory=dict)
    merges: list[Area] = field(default_factory=list)
    objects: list[TableObject] = field(default_factory=list)
    tables: list[Truth] = field(default_factory=list)

    def put(self, row: int, col: int, values: list[Value]) -> None:
        """Write values from a cell to the right; None leaves a cell empty."""
        for offset, value in enumerate(values):
            if value is not None:
                self.cells[row, col + offset] = value

    def grid(self) -> Grid:
        """The used range as a grid."""
        rows, cols = zip(*self.cells, strict=True)
        top, left = min(rows), min(cols)
        lines: list[list[Value]] = [
            [self.cells.get((row, col)) for col in range(left, max(cols) + 1)]
            for row in range(top, max(rows) + 1)
        ]
        return Grid(lines, top, left)


Rng = random.Random


def words_of(rng: Rng, part: str) -> list[str]:
    """A shuffled copy of one part's words."""
    return rng.sample(WORDS[part], len(WORDS[part]))


def value_of(rng: Rng, kind: str, part: str, index: int) -> Value:
    """A value of a kind; ids count up with the index."""
    words = WORDS[part]
    makers: dict[str, Callable[[], Value]] = {
        "id": lambda: float(1000 + index),
        "code": lambda: f"{rng.choice('ABKXZ')}{rng.randint(100, 999)}-{rng.randint(10, 99)}",
        "name": lambda: f"{rng.choice(words).title()} {rng.choice(words).title()}",
        "word": lambda: rng.choice(words),
        "category": lambda: words[index * 7 % 4].title(),
        "text": lambda: " ".join(rng.choice(words) for _ in range(rng.randint(4, 14))).capitalize(),
        "int": lambda: float(rng.randint(0, 900)),
        "number": lambda: round(rng.uniform(0, 5000), 2),
        "ratio": lambda: round(rng.random(), 3),
        "date": lambda: dt.datetime(2015, 1, 1) + dt.timedelta(days=rng.randint(0, 3000)),
        "bool": lambda: rng.random() < 0.5,
        "year": lambda: float(rng.randint(1990, 2024)),
        "email": lambda: f"{rng.choice(words)}@{rng.choice(words)}.org",
    }
    return makers[kind]()


def fields_of(rng: Rng, part: str, low: int = 3, high: int = 9) -> list[Field]:
    """Some fields of one topic, in one of the ways people write headers."""
    topic = rng.choice(TOPICS[part])
    chosen = rng.sample(topic, min(len(topic), rng.randint(low, high)))
    style = rng.choice([str, str, str.upper, lambda s: s.lower().replace(" ", "_"), str.title])
    return [Field(style(item.name), item.kind, item.unit) for item in chosen]


def data_of(rng: Rng, fields: list[Field], count: int, part: str) -> list[list[Value]]:
    """Rows of values, about one in thirty empty, never a whole row."""
    return [
        [
            None if col and rng.random() < 0.03 else value_of(rng, item.kind, part, row)
            for col, item in enumerate(fields)
        ]
        for row in range(count)
    ]


def sentence(rng: Rng, part: str, low: int = 3, high: int = 8) -> str:
    """A few words as a title or a note."""
    return " ".join(rng.choice(WORDS[part]) for _ in range(rng.randint(low, high))).capitalize()


def table(
    sheet: Sheet, rng: Rng, part: str, top: int, left: int, fields: list[Field], count: int
) -> Truth:
    """Write a plain table and note it as right."""
    sheet.put(top, left, [item.name for item in fields])
    for offset, line in enumerate(data_of(rng, fields, count, part)):
        sheet.put(top + 1 + offset, left, line)
    area = Area(top, left, top + count, left + len(fields) - 1)
    truth = Truth(top, 1, False, area, count, tuple(item.name for item in fields))
    sheet.tables.append(truth)
    return truth


def plain(rng: Rng, part: str) -> Sheet:
    sheet = Sheet("plain")
    table(sheet, rng, part, 1, 1, fields_of(rng, part), rng.randint(2, 40))
    return sheet


def titled(rng: Rng, part: str) -> Sheet:
    """Title and notes above, with or without a blank row, merged or not."""
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
    sheet = Sheet("offset")
    top, left = rng.randint(2, 9), rng.randint(2, 6)
    table(sheet, rng, part, top, left, fields_of(rng, part), rng.randint(3, 30))
    return sheet


def multi_row(rng: Rng, part: str) -> Sheet:
    """Two or three header rows, upper ones spanning, merged or only written once."""
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


def side_by_side(rng: Rng, part: str) -> Sheet:
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
    """Two tables one above the other, a blank row or two between, titles or not."""
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
    """A second header right below the first table's data."""
    sheet = Sheet("stacked_tight")
    fields = [Field(words, kind) for words, kind in _typed_fields(rng, part, 5)]
    first = table(sheet, rng, part, 1, 1, fields, rng.randint(10, 16))
    again = [Field(words, kind) for words, kind in _typed_fields(rng, part, 4)]
    table(sheet, rng, part, first.area.bottom + 1, 1, again, rng.randint(3, 6))
    return sheet


def _typed_fields(rng: Rng, part: str, count: int) -> list[tuple[str, str]]:
    """A name column and numbers or dates right of it."""
    names = [word.title() for word in words_of(rng, part)]
    kinds = [rng.choice(["number", "int", "date"]) for _ in range(count - 1)]
    return list(zip(names, ["name", *kinds], strict=False))


def form(rng: Rng, part: str) -> Sheet:
    """Keys in the first column, one value each beside them."""
    sheet = Sheet("form")
    fields = [f for f in fields_of(rng, part, 5, 9)]
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
    """One field a row, one record a column."""
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
    """Row labels and years (or periods) as numbers across."""
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
    sheet = Sheet("no_header")
    fields = fields_of(rng, part, 4, 8)
    if not any(item.kind in {"int", "number", "date", "ratio"} for item in fields):
        fields[-1] = Field(fields[-1].name, "number")
    count = rng.randint(5, 30)
    lines = data_of(rng, fields, count, part)
    for row, line in enumerate(lines):
        sheet.put(1 + row, 1, line)
    lines[0] = lines[0]
    used = [col for _, col in sheet.cells]
    area = Area(1, 1, count, max(used))
    sheet.tables.append(Truth(None, 0, False, area, count, ("",) * max(used)))
    return sheet


def totals(rng: Rng, part: str) -> Sheet:
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
    """A row of units right below the header."""
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
    sheet = Sheet("footnotes")
    truth = table(sheet, rng, part, 1, 1, fields_of(rng, part, 3, 8), rng.randint(4, 20))
    row = truth.area.bottom + rng.choice([1, 2])
    for _ in range(rng.randint(1, 3)):
        mark = rng.choice(["* ", "Note: ", "Source: ", "1) ", ""])
        sheet.put(row, 1, [mark + sentence(rng, part, 8, 15)])
        row += 1
    return sheet


def spacers(rng: Rng, part: str) -> Sheet:
    """Blank rows inside the data."""
    sheet = Sheet("spacers")
    fields = [Field(words, kind) for words, kind in _typed_fields(rng, part, rng.randint(3, 6))]
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
    """An index or labels in a first column without a name."""
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


def declared(rng: Rng, part: str) -> Sheet:
    """A table object of the workbook, over data that would mislead."""
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


def ragged_header(rng: Rng, part: str) -> Sheet:
    """Duplicate names, and blank ones over filled columns."""
    sheet = Sheet("ragged_header")
    fields = fields_of(rng, part, 5, 9)
    fields[-1] = Field(fields[1].name, fields[1].kind)
    blank = rng.randint(2, len(fields) - 2)
    fields[blank] = Field("", fields[blank].kind)
    truth = table(sheet, rng, part, 1, 1, fields, rng.randint(5, 25))
    sheet.cells.pop((1, 1 + blank))
    sheet.tables[0] = truth
    return sheet


def date_header(rng: Rng, part: str) -> Sheet:
    """Months as real dates across."""
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
    """Texts in every column: names, categories, mail addresses, remarks."""
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
    """Nothing but a header (an empty template)."""
    sheet = Sheet("single_row")
    fields = fields_of(rng, part, 3, 8)
    table(sheet, rng, part, rng.choice([1, 3]), 1, fields, 0)
    return sheet


def single_column(rng: Rng, part: str) -> Sheet:
    sheet = Sheet("single_column")
    kind = rng.choice(["number", "int", "date", "code", "category"])
    pool = [item.name for topic in TOPICS[part] for item in topic if item.kind == kind]
    table(sheet, rng, part, 1, 1, [Field(rng.choice(pool), kind)], rng.randint(4, 30))
    return sheet


def prose(rng: Rng, part: str) -> Sheet:
    """A page to read: title, sources, notes."""
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


def pivot(rng: Rng, part: str) -> Sheet:
    """A pivot table's output: filter above, two label columns, sparse groups, totals."""
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


def sections(rng: Rng, part: str) -> Sheet:
    """Lone section titles inside the data."""
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
        count += 1
    area = Area(1, 1, row - 1, width + 1)
    sheet.tables.append(Truth(1, 1, False, area, count, tuple(names)))
    return sheet


def messy(rng: Rng, part: str) -> Sheet:
    """Numbers typed as text, gaps marked "n/a", line breaks in headers, sparse columns."""
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


def text_without_header(rng: Rng, part: str) -> Sheet:
    """Texts only, from the first row on: categories come again, mails and codes look alike."""
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


def report(rng: Rng, part: str) -> Sheet:
    """A published table: parameters and title above, blank rows and sections, notes below."""
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
            row, count = row + 1, count + 1
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


MAKERS: tuple[Callable[[Rng, str], Sheet], ...] = (
    plain, titled, offset, multi_row, side_by_side, stacked, stacked_tight, form, sideways,
    year_matrix, no_header, totals, units, footnotes, spacers, index_column, declared,
    ragged_header, date_header, text_only, single_row, single_column, prose, pivot, sections,
    messy, text_without_header, report,
)  # fmt: skip


def make_sheets(part: str, seed: int, each: int) -> list[Sheet]:
    """`each` sheets of every layout, from one seed and one part's words."""
    return [
        maker(random.Random(f"{seed}/{maker.__name__}/{index}"), part)
        for maker in MAKERS
        for index in range(each)
    ]
