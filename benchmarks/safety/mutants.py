"""Make small workbooks of several formats, and damage them for the fuzzer."""

from __future__ import annotations

import datetime as dt
import io
import random
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import openpyxl
import xlsxwriter

SMALL_BYTES = 60_000
_TIME = re.compile(rb"(?<=>)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


@dataclass(frozen=True, slots=True)
class Mutant:
    """A damaged file: its source, the kind of damage, and its bytes."""

    seed: str
    damage: str
    content: bytes


def made_seeds() -> dict[str, bytes]:
    """Return contents by file name: an xlsx of two writers, an xlsm, an ods, a csv and a tsv."""
    rows = [f"{name};{name}@example.org;{n * 1.5:.2f};2024-0{n % 9 + 1}-11" for n, name in _NAMES]
    text = "Name;Mail;Amount;Day\r\n" + "\r\n".join(rows)
    return {
        "written.xlsx": _undated(_xlsxwriter_book()),
        "saved.xlsx": _undated(_openpyxl_book()),
        "macro.xlsm": _undated(_as_macro_book(_openpyxl_book())),
        "table.ods": _opendocument(),
        "list.csv": text.encode("utf-8-sig"),
        "list.tsv": text.replace(";", "\t").encode("utf-16"),
    }


def real_seeds(folder: Path, each: int = 12) -> dict[str, bytes]:
    """Return up to `each` small files of every extension below a folder, in name order."""
    taken: dict[str, int] = {}
    seeds = {}
    for path in sorted(folder.rglob("*")):
        count = taken.get(path.suffix, 0)
        if path.is_file() and count < each and 0 < path.stat().st_size < SMALL_BYTES:
            taken[path.suffix] = count + 1
            seeds[path.name] = path.read_bytes()
    return seeds


def mutants(seeds: dict[str, bytes], count: int, seed: int) -> Iterator[Mutant]:
    """Yield `count` damaged files, the same for equal arguments."""
    rng = random.Random(seed)
    names = sorted(seeds)
    for number in range(count):
        name = names[number % len(names)]
        damages = list(_ANY) + (list(_ZIP) if zipfile.is_zipfile(io.BytesIO(seeds[name])) else [])
        damage = rng.choice(damages)
        yield Mutant(name, damage, {**_ANY, **_ZIP}[damage](seeds[name], rng))


_NAMES = list(enumerate(["Ada", "Grace", "Alan", "Edsger", "Barbara", "Kurt", "Emmy"], start=1))


def _flip_bits(content: bytes, rng: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.choice((1, 4, 32, 256))):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _truncate(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content))]


def _fill_block(content: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(content))
    length = rng.randrange(1, 600)
    filler = rng.choice((b"\x00", b"\xff", b"<", bytes([rng.randrange(256)])))
    return content[:start] + filler * length + content[start + length :]


def _repeat_block(content: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(content))
    block = content[start : start + rng.randrange(1, 2_000)]
    return content[:start] + block * rng.randrange(2, 5) + content[start + len(block) :]


def _entries(content: bytes) -> list[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        return [(info.filename, package.read(info)) for info in package.infolist()]


def _packed(entries: list[tuple[str, bytes]]) -> bytes:
    out = io.BytesIO()
    names = set()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for name, data in entries:
            if name not in names:
                package.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
            names.add(name)
    return out.getvalue()


def _on_entries(
    change: Callable[[list[tuple[str, bytes]], random.Random], list[tuple[str, bytes]]],
) -> Callable[[bytes, random.Random], bytes]:
    def mutate(content: bytes, rng: random.Random) -> bytes:
        try:
            entries = _entries(content)
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, OSError):
            return _flip_bits(content, rng)
        return _packed(change(entries, rng)) if entries else _flip_bits(content, rng)

    return mutate


def _swap(entries: list[tuple[str, bytes]], rng: random.Random) -> list[tuple[str, bytes]]:
    one, other = rng.randrange(len(entries)), rng.randrange(len(entries))
    changed = list(entries)
    changed[one] = (entries[one][0], entries[other][1])
    changed[other] = (entries[other][0], entries[one][1])
    return changed


def _drop(entries: list[tuple[str, bytes]], rng: random.Random) -> list[tuple[str, bytes]]:
    index = rng.randrange(len(entries))
    return entries[:index] + entries[index + 1 :]


def _copy(entries: list[tuple[str, bytes]], rng: random.Random) -> list[tuple[str, bytes]]:
    one, other = rng.randrange(len(entries)), rng.randrange(len(entries))
    changed = list(entries)
    changed[one] = (entries[one][0], entries[other][1])
    return changed


def _damage_part(entries: list[tuple[str, bytes]], rng: random.Random) -> list[tuple[str, bytes]]:
    index = rng.randrange(len(entries))
    name, data = entries[index]
    damage = rng.choice(list(_ANY.values()))
    return [*entries[:index], (name, damage(data, rng) if data else b"<"), *entries[index + 1 :]]


def _edit_xml(entries: list[tuple[str, bytes]], rng: random.Random) -> list[tuple[str, bytes]]:
    """Change digits, references and tags inside an XML part: well-formed, but wrong."""
    index = rng.randrange(len(entries))
    name, data = entries[index]
    old, new = rng.choice(_EDITS)
    return [*entries[:index], (name, data.replace(old, new)), *entries[index + 1 :]]


_EDITS = [
    (b'r="A1"', b'r="XFD1048576"'), (b'r="B2"', b'r="ZZZ9999999"'), (b'r="', b'r="0'),
    (b"<v>", b"<v>9e999"), (b' t="s"', b' t="e"'), (b"<f>", b'<f t="shared" si="0">'),
    (b"<row ", b'<row hidden="1" '), (b"<c ", b"<c  "), (b"Sheet", b"\xff\xfe"),
    (b'ref="', b'ref="A0:'), (b"rId1", b"rId2"), (b"worksheets/", b"../../"),
    (b"utf-8", b"utf-16"), (b"UTF-8", b"latin-1"), (b"<sheetData>", b"<sheetData><!-- x -->"),
    (b"<sheetData>", b"<sheetData><row><c><v>1</v></c></row>"), (b"main", b"chart"),
    (b"?>", b'?><!DOCTYPE x [<!ENTITY a "aaaa">]>'), (b"number-columns-repeated=\"1\"",
    b"number-columns-repeated=\"16384\""), (b"office:value=\"", b"office:value=\"x"),
]  # fmt: skip
_ANY: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "bits_flipped": _flip_bits,
    "truncated": _truncate,
    "block_filled": _fill_block,
    "block_repeated": _repeat_block,
}
_ZIP: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "entries_swapped": _on_entries(_swap),
    "entry_dropped": _on_entries(_drop),
    "entry_copied": _on_entries(_copy),
    "part_damaged": _on_entries(_damage_part),
    "xml_edited": _on_entries(_edit_xml),
}


def _xlsxwriter_book() -> bytes:
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out, {"in_memory": True})
    day = book.add_format({"num_format": "yyyy-mm-dd"})
    sheet = book.add_worksheet("Sales")
    sheet.merge_range("A1:D1", "Sales by person")
    sheet.write_row(1, 0, ["Name", "Units", "Price", "Day"])
    for number, name in _NAMES:
        sheet.write_row(number + 1, 0, [name, number, number * 2.5])
        sheet.write_datetime(number + 1, 3, dt.datetime(2024, 1, number), day)
        sheet.write_formula(number + 1, 4, f"=B{number + 2}*C{number + 2}", None, number * number)
    sheet.write_array_formula("G2:G4", "{=B3:B5*2}", None, 2)
    sheet.set_row(4, None, None, {"hidden": True})
    sheet.set_column("F:F", None, None, {"hidden": True})
    other = book.add_worksheet("Table")
    columns = [{"header": "Key"}, {"header": "Value"}]
    other.add_table("B2:C6", {"data": [[f"k{n}", n] for n, _ in _NAMES[:4]], "columns": columns})
    book.add_worksheet("Empty").hide()
    book.define_name("Rate", "=Sales!$B$3")
    chart = book.add_chart({"type": "line"})
    chart.add_series({"values": "=Sales!$B$3:$B$9"})
    book.add_chartsheet("Chart").set_chart(chart)
    book.close()
    return out.getvalue()


def _openpyxl_book() -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Sheet 1"
    sheet.append(["Item", "Count", "Total", "Ratio"])
    for number, name in _NAMES:
        sheet.append([name, number, f"=B{number + 1}*2", "#DIV/0!"])
    book.create_sheet("Übersicht").append(["Grund", "Wert", True, None, "x"])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _undated(content: bytes) -> bytes:
    """Return the same package with a fixed time of writing."""
    return _packed(
        [(name, _TIME.sub(b"2024-01-01T00:00:00Z", data)) for name, data in _entries(content)]
    )


def _as_macro_book(content: bytes) -> bytes:
    old = b"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"
    new = b"application/vnd.ms-excel.sheet.macroEnabled.main+xml"
    return _packed([(name, data.replace(old, new)) for name, data in _entries(content)])


def _opendocument() -> bytes:
    cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    value = '<table:table-cell office:value-type="float" office:value="{}"/>'
    rows = [cell.format("Name") + cell.format("Units")]
    rows += [cell.format(name) + value.format(number) for number, name in _NAMES]
    return ods_of("People", rows)


def ods_of(sheet: str, rows: Iterable[str]) -> bytes:
    """Return an .ods of one sheet, whose rows are the XML of their cells."""
    table = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    names = " ".join(
        f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{short}:1.0"'
        for short in ("office", "table", "text")
    )
    document = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {names}>'
        f'<office:body><office:spreadsheet><table:table table:name="{sheet}">{table}'
        "</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    manifest = (
        '<?xml version="1.0"?><manifest:manifest '
        'xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
    )
    return _packed(
        [
            ("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"),
            ("content.xml", document.encode()),
            ("META-INF/manifest.xml", manifest.encode()),
        ]
    )
