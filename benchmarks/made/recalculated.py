"""Compare the values that made workbooks store for formulas with LibreOffice's.

    python -m benchmarks run synth_recalculated                      # every recipe and dialect
    python -m benchmarks run synth_recalculated --folder OUT/workbooks --name synth_small

LibreOffice recalculates every formula; a control workbook with wrong values proves it.
"""

from __future__ import annotations

import math
import re
import shutil
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import openpyxl
import xlsxwriter
from python_calamine import CalamineWorkbook

from benchmarks.made.recipes import every_book
from benchmarks.results import Result
from benchmarks.runner import Options, console, option, suite
from sat_retriever.records.grouping import evenly
from sat_retriever.synth.calculate.compile import compiled
from sat_retriever.synth.calculate.evaluate import Values
from sat_retriever.synth.write.xlsx import write_xlsx

# Recalculate for every program that wrote the file (0: always).
_SETTINGS = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Calc/Formula/Load">
<prop oor:name="OOXMLRecalcMode" oor:op="fuse"><value>0</value></prop></item>
</oor:items>
"""
_BATCH = 100
_TIMEOUT = 600
_SHOWN = 20
_CLOSE = 1e-9
# Formulas that Excel reads and some versions of LibreOffice do not, with an example each.
_TRIED = {
    re.compile(r"_xlfn\.XLOOKUP\("): "=_xlfn.XLOOKUP(2,S!A1:A1,S!A1:A1)",
    re.compile(r"'(?:[^']|'')*:(?:[^']|'')*'!"): "=SUM('T 1:T 2'!A1)",
}
_CONTROL = "control of recalculation.xlsx"


@dataclass(slots=True)
class Tally:
    """The outcome of a comparison.

    Attributes:
        workbooks: Workbooks compared.
        left_out: Workbooks left out for formulas that this LibreOffice cannot read: XLOOKUP,
            3-D references with quoted tabs.
        formulas: Formulas compared.
        different: The differences as (workbook, sheet, cell, formula, value in the file,
            LibreOffice's).
    """

    workbooks: int = 0
    left_out: int = 0
    formulas: int = 0
    different: list[tuple[str, str, str, str, Any, Any]] = field(default_factory=list)


@suite(
    "synth_recalculated",
    folder=option(None, "made workbooks; without, some of each recipe", type=Path),
    name=option("made_recipes", "name of the data set in the result"),
    limit=option(0, "so many workbooks, evenly spread"),
)
def main(options: Options) -> Iterator[Result]:
    """Compare."""
    program = _program()
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        source = work / "workbooks"
        if options.folder is None:
            _write_made(source)
        else:
            shutil.copytree(options.folder, source)
        files = sorted(source.rglob("*.xlsx"))
        if not files:
            raise SystemExit(f"There is no .xlsx below {options.folder}.")
        tally = recalculated(program, source, evenly(files, options.limit or len(files)), work)
    for each in tally.different[:_SHOWN]:
        console.print(*map(str, each), sep=" | ", markup=False)
    metrics = {
        "workbooks": tally.workbooks,
        "workbooks_left_out": tally.left_out,
        "formulas": tally.formulas,
        "different": len(tally.different),
        "libreoffice": _run([program, "--version"]).split()[1],
    }
    yield Result("libreoffice", options.name, metrics)


def recalculated(program: str, source: Path, files: Sequence[Path], work: Path) -> Tally:
    """Compare the value of every formula in some workbooks with LibreOffice's.

    Args:
        program: LibreOffice.
        source: Folder above the workbooks.
        files: The workbooks.
        work: Folder for everything that is written.
    """
    profile = work / "profile"
    (profile / "user").mkdir(parents=True)
    (profile / "user" / "registrymodifications.xcu").write_text(_SETTINGS, encoding="utf-8")
    unknown = _unknown(program, profile, work)
    tally = Tally()
    for number, batch in enumerate(_batches(files)):
        results = _converted(program, profile, batch, work / f"out{number}")
        for file in batch:
            label = file.relative_to(source).as_posix()
            formulas = dict(_formulas(file))
            if any(each.search(text) for each in unknown for text in formulas.values()):
                tally.left_out += 1
                continue
            tally.workbooks += 1
            _compare(label, formulas, _values(file), _values(results / file.name), tally)
    return tally


def _program() -> str:
    found = shutil.which("soffice") or shutil.which("libreoffice")
    if found is None:
        raise SystemExit(
            "LibreOffice is not installed (no soffice on the path): nothing was compared."
            " Install LibreOffice Calc and run this again."
        )
    return found


def _write_made(folder: Path) -> None:
    for number, group in enumerate(every_book()):
        by_path = {book.path: book for book in group}
        values = Values(by_path.get)
        for book in group:
            write_xlsx(compiled(book, by_path.get, values), folder / str(number) / book.path)


def _unknown(program: str, profile: Path, work: Path) -> list[re.Pattern[str]]:
    """Return unsupported formulas, after checking that wrong values are recalculated."""
    path = work / _CONTROL
    with xlsxwriter.Workbook(path) as workbook:
        sheet = workbook.add_worksheet("S")
        sheet.write_formula("A1", "=1+1", None, 3)
        for row, text in enumerate(_TRIED.values(), 1):
            sheet.write_formula(row, 0, text, None, 3)
        for name in ("T 1", "T 2"):
            workbook.add_worksheet(name).write_number("A1", 1)
    found = _values(_converted(program, profile, [path], work / "control") / _CONTROL)
    if found["S", 1, 1] != 2:
        raise SystemExit("LibreOffice did not calculate the control workbook anew.")
    return [each for row, each in enumerate(_TRIED, 2) if found.get(("S", row, 1)) != 2]


def _batches(files: Sequence[Path]) -> Iterator[list[Path]]:
    """Yield groups of files with different names, since all results are in one folder."""
    rounds: dict[int, list[Path]] = defaultdict(list)
    seen: dict[str, int] = defaultdict(int)
    for file in files:
        rounds[seen[file.name.casefold()]].append(file)
        seen[file.name.casefold()] += 1
    for each in rounds.values():
        yield from (each[start : start + _BATCH] for start in range(0, len(each), _BATCH))


def _converted(program: str, profile: Path, files: Sequence[Path], folder: Path) -> Path:
    """Convert files with LibreOffice and return the folder of the results."""
    command = [program, f"-env:UserInstallation={profile.as_uri()}", "--headless"]
    command += ["--convert-to", "xlsx", "--outdir", str(folder), *map(str, files)]
    _run(command)
    missing = [file.name for file in files if not (folder / file.name).exists()]
    if missing:
        raise SystemExit(f"LibreOffice could not convert {missing[:5]}")
    return folder


def _run(command: Sequence[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT, check=True)
    return done.stdout


def _formulas(path: Path) -> Iterator[tuple[tuple[str, int, int], str]]:
    """Yield formulas by (sheet, row, column), 1-based."""
    workbook = openpyxl.load_workbook(path)
    for sheet in workbook.worksheets:
        for row in sheet.iter_rows():
            for cell in row:
                if cell.data_type == "f":
                    text = getattr(cell.value, "text", cell.value)
                    yield (sheet.title, cell.row, cell.column), str(text)


def _values(path: Path) -> dict[tuple[str, int, int], Any]:
    """Return values by (sheet, row, column), 1-based; empty cells are left out."""
    workbook = CalamineWorkbook.from_path(str(path))
    return {
        (name, row, column): value
        for name in workbook.sheet_names
        for row, line in enumerate(
            workbook.get_sheet_by_name(name).to_python(skip_empty_area=False), 1
        )
        for column, value in enumerate(line, 1)
        if value != ""
    }


def _compare(
    label: str,
    formulas: dict[tuple[str, int, int], str],
    ours: dict[tuple[str, int, int], Any],
    theirs: dict[tuple[str, int, int], Any],
    tally: Tally,
) -> None:
    for place, text in formulas.items():
        tally.formulas += 1
        one, other = ours.get(place), theirs.get(place)
        if not _equal(one, other):
            sheet, row, column = place
            cell = f"{openpyxl.utils.get_column_letter(column)}{row}"
            tally.different.append((label, sheet, cell, text, one, other))


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, float | int) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=_CLOSE, abs_tol=_CLOSE)
    return bool(one == other)
