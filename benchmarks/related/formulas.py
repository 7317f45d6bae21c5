"""Questions about computed variables of real workbooks, made from the formulas of their cells.

Formulas are read by `benchmarks.links.raw_formulas`, which shares no code with the package. So a
question's answer does not depend on the links that a ranking walks over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from benchmarks.links.raw_formulas import count_edges
from sat_retriever.datasets.labels import Query

TYPE = "formula_sources"
_ASKED = "{} and the sheets that it is computed from"

Reads = Mapping[str, frozenset[str]]
"""The sheets that the formulas of each sheet read, by ids as an index has them."""


def formula_reads(root: Path, files: Iterable[str]) -> Reads:
    """Return the sheets of the same workbook that each sheet's formulas read.

    Args:
        root: Folder of the workbooks.
        files: Their paths below it; only xlsx files are read.
    """
    found: dict[str, set[str]] = {}
    for file in sorted(set(files)):
        if not file.endswith(".xlsx"):
            continue
        counted = count_edges(root / file)
        for reader, read in counted.edges:
            if counted.sheets.get(read):  # an empty sheet is none of an index
                found.setdefault(f"{file}#{reader}", set()).add(f"{file}#{read}")
    return {sheet: frozenset(read) for sheet, read in found.items()}


def formula_questions(queries: Iterable[Query], reads: Reads) -> dict[int, Query]:
    """Return the questions whose sheets read others, by place; these are then relevant as well.

    >>> asked = [Query("Car Cost", ("a#CC",)), Query("Car Life", ("b#CL",))]
    >>> found = formula_questions(asked, {"a#CC": frozenset({"a#Data"})})
    >>> found[0].text, found[0].positives, len(found)
    ('Car Cost and the sheets that it is computed from', ('a#CC', 'a#Data'), 1)
    """
    found = {}
    for place, query in enumerate(queries):
        own = dict.fromkeys(query.positives)
        read = sorted({each for sheet in own for each in reads.get(sheet, ())} - set(own))
        if read:
            found[place] = Query(_ASKED.format(query.text), (*own, *read), query_type=TYPE)
    return found
