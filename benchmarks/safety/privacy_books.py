"""Workbooks in which every cell holds a mark: a text or number that stands nowhere else."""

from __future__ import annotations

import datetime as dt
import hashlib
import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import python_calamine
import xlsxwriter

from benchmarks.safety.mutants import ods_of
from sat_retriever import read_workbook

_LETTERS = "bcdfgkpqvwxz"  # no stemmer changes them, and no word is of them
_LEAST = 9  # letters of a mark
_FIRST = 7_310_000_000  # beyond 32 bits, so that no four bytes are like it by chance
_FILES, _FEWEST, _MARKED = 3, 3, 40  # shared files of a format; texts replaced in each

NAMED = ("file", "sheet", "header", "defined")  # what every level keeps


@dataclass(slots=True)
class Marks:
    """The marks made so far, by kind."""

    texts: dict[str, list[str]] = field(default_factory=dict)
    numbers: dict[str, list[int]] = field(default_factory=dict)
    _made: int = 0

    def text(self, kind: str, letters: int = 12) -> str:
        """Return a new text of so many letters, at least nine."""
        self._made += 1
        digest = hashlib.blake2b(str(self._made).encode()).digest()
        found = "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest)[: max(_LEAST, letters)]
        self.texts.setdefault(kind, []).append(found)
        return found

    def number(self, kind: str) -> int:
        """Return a new number of ten digits."""
        self._made += 1
        found = _FIRST + self._made * 7_919
        self.numbers.setdefault(kind, []).append(found)
        return found

    def row(self, kind: str, count: int) -> list[str]:
        """Return so many new texts."""
        return [self.text(kind) for _ in range(count)]


def write_books(folder: Path, shared: Path | None) -> Marks:
    """Write workbooks of every format that can be written, and marked copies of shared ones.

    Args:
        folder: A new folder.
        shared: Folder of odd files, with .xls and .xlsb; None leaves these formats out.
    """
    marks = Marks()
    folder.mkdir(parents=True)
    keys = marks.row("data", 30)
    for number in range(2):
        people = folder / f"{marks.text('file')}.xlsx"
        write_people(people, marks, keys, version=number)
    copy = people.with_name(f"{people.stem} (2).xlsx")
    copy.write_bytes(people.read_bytes())
    for name, gap in (("csv", ","), ("tsv", "\t")):
        rows = [marks.row("header", 3), *(marks.row("data", 3) for _ in range(8))]
        _write_text(folder / f"list.{name}", rows, gap)
    _write_text(folder / "unheaded.csv", [marks.row("unheaded", 3) for _ in range(8)], ",")
    numbered = [[marks.text("unheaded"), str(marks.number("unheaded"))] for _ in range(8)]
    _write_text(folder / "numbered.csv", numbered, ",")
    (folder / "table.ods").write_bytes(opendocument(marks))
    whole = people.read_bytes()
    (folder / "broken.xlsx").write_bytes(whole[: len(whole) // 2])
    rows = [marks.row("header", 3), *(marks.row("broken", 3) for _ in range(8))]
    text = "\n".join(map(",".join, rows)).encode()
    (folder / "broken.csv").write_bytes(text[:90] + b"\x00\xff\xfe" + text[90:])
    for kind in ("xls", "xlsb") if shared is not None else ():
        files = sorted(shared.rglob(f"*.{kind}")) if shared is not None else []
        _write_marked(folder, kind, files, marks)
    return marks


def write_people(path: Path, marks: Marks, keys: Sequence[str], *, version: int) -> None:
    """Write a workbook with marks in all its parts; its first column's values are given."""
    with xlsxwriter.Workbook(path) as book:
        book.set_properties({"title": marks.text("property"), "author": marks.text("property")})
        book.define_name(marks.text("defined"), f'="{marks.text("constant")}"')
        sheet = book.add_worksheet(marks.text("sheet"))
        sheet.write(0, 0, marks.text("caption"))
        _write_table(sheet, 2, marks, keys, book.add_format({"num_format": "yyyy-mm-dd"}))
        sheet.write(len(keys) + 6, 0, f"Source: {' '.join(marks.row('note', 6))}")
        sheet.write_comment(4, 0, marks.text("comment"), {"author": marks.text("comment")})
        choices = {"validate": "list", "source": marks.row("validation", 3)}
        sheet.data_validation(3, 1, 20, 1, choices)
        sheet.conditional_format(
            3, 1, 20, 1, {"type": "cell", "criteria": "==", "value": f'"{marks.text("format")}"'}
        )
        sheet.set_row(6, None, None, {"hidden": True})
        sheet.set_column(2, 2, None, None, {"hidden": True})
        sheet.set_header(f"&C{marks.text('margin')}")
        sheet.insert_textbox("J2", marks.text("box"))
        sheet.write_url(4, 9, f"https://example.org/{marks.text('url')}", string=marks.text("url"))
        chart = book.add_chart({"type": "line"})
        chart.set_title({"name": marks.text("chart")})
        chart.add_series({"values": f"='{sheet.name}'!$D$4:$D$9"})
        sheet.insert_chart("L2", chart)
        sums = book.add_worksheet(f"Sums{version}")
        sums.write_row(0, 0, ("Rate", "Total"))
        for row in range(1, 6):
            literal, amount = marks.text("formula"), marks.number("formula")
            said = f"=IF('{sheet.name}'!A{row + 3}=\"{literal}\",'{sheet.name}'!D4*{amount},0)"
            sums.write_formula(row, 0, said, None, marks.number("number"))
            other = f'=VLOOKUP("{marks.text("formula")}",[other.xlsx]Data!$A:$B,2,0)'
            sums.write_formula(row, 1, other, None, marks.number("number"))
        hidden = book.add_worksheet(marks.text("sheet"))
        hidden.write_row(0, 0, marks.row("header", 2))
        for row in range(1, 8):
            hidden.write_row(row, 0, (marks.text("hidden"), marks.number("hidden")))
        hidden.very_hidden()
        prose = book.add_worksheet("README")
        for row in range(12):
            prose.write(row, 0, " ".join(marks.row("prose", 9)) + ".")
        form = book.add_worksheet("Form")
        for row in range(6):
            form.write_row(row, 0, (f"{marks.text('header')}:", marks.text("data")))


def _write_table(
    sheet: xlsxwriter.worksheet.Worksheet,
    top: int,
    marks: Marks,
    keys: Sequence[str],
    day: xlsxwriter.format.Format,
) -> None:
    """Write a table of texts, numbers, days and one column that may be skipped."""
    sheet.write_row(top, 0, [*marks.row("header", 4), "Salary (net)", "Joined"])
    for row, key in enumerate(keys, top + 1):
        amount = marks.number("number") + 0.25
        sheet.write_row(row, 0, (key, *marks.row("data", 2), amount, marks.text("skipped")))
        sheet.write_datetime(row, 5, dt.datetime(1931, 1 + row % 12, 1 + row % 28), day)


def _write_text(path: Path, rows: Sequence[Sequence[str]], gap: str) -> None:
    path.write_text("\n".join(gap.join(row) for row in rows) + "\n", encoding="utf-8")


def opendocument(marks: Marks) -> bytes:
    """Return an .ods with marks in its headers, cells, a formula and an annotation."""
    text = '<table:table-cell office:value-type="string">{}<text:p>{}</text:p></table:table-cell>'
    note = f"<office:annotation><text:p>{marks.text('comment')}</text:p></office:annotation>"
    rows = [f"{text.format('', marks.text('header'))}{text.format('', marks.text('header'))}"]
    for _ in range(8):
        said = f"of:=IF([.A1]=&quot;{marks.text('formula')}&quot;;1;2)"
        value = marks.number("number")
        cell = f'<table:table-cell table:formula="{said}" office:value-type="float" '
        rows.append(text.format(note, marks.text("data")) + f'{cell}office:value="{value}"/>')
    return ods_of(marks.text("sheet"), rows)


def _write_marked(folder: Path, kind: str, files: Sequence[Path], marks: Marks) -> None:
    """Write copies of three shared files in which texts of data cells are marks of one length."""
    written = 0
    for path in files:
        texts = _data_texts(path)
        if len(texts) < _FEWEST:
            continue
        made = {text: marks.text(kind, len(text)) for text in texts[:_MARKED]}
        (folder / f"shared{written}.{kind}").write_bytes(_replaced(path.read_bytes(), made))
        written += 1
        if written == _FILES:
            return


def _data_texts(path: Path) -> list[str]:
    """Return texts of a file's cells of nine plain letters or more that are not in its names."""
    book = read_workbook(path, contents="names")
    tables = [table for each in book.records for table in each.tables]
    headers = [column.name for table in tables for column in table.columns]
    names = " ".join((*headers, *(each.sheet for each in book.records))).casefold()
    if not book.records or book.skipped:
        return []
    kept = {
        each.text
        for record in read_workbook(path).records
        if record.contents
        for table in record.contents.tables
        for each in (*table.labels, *table.values)
    }
    opened = python_calamine.load_workbook(path)
    cells = {
        value
        for sheet in opened.sheet_names
        for row in opened.get_sheet_by_name(sheet).iter_rows()
        for value in row
        if isinstance(value, str) and len(value) >= _LEAST and value.isascii()
    }
    return sorted(text for text in cells & kept if text.casefold() not in names)


def _replaced(content: bytes, texts: dict[str, str]) -> bytes:
    """Return a file with some texts replaced in its bytes, or in those of its parts."""
    if not zipfile.is_zipfile(io.BytesIO(content)):
        for old, new in texts.items():
            for code in ("latin-1", "utf-16-le"):
                content = content.replace(old.encode(code), new[: len(old)].encode(code))
        return content
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as package, zipfile.ZipFile(out, "w") as made:
        for part in package.namelist():
            made.writestr(part, _replaced(package.read(part), texts))
    return out.getvalue()
