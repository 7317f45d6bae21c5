"""Train the feature reranker on lists of many corpora, and measure it on others.

    python -m benchmarks run features [--seeds 42 43 44] [--no-ablations] [--ship]

Rows: the order of the links, where it starts; the feature reranker; the same without its guard,
and without each group of its features. Corpora that are "judged" choose the epoch. Those that are
"watched" are of kinds that nothing was learnt from. No test set is asked. Corpora, lists and
trainings are kept in `--runs`; the same command goes on where it was stopped. With --ship the
reranker of the first seed is put into the package, whose encoder `--encoder` must then be.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.general.card import RERANKER_CARD, reranker_card
from benchmarks.general.gains import GROUPS, LINKS, PULLS, START, UNGUARDED, WHOLE, gap, ndcg
from benchmarks.general.lists import Use, list_corpora, lists_of
from benchmarks.general.ship import ship
from benchmarks.results import Result
from benchmarks.runner import Options, option, suite
from sat_retriever.datasets.metrics import mean
from sat_retriever.datasets.metrics.rows import Rows, metrics_of
from sat_retriever.encoder import SheetEncoder
from sat_retriever.encoder.models.folder import FOLDER, GENERAL
from sat_retriever.rank.features.features import FEATURES
from sat_retriever.rank.features.model import FeatureModel
from sat_retriever.rank.trained import RERANKER
from sat_retriever.records.tokens import FloatArray
from sat_retriever.train.loop.summary import read_run
from sat_retriever.train.reranker.featurelists import INPUTS, FeatureLists, joined_lists
from sat_retriever.train.reranker.features import train_features
from sat_retriever.train.settings import FeatureTraining

METRICS = ("NDCG@5", "NDCG@10", "AllRelevant@10", "Hit@5")
Lists = Mapping[str, FeatureLists]


def without(lists: FeatureLists, group: str) -> FeatureLists:
    """Return lists whose features of a group are all 0; without links there are no pulls either."""
    beginnings = GROUPS[group]
    relations = lists.relations * (group not in (LINKS, PULLS))
    kept = np.array([not name.startswith(beginnings) for name in FEATURES], dtype=np.float32)
    return replace(lists, features=lists.features * kept, relations=relations)


def values_of(lists: FeatureLists, model: FeatureModel, *, guarded: bool = True) -> FloatArray:
    """Return what a model ranks lists by, (b, k)."""
    values = lists.scores.copy()
    for row, (inputs, mask) in enumerate(zip(lists.inputs(), lists.mask, strict=True)):
        values[row, mask] += model.moves(inputs, guarded=guarded)
    return values


def collected(data: Path, runs: Path, encoder: SheetEncoder) -> tuple[Mapping[str, Use], Lists]:
    """Return the use of each corpus by name, and its lists."""
    uses: dict[str, Use] = {}
    found: dict[str, FeatureLists] = {}
    for corpus in list_corpora(data, runs / "corpora"):
        file = runs / "lists" / f"{corpus.name}-{encoder.fingerprint}-{INPUTS}.npz"
        if not file.exists():
            lists = lists_of(corpus, encoder, runs / "indexes")
            file.parent.mkdir(parents=True, exist_ok=True)
            lists.save(file)
            print(f"{corpus.name}: {len(lists):,} lists", flush=True)
        uses[corpus.name], found[corpus.name] = corpus.use, FeatureLists.load(file)
    return uses, found


def trained(uses: Mapping[str, Use], lists: Lists, settings: FeatureTraining, run: Path) -> Path:
    """Train on the taught corpora, and return the folder of the reranker."""
    learn, judge = (
        joined_lists([lists[name] for name, use in uses.items() if use == wanted])
        for wanted in ("taught", "judged")
    )
    return train_features(learn, judge, settings, run, data_name="lists of many corpora").reranker


def package(folder: Path, uses: Mapping[str, Use], lists: Lists, found: Sequence[Result]) -> Path:
    """Return a folder with a trained reranker and its card.

    Args:
        folder: A run that is finished; the new folder is in it.
        uses: Use of each corpus by name.
        lists: Lists of each corpus.
        found: All results.
    """
    made, run = folder / "package", read_run(folder)
    model = FeatureModel.load(folder / RERANKER)
    model.save(made / RERANKER)
    seed = int(run.settings["seed"])
    best = ", ".join(str(each.best.epoch) for each in run.phases if each.best)
    recipe = (
        f"`python -m benchmarks run features`, seed {seed}. Every corpus counts alike in "
        f"validation. Training took {run.seconds:,.0f} seconds; epoch {best} was kept."
    )
    corpora = ["| corpus | use | questions |", "|---|---|---|"]
    corpora += [f"| {name} | {use} | {len(lists[name]):,} |" for name, use in uses.items()]
    numbers = ["| corpus | links | reranked | difference | share |", "|---|---|---|---|---|"]
    for name, use in uses.items():
        if use != "taught":
            first, own = (
                next(each for each in found if (each.method, each.dataset, each.seed) == wanted)
                for wanted in ((START, name, None), (WHOLE, name, seed))
            )
            share = mean([model.familiarity.share(each) > 0 for each in lists[name].lists()])
            numbers.append(
                f"| {name} | {first.metrics['NDCG@10']:.3f} | {own.metrics['NDCG@10']:.3f} | "
                f"{_gap(first, [own])} | {share:.2f} |"
            )
    text = reranker_card(
        made, FeatureTraining(seed=seed), "\n".join(corpora), recipe, "\n".join(numbers)
    )
    (made / RERANKER_CARD).write_text(text, encoding="utf-8")
    return made


def results(
    uses: Mapping[str, Use], lists: Lists, seeds: Sequence[int], runs: Path, *, ablations: bool
) -> Iterator[Result]:
    """Yield one result a corpus, row and seed; of an ablation one a use and seed."""
    asked = {name: each for name, each in lists.items() if uses[name] != "taught"}
    for name, each in asked.items():
        yield _result(START, name, uses[name], each.rows(each.scores), None)
    for seed in seeds:
        settings = FeatureTraining(seed=seed)
        model = FeatureModel.load(trained(uses, lists, settings, runs / f"{WHOLE}.{seed}"))
        for name, each in asked.items():
            for row, guarded in ((WHOLE, True), (UNGUARDED, False)):
                values = values_of(each, model, guarded=guarded)
                yield _result(row, name, uses[name], each.rows(values), seed)
        for group in GROUPS if ablations else ():
            row = f"without_{group}"
            fewer = {name: without(each, group) for name, each in lists.items()}
            model = FeatureModel.load(trained(uses, fewer, settings, runs / f"{row}.{seed}"))
            for use in ("judged", "watched"):
                of_each = {
                    name: mean(ndcg(fewer[name].rows(values_of(fewer[name], model))))
                    for name in asked
                    if uses[name] == use
                }
                metrics = {"use": use, "NDCG@10": mean([*of_each.values()]), "corpora": of_each}
                yield Result(row, use, metrics, "validation", seed)


def _result(row: str, corpus: str, use: str, rows: Rows, seed: int | None) -> Result:
    metrics = {"use": use, **metrics_of(rows, METRICS)}
    return Result(row, corpus, metrics, "validation", seed, rows)


def _gap(first: Result, others: Sequence[Result]) -> str:
    found = gap(ndcg(first.per_query), [ndcg(each.per_query) for each in others])
    return f"{found.mean:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"


@suite(
    "features",
    "data",
    "encoder",
    "seeds",
    runs=Path("runs/features"),
    no_ablations=False,
    ship=option(False, "put the reranker into the package"),
)
def main(options: Options) -> Iterator[Result]:
    """Collect lists, train, measure."""
    if options.ship and options.encoder != GENERAL:
        sys.exit(f"--ship is for lists of the encoder {GENERAL!r}; leave --encoder out")
    uses, lists = collected(options.data, options.runs, SheetEncoder.load(options.encoder))
    found = []
    for result in results(
        uses, lists, options.seeds, options.runs, ablations=not options.no_ablations
    ):
        found.append(result)
        yield result
    if options.ship:
        run = options.runs / f"{WHOLE}.{options.seeds[0]}"
        ship(package(run, uses, lists, found), FOLDER / GENERAL)
