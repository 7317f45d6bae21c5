"""Train gated graphs on questions that need several sheets; `run related --model` measures them.

    python -m benchmarks run related_train --variants papers ours --seed 42
    python -m benchmarks run related --validation --model ours=runs/related/models/ours.42

The lists of the training parts are joined: Spider's taught databases with declared keys and with
keys found by headers, and made workbooks of other companies and of the naming conventions that
`run related` does not ask about. The validation parts of the same sets choose the epoch. The base
scorer is trained once; each variant is a graph over it.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from rich.console import Console
from rich.table import Table

from benchmarks.related.lists import EVERY, OURS, PAPERS, TAUGHT, lists
from benchmarks.related.related import Wanted
from benchmarks.related.sets import Places
from benchmarks.training.plan import overridden
from sat_retriever.encoder import DEFAULT, SheetEncoder
from sat_retriever.train.reranker.candidatesets import joined_sets
from sat_retriever.train.reranker.run import TrainedReranker
from sat_retriever.train.reranker.train import train_reranker
from sat_retriever.train.settings import RerankerTraining

BASE = "base"
ASKED = 300  # most validation questions of a corpus
_WEIGHT = 0.7  # of the cosine, the general encoder's: a trained graph has one for all its lists
_EVERY = replace(EVERY, dense_weight=_WEIGHT)
VARIANTS: Mapping[str, RerankerTraining] = MappingProxyType(
    {
        BASE: replace(_EVERY, layers=0, channels=()),
        "papers": replace(_EVERY, channels=PAPERS),
        "ours": replace(_EVERY, channels=OURS),
        "joint": replace(_EVERY, channels=OURS, joint=True, gate=-1.0, graph_learning_rate=2e-4),
    }
)
_SHOWN = ("NDCG@5", "Recall@5", "MRR@5")


def trained(
    variants: Sequence[str], wanted: Wanted, most: int, changes: Sequence[str], seed: int
) -> dict[str, TrainedReranker]:
    """Train the base scorer and graphs over it; finished ones are used again.

    Args:
        variants: Names of the graphs.
        wanted: Folders and encoder.
        most: Most training questions of a corpus.
        changes: Changed settings, `name=value`.
        seed: Seed of all trainings.
    """
    teaching, choosing = (
        joined_sets({name: each.sets for name, each in found.items()})
        for found in (
            lists(TAUGHT, wanted, "train", most=most, settings=_EVERY),
            lists(TAUGHT, wanted, "validation", most=ASKED, settings=_EVERY),
        )
    )
    folder = wanted.places.runs / "models"
    models: dict[str, TrainedReranker] = {}
    for name in dict.fromkeys((BASE, *variants)):
        settings = overridden(replace(VARIANTS[name], seed=seed), changes)
        if not isinstance(settings, RerankerTraining):
            raise TypeError("overridden keeps the kind of settings")
        base = None if name == BASE else models[BASE].folder
        models[name] = train_reranker(
            teaching, choosing, settings, folder / f"{name}.{seed}", base=base, data_name="related"
        )
    return models


def show(found: Mapping[str, TrainedReranker]) -> Table:
    """Return the metrics of the validation questions, and the epoch that was kept."""
    table = Table("variant", "folder", "best epoch", *_SHOWN)
    for name, each in found.items():
        metrics = each.metrics
        cells = (f"{metrics[key]:.4f}" if key in metrics else "–" for key in _SHOWN)
        table.add_row(name, str(each.folder), str(each.best_epoch), *cells)
    return table


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the lists, train, print the table."""
    options = _parser().parse_args(arguments)
    places = Places(options.data, options.runs)
    wanted = Wanted("validation", places, SheetEncoder.load(options.encoder))
    found = trained(options.variants, wanted, options.most, options.set, options.seed)
    Console().print(show(found))


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    made.add_argument("--data", type=Path, default=Path("../shared/data"))
    made.add_argument("--runs", type=Path, default=Path("runs/related"), help="what is made")
    made.add_argument("--encoder", default=DEFAULT, help="what SheetEncoder.load takes")
    made.add_argument("--variants", nargs="*", choices=tuple(VARIANTS), default=["papers", "ours"])
    made.add_argument("--most", type=int, default=400, help="questions of a taught corpus")
    made.add_argument("--seed", type=int, default=42)
    made.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    return made
