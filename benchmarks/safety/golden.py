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

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.results import Result, read_results
from benchmarks.runner import Options, console, option, suite
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


@suite(
    "golden",
    "data",
    work=Path(".cache/golden/work"),
    corpora=option(CORPORA, choices=CORPORA),
    questions=option(60, "asked of each corpus"),
    workers=option(os.cpu_count(), "reading processes"),
    only=option([], "starts of section names", metavar="START"),
    against=option(None, "earlier results", type=Path, metavar="DIR"),
    keep=option(None, "write the hashed texts there", type=Path, metavar="DIR"),
)
def main(options: Options) -> Iterator[Result]:
    """Hash; exit code 1 if sections differ from `--against`."""
    before = earlier(options.against) if options.against else None
    found: dict[str, tuple[str, int]] = {}
    shutil.rmtree(options.work, ignore_errors=True)
    options.work.mkdir(parents=True)
    paths = {options.work.resolve(): "WORK", options.data.resolve(): "DATA"}
    for name, section in _sections(options).items():
        items = [normalised(item, paths) for item in section()]
        found[name] = hashed(items), len(items)
        console.print(f"{name:32} {found[name][0][:16]} {len(items):7,}")
        if options.keep:
            file = options.keep / f"{name}.txt"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(_text(items), encoding="utf-8", errors="surrogatepass")
    shutil.rmtree(options.work)
    if not found:
        raise SystemExit(f"no section begins with {' or '.join(options.only)}")
    if not options.only:
        data = [options.data / name for name in CORPORA if (options.data / name).is_dir()]
        yield replace(result_of(found), data=data)
    if before is None:
        return
    different = differing(found, before, options.only)
    for name in different:
        old, new = (rows.get(name, ("missing", 0)) for rows in (before, found))
        console.print(f"{name}: before {old[0][:16]} {old[1]:,}, now {new[0][:16]} {new[1]:,}")
    if different:
        raise SystemExit(f"{len(different)} sections differ: {', '.join(different)}")
    console.print(f"all {len(found)} sections are the same")


def _sections(options: Options) -> dict[str, Section]:
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
