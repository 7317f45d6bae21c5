"""Index the corpora of the golden hashes once each, and select their questions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks.results import ROOT
from benchmarks.runner import Options
from sat_retriever import Column, Link, SheetIndex, SheetRecord
from sat_retriever.records.grouping import evenly

CORPORA = ("eps", "industrytab_1k", "made")
SHEETS, SEED = 150, 0  # of the made corpus
# Dates of every kind, words that no sheet has, other languages, spellings and signs.
ALWAYS = (
    "last year's budget by department",
    "sales in the first quarter of 2024",
    "monthly figures from March 2023 to June 2023",
    "what changed between 2021 and 2022?",
    "next month's plan",
    "report of the previous quarter, North region",
    "fiscal year 2020/21",
    "zxqv wkjh plmt",
    "Umsatz nach Monat im letzten Jahr",
    "VehicleType_cost-per-unit (USD) 2030",
    "日本 2024年 売上",
)


@dataclass(frozen=True)
class Corpus:
    """One corpus, made and indexed on first use.

    Attributes:
        name: One of `CORPORA`.
        data: Folder of the public corpora.
        work: Folder that its files are written to.
        workers: Reading processes.
        asked: Number of its labelled questions to ask.
    """

    name: str
    data: Path
    work: Path
    workers: int
    asked: int

    @cached_property
    def folder(self) -> Path:
        """The folder of its labelled questions; the made one is written first."""
        if self.name != "made":
            return self.data / self.name
        options = ["--scale", str(SHEETS), "--seed", str(SEED), "--workers", str(self.workers)]
        sat(self.work, "synth", "--out", "made", *options)
        return self.work / "made"

    @property
    def has_files(self) -> bool:
        """True if it consists of workbooks, not records."""
        return self.name != "industrytab_1k"

    @cached_property
    def index(self) -> SheetIndex:
        """The open index."""
        if self.has_files:
            _ = self.report
        else:
            self._add_records()
        return SheetIndex.open(self.work / self.file)

    @cached_property
    def report(self) -> dict[str, Any]:
        """The report of `sat index` on its workbooks; empty for a corpus of records."""
        if not self.has_files:
            return {}
        place = self.folder / "workbooks" if self.name == "made" else self.folder
        said = sat(
            self.work, "index", str(place), "--index", self.file, "--json",
            "--workers", str(self.workers),
        )  # fmt: skip
        report: dict[str, Any] = json.loads(said)
        del report["seconds"]
        return report

    @property
    def file(self) -> str:
        """Name of its index file."""
        return f"{self.name}.sat"

    @cached_property
    def questions(self) -> list[str]:
        """Labelled questions, evenly from its list, then those that are always asked."""
        rows = json.loads((self.folder / "query.json").read_text(encoding="utf-8"))
        own = list(dict.fromkeys(row["query"] for row in rows))
        return [*evenly(own, self.asked), *ALWAYS]

    def _add_records(self) -> None:
        """Add published records and links to an index."""
        sheets = json.loads((self.folder / "sheets.json").read_text(encoding="utf-8"))
        edges = json.loads((self.folder / "dependency_edges.json").read_text(encoding="utf-8"))
        with SheetIndex.create(self.work / self.file) as made:
            made.add_records(map(_record, sheets.values()), _links(edges["edge_all_types"]))


def corpus_named(name: str, options: Options) -> Corpus | None:
    """Return a corpus; None if its data is missing."""
    if name != "made" and not (options.data / name).is_dir():
        return None
    places = options.data.resolve(), options.work.resolve()
    return Corpus(name, *places, options.workers, options.questions)


def sat(work: Path, *arguments: str, code: int = 0) -> str:
    """Run a `sat` command in a folder and return its output.

    Raises:
        SystemExit: If it ends with another exit code.
    """
    done = subprocess.run(
        [sys.executable, "-m", "sat_retriever", *arguments],
        cwd=work, env=environment(), capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    if done.returncode != code:
        told = f"sat {' '.join(arguments)} ended with exit code {done.returncode}"
        raise SystemExit(f"{told}:\n{done.stderr[-2000:]}")
    return done.stdout if code == 0 else done.stderr


def environment() -> dict[str, str]:
    """Return the environment of commands: this checkout, fixed width, no colours or settings."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("SAT_")}
    packages = sorted(map(str, (ROOT / "integrations").glob("*")))
    paths = [str(ROOT), *packages, own.get("PYTHONPATH", "")]
    return {
        **own, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "COLUMNS": "120",
        "NO_COLOR": "1", "TERM": "dumb", "PYTHONUTF8": "1", "OMP_NUM_THREADS": "1",
    }  # fmt: skip


def _record(row: dict[str, Any]) -> SheetRecord:
    return SheetRecord(
        str(row["sheet_id"]),
        row["name"],
        columns=tuple(Column(column["name"]) for column in row["columns"]),
        num_rows=row["num_rows"],
        num_cols=row["num_cols"],
        metadata={"source": row["source"]},
    )


def _links(pairs: dict[str, list[str]]) -> list[Link]:
    """Return one link per pair and type, from the first to the second sheet."""
    ends = ((pair.partition(","), kinds) for pair, kinds in pairs.items())
    return [Link(source, target, kind) for (source, _, target), kinds in ends for kind in kinds]
