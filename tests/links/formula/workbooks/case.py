"""A workbook to be made and what is expected of it; ways to write one."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import openpyxl

Expected = tuple[str, str, str, str]
"""Source, target, types with spaces between, beginning of the evidence."""
ExpectedExternal = tuple[str, str, str, str]
"""Source, file, sheet or name there, use."""
Cells = Mapping[str, Any]

DATA: Cells = {
    "A1": "item", "B1": "amount", "C1": "price",
    "A2": "bolt", "B2": 3, "C2": 0.5,
    "A3": "nut", "B3": 4, "C3": 0.25,
    "A4": "cog", "B4": 5, "C4": 7.5,
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One construct.

    Attributes:
        name: The construct in words.
        build: Writes the workbook to a path.
        links: Every link that its formulas and declarations say.
        external: Every reference to another workbook.
        suffix: Kind of file.
    """

    name: str
    build: Callable[[Path], None]
    links: tuple[Expected, ...] = ()
    external: tuple[ExpectedExternal, ...] = ()
    suffix: str = ".xlsx"

    def expected(self) -> dict[tuple[str, str, str], str]:
        """Beginning of the evidence by source, target and type."""
        return {
            (source, target, kind): evidence
            for source, target, kinds, evidence in self.links
            for kind in kinds.split()
        }


def book(
    sheets: Mapping[str, Cells], finish: Callable[[openpyxl.Workbook], None] = lambda made: None
) -> Callable[[Path], None]:
    """A workbook of the cells given, sheet by sheet, written by openpyxl."""

    def build(path: Path) -> None:
        made = openpyxl.Workbook()
        made.remove(made.active)
        for name, cells in sheets.items():
            sheet = made.create_sheet(name)
            for address, value in cells.items():
                sheet[address] = value
        finish(made)
        made.save(path)

    return build


def report(*formulas: str, **more: Cells) -> Callable[[Path], None]:
    """A sheet Report with formulas from B1 down, and other sheets; Data if none is given."""
    cells = {f"B{row}": formula for row, formula in enumerate(formulas, 1)}
    return book({"Report": {"A1": "total", **cells}, **(more or {"Data": DATA})})


_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'


@dataclass(frozen=True)
class Relation:
    """A relationship of a part: its id, the kind's last word, target."""

    id: str
    kind: str
    target: str
    external: bool = False


@dataclass(frozen=True)
class RawSheet:
    """A worksheet as XML: rows, what follows them, relationships."""

    rows: str
    after: str = ""
    relations: tuple[Relation, ...] = ()


def row(number: int, *cells: str) -> str:
    """A row of cells, `cell` each."""
    return f'<row r="{number}">{"".join(cells)}</row>'


def cell(address: str, value: str | float = "", formula: str = "", attributes: str = "") -> str:
    """A cell of a number or text, or with a formula, whose element may have attributes."""
    if formula or attributes:
        return f'<c r="{address}"><f{attributes}>{escape(formula)}</f><v>1</v></c>'
    if isinstance(value, str):
        return f'<c r="{address}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    return f'<c r="{address}"><v>{value}</v></c>'


RAW_DATA = RawSheet(
    row(1, cell("A1", "item"), cell("B1", "amount"))
    + row(2, cell("A2", "bolt"), cell("B2", 3))
    + row(3, cell("A3", "nut"), cell("B3", 4))
)


def raw(
    sheets: Mapping[str, RawSheet],
    *,
    parts: Mapping[str, str] | None = None,
    relations: tuple[Relation, ...] = (),
    in_workbook: str = "",
) -> Callable[[Path], None]:
    """A workbook of XML written by hand.

    Args:
        sheets: Worksheets by name.
        parts: More parts by their name, `_rels` included.
        relations: More relationships of the workbook.
        in_workbook: XML after its sheets.
    """

    def build(path: Path) -> None:
        listed = "".join(
            f'<sheet name={quoteattr(name)} sheetId="{n}" r:id="s{n}"/>'
            for n, name in enumerate(sheets, 1)
        )
        of_book = tuple(
            Relation(f"s{n}", "worksheet", f"worksheets/sheet{n}.xml")
            for n in range(1, len(sheets) + 1)
        )
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("[Content_Types].xml", _content_types(len(sheets)))
            archive.writestr(
                "_rels/.rels", _relationships((Relation("b", "officeDocument", "xl/workbook.xml"),))
            )
            archive.writestr(
                "xl/workbook.xml",
                f'{_HEAD}<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}">'
                f"<sheets>{listed}</sheets>{in_workbook}</workbook>",
            )
            archive.writestr("xl/_rels/workbook.xml.rels", _relationships((*of_book, *relations)))
            for n, sheet in enumerate(sheets.values(), 1):
                archive.writestr(
                    f"xl/worksheets/sheet{n}.xml",
                    f'{_HEAD}<worksheet xmlns="{_MAIN}" xmlns:r="{_OFFICE}">'
                    f"<sheetData>{sheet.rows}</sheetData>{sheet.after}</worksheet>",
                )
                if sheet.relations:
                    archive.writestr(
                        f"xl/worksheets/_rels/sheet{n}.xml.rels", _relationships(sheet.relations)
                    )
            for name, content in (parts or {}).items():
                archive.writestr(name, _HEAD + content)

    return build


def relationships(*relations: Relation) -> str:
    """A `.rels` part without its first line."""
    return _relationships(relations).removeprefix(_HEAD)


def main_xml(tag: str, attributes: str, content: str = "") -> str:
    """An element in the main namespace."""
    return f'<{tag} xmlns="{_MAIN}" xmlns:r="{_OFFICE}" {attributes}>{content}</{tag}>'


def _relationships(relations: tuple[Relation, ...]) -> str:
    lines = "".join(
        f'<Relationship Id="{each.id}" Type="{_OFFICE}/{each.kind}" '
        f"Target={quoteattr(each.target)}" + (' TargetMode="External"/>' if each.external else "/>")
        for each in relations
    )
    return f'{_HEAD}<Relationships xmlns="{_PACKAGE}">{lines}</Relationships>'


def _content_types(sheets: int) -> str:
    base = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    overrides = "".join(
        f'<Override PartName="/xl/worksheets/sheet{n}.xml" ContentType="{base}.worksheet+xml"/>'
        for n in range(1, sheets + 1)
    )
    return (
        f'{_HEAD}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{base}.sheet.main+xml"/>'
        f"{overrides}</Types>"
    )
