"""Write the parts of a package that name other workbooks and cache their values."""

from __future__ import annotations

import posixpath
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from sat_retriever.records.area import column_letters
from sat_retriever.synth.book.model import Value
from sat_retriever.synth.calculate.arithmetic import serial
from sat_retriever.synth.calculate.compile import CompiledBook, External
from sat_retriever.synth.write.package import CONTENT, MAIN, OFFICE, Parts


def add_externals(package: Parts, compiled: CompiledBook) -> None:
    """Add a part for each other workbook that formulas refer to as `[1]` and so on."""
    for number, external in enumerate(compiled.externals, 1):
        _add_external(package, compiled.book.path, number, external)


def _add_external(package: Parts, own_path: str, number: int, external: External) -> None:
    """Add a part that names another workbook and caches the values taken from it."""
    name = f"xl/externalLinks/externalLink{number}.xml"
    sheets = "".join(f"<sheetName val={quoteattr(tab)}/>" for tab in external.tabs)
    text = (
        f'<externalLink xmlns="{MAIN}"><externalBook xmlns:r="{OFFICE}" r:id="rId1">'
        f"<sheetNames>{sheets}</sheetNames>{_held(external)}</externalBook></externalLink>"
    )
    package.add(name, text, f"{CONTENT}externalLink+xml")
    folder = posixpath.dirname(own_path) or "."
    target = quote(posixpath.relpath(external.path, folder))
    package.relate(name, "externalLinkPath", target, external=True)
    relation = package.relate(
        "xl/workbook.xml", "externalLink", f"externalLinks/externalLink{number}.xml"
    )
    reference = f'<externalReference r:id="{relation}"/>'
    if "</externalReferences>" in package.text("xl/workbook.xml"):
        package.insert("xl/workbook.xml", "</externalReferences>", reference)
    else:
        after = (
            "<definedNames>" if "<definedNames>" in package.text("xl/workbook.xml") else "<calcPr"
        )
        text = f"<externalReferences>{reference}</externalReferences>"
        package.insert("xl/workbook.xml", after, text)


def _held(external: External) -> str:
    """Return the cached values, which Excel shows while the other workbook is closed."""
    rows: dict[tuple[int, int], list[str]] = {}
    for tab, row, column, value in external.cells:
        cell = _cell(f"{column_letters(column)}{row}", value)
        rows.setdefault((external.tabs.index(tab), row), []).append(cell)
    sheets: dict[int, list[str]] = {}
    for (tab_number, row), cells in rows.items():
        sheets.setdefault(tab_number, []).append(f'<row r="{row}">{"".join(cells)}</row>')
    data = "".join(
        f'<sheetData sheetId="{number}">{"".join(lines)}</sheetData>'
        for number, lines in sheets.items()
    )
    return f"<sheetDataSet>{data}</sheetDataSet>" if data else ""


def _cell(address: str, value: Value) -> str:
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return f'<cell r="{address}" t="b"><v>{int(value)}</v></cell>'
    if isinstance(value, str):
        return f'<cell r="{address}" t="str"><v>{escape(value)}</v></cell>'
    number = value if isinstance(value, (int, float)) else serial(value)
    return f'<cell r="{address}"><v>{number!r}</v></cell>'
