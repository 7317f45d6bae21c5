"""Records of small messy tables, against the records that they hold by construction.

    python -m benchmarks run messy [--data DIR] [--work DIR] [--details] [--unseen]

`messy_tables` of the data folder has 116 files in the manner of public bug reports, their truth and
`score.py`, which says what is right; choices of the reader looked at them. `--unseen` measures the
120 further files of `unseen.tar.xz` instead. Their writer read the rules alone, neither the
reader's code nor most of the first 116; they were scored when the work was done.

A record is lost without a word if it is missing at its row and no row left out, with its reason,
is that row. `--details` tells what is wrong, file by file, and writes no result.
"""

from __future__ import annotations

import importlib.util
import json
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.progress import track
from benchmarks.results import Result
from benchmarks.runner import Options, console, option, suite
from sat_retriever import index_paths
from sat_retriever.errors import SatError
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.typedtable import TypedTable

_COUNTS = ("records", "lost", "lost_untold", "false", "wrong")
_UNSEEN = Path(__file__).with_name("unseen.tar.xz")


@dataclass(frozen=True, slots=True)
class Scored:
    """The scores of one sheet, as `score.py` gives them, and what is wrong with it."""

    file: str
    kind: str
    scores: dict[str, Any]


def scorer(data: Path) -> ModuleType:
    """Return the module that knows the rules: `score.py` of the data folder."""
    spec = importlib.util.spec_from_file_location("messy_score", data / "messy_tables" / "score.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def scored(folder: Path, rules: ModuleType) -> Iterator[Scored]:
    """Yield the scores of each sheet of a folder with `files` and `truth.jsonl`."""
    text = (folder / "truth.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    with (
        tempfile.TemporaryDirectory() as temporary,
        index_paths([str(folder / "files")], f"{temporary}/messy.sat") as index,
    ):
        for line in track(lines, folder.name):
            tables, errors = _tables(index, f"{line['file']}#{line['sheet']}")
            scores = rules.score_sheet(line, tables)
            if errors and any(table["records"] for table in line["tables"]):
                scores["exact"] = False
            scores["why"] = [*errors, *scores["why"]]
            scores["lost_untold"] = _lost_untold(line, tables)
            yield Scored(line["file"], line["kind"], scores)


def _tables(index: SheetIndex, sheet_id: str) -> tuple[list[TypedTable], list[str]]:
    """Return the tables of a sheet, and errors in words."""
    record = index.records([sheet_id]).get(sheet_id)
    if record is None:
        return [], ["not in the index"]
    tables, errors = [], []
    for place in range(max(1, len(record.tables))):
        try:
            tables.append(index.table(sheet_id, place))
        except SatError as error:
            errors.append(f"table {place}: {error}")
    return tables, errors


def _lost_untold(line: dict[str, Any], tables: Sequence[TypedTable]) -> int:
    """Return the number of records that no table gives at their row and none names as left out."""
    lost = 0
    for truth in line["tables"]:
        turned = bool(truth.get("transposed"))
        known = {
            place
            for table in tables
            if table.transposed == turned
            for place in (*table.places, *(each.row for each in table.left_out))
        }
        lost += len(set(truth["rows"]) - known)
    return lost


def measured(found: Sequence[Scored], kinds: frozenset[str]) -> dict[str, int | float]:
    """Return the figures of some kinds; a file counts as right if all of its sheets are."""
    files: dict[str, list[dict[str, Any]]] = {}
    for each in found:
        if each.kind in kinds:
            files.setdefault(each.file, []).append(each.scores)
    exact = sum(all(sheet["exact"] for sheet in file) for file in files.values())
    figures: dict[str, int | float] = {
        "files": len(files),
        "exact": exact,
        "share": round(exact / max(1, len(files)), 4),
    }
    for name, shown in (("told_rows", "told"), ("sections", "sections")):
        having = [file for file in files.values() if any(s[name] is not None for s in file)]
        figures[f"with_{shown}"] = len(having)
        figures[shown] = sum(all(s[name] in (None, True) for s in file) for file in having)
    sheets = [sheet for file in files.values() for sheet in file]
    return figures | {name: sum(sheet[name] for sheet in sheets) for name in _COUNTS}


@suite(
    "messy",
    "data",
    "work",
    unseen=option(False, "the 120 further files"),
    details=option(False, "tell what is wrong; write nothing"),
)
def main(options: Options) -> Iterator[Result]:
    """Score."""
    options.dry = options.dry or options.details
    folder, name = options.data / "messy_tables", "messy_tables"
    if options.unseen:
        folder, name = options.work / "unseen", "unseen"
        with tarfile.open(_UNSEEN) as archive:
            archive.extractall(folder, filter="data")
    found = list(scored(folder, scorer(options.data)))
    if options.details:
        for each in found:
            if not each.scores["exact"]:
                console.print(f"{each.file}: {'; '.join(each.scores['why'])}", markup=False)
    rows = [
        {"sheet": place, "exact": int(each.scores["exact"]), "lost": each.scores["lost"]}
        for place, each in enumerate(found)
    ]
    kinds = sorted({each.kind for each in found}, key=lambda kind: int(kind[1:]))
    for kind in kinds:
        figures = measured(found, frozenset({kind}))
        yield Result("read", name, figures, kind, data=[folder])
    yield Result("read", name, measured(found, frozenset(kinds)), per_query=rows, data=[folder])
