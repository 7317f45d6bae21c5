"""Sheets with contents, written by hand."""

from sat_retriever.records.contents import CellText, SheetContents, TableContents
from sat_retriever.records.hits import Copies
from sat_retriever.records.sheets import Column, ColumnType, SheetRecord, Table

CITIES = ("Aldbourne", "Burford Cross", "Calne", "Devizes", "Evershot", "Frome")


def sheet(number: int, *, path: str = "", note: str = "", codes=(), labels=(), header="Fares"):
    """A sheet of places, codes and a number, each row two rows below the sheet's top."""
    columns = (
        Column("Place", type=ColumnType.TEXT),
        Column("Part no.", type=ColumnType.TEXT),
        Column(header, type=ColumnType.NUMBER),
    )
    rows = max(len(codes), len(labels))
    table = Table(f"A3:C{3 + rows}", 3, 1, False, rows, columns)
    contents = SheetContents(
        notes=(CellText("A1", note),) if note else (),
        tables=(
            TableContents(
                labels=tuple(CellText(f"A{4 + n}", text) for n, text in enumerate(labels)),
                values=tuple(CellText(f"B{4 + n}", text) for n, text in enumerate(codes)),
            ),
        ),
    )
    path = path or f"transport/book {number}.xlsx"
    return SheetRecord(
        f"{path}#Sheet1",
        "Sheet1",
        path.rpartition("/")[2],
        path,
        columns=columns,
        tables=(table,),
        contents=contents,
    )


def sheets():
    """Twelve sheets: each has its own code, label and note; all have a code and a label."""
    return [
        sheet(
            number,
            note="{0}ling recounted {0}dorf after {0}mouth storms".format(chr(97 + number) * 3),
            codes=(f"TH-{4100 + number}", "COMMON-7"),
            labels=(f"Mill {CITIES[number % 6]} {chr(97 + number) * 4}", "Everywhere hall"),
        )
        for number in range(12)
    ]


def no_copies(_sheet_ids):
    return {}


def all_copies(sheet_ids):
    return dict.fromkeys(sheet_ids, Copies(1, 0, ("other",)))
