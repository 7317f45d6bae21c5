"""Write a bench as one HTML page: the table, and for every question the sheets and reasons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sat_retriever.datasets.metrics.rows import PER_QUERY
from sat_retriever.datasets.metrics.run import DEPTH
from sat_retriever.evaluation.bench import LISTED, Bench, Scored
from sat_retriever.evaluation.maintable import COLUMNS, cells, compared_row, notes, signed
from sat_retriever.evaluation.method import no_progress
from sat_retriever.evaluation.report.data import questions_of
from sat_retriever.evaluation.timing import Told
from sat_retriever.index.index import SheetIndex
from sat_retriever.pages.onepage import one_page

_SCRIPTS = ("model.js", "summary.js", "detail.js", "list.js")
BUCKETS = 10  # of NDCG@5, and one more for a perfect order


def report_html(
    bench: Bench,
    index: SheetIndex,
    *,
    title: str,
    about: str = "",
    remarks: Sequence[str] = (),
    told: Told = no_progress,
) -> str:
    """Return the text of a page that needs no other file and no network.

    It has the main table, the spread of NDCG@5 of each method, and the questions, to sort, filter
    and open. Each question shows the rank of its relevant sheets in every method, the first ten
    sheets of the chosen method, and the reasons for each of them.

    Args:
        bench: The methods' answers.
        index: The index that they searched, for records and scores.
        title: Name of the page.
        about: Text below the title, for example the source of the questions.
        remarks: Further sentences below the table.
        told: Receives the progress over the questions.
    """
    questions, sheets, left_out = questions_of(bench, index, told)
    said = [*notes(bench), *remarks]
    if left_out:
        said.append(
            f"{left_out:,} of the {len(bench.queries):,} questions are in the table, but not "
            "listed: those that the methods answer best."
        )
    data = {
        "title": title,
        "about": about,
        "notes": said,
        "depth": DEPTH,
        "listed": LISTED,
        "total": len(bench.sheet_ids),
        "columns": [[column.title, column.means] for column in COLUMNS],
        "against": compared_row(bench),
        "methods": [
            _method(one, bench.compared_with(number), [[cell.text, cell.best] for cell in row])
            for number, (one, row) in enumerate(zip(bench.scored, cells(bench), strict=True))
        ],
        "sheets": sheets,
        "questions": questions,
    }
    return one_page("sat_retriever.evaluation.report", _SCRIPTS, title=title, data=data)


def _method(scored: Scored, other: int | None, row: Sequence[Sequence[Any]]) -> dict[str, Any]:
    return {
        "name": scored.name,
        "cells": row,
        "difference": signed(scored.difference),
        "other": other,
        "spread": spread([PER_QUERY["NDCG@5"](each) for each in scored.rows]),
    }


def spread(values: Sequence[float]) -> list[int]:
    """Count the values in each tenth of [0, 1), and those equal to 1.

    >>> spread([0.0, 0.05, 0.95, 1.0])
    [2, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1]
    """
    counts = [0] * (BUCKETS + 1)
    for value in values:
        # A value that differs from 1 only by rounding is a perfect order.
        counts[BUCKETS if value > 1 - 1e-9 else int(value * BUCKETS)] += 1
    return counts
