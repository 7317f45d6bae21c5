"""What an index of the suite `operate` holds, beside its folder and beside a fresh one."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from benchmarks.safety.operate_scene import Person
from sat_retriever import SheetIndex, SheetRetriever
from sat_retriever.records.permissions import OWNER


def in_step(index: Path, books: Path) -> bool:
    """True if an index knows each workbook of a folder as it is, and no other."""
    with closing(sqlite3.connect(f"{index.as_uri()}?mode=ro", uri=True)) as opened:
        rows = opened.execute("SELECT path, size, mtime_ns FROM workbooks").fetchall()
    files = (each for each in books.rglob("*.xls*") if each.is_file())
    there = {
        (each.relative_to(books).as_posix(), each.stat().st_size, each.stat().st_mtime_ns)
        for each in files
    }
    return there == set(rows)


def other_answers(
    index: Path, fresh: Path, questions: Sequence[str], people: Sequence[Person]
) -> int:
    """Return the number of questions that two indexes answer with other sheets, over all people."""
    different = 0
    with SheetIndex.open(index) as one, SheetIndex.open(fresh) as other:
        retrievers = SheetRetriever(one), SheetRetriever(other)
        for person in people:
            groups = OWNER if person.groups is None else [*person.groups]
            for question in questions:
                found, same = (
                    [hit.sheet_id for hit in each.retrieve(question, principals=groups)]
                    for each in retrievers
                )
                different += found != same
    return different
