"""Part of `run cell_search` in a process of its own, so that it also runs with older code.

    python -P benchmarks/speed/cell_search_part.py WORKBOOK FOLDER

Prints the figures of the package on PYTHONPATH as JSON; FOLDER is empty, for its indexes.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from dataclasses import replace
from pathlib import Path

from benchmarks.speed.contents_made import MadeSheets, TextTokens
from sat_retriever import SheetIndex, SheetTools
from sat_retriever.records.area import area_of
from sat_retriever.records.contents import CellText, SheetContents
from sat_retriever.records.sheets import SheetRecord

SHEETS, TEXTS = 200, 1_000
COMMON = "figures of the reporting period"
ROUNDS = 3


def main(workbook: Path, folder: Path) -> dict[str, float]:
    """Milliseconds of each search: processor time of this process, and time on the clock."""
    found: dict[str, float] = {}
    with SheetIndex.create(folder / "kept.sat", TextTokens()) as index:
        index.add_records([_with_note(each) for each in MadeSheets(SHEETS, TEXTS).records()])
        tools = SheetTools(index, None)
        for name, text in (("word", "period"), ("phrase", COMMON), ("long", _long())):
            found |= _timed(f"kept_{name}", tools, text)
    with SheetIndex.create(folder / "sheet.sat", TextTokens()) as index:
        index.sync(workbook, workers=1)
        tools = SheetTools(index, None)
        sheet = max(index.sheet_ids(), key=lambda each: _cells(index.records([each])[each]))
        found["cells"] = _cells(index.records([sheet])[sheet])
        questions = (("word", "region"), ("number", "12345.678"), ("long", _long()))
        for name, text in questions:
            found |= _timed(f"sheet_{name}", tools, text, [sheet])
    return found


def _long() -> str:
    """A question of 4,000 characters, which no cell holds."""
    return " ".join(f"region{number} of years" for number in range(400))[:4_000]


def _with_note(record: SheetRecord) -> SheetRecord:
    contents = record.contents or SheetContents()
    notes = (CellText("A1", COMMON), *contents.notes)
    return replace(record, contents=replace(contents, notes=notes))


def _cells(record: SheetRecord) -> int:
    area = area_of(record.range or "")
    return (area.bottom - area.top + 1) * (area.right - area.left + 1) if area else 0


def _timed(
    name: str, tools: SheetTools, text: str, sheets: list[str] | None = None
) -> dict[str, float]:
    """The medians of some searches, after one that loads what is kept."""
    wall, cpu = [], []
    for _ in range(ROUNDS + 1):
        start, spent = time.perf_counter(), time.process_time()
        tools.search_cells(text, sheets)
        wall.append((time.perf_counter() - start) * 1000)
        cpu.append((time.process_time() - spent) * 1000)
    return {
        f"{name}_cpu_ms": round(statistics.median(cpu[1:]), 1),
        f"{name}_ms": round(statistics.median(wall[1:]), 1),
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(Path(sys.argv[1]), Path(sys.argv[2]))))
