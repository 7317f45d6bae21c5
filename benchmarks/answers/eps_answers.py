"""Forty hand-written questions over `eps`: the sheet, the cell, the SQL and the text that answer.

    python -m benchmarks run eps_answers [--data DIR] [--work DIR]

No language model is asked. The workbooks are indexed and searched as a user does it by default.
Measured of each question (`eps_questions.json`):

- the value in the file is the one that openpyxl finds in the cells;
- the rank of the first sheet that answers, among 50 (51 if it is not among them);
- if that sheet is in the top five, its citation, and its table, hold the cells that answer;
- the SQL written for it gives the value over the table that holds the cells, a lookup's citation
  holds its cell, and the same SQL works over the table that the hit cites;
- the texts of the five hits for a language model hold the value, which a short number does by
  chance; and the text of a right sheet has the rows that answer, with the value if cells hold it.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.answers.eps_questions import (
    KINDS,
    QUESTIONS,
    EpsQuestion,
    holds_value,
    load_questions,
    same,
    shows,
    true_values,
)
from benchmarks.progress import track
from benchmarks.results import Result
from benchmarks.runner import Options, suite
from sat_retriever.answer.retriever import SheetRetriever
from sat_retriever.errors import InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.hits import Hit
from sat_retriever.tools.content import answer_readers
from sat_retriever.tools.sql.query import query_over

TOP, DEPTH = 5, 50
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """How a question's SQL ended.

    Attributes:
        right: True if it gives the value, and nothing else.
        cites: True if its citation holds the cells.
        seconds: Time of loading the table and asking it.
    """

    right: bool
    cites: bool
    seconds: float


def asked(index: SheetIndex, question: EpsQuestion, table: str) -> Asked:
    """Return how the question's SQL ends over a table, named by a citation."""
    start = time.perf_counter()
    try:
        found = query_over(index, [table]).run(question.sql or "")
    except InputError:
        return Asked(right=False, cites=False, seconds=time.perf_counter() - start)
    seconds = time.perf_counter() - start
    right = len(found.rows) == 1 and same(found.rows[0][0], question.value)
    return Asked(right, any(map(question.lies_in, found.citations)), seconds)


def found_rows(index: SheetIndex, questions: Sequence[EpsQuestion]) -> Iterator[Row]:
    """Yield the row of each question, without the check of its value."""
    retriever = SheetRetriever(index)
    for n, question in enumerate(questions):
        hits = retriever.retrieve(question.question, DEPTH)
        right = [hit for hit in hits if hit.sheet_id in question.sheets]
        row: Row = {"query": n, "kind": question.kind, "rank": right[0].rank if right else None}
        best = next((hit for hit in right if hit.rank <= TOP), None)
        row |= _places(question, best)
        row |= _sql(index, question, best)
        answer = retriever.retrieve(question.question, TOP)
        texts = [read() for read in answer_readers(index, answer)]
        own = zip(answer, texts, strict=True)
        row["text"] = any(holds_value(text, question.value) for text in texts)
        row["text_right"] = any(shows(question, hit.sheet_id, text) for hit, text in own)
        yield row


def _places(question: EpsQuestion, best: Hit | None) -> Row:
    """Return if a hit's citation and its table hold the cells; None if no right sheet is there."""
    if best is None:
        return {"cited": None, "in_table": None}
    table = best.answering.range if best.answering else best.range
    return {
        "cited": question.lies_in(f"{best.sheet_id}!{best.range or ''}"),
        "in_table": question.lies_in(f"{best.sheet_id}!{table or ''}"),
    }


def _sql(index: SheetIndex, question: EpsQuestion, best: Hit | None) -> Row:
    """Return how SQL ends over the right table, and over the one that the hit of it cites."""
    row: Row = {"sql": None, "sql_cites": None, "sql_s": None, "sql_hit": None}
    if question.sql is None:
        return row
    first = question.cells.partition(",")[0].partition(":")[0]
    given = asked(index, question, f"{question.sheet}!{first}")
    row |= {"sql": given.right, "sql_s": round(given.seconds, 3)}
    if question.kind == "lookup":
        row["sql_cites"] = given.cites
    if best is not None and best.sheet_id == question.sheet:
        row["sql_hit"] = asked(index, question, best.citation).right
    return row


def measured(rows: Sequence[Row]) -> dict[str, float | int | None]:
    """Return the figures of some rows; a share counts the rows in which it is defined.

    >>> row = dict.fromkeys(("cited", "in_table", "sql_cites", "sql_s", "sql_hit"))
    >>> row |= {"rank": 2, "sql": True, "text": True, "text_right": False, "value": True}
    >>> found = measured([row, row | {"rank": None, "sql": None}])
    >>> found["top_1"], found["top_5"], found["median_rank"], found["sql"], found["cited"]
    (0.0, 0.5, 26.5, 1.0, None)
    """
    ranks = [row["rank"] or DEPTH + 1 for row in rows]
    times = [row["sql_s"] for row in rows if row["sql_s"] is not None]
    tops = {f"top_{most}": _share([rank <= most for rank in ranks]) for most in (1, TOP, 10)}
    shares = ("cited", "in_table", "sql", "sql_cites", "sql_hit", "text", "text_right")
    return {
        "questions": len(rows),
        "value": _share([row["value"] for row in rows]),
        **tops,
        "median_rank": statistics.median(ranks),
        **{name: _share([row[name] for row in rows]) for name in shares},
        "statements": len(times),
        "sql_median_s": round(statistics.median(times), 2) if times else None,
    }


def _share(found: Sequence[bool | None]) -> float | None:
    known = [each for each in found if each is not None]
    return round(sum(known) / len(known), 4) if known else None


@suite("eps_answers", "data", "work")
def main(options: Options) -> Iterator[Result]:
    """Index and ask."""
    eps, questions = options.data / "eps", load_questions()
    file = options.work / "eps.sat"
    file.unlink(missing_ok=True)
    with SheetIndex.create(file) as index:
        index.sync([eps])
        found = found_rows(index, questions)
        rows = list(track(found, "questions", len(questions)))
    values = true_values(questions, eps)
    rows = [row | {"value": right} for row, right in zip(rows, values, strict=True)]
    for kind in (*KINDS, "all"):
        own = [row for row in rows if kind in ("all", row["kind"])]
        kept = rows if kind == "all" else ()
        yield Result("default", "eps", measured(own), kind, None, kept, data=[eps, QUESTIONS])
