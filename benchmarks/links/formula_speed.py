"""Time the extraction of formula links in processes, for `benchmarks.links.formula_links`.

python -m benchmarks.links.formula_speed extract FILE.xlsx
"""

from __future__ import annotations

import gc
import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sat_retriever.links.formula.relations import workbook_links
from sat_retriever.workbook.read import read_workbook


def generate(path: Path, rows: int) -> None:
    """Write a fixed workbook of 20 columns, of which the last two read other sheets."""
    import xlsxwriter

    rng = random.Random(0)
    with xlsxwriter.Workbook(path, {"constant_memory": True}) as book:
        sheet = book.add_worksheet("Data")
        sheet.write_row(0, 0, [f"Column {col + 1}" for col in range(20)])
        for row in range(1, rows + 1):
            for col in range(18):
                if col < 4:
                    sheet.write_string(row, col, f"item {rng.randrange(5000)}")
                else:
                    sheet.write_number(row, col, round(rng.random() * 1e4, 2))
            month, line = row % 12 + 1, row + 1
            lookup = f"=IFERROR(VLOOKUP(A{line},'My rates'!$A$2:$D$400,3,FALSE),0)*F{line}"
            total = f"=SUMIFS(M{month}!$C$2:$C$90,M{month}!$A$2:$A$90,A{line})+G{line}"
            sheet.write_formula(row, 18, lookup, None, 1.5)
            sheet.write_formula(row, 19, total, None, 2.5)
        for name in ("My rates", *(f"M{month}" for month in range(1, 13))):
            sheet = book.add_worksheet(name)
            sheet.write_row(0, 0, ["item", "note", "rate", "unit"])
            for row in range(1, 90):
                sheet.write_row(row, 0, [f"item {row}", "x", row / 7, "kg"])


def _run_extract(path: str) -> dict[str, Any]:
    """Time references and links of formulas in memory."""
    made = read_workbook(path, links=False)
    by_sheet: dict[str, list[tuple[str, str, str | None, str]]] = {}
    for each in made.formulas:
        entry = (each.cell, each.text, each.range, each.kind)
        by_sheet.setdefault(each.sheet, []).append(entry)
    records, structure, formulas = made.records, made.structure, len(made.formulas)
    del made
    gc.collect()
    before = _memory_mib("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    start, cpu = time.perf_counter(), time.process_time()
    from sat_retriever.links.formula.formulas import references_of
    from sat_retriever.links.formula.scope import known_names

    names = known_names(structure)
    references = [
        each
        for sheet, entries in by_sheet.items()
        for each in references_of(sheet, entries, names=names)
    ]
    links = workbook_links(records, references, structure).links
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    peak = _memory_mib("VmHWM")
    return {
        "seconds": seconds,
        "cpu_seconds": cpu,
        "formulas": formulas,
        "references": len(references),
        "links": len(links),
        "peak_mib": round(peak, 1),
        "added_mib": round(peak - before, 1),
    }


def _run_worker(path: str, *, links: bool) -> dict[str, Any]:
    """Time the reading of one file from disk, as in a reading process."""
    start, cpu = time.perf_counter(), time.process_time()
    from sat_retriever.workbook.formats.load import load
    from sat_retriever.workbook.messages import Request

    messages = sum(1 for _ in load(Request(path, "x.xlsx", formulas=False, links=links)))
    return {
        "seconds": time.perf_counter() - start,
        "cpu_seconds": time.process_time() - cpu,
        "messages": messages,
        "peak_mib": round(_memory_mib("VmHWM"), 1),
    }


def _memory_mib(field_name: str) -> float:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{field_name}:"):
            return int(line.split()[1]) / 1024
    raise SystemExit(f"this system does not tell {field_name}")


_RUNS: dict[str, Callable[[str], dict[str, Any]]] = {
    "extract": _run_extract,
    "worker": lambda path: _run_worker(path, links=True),
    "worker_without_links": lambda path: _run_worker(path, links=False),
}


def speed(path: Path, rounds: int) -> dict[str, Any]:
    """Return medians over rounds; every round has one run of each kind."""
    runs: dict[str, list[dict[str, Any]]] = {kind: [] for kind in _RUNS}
    for _ in range(rounds):
        for kind, done in runs.items():
            command = [sys.executable, "-m", "benchmarks.links.formula_speed", kind, str(path)]
            output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            done.append(json.loads(output))
    first = runs["extract"][0]
    metrics = {
        "formulas": first["formulas"],
        "references": first["references"],
        "links": first["links"],
        "formulas_per_second": round(first["formulas"] / _median(runs["extract"], "seconds")),
        "formulas_per_cpu_second": round(
            first["formulas"] / _median(runs["extract"], "cpu_seconds")
        ),
        "extract_added_mib": max(run["added_mib"] for run in runs["extract"]),
    }
    for kind, done in runs.items():
        metrics[f"{kind}_seconds_median"] = round(_median(done, "seconds"), 3)
        metrics[f"{kind}_cpu_seconds_median"] = round(_median(done, "cpu_seconds"), 3)
        metrics[f"{kind}_peak_mib"] = max(run["peak_mib"] for run in done)
    metrics["rounds"] = rounds
    return metrics


def _median(runs: list[dict[str, Any]], name: str) -> float:
    return float(statistics.median(run[name] for run in runs))


def largest(folder: Path, count: int) -> list[Path]:
    """Return the files with the most formulas."""
    sizes = {
        path: len(read_workbook(path, links=False).formulas)
        for path in sorted(folder.rglob("*.xlsx"))
    }
    return sorted(sizes, key=lambda path: (-sizes[path], path.name))[:count]


if __name__ == "__main__":
    print(json.dumps(_RUNS[sys.argv[1]](sys.argv[2])))
