"""Workbooks with comments, threads, shapes and charts, made by openpyxl and by hand."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

from openpyxl import Workbook
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment

Rows = tuple[tuple[str, str | int], ...]
ROWS: Rows = (("Type", "Share"), ("Car", 3), ("Van", 4), ("Truck", 5))
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
THREADS = "http://schemas.microsoft.com/office/2017/10/relationships"
NAMES = (
    'xmlns:xdr="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    f'xmlns:r="{OFFICE}"'
)
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
SHEET_RELS = "xl/worksheets/_rels/sheet1.xml.rels"


def plain_book(path: Path, parts: Mapping[str, str] | None = None, rows: Rows = ROWS) -> Path:
    """Write a workbook of one sheet with a small table, and add parts to its package."""
    book = Workbook()
    book.active.title = "7.1"
    for row in rows:
        book.active.append(row)
    book.save(path)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as package:
        for name, text in (parts or {}).items():
            package.writestr(name, text)
    return path


def made_book(path: Path) -> Path:
    """Write a workbook with a comment and a chart, by openpyxl."""
    book = Workbook()
    sheet = book.active
    sheet.title = "7.1"
    for row in ROWS:
        sheet.append(row)
    sheet["B3"].comment = Comment("Ada:\nEstimated from\nregistrations", "Ada")
    chart = BarChart()
    chart.title, chart.x_axis.title = "Deregistered vehicles", "Kind of vehicle"
    chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=4), titles_from_data=True)
    sheet.add_chart(chart, "D6")
    book.save(path)
    return path


def rels(*rows: tuple[str, str, str]) -> str:
    """The relationships (id, type with its schema, target) of a part."""
    lines = "".join(
        f'<Relationship Id="{key}" Type="{kind}" Target="{target}"/>' for key, kind, target in rows
    )
    space = "http://schemas.openxmlformats.org/package/2006/relationships"
    return f'<Relationships xmlns="{space}">{lines}</Relationships>'


def drawing(*anchored: str) -> str:
    """A drawing part."""
    return f"<xdr:wsDr {NAMES}>{''.join(anchored)}</xdr:wsDr>"


def anchor(column: int, row: int, inside: str) -> str:
    """What stands at a cell, whose column and row are counted from 0."""
    return (
        f"<xdr:twoCellAnchor><xdr:from><xdr:col>{column}</xdr:col><xdr:colOff>5</xdr:colOff>"
        f"<xdr:row>{row}</xdr:row><xdr:rowOff>7</xdr:rowOff></xdr:from><xdr:to><xdr:col>99</xdr:col>"
        f"<xdr:row>99</xdr:row></xdr:to>{inside}</xdr:twoCellAnchor>"
    )


def shape(*paragraphs: str, link: str = "") -> str:
    """A shape with a text; each paragraph in runs that are cut at "|"."""
    lines = "".join(
        f"<a:p>{''.join(f'<a:r><a:t>{run}</a:t></a:r>' for run in each.split('|'))}</a:p>"
        for each in paragraphs
    )
    return (
        f'<xdr:sp macro="" textlink="{link}"><xdr:nvSpPr><xdr:cNvPr id="2" name="Box"/>'
        f"</xdr:nvSpPr><xdr:txBody><a:bodyPr/>{lines}</xdr:txBody></xdr:sp>"
    )


def drawn(
    path: Path, *anchored: str, more: Mapping[str, str] | None = None, rows: Rows = ROWS
) -> Path:
    """Write a workbook whose sheet has a drawing."""
    parts = {
        SHEET_RELS: rels(("d", f"{OFFICE}/drawing", "../drawings/drawing1.xml")),
        "xl/drawings/drawing1.xml": drawing(*anchored),
    }
    return plain_book(path, parts | dict(more or {}), rows)


def notes(*comments: tuple[str, int, str], authors: tuple[str, ...] = ("Ada",)) -> str:
    """A part of comments, each (cell, number of its author, text)."""
    names = "".join(f"<author>{each}</author>" for each in authors)
    lines = "".join(
        f'<comment ref="{cell}" authorId="{author}"><text><r><t xml:space="preserve">{text}</t></r>'
        "</text></comment>"
        for cell, author, text in comments
    )
    return (
        f'<comments xmlns="{MAIN}"><authors>{names}</authors><commentList>{lines}</commentList>'
        "</comments>"
    )


def threads(*comments: tuple[str, str]) -> str:
    """A part of threaded comments, each (cell, text)."""
    lines = "".join(
        f'<threadedComment ref="{cell}" id="{{{number}}}" personId="{{P}}"><text>{text}</text>'
        "</threadedComment>"
        for number, (cell, text) in enumerate(comments)
    )
    space = "http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"
    return f'<ThreadedComments xmlns="{space}">{lines}</ThreadedComments>'
