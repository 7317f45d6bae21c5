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

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import results
from benchmarks.corpora import used
from benchmarks.general.corpora import SIZES, Wanted
from benchmarks.general.general import folder_of
from benchmarks.general.parts import PACKAGE
from benchmarks.results import (
    Result,
    data_hash,
    name_of,
    read_results,
    read_summaries,
    write_result,
)
from benchmarks.tables.adapted import HEADINGS, adapted_rows
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

BENCHMARK = "adapted"
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


@dataclass(frozen=True, slots=True)
class Written:
    """The place of a corpus's results; existing results are not made again.

    Attributes:
        folder: Folder to write below; None to write no files.
        subject: The corpus.
        again: True if existing results are made again.
    """

    folder: Path | None
    subject: Subject
    again: bool

    def take(self, systems: Iterable[System], group: Group) -> None:
        """Ask each system its remaining questions and write the results."""
        for system in systems:
            if self._has(system, group):
                print(f"{system.name}.{self.subject.dataset.name} is there already", flush=True)
                continue
            for result in measured(self.subject, system, group):
                if self.folder is not None:
                    write_result(BENCHMARK, result, data=self.subject.data, folder=self.folder)
                say(result)

    def _has(self, system: System, group: Group) -> bool:
        """True if every part's result is there, of the same settings and data."""
        if self.folder is None or self.again:
            return False
        name = self.subject.dataset.name
        hashed = _hash_of(self.subject.data)
        there = read_summaries(BENCHMARK, self.folder)
        found = (there.get(name_of(system.name, name, split, group.seed)) for split in group.splits)
        return all(
            each is not None
            and each["metrics"]["settings"] == group.settings
            and each["provenance"]["data_hash"] == hashed
            for each in found
        )


@cache
def _hash_of(data: tuple[Path, ...]) -> str | None:
    return data_hash(data)


def say(result: Result) -> None:
    """Print one line."""
    found = result.metrics
    shown = ("NDCG@5", "NDCG@10", "Recall@5", "AllRelevant@10")
    cells = " ".join(f"{name} {found[name]:.4f}" for name in shown)
    seed = "" if result.seed is None else f".{result.seed}"
    print(f"{result.method}.{result.dataset}.{result.split}{seed}: {cells}", flush=True)


def take_corpus(name: str, options: argparse.Namespace) -> str:
    """Measure one corpus, first without adaptation, then by seed, and return its name."""
    places = Places(options.data, options.runs / "adapted")
    subject = subject_of(name, places, options.seeds)
    written = Written(_folder(options), subject, options.again)
    folder = places.runs / subject.dataset.name
    every = splits_of(subject, options.seeds, whole=True)
    for system in plain_systems(subject.dataset, folder, options.untrained):
        written.take([system], _plain_group(system, every))
    for each in options.models:
        model = _apart(options.runs) if each == APART else Model.named(each)
        for system in packaged_systems(subject.dataset, folder, model):
            written.take([system], _plain_group(system, every, model=data_hash([model.folder])))
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
            written.take(adapted_systems(subject.dataset, folder, job, outcome), group)
    return subject.dataset.name


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


def _folder(options: argparse.Namespace) -> Path | None:
    """Return the folder of the results; trials never go to the committed results."""
    if options.dry:
        return None
    trial = bool(options.set) or TINY in options.corpora
    return options.runs / "results" if trial else results.FOLDER


def show(folder: Path | None, datasets: Iterable[str]) -> None:
    """Print a table for each part of a corpus."""
    files = read_results(BENCHMARK, folder)
    console = Console(width=None if sys.stdout.isatty() else 170)
    for dataset in datasets:
        here = [file for file in files if file["dataset"] == dataset]
        for split in dict.fromkeys(file["split"].partition("_")[0] for file in here):
            table = Table(*HEADINGS, box=None, title=f"{dataset}, {split}", title_justify="left")
            for row in adapted_rows(here, split):
                table.add_row(*row)
            console.print(table)


def main(arguments: Sequence[str] | None = None) -> None:
    """Adapt, ask, write a result file a system, part and seed, print the tables."""
    options = _parser().parse_args(arguments)
    if options.one is not None:
        run_one(options.one)
        return
    if options.quick:
        options.corpora, options.seeds = [TINY], options.seeds[:1]
        options.set = [*_QUICK, *options.set]
    found = [take_corpus(name, options) for name in options.corpora]
    if not options.dry:
        show(_folder(options), found)


def _parser() -> argparse.ArgumentParser:
    judged, own = used("judged"), used("adapted")
    made = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    made.add_argument("--data", type=Path, default=Path("../shared/data"))
    made.add_argument("--runs", type=Path, default=Path("runs"), help="where adaptations are kept")
    made.add_argument("--seeds", type=int, nargs="+", default=[42, 43, 44])
    made.add_argument("--modes", nargs="*", choices=MODES, default=list(MODES))
    made.add_argument(
        "--corpora", nargs="+", choices=(*judged, TINY), metavar="NAME", default=list(own),
        help=f"of {', '.join((*judged, TINY))}; default: {', '.join(own)}",
    )  # fmt: skip
    made.add_argument(
        "--backbone", default=OWN, metavar="NAME",
        help="encoder of the index, which adaptation starts from: own (what `sat index` takes), "
        "general, minilm, or a folder",
    )  # fmt: skip
    made.add_argument(
        "--models", nargs="*", choices=(GENERAL, APART), default=[GENERAL],
        help="general: the shipped one; apart: what `run general --apart` made",
    )  # fmt: skip
    made.add_argument("--untrained", default=MINILM, help="encoder of the zero-shot rows")
    made.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="for trials")
    made.add_argument("--again", action="store_true", help="ask anew; adaptations are kept")
    made.add_argument("--quick", action="store_true", help="thirty made sheets, one epoch")
    made.add_argument("--dry", action="store_true", help="write no result files")
    made.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    return made


if __name__ == "__main__":
    main()
