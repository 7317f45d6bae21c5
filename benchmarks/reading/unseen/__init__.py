"""Messy tables with their truth: files that no reader was made with, for one held-out score.

`python -m benchmarks.reading.unseen FOLDER` writes `files/` and `truth.jsonl`. Each module holds
the files of a group of kinds; a file and its truth come from the same calls, so they cannot differ.
"""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.reading.unseen import (
    cell_forms,
    csv_types,
    encodings,
    merged,
    ordinary,
    pages,
    sections,
    stacked,
    totals,
    totals_plain,
    units,
    words,
)
from benchmarks.reading.unseen.book import Book
from benchmarks.reading.unseen.storing import store

GROUPS = (
    ordinary,
    units,
    words,
    csv_types,
    encodings,
    totals,
    totals_plain,
    pages,
    stacked,
    merged,
    sections,
    cell_forms,
)


def books() -> list[Book]:
    """All files, in the order of their kinds."""
    return [book for group in GROUPS for book in group.EXAMPLES.books()]


def write(folder: str | Path) -> int:
    """Write `files/` and `truth.jsonl` into a folder; return the number of files."""
    folder = Path(folder)
    files = folder / "files"
    files.mkdir(parents=True, exist_ok=True)
    made = books()
    for book in made:
        store(book, files / book.file)
    lines = [line for book in made for line in book.truth()]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (folder / "truth.jsonl").write_text(text, encoding="utf-8")
    return len(made)
