"""What of the cells is in an index file and beside it, by its bytes.

    python -m benchmarks run privacy [--data ../shared/data] [--work .cache/privacy]

Workbooks of every format hold a mark, a text or number that stands nowhere else, in every cell and
every other part: names, headers, formulas, comments, lists to choose from, hidden sheets. They are
indexed at every level. One workbook is changed, all rows are verified, all marked workbooks are
removed, and all rows verified again. After each step all bytes of the index file and of the files
beside it are searched for the marks, while it is open and after; compressed parts are unpacked
first, deleted rows are in the bytes as well. .xls and .xlsb are shared files in whose bytes the
texts of cells were replaced. `names` must hold no mark but names; marks of the changed and the
removed workbooks must be gone once the index is closed and verified.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.results import Result
from benchmarks.runner import Options, option, suite
from benchmarks.safety.privacy_books import NAMED, Marks, write_books, write_people
from benchmarks.safety.privacy_bytes import found_hashes, found_marks, haystack, values
from benchmarks.speed.contents_made import TextTokens
from sat_retriever import SheetIndex
from sat_retriever.records.privacy import Privacy

LEVELS: Mapping[str, Privacy] = {
    "names": Privacy.of("names", None),
    "examples": Privacy.of("examples", None),
    "all": Privacy.of("all", None),
    "examples_skipping": Privacy.of("examples", "salary"),
    "all_skipping": Privacy.of("all", "salary"),
}
_CHANGED = "changing.xlsx"
_APART = 100_000  # between the numbers of marks of different times
_UNHEADED = "unheaded"  # cells of tables without a header row, which are told apart
_KEPT = "kept.csv"  # the workbook that is not removed; it has no mark


@dataclass(frozen=True, slots=True)
class Step:
    """A state of an index.

    Attributes:
        name: Its name in result files.
        marks: Marks that were searched for.
        found: Number of them that were found, by kind, once the index was closed.
        open: The same while it was open, in the log as well.
        hashes: Number of hashes of cells in it.
    """

    name: str
    marks: Marks
    found: Mapping[str, int]
    open: Mapping[str, int]
    hashes: int


def steps(privacy: Privacy, work: Path, shared: Path | None) -> list[Step]:
    """Index marked workbooks, change and remove some, and search all bytes after each step."""
    shutil.rmtree(work, ignore_errors=True)
    books, place = work / "books", work / "index"
    place.mkdir(parents=True)
    marks = write_books(books, shared)
    (books / _KEPT).write_text("Region,Amount\nNorth,1\nSouth,2\n", encoding="utf-8")
    before, after = Marks(_made=_APART), Marks(_made=2 * _APART)
    write_people(books / _CHANGED, before, before.row("data", 30), version=7)
    index = place / "marked.sat"
    found = []
    level = {"contents": privacy.contents, "skip_columns": privacy.skip_columns}

    def searched(name: str, wanted: Marks, *, verify: bool = False) -> None:
        with SheetIndex.open(index, TextTokens()) as opened:
            opened.sync(books, workers=1, verify=verify)
            beside = haystack(place)  # the log and its table are there as long as it is open
        content = b"\0".join((haystack(place), *map(bytes.lower, values(index))))
        found.append(
            Step(
                name,
                wanted,
                found_marks(content, wanted),
                found_marks(beside, wanted),
                found_hashes(index, books),
            )
        )

    SheetIndex.create(index, TextTokens(), **level).close()  # type: ignore[arg-type]
    searched("indexed", marks)
    write_people(books / _CHANGED, after, after.row("data", 30), version=7)
    searched("changed", before)
    searched("verified", marks, verify=True)
    for path in books.iterdir():
        if path.name != _KEPT:
            path.unlink()
    searched("removed", marks)
    searched("removed_verified", marks, verify=True)
    return found


def figures(step: Step) -> dict[str, int]:
    """Return the number of marks made and found, by kind, and of hashes of cells."""
    made = {
        kind: len(step.marks.texts.get(kind, ())) + len(step.marks.numbers.get(kind, ()))
        for kind in step.found
    }
    cells = [kind for kind in step.found if kind not in (*NAMED, _UNHEADED)]
    return {
        "marks_in_cells": sum(made[kind] for kind in cells),
        "found_in_cells": sum(step.found[kind] for kind in cells),
        "found_unheaded": step.found.get(_UNHEADED, 0),
        "found_in_cells_open": sum(step.open[kind] for kind in cells),
        "marks_in_names": sum(made.get(kind, 0) for kind in NAMED),
        "found_in_names": sum(step.found.get(kind, 0) for kind in NAMED),
        "hashes_of_cells": step.hashes,
        **{f"{kind}_found": step.found[kind] for kind in sorted(step.found)},
    }


@suite("privacy", "data", "work", levels=option([*LEVELS], choices=[*LEVELS]))
def main(options: Options) -> Iterator[Result]:
    """Index at every level and search."""
    shared = options.data / "odd_files"
    for name in options.levels:
        found = steps(LEVELS[name], options.work, shared if shared.is_dir() else None)
        yield from (Result(name, step.name, figures(step)) for step in found)
    shutil.rmtree(options.work)
