"""Questions that need several linked sheets: candidates, walk and shipped reranker.

    python -m benchmarks run related --validation
    python -m benchmarks run related

All choices are made with the first one; the last one is the test, looked at once. Corpora and
indexes are kept below `--work`.

Intervals are paired 95 % bootstrap intervals; questions with the same answer are drawn together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.indexes import fill, made_once
from benchmarks.progress import progress_bar
from benchmarks.related.scoring import Searched, answered, clusters, gaps, measures
from benchmarks.related.sets import MADE, SETS, Asked, Part, Places, QuestionSet
from benchmarks.related.systems import System, systems
from benchmarks.results import Result
from benchmarks.runner import Options, console, option, suite
from sat_retriever.encoder import SheetEncoder
from sat_retriever.errors import CorpusError
from sat_retriever.index.index import SheetIndex


@dataclass(frozen=True, slots=True)
class Wanted:
    """The measurements to make.

    Attributes:
        part: Part of the sets.
        places: Folders of data and runs.
        encoder: Encoder of the indexes.
    """

    part: Part
    places: Places
    encoder: SheetEncoder


def index_of(asked: Asked, wanted: Wanted) -> SheetIndex:
    """Return the index of a corpus, made as a user makes it unless it is there.

    Workbooks are read with all contents; records have names and headers alone.
    """
    dataset, encoder = asked.dataset, wanted.encoder
    held = (dataset.records, dataset.links) if dataset.root is None else str(dataset.root)
    known = hashlib.sha256(repr(held).encode("utf-8", "replace")).hexdigest()[:10]
    name = f"{dataset.name}-{asked.links}-{known}-{encoder.fingerprint}.sat"
    path = wanted.places.runs / "indexes" / name
    made_once(path, encoder, lambda index: fill(index, dataset, asked.links))
    return SheetIndex.open(path, encoder)


@contextmanager
def searched(
    chosen: QuestionSet, wanted: Wanted
) -> Iterator[tuple[list[Searched], tuple[Path, ...]]]:
    """Yield the questions of a set with open indexes, and the files they were made from.

    Raises:
        CorpusError: If its data is missing.
    """
    with ExitStack() as stack:
        found: list[Searched] = []
        data: list[Path] = []
        for asked in chosen.read(wanted.part, wanted.places):
            index = stack.enter_context(index_of(asked, wanted))
            found.append(Searched(index, asked.dataset.queries))
            data += asked.data
        yield found, tuple(dict.fromkeys(data))


def measured(
    chosen: QuestionSet, asked: Sequence[Searched], rows_to_make: Sequence[System], part: Part
) -> Iterator[Result]:
    """Yield the result of every row of a set."""
    groups = clusters(asked)
    kinds = {kind for each in asked for kind in _links(each.index)}
    made = {}
    for system in rows_to_make:
        if system.kind and system.kind not in kinds:
            continue
        with progress_bar(f"{chosen.name}, {system.name}", len(groups)) as told:
            rows = made[system.name] = answered(system, asked, told)
        found = {
            **measures(rows),
            "title": system.title,
            "queries": len(rows),
            "answers": len(set(groups)),
            "sheets": sum(len(each.index) for each in asked),
            "mean_relevant": sum(row["relevant"] for row in rows) / len(rows),
            "mean_set": sum(row["set"] for row in rows) / len(rows),
            "against": {name: gaps(rows, made[name], groups) for name in system.against},
        }
        yield Result(system.name, chosen.name, found, part, None, rows)


def _links(index: SheetIndex) -> dict[str, int]:
    return dict(index.status()["links"])  # type: ignore[call-overload,no-any-return]


@suite(
    "related",
    "data",
    "encoder",
    work=MADE,
    validation=option(False, "ask the parts for choices"),
    sets=option(list(SETS), choices=list(SETS)),
    no_ablations=option(False, "leave out rows without…"),
)
def main(options: Options) -> Iterator[Result]:
    """Ask every set."""
    wanted = Wanted(
        "validation" if options.validation else "test",
        Places(options.data, options.work),
        SheetEncoder.load(options.encoder),
    )
    rows = list(systems(ablations=not options.no_ablations))
    for name in options.sets:
        try:
            with searched(SETS[name], wanted) as (asked, data):
                for result in measured(SETS[name], asked, rows, wanted.part):
                    yield replace(result, data=data)
        except CorpusError as error:
            console.print(f"{name}: not run, {error}")
