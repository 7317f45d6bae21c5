"""Rows that are left out of real tables, by reason, beside what a reader of the sheets says.

    python -m benchmarks run left_out [--data DIR] [--draw SEED]

Every table of every workbook of `eps` and `real_lists` is read. `left_out_labels.json` holds the
verdicts of somebody who opened the sheets: of rows that were left out, drawn at random, whether
each is rightly no record for its reason; and of whole sheets, drawn at random, the rows of units
and totals that a careful reader would leave out. `--draw` shows rows and sheets to judge, at most
two rows of a workbook, and writes nothing.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.progress import track
from benchmarks.results import Result
from benchmarks.runner import Options, console, option, suite
from sat_retriever.errors import SatError
from sat_retriever.records.area import area_of
from sat_retriever.records.sheets import LeftOut, LeftOutReason, SheetRecord, Table, only_kept
from sat_retriever.workbook.read import read_workbook
from sat_retriever.workbook.typed import read_table_data
from sat_retriever.workbook.window import read_range

LABELS = Path(__file__).with_name("left_out_labels.json")
CORPORA = ("eps", "real_lists")
ENDINGS = (".xlsx", ".xlsm", ".xls", ".xlsb", ".ods", ".csv")
ROWS, SHEETS = 80, 40
A_WORKBOOK = 2
"""Most rows of one workbook that are drawn, since a model repeats its sheets."""
_AROUND = 4
_COLUMNS = 9


@dataclass(frozen=True, slots=True)
class Found:
    """One table as it is read: its workbook relative to the data, its sheet, its rows."""

    file: str
    sheet: str
    table: Table
    left_out: tuple[LeftOut, ...]


def tables(data: Path, corpus: str) -> Iterator[Found]:
    """Yield every table of a corpus, with all rows that are left out of it."""
    files = sorted(each for each in (data / corpus).rglob("*") if each.suffix in ENDINGS)
    for file in track(files, corpus):
        try:
            records = read_workbook(file, contents="examples", links=False, formulas=False).records
        except SatError:
            continue
        for record in records:
            for place, table in enumerate(record.tables):
                yield Found(
                    str(file.relative_to(data)), record.sheet, table, _all(file, record, place)
                )


def _all(file: Path, record: SheetRecord, place: int) -> tuple[LeftOut, ...]:
    """Return the rows of a table that are left out; a record holds the first ones alone."""
    table = record.tables[place]
    if table.num_left_out == len(table.left_out):
        return table.left_out
    return read_table_data(file, record.sheet, place).left_out


def figures(found: Sequence[Found], labels: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rows by reason, and how the labelled ones were judged."""
    out = {(each.file, each.sheet, row.row): row.reason for each in found for row in each.left_out}
    counts = Counter(reason.value for each in found for reason in (r.reason for r in each.left_out))
    files = {each.file for each in found}
    judged = [row for row in labels["rows"] if row["file"] in files]
    still = [row for row in judged if _reason(out, row) == row["reason"]]
    sheets = [sheet for sheet in labels["sheets"] if sheet["file"] in files]
    wanted = [{**sheet, "row": row} for sheet in sheets for row in sheet["rows"]]
    return {
        "tables": len(found),
        "records": sum(each.table.num_rows for each in found),
        **{reason.value: counts[reason.value] for reason in LeftOutReason},
        "doubtful": sum(len(only_kept(each.left_out, each.table.doubtful)) for each in found),
        "judged": len(still),
        "right": sum(row["right"] for row in still),
        "sheets_read": len(sheets),
        "sums_and_units": len(wanted),
        "found": sum(_reason(out, row) is not None for row in wanted),
    }


def _reason(
    out: Mapping[tuple[str, str, int], LeftOutReason], row: Mapping[str, Any]
) -> str | None:
    found = out.get((row["file"], row["sheet"], row["row"]))
    return None if found is None else found.value


def draw(data: Path, found: Sequence[Found], seed: int) -> None:
    """Print rows that were left out, then whole sheets, to be judged by a reader."""
    rng = random.Random(seed)
    rows = [(each, row) for each in found for row in each.left_out]
    rng.shuffle(rows)
    taken: Counter[str] = Counter()
    number = 0
    for each, row in rows:
        workbook = Path(each.file).name
        if taken[workbook] >= A_WORKBOOK or number >= ROWS:
            continue
        taken[workbook] += 1
        number += 1
        key = {"file": each.file, "sheet": each.sheet, "row": row.row, "reason": row.reason.value}
        console.out(f"\n{number}. {json.dumps(key, ensure_ascii=False)} {each.table.range}")
        area = area_of(each.table.range)
        assert area is not None
        tops = range(area.top, area.top + 2)
        near = range(max(area.top + 2, row.row - _AROUND), row.row + _AROUND)
        _show(data, each, [*tops, *near], row.row)
    sheets = sorted({(each.file, each.sheet) for each in found if each.table.num_rows > 2})
    for file, sheet in rng.sample(sheets, min(SHEETS, len(sheets))):
        console.out(f"\nSHEET {json.dumps({'file': file, 'sheet': sheet}, ensure_ascii=False)}")
        for each in found:
            if (each.file, each.sheet) == (file, sheet):
                told = [f"{row.row} {row.reason.value}" for row in each.left_out]
                console.out(f"  {each.table.range}: {each.table.num_rows} records; {told}")


def _show(data: Path, each: Found, rows: Sequence[int], own: int) -> None:
    area = area_of(each.table.range)
    assert area is not None
    window = read_range(data / each.file, each.sheet, area)
    for row in rows:
        at = row - area.top
        if 0 <= at < len(window.rows):
            cells = [str("" if cell is None else cell)[:16] for cell in window.rows[at][:_COLUMNS]]
            console.out(f"  {'>' if row == own else ' '}{row:>6} {' | '.join(cells)}")


@suite("left_out", "data", draw=option(None, "show what is to be judged", type=int, metavar="SEED"))
def main(options: Options) -> Iterator[Result]:
    """Read, count, compare with the labels."""
    found = {corpus: list(tables(options.data, corpus)) for corpus in CORPORA}
    if options.draw is not None:
        draw(options.data, [each for part in found.values() for each in part], options.draw)
        return
    labels = json.loads(LABELS.read_text(encoding="utf-8"))
    for corpus, part in found.items():
        yield Result("read", corpus, figures(part, labels), data=[options.data / corpus, LABELS])
