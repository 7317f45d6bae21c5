"""Without labels: models adapted to a corpus by its own sheets, beside untrained and general ones.

    python -m benchmarks run adapted
    python -m benchmarks run adapted --corpora eps --modes transductive --seeds 42
    python -m benchmarks run adapted --backbone minilm --set epochs=2 --set stage=encoder
    python -m benchmarks run adapted --modes            # nothing adapted: untrained and general
    python -m benchmarks run adapted --quick            # thirty sheets, one epoch, as a trial

No question of a corpus is shown to its adaptation. *Transductive*: the index that is adapted has
all sheets, those that are asked for among them. *Inductive*: it has none of the unseen families;
the whole corpus is encoded by what was adapted, and only questions about these are asked. Every
adaptation runs in a process of its own and is kept below `--runs`; a result is written as soon as
its seed is done, so the same command goes on where it was stopped. With `--set` or `--quick`
results are trials: they are written below `--runs` and never shown.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.corpora import used
from benchmarks.general.corpora import SIZES, Wanted
from benchmarks.general.general import folder_of
from benchmarks.general.parts import PACKAGE
from benchmarks.results import (
    Result,
    data_hash,
    name_of,
    read_summaries,
)
from benchmarks.runner import Options, hidden, option, results_folder, suite
from benchmarks.training.corpus import numbers
from benchmarks.unlabelled.runs import Job, Mode, adapted, changed, run_one
from benchmarks.unlabelled.subjects import GROUPED, TINY, Places, Subject, subject_of
from benchmarks.unlabelled.systems import (
    Model,
    System,
    adapted_systems,
    packaged_systems,
    plain_systems,
)
from sat_retriever.datasets.metrics.rows import metrics_of, rows_of
from sat_retriever.encoder.models.folder import GENERAL
from sat_retriever.encoder.source import DEFAULT, MINILM
from sat_retriever.records.jsonform import to_json
from sat_retriever.train.adapt.outcome import Adaptation
from sat_retriever.train.adapt.settings import OWN, AdaptSettings

MODES: tuple[Mode, ...] = ("transductive", "inductive")
APART = "apart"  # the general model that has not seen the paper's categories and names
_QUICK = (
    "number=80", "share=0.4", "epochs=1", "trained_layers=1", "max_length=32", "batch_size=16",
    "stage_2_epochs=1", "candidates=10",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Group:
    """Systems with the same questions and the same training, or without any.

    Attributes:
        settings: All that decides their rankings, as JSON.
        splits: Places of the questions by part.
        seed: Seed of the adaptation; None without one.
        told: Additional entries of each result, beside the metrics.
    """

    settings: Mapping[str, Any]
    splits: Mapping[str, tuple[int, ...]]
    seed: int | None
    told: Mapping[str, Any]


def splits_of(subject: Subject, seeds: Iterable[int], *, whole: bool) -> dict[str, tuple[int, ...]]:
    """Return places by part: the unseen families of each seed, and all parts if requested."""
    grouped = {f"{GROUPED}_{seed}": subject.unseen[seed].asked for seed in seeds}
    parts = {**subject.tests, **grouped} if whole else grouped
    return {name: places for name, places in parts.items() if places}


def measured(subject: Subject, system: System, group: Group) -> Iterator[Result]:
    """Yield a result a part: every question is asked once, whatever parts it is in."""
    dataset = subject.dataset
    asked = sorted({place for places in group.splits.values() for place in places})
    run = system.method.run({place: dataset.queries[place] for place in asked})
    ids = numbers(sorted(record.sheet_id for record in dataset.records))
    for split, places in group.splits.items():
        rows = rows_of({place: dataset.queries[place] for place in places}, run, ids)
        found = {
            **metrics_of(rows),
            "title": system.title,
            "queries": len(rows),
            "sheets": len(ids),
            "settings": dict(group.settings),
            **group.told,
        }
        yield Result(system.name, dataset.name, found, split, group.seed, rows)


def remaining(
    subject: Subject, systems: Iterable[System], group: Group, options: Options
) -> Iterator[Result]:
    """Ask each system its questions, unless results of the same settings and data are there."""
    name, data = subject.dataset.name, _hash_of(subject.data)
    for system in systems:
        there = {} if options.again or options.dry else read_summaries("adapted", options.out)
        found = (there.get(name_of(system.name, name, split, group.seed)) for split in group.splits)
        if all(
            each is not None
            and each["metrics"]["settings"] == group.settings
            and each["provenance"]["data_hash"] == data
            for each in found
        ):
            print(f"{system.name}.{name} is there already", flush=True)
            continue
        for result in measured(subject, system, group):
            yield replace(result, data=subject.data)


@cache
def _hash_of(data: tuple[Path, ...]) -> str | None:
    return data_hash(data)


def of_corpus(name: str, options: Options) -> Iterator[Result]:
    """Measure one corpus, first without adaptation, then by seed."""
    places = Places(options.data, options.runs / "adapted")
    subject = subject_of(name, places, options.seeds)
    folder = places.runs / subject.dataset.name
    every = splits_of(subject, options.seeds, whole=True)
    for system in plain_systems(subject.dataset, folder, options.untrained):
        yield from remaining(subject, [system], _plain_group(system, every), options)
    for each in options.models:
        model = _apart(options.runs) if each == APART else Model.named(each)
        for system in packaged_systems(subject.dataset, folder, model):
            group = _plain_group(system, every, model=data_hash([model.folder]))
            yield from remaining(subject, [system], group, options)
    for seed in options.seeds:
        for mode in options.modes:
            made = changed(AdaptSettings(seed=seed), options.set)
            seen = None if mode == "transductive" else subject.unseen[seed].seen
            job = Job(subject.dataset, started(options.backbone), made, seen)
            splits = every if seen is None else splits_of(subject, [seed], whole=False)
            if not splits:
                print(f"{name}: no question is about the unseen families of seed {seed} alone")
                continue
            outcome = adapted(job, places.runs)
            group = Group(job.about, splits, seed, _told(job, outcome))
            systems = adapted_systems(subject.dataset, folder, job, outcome)
            yield from remaining(subject, systems, group, options)


def started(backbone: str) -> str:
    """Return the encoder of the index that is adapted.

    >>> started("minilm"), started("own") == DEFAULT
    ('minilm', True)
    """
    return DEFAULT if backbone == OWN else backbone


def _apart(runs: Path) -> Model:
    """Return the model made by `run general --apart`.

    Raises:
        SystemExit: If it was not run here.
    """
    folder = folder_of(Wanted(SIZES["full"], apart=True), "full", runs) / PACKAGE
    if not folder.is_dir():
        sys.exit(f"{folder} is not there; run `python -m benchmarks run general --apart` first")
    title = "general, trained without the paper's categories and names"
    return Model(str(folder), f"{GENERAL}_{APART}", title)


def _plain_group(system: System, parts: Mapping[str, tuple[int, ...]], **more: Any) -> Group:
    encoder = system.index and system.index.fingerprint
    return Group({"encoder": encoder, **more}, parts, None, {})


def _told(job: Job, made: Adaptation) -> dict[str, Any]:
    """Return the cost and outcome of an adaptation, to store beside the metrics."""
    return {
        "mode": job.mode,
        "start": job.start,
        "adaptation": {
            "seconds": round(made.seconds, 1),
            "memory_mib": round(made.memory_mib, 1),
            "encoder_kept": made.encoder is not None,
            "reranker_kept": made.stage_2_kept,
            "dense_weight": made.dense_weight,
            "judged_apart": made.apart,
            "counts": dict(made.counts),
            "judged": to_json(made.verdicts),
        },
    }


@suite(
    "adapted",
    "data",
    "runs",
    "seeds",
    "set",
    "quick",
    modes=option(MODES, nargs="*", choices=MODES),
    corpora=option(list(used("adapted")), choices=(*used("judged"), TINY)),
    backbone=option(
        OWN,
        "encoder of the index, which adaptation starts from: own (what `sat index` takes), "
        "general, minilm, or a folder",
        metavar="NAME",
    ),
    models=option(
        [GENERAL],
        "general: the shipped one; apart: what `run general --apart` made",
        nargs="*",
        choices=(GENERAL, APART),
    ),
    untrained=option(MINILM, "encoder of the zero-shot rows"),
    again=option(False, "ask anew; adaptations are kept"),
    one=hidden(type=Path),
)
def main(options: Options) -> Iterator[Result]:
    """Adapt and ask, or adapt once in this process."""
    if options.one is not None:
        run_one(options.one)
        return
    if options.quick:
        options.corpora, options.seeds = [TINY], options.seeds[:1]
        options.set = [*_QUICK, *options.set]
    trial = bool(options.set) or TINY in options.corpora
    options.out = results_folder(options, options.runs, trial=trial)
    for name in options.corpora:
        yield from of_corpus(name, options)
