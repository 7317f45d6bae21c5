"""Go from a question to the right sheet, and to an answer by pandas with its citation.

pip install . pandas
python examples/sheets_to_answer.py
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from demo_needs import installed_by
from demo_workbooks import write_workbooks
from openpyxl.utils import range_boundaries

from sat_retriever.index.indexing import index_paths
from sat_retriever.tools import SheetTools

with installed_by("pip install . pandas"):
    import pandas as pd

QUESTION = "Revenue by product, sales of the North region in February"


def cited_table(folder: Path, citation: str) -> pd.DataFrame:
    """Read the cells of a citation, `path/file.xlsx#Sheet!A1:D20`; the first row is the header."""
    place, _, cells = citation.rpartition("!")
    path, _, sheet = place.partition("#")
    left, top, right, bottom = range_boundaries(cells)
    return pd.read_excel(
        folder / path,
        sheet_name=sheet,
        engine="calamine",
        skiprows=top - 1,
        nrows=bottom - top,
        usecols=range(left - 1, right),
    )


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--encoder", help="Sheet Encoder; the general one by default")
given = parser.parse_args()
with tempfile.TemporaryDirectory() as made:
    folder = Path(made, "files")
    write_workbooks(folder)
    with index_paths(folder, Path(made, "all.sat"), encoder=given.encoder) as index:
        found = SheetTools(index).find_sheets(QUESTION, top_k=3)
    print(f"{QUESTION}\n\n{found}\n")
    best = found.sheets[0]
    table = cited_table(folder, best.citation)
    revenue = table.dropna(subset="Product").groupby("Product")["Revenue"].sum()
    print(f"{revenue.sort_values(ascending=False).to_string()}\n")
    print(f"Most: {revenue.idxmax()}, {revenue.max():,.0f} EUR [{best.citation}]")
