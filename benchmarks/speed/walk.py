"""A walk through the code: what of the package a question enters, and a workbook on its way in.

    python -m benchmarks run walk

Counts the modules and functions that are called, changes from one room to another, and statements
sent to SQLite. The first answer of an index opens it; the later one is of another question. A
workbook is read in a process of its own, whose calls are not counted.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from types import FrameType
from typing import Any

import sat_retriever
from benchmarks.corpora import CORPORA
from benchmarks.results import Result
from benchmarks.runner import Options, suite
from sat_retriever import SheetIndex, SheetRetriever

PACKAGE = Path(sat_retriever.__file__).parent
SOURCE = Path("eps", "fuels")
DAY = date(2026, 1, 1)


def walked(call: Callable[[], object]) -> dict[str, Any]:
    """Make a call, and count what it enters; comprehensions are part of their function."""
    functions: set[tuple[str, str]] = set()
    rooms: list[str] = []
    calls = statements = 0

    def enter(frame: FrameType, event: str, called: Any) -> None:
        nonlocal calls, statements
        if event == "c_call" and called.__name__.startswith("execute"):
            owner = getattr(called, "__self__", None)
            statements += isinstance(owner, sqlite3.Connection | sqlite3.Cursor)
        if event != "call" or not frame.f_code.co_filename.startswith(f"{PACKAGE}/"):
            return
        calls += 1
        module = frame.f_code.co_filename.removeprefix(f"{PACKAGE}/")
        if not frame.f_code.co_name.startswith("<"):
            functions.add((module, frame.f_code.co_qualname))
        room = module.partition("/")[0]
        if rooms[-1:] != [room]:
            rooms.append(room)

    sys.setprofile(enter)
    try:
        call()
    finally:
        sys.setprofile(None)
    return {
        "modules": len({module for module, _ in functions}),
        "functions": len(functions),
        "calls": calls,
        "rooms": len(set(rooms)),
        "room_changes": len(rooms) - 1,
        "statements": statements,
    }


@suite("walk", "data", "work")
def main(options: Options) -> Iterator[Result]:
    """Walk with a first and a later question of EPS, then with its smallest workbook."""
    folder = options.data / SOURCE
    questions = [query.text for query in CORPORA["eps_whole"].read(options.data).queries]
    file = options.work / "walk.sat"
    file.unlink(missing_ok=True)
    with SheetIndex.create(file) as index:
        index.sync([folder])

    def asked(index: SheetIndex, place: int) -> dict[str, Any]:
        return walked(lambda: SheetRetriever(index).retrieve(questions[place], today=DAY))

    def first() -> None:
        with SheetIndex.open(file) as index:
            SheetRetriever(index).retrieve(questions[0], today=DAY)

    yield Result("first_question", "eps_fuels", walked(first), data=[folder])
    with SheetIndex.open(file) as index:
        asked(index, 0)
        yield Result("later_question", "eps_fuels", asked(index, 1), data=[folder])
    smallest = min(folder.rglob("*.xlsx"), key=lambda each: each.stat().st_size)
    file.unlink()
    with SheetIndex.create(file) as index:
        entered = walked(lambda: index.sync([smallest], workers=1))
    yield Result("workbook", "eps_fuels", entered, data=[smallest])
