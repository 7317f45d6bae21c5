"""Made questions asked in SQL: every answer beside the one that the generator's model gives.

    python -m benchmarks run made_answers [--work DIR] [--questions 300] [--show]

A corpus of 300 made sheets has questions of six kinds with their SQL and answers (`sat synth
--answers`). The answers come from the model that the workbooks were written from, in plain Python;
the SQL from its headers. Here the workbooks are indexed, their tables loaded anew from the files
and asked. A wrong header, type, unit, row or join gives another answer. Numbers are equal within
1e-9 of the greater; texts and dates exactly. A text that is a whole number, such as an order
number, is read as one on purpose: it is equal to it, and counted.

A figure of all lines of a statement is asked with totals, as the reader tells which of its lines it
leaves out. One line, such as "Gross profit", is asked for by its name alone.

Beside it: whether a search for the question finds all of its sheets among the first 5 and 10.
"""

from __future__ import annotations

import math
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.answers.eps_questions import holds
from benchmarks.general.corpora import HELD_OUT
from benchmarks.progress import track
from benchmarks.related.made import made_workbooks
from benchmarks.results import Result
from benchmarks.runner import Options, console, option, suite
from sat_retriever.answer.retriever import SheetRetriever
from sat_retriever.errors import InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.sheetanswer import QueryResult
from sat_retriever.synth.answers.ask import KINDS
from sat_retriever.synth.answers.make import ANSWERS, read_answers
from sat_retriever.tools.sql.query import TableQuery, query_over

NUMBER, SHEETS, QUESTIONS = 91, 300, 300
_TOP = 10
_NEAR = 1e-9

Row = tuple[Any, ...]


def asked(index: SheetIndex, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return how one question ended: equality, citation, unit, seconds, and what was said."""
    start = time.perf_counter()
    try:
        query = query_over(index, entry["tables"], totals=entry.get("totals", False))
        result = query.run(entry["sql"])
    except InputError as error:
        return _row(entry, equal=False, seconds=time.perf_counter() - start, said=str(error))
    seconds = time.perf_counter() - start
    ordered = bool(entry.get("ordered"))
    return _row(
        entry,
        equal=result.complete and same_rows(entry["rows"], result.rows, ordered=ordered),
        cited=cites(result, entry.get("cells", ())),
        unit_equal="unit" not in entry or unit_of(query, entry["unit"]) == entry["unit"]["unit"],
        code=_has_code(entry["rows"], result.rows),
        seconds=seconds,
        said=f"{result.rows}"[:300],
    )


def _row(entry: Mapping[str, Any], *, equal: bool, **more: Any) -> dict[str, Any]:
    row = {"query": entry["id"], "kind": entry["kind"], "equal": equal, "cited": False}
    return {**row, "unit_equal": False, "code": False, **more}


def same_rows(expected: Sequence[Row], found: Sequence[Row], *, ordered: bool) -> bool:
    """True if two results are equal, as lists or in any order."""
    if len(expected) != len(found):
        return False
    own, other = ([tuple(map(coded, row)) for row in rows] for rows in (expected, found))
    if not ordered:
        own, other = sorted(own, key=_order), sorted(other, key=_order)
    return all(
        len(a) == len(b) and all(map(same_value, a, b)) for a, b in zip(own, other, strict=True)
    )


def same_value(one: Any, other: Any) -> bool:
    """True if two values are equal; numbers within 1e-9 of the greater.

    >>> same_value(0.1 + 0.2, 0.3), same_value("a", "A"), same_value(1, "1")
    (True, False, False)
    """
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=_NEAR, abs_tol=_NEAR)
    return type(one) is type(other) and bool(one == other)


def coded(value: Any) -> Any:
    """Return a text that is a whole number as that number; other values as they are.

    >>> coded("100101"), coded("007"), coded("A7")
    (100101, '007', 'A7')
    """
    if isinstance(value, str) and value.isascii() and value.isdigit() and value == str(int(value)):
        return int(value)
    return value


def cites(result: QueryResult, cells: Sequence[str]) -> bool:
    """True if the citations of a result hold all cells."""
    return all(any(holds(citation, cell) for citation in result.citations) for cell in cells)


def unit_of(query: TableQuery, entry: Mapping[str, Any]) -> str | None:
    """Return the unit of a column of a loaded table."""
    columns = query.tables[entry["table"]].table.columns
    return next((each.unit for each in columns if each.name == entry["column"]), None)


def _has_code(expected: Sequence[Row], found: Sequence[Row]) -> bool:
    texts = any(coded(value) is not value for row in expected for value in row)
    return texts and not any(isinstance(value, str) for row in found for value in row)


def _order(row: Row) -> list[tuple[int, float, str]]:
    return [
        (2, 0.0, "") if each is None else (1, 0.0, each) if isinstance(each, str)
        else (0, float(each), "")
        for each in row
    ]  # fmt: skip


def rank_of(retriever: SheetRetriever, entry: Mapping[str, Any]) -> int:
    """Return the rank at which a search for a question has found all of its sheets; 0 if never."""
    found = [hit.sheet_id for hit in retriever.retrieve(entry["question"], _TOP)]
    ranks = [found.index(each) + 1 if each in found else 0 for each in entry["sheets"]]
    return 0 if 0 in ranks else max(ranks)


def metrics_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the counts, seconds and shares of some questions."""
    seconds = [row["seconds"] for row in rows]
    lookups = [row for row in rows if row["cells"]]
    units = [row for row in rows if row["has_unit"]]
    return {
        "questions": len(rows),
        "equal": sum(row["equal"] for row in rows),
        "share": round(sum(row["equal"] for row in rows) / len(rows), 4),
        "lookups": len(lookups),
        "cells_cited": sum(row["cited"] for row in lookups),
        "units": len(units),
        "units_equal": sum(row["unit_equal"] for row in units),
        "codes_as_numbers": sum(row["code"] for row in rows),
        "median_s": round(statistics.median(seconds), 3),
        "total_s": round(sum(seconds), 1),
        "top_5": round(sum(0 < row["rank"] <= 5 for row in rows) / len(rows), 4),
        "top_10": round(sum(row["rank"] > 0 for row in rows) / len(rows), 4),
    }


def answered(
    root: Path, entries: Sequence[Mapping[str, Any]], *, show: bool = False
) -> list[dict[str, Any]]:
    """Return a row for each question, asked of an index of a folder.

    Args:
        root: The folder of the workbooks.
        entries: The questions, as `answers.json` has them.
        show: True to print every difference.
    """
    rows = []
    with (
        tempfile.TemporaryDirectory() as folder,
        SheetIndex.create(Path(folder, "made.sat")) as index,
    ):
        index.sync(root)
        retriever = SheetRetriever(index)
        for entry in track(entries, "asking"):
            row = asked(index, entry) | {"rank": rank_of(retriever, entry)}
            said = row.pop("said")
            row |= {"cells": len(entry.get("cells", ())), "has_unit": "unit" in entry}
            rows.append(row)
            if show and not (row["equal"] and row["cited"] and row["unit_equal"]):
                console.print_json(data={**entry, "found": said, **row})
    return rows


@suite(
    "made_answers",
    "work",
    questions=QUESTIONS,
    show=option(False, "print every difference"),
)
def main(options: Options) -> Iterator[Result]:
    """Make and index the corpus and ask all questions."""
    made = made_workbooks(
        NUMBER, HELD_OUT, options.work, sheets=SHEETS, questions=10, answers=options.questions
    )
    assert made.root is not None
    folder = made.root.parent
    rows = answered(made.root, read_answers(folder / ANSWERS), show=options.show)
    for kind in ("all", *KINDS):
        own = [row for row in rows if kind in ("all", row["kind"])]
        if own:
            kept = own if kind == "all" else ()
            yield Result(kind, f"made_{SHEETS}", metrics_of(own), per_query=kept, data=[folder])
