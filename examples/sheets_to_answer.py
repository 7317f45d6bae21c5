"""Go from a question to the right sheet, and to an answer in SQL and in pandas, with its citation.

pip install '.[sql,pandas]'
python examples/sheets_to_answer.py
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from demo_needs import installed_by
from demo_workbooks import write_workbooks

from sat_retriever import SheetRetriever, SheetTools, index_paths

with installed_by("pip install '.[sql,pandas]'"):
    import duckdb  # noqa: F401 - it runs the query
    import pandas as pd  # noqa: F401 - `to_pandas` makes a frame of the table

QUESTION = "Revenue by product, sales of the North region in February"
SQL = "SELECT product, sum(revenue) AS revenue FROM february GROUP BY 1 ORDER BY 2 DESC"

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--encoder", help="Sheet Encoder; the general one by default")
given = parser.parse_args()
with tempfile.TemporaryDirectory() as made:
    folder = Path(made, "files")
    write_workbooks(folder)
    with index_paths(folder, Path(made, "all.sat"), encoder=given.encoder) as index:
        tools = SheetTools(index)
        print(f"{QUESTION}\n\n{tools.find_sheets(QUESTION, top_k=3)}\n")
        [best] = SheetRetriever(index).retrieve(QUESTION, 1)
        answer = tools.query_tables([best.citation], SQL)
        print(f"{SQL}\n\n{answer}\n")
        table = best.table()
    frame = table.to_pandas()
    most = frame.loc[frame["Revenue"].idxmax()]
    print(f"Largest sale: {most['Product']} to {most['Customer']}, {most['Revenue']:,.0f} EUR")
    print(f"[{table.cite([most.name])}]")
