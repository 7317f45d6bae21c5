"""Hash all that users see, to show that internal work changes nothing outside.

    python -m benchmarks run golden                              write results/golden/
    python -m benchmarks run golden --against DIR                compare with earlier results
    python -m benchmarks run golden --keep before                also keep the hashed texts
    python -m benchmarks run golden --only eps/hits cli          only some sections

Three corpora are indexed, searched and shown by the library, the command line, the agent tools and
the adapters, and the methods of the main table are trained on a small scale. Each section has its
own hash. Machine paths, times and the sizes of index files are left out; scores have six decimals.
Compare only results of one machine and one set of packages, since others may round scores
differently.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.results import Result, read_results, write_result
from benchmarks.safety.golden_corpora import CORPORA, corpus_named
from benchmarks.safety.golden_sections import (
    Section,
    corpus_sections,
    interface_sections,
    normalised,
)
from benchmarks.safety.golden_training import training_sections

Rows = Mapping[str, tuple[str, int]]
"""Hash and number of items by section."""


def hashed(items: Sequence[str]) -> str:
    """Return SHA-256 of a section's text."""
    return hashlib.sha256(_text(items).encode("utf-8", "surrogatepass")).hexdigest()


def earlier(folder: Path) -> dict[str, tuple[str, int]]:
    """Return the sections of the result in a folder of results.

    Raises:
        SystemExit: If there is none.
    """
    for result in read_results("golden", folder):
        if result["split"] == "all":
            return {row["section"]: (row["sha256"], row["items"]) for row in result["per_query"]}
    raise SystemExit(f"{folder} has no result of this command")


def differing(found: Rows, before: Rows, only: Sequence[str]) -> list[str]:
    """Return sections that differ, or are missing on one side."""
    names = [name for name in dict.fromkeys((*before, *found)) if _chosen(name, only)]
    return [name for name in names if found.get(name) != before.get(name)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Hash, print, write; exit code 1 if sections differ from `--against`."""
    options = _options(arguments)
    before = earlier(options.against) if options.against else None
    console = Console()
    found: dict[str, tuple[str, int]] = {}
    shutil.rmtree(options.work, ignore_errors=True)
    options.work.mkdir(parents=True)
    paths = {options.work.resolve(): "WORK", options.data.resolve(): "DATA"}
    for name, section in _sections(options).items():
        items = [normalised(item, paths) for item in section()]
        found[name] = hashed(items), len(items)
        console.print(f"{name:32} {found[name][0][:16]} {len(items):7,}", highlight=False)
        if options.keep:
            file = options.keep / f"{name}.txt"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(_text(items), encoding="utf-8", errors="surrogatepass")
    shutil.rmtree(options.work)
    if not found:
        raise SystemExit(f"no section begins with {' or '.join(options.only)}")
    if not options.only:
        data = [options.data / name for name in CORPORA if (options.data / name).is_dir()]
        path = write_result("golden", result_of(found), data=data, folder=options.results)
        console.print(f"{path}: {len(found)} sections", highlight=False)
    if before is not None:
        _compare(console, found, before, options.only)


def _compare(console: Console, found: Rows, before: Rows, only: Sequence[str]) -> None:
    """Show the differences.

    Raises:
        SystemExit: If a section differs; the exit code is 1.
    """
    different = differing(found, before, only)
    if not different:
        console.print(f"all {len(found)} sections are the same")
        return
    table = Table("section", "before", "items", "now", "items", box=None, pad_edge=False)
    for name in different:
        cells = (before.get(name, ("missing", 0)), found.get(name, ("missing", 0)))
        table.add_row(name, *(str(cell) for row in cells for cell in (row[0][:16], row[1])))
    console.print(table)
    raise SystemExit(f"{len(different)} sections differ: {', '.join(different)}")


def _sections(options: argparse.Namespace) -> dict[str, Section]:
    """Return functions of the sections by name, in their order."""
    every = dict(interface_sections())
    for name in options.corpora:
        corpus = corpus_named(name, options)
        if corpus is not None:
            every |= {f"{name}/{part}": made for part, made in corpus_sections(corpus).items()}
    every |= training_sections(options.work.resolve(), options.data.resolve())
    return {name: made for name, made in every.items() if _chosen(name, options.only)}


def _chosen(name: str, only: Sequence[str]) -> bool:
    return not only or name.startswith(tuple(only))


def _text(items: Sequence[str]) -> str:
    return "".join(f"{item}\n" for item in items)


def result_of(found: Rows) -> Result:
    """Return the hashes in the form of a result file."""
    rows = [
        {"section": name, "sha256": digest, "items": count}
        for name, (digest, count) in found.items()
    ]
    metrics = {"sections": len(found), "items": sum(count for _, count in found.values())}
    return Result("sat", "golden", metrics, per_query=rows)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--corpora", nargs="+", choices=CORPORA, default=list(CORPORA))
    parser.add_argument("--questions", type=int, default=60, help="asked of each corpus")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="reading processes")
    parser.add_argument("--only", nargs="+", default=(), metavar="START", help="of section names")
    parser.add_argument("--against", type=Path, metavar="DIR", help="earlier results")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="write the hashed texts there")
    parser.add_argument("--work", type=Path, default=Path(".cache/golden/work"))
    parser.add_argument("--results", type=Path, default=None)
    return parser.parse_args(arguments)
