"""Write small files of the present formats, and the answers that they give.

    python .ci/format_fixture.py

They go into tests/index/formats/: an index, the folder of its encoder, and a reranker of each kind
that needs no torch. Later versions have to open them and to answer alike.
"""

from __future__ import annotations

import json
import lzma
import shutil
import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from openpyxl import Workbook

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for the tests' small models
from sat_retriever import SheetIndex
from sat_retriever.index.store.schema import MIGRATIONS
from tests.index.formats.answers import QUESTIONS, RERANKERS, answers
from tests.rank.features.small_features import save_small_features
from tests.rank.graph.small_model import save_small_model, small_spec
from tests.saved_encoder import save_bag_of_words

FORMATS = Path(__file__).resolve().parents[1] / "tests" / "index" / "formats"
WORDS = "sales region revenue quarter staff salary name price supplier part south north".split()
BOOKS = {
    "sales/Sales 2023.xlsx": {
        "Q1 2023": [("Region", "Revenue"), ("South", 410.5), ("North", 388)],
        "Q2 2023": [("Region", "Revenue"), ("South", 402), ("North", 391.25)],
        "Total": [("Region", "Revenue"), ("South", "='Q1 2023'!B2+'Q2 2023'!B2")],
    },
    "staff/Staff.xlsx": {
        "Salaries": [("Name", "Salary", "Since"), ("Ada Hart", 4100, "2019-05-01")],
        "Notes": [("Paid on the last day of a month; see Salaries",)],
    },
    "Prices.xlsx": {
        "Price list": [("Part", "Supplier", "Price"), ("GX-14", "Tarn Energy", 17.5)],
    },
}


def main() -> None:
    """Write the folder of the present schema, unless it is there."""
    target = FORMATS / f"schema-{len(MIGRATIONS)}"
    if target.exists():
        raise SystemExit(f"{target} exists: a file of a format is never replaced")
    with tempfile.TemporaryDirectory(prefix="formats-") as place:
        made = Path(place) / "made"
        write_books(Path(place) / "books")
        save_bag_of_words(made / "encoder", WORDS)
        file = Path(place) / "reports.sat"
        with SheetIndex.create(file, made / "encoder") as index:
            index.sync([Path(place) / "books"])
            save_small_features(made / "features", index, QUESTIONS)
            save_small_model(made / "graph", small_spec(index))
            found = {name: answers(index, made, name) for name in RERANKERS}
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("VACUUM")
        (made / "index.sat.xz").write_bytes(lzma.compress(file.read_bytes()))
        text = json.dumps(found, indent=1) + "\n"
        (made / "answers.json").write_text(text, encoding="utf-8")
        shutil.copytree(made, target)
    size = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    sys.stdout.write(f"{target}: {size / 1000:.0f} KB\n")


def write_books(folder: Path) -> None:
    """Write a few workbooks."""
    for path, sheets in BOOKS.items():
        book = Workbook()
        book.remove(book.active)
        for title, rows in sheets.items():
            sheet = book.create_sheet(title)
            for row in rows:
                sheet.append(row)
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        book.save(folder / path)


if __name__ == "__main__":
    main()
