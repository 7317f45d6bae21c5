"""The paper's gated graph over features of lists, on linked and real workbooks: what does it add?

    python -m benchmarks run graph_attempt
    python -m benchmarks run graph_attempt --graphs graph_of_pulls --test --left-out

The judged lists choose epochs and the graph. `--test` asks the tests as well, with the graph that
was chosen; they are looked at once. With `--left-out` each source of real workbooks to learn from
is left out in turn, and asked. Graphs and the base scorers below them learn from the same lists.
*Shipped* is the order of the package: its reranker where an index holds names alone, else links
and reading. Trainings are kept below `--work`, and the same command goes on where it was stopped.
Rows of another encoder (`--encoder`) have its name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import nn

from benchmarks.general.features import values_of, without
from benchmarks.general.gains import PULLS
from benchmarks.real.sources import names
from benchmarks.related.gated import (
    OF_BASES,
    PLACES,
    GatedNetwork,
    Judged,
    Learning,
    base_of,
    fit,
    logits_of,
    over,
)
from benchmarks.related.graphs import BASES, GRAPHS, SHIPPED
from benchmarks.related.lists import Listed, Sets, collected
from benchmarks.related.related import Wanted
from benchmarks.related.scoring import MEASURES
from benchmarks.related.sets import MADE, Places
from benchmarks.results import Result
from benchmarks.runner import Options, option, suite
from sat_retriever.datasets.metrics import mean
from sat_retriever.datasets.metrics.rows import metrics_of
from sat_retriever.encoder import SheetEncoder
from sat_retriever.encoder.models.folder import GENERAL, packaged_model
from sat_retriever.rank.features.features import FEATURES
from sat_retriever.rank.features.model import FeatureModel
from sat_retriever.records.files import make_folder
from sat_retriever.records.tokens import FloatArray
from sat_retriever.train.loop.weights import load_tensors, save_tensors
from sat_retriever.train.reranker.featurelists import FeatureLists, joined_lists

if TYPE_CHECKING:
    from sat_retriever.train.reranker.features import FeatureNetwork

_EPOCH = "best epoch"
_METRICS = ("NDCG@5", "NDCG@10", "AllRelevant@10")
_CONTENTS = list(FEATURES).index("index with contents")


def shipped(lists: FeatureLists) -> FloatArray:
    """Return what the package ranks lists by, (b, k)."""
    if not lists.features[0, 0, _CONTENTS]:
        model = packaged_model(GENERAL, "reranker", FeatureModel.load)
        if model.spec.encoder == lists.encoder:
            return values_of(lists, model)
    return lists.scores


def linked(lists: FeatureLists) -> float:
    """Return the share of questions with two right candidates that a graph's link joins."""
    best = lists.relations.shape[2]
    links = lists.relations[..., [2 * place + end for place in PLACES for end in (0, 1)]]
    right = lists.relevant[:, :, None] & lists.relevant[:, None, :best]
    return float((links.any(axis=-1) & right).any(axis=(1, 2)).mean())


def network_of(
    row: str, taught: FeatureLists, judged: Judged, seed: int, folder: Path
) -> tuple[nn.Module, int]:
    """Return the trained network of a row with its best epoch; it is trained once."""
    graph = GRAPHS.get(row)
    if graph is None:
        taught = taught if row == PULLS else without(taught, PULLS)
        network: nn.Module = base_of(taught, seed)
    else:
        base = cast("FeatureNetwork", network_of(graph.base, taught, judged, seed, folder)[0])
        torch.manual_seed(seed)
        network = GatedNetwork(base, graph)
    path = folder / f"{row}.{seed}.safetensors"
    if not path.is_file():
        if isinstance(network, GatedNetwork):
            taught, learning = over(network.base, taught), Learning()
            judged = {name: over(network.base, each) for name, each in judged.items()}
        else:
            learning = OF_BASES
        best = fit(network, taught, judged, learning, seed)
        make_folder(folder)
        save_tensors(path, {**network.state_dict(), _EPOCH: torch.tensor(best)})
    tensors = load_tensors(path)
    best = int(tensors.pop(_EPOCH))
    network.load_state_dict(tensors)
    return network, best


def measured(
    row: str, name: str, listed: Listed, values: FloatArray, split: str, seed: int | None = None,
    **told: Any,
) -> Result:  # fmt: skip
    """Return the result of a row on a set, ranked by values (b, k)."""
    numbers = {answer: number for number, answer in enumerate(dict.fromkeys(listed.answers))}
    rows = [
        {"query": row["query"], "relevant": row["relevant"], "hits": row["hits"], "answer": number}
        for row, number in zip(
            listed.lists.rows(values), map(numbers.__getitem__, listed.answers), strict=True
        )
    ]
    metrics = {
        **metrics_of(rows, _METRICS),
        "AllRelevant@5": mean([MEASURES["AllRelevant@5"](row) for row in rows]),
        "queries": len(rows),
        "answers": len(numbers),
        "linked": linked(listed.lists),
        **told,
    }
    return Result(row, name, metrics, split, seed, rows)


def asked(
    rows: Sequence[str], taught: Sets, judged: Sets, sets: Sets, split: str, seed: int, folder: Path
) -> Iterator[Result]:
    """Yield the results of trained rows on some sets."""
    learnt = joined_lists([each.lists for each in taught.values()])
    judging = {name: each.lists for name, each in judged.items()}
    for row in rows:
        network, best = network_of(row, learnt, judging, seed, folder)
        told: dict[str, Any] = {"best_epoch": best, "taught": len(learnt)}
        if isinstance(network, GatedNetwork):
            told["gates"] = [round(gate, 4) for gate in network.gates().tolist()]
        for name, listed in sets.items():
            lists = listed.lists
            if isinstance(network, GatedNetwork):
                lists = over(network.base, lists)
            values = logits_of(network, lists)
            yield measured(row, name, listed, values, split, seed, **told)


@suite(
    "graph_attempt",
    "data",
    "encoder",
    "seeds",
    work=MADE,
    graphs=option(list(GRAPHS), choices=list(GRAPHS)),
    test=option(False, "ask the tests as well, which are looked at once"),
    left_out=option(False, "leave out each source of real workbooks in turn"),
)
def main(options: Options) -> Iterator[Result]:
    """Make the lists, learn, measure."""
    torch.set_num_threads(1)
    encoder = SheetEncoder.load(options.encoder)
    wanted = Wanted("validation", Places(options.data, options.work), encoder)
    sets = collected(wanted, tested=options.test)
    taught, judged = sets["taught"], sets["judged"]
    parts = [("validation", "", judged)]
    if options.test:
        parts.append(("test", "", sets["tested"]))
    if options.left_out:
        real = [name for name in names(options.data) if name in taught]
        parts += [("left_out", name, {name: taught[name]}) for name in real]
    ending = "" if options.encoder == GENERAL else f"@{Path(options.encoder).name}"
    folder = options.work / options.suite / encoder.fingerprint
    for split, left, chosen in parts:
        for name, listed in chosen.items():
            yield measured(SHIPPED + ending, name, listed, shipped(listed.lists), split)
        rest = {name: each for name, each in taught.items() if name != left}
        for seed in options.seeds:
            rows = [*BASES, *options.graphs]
            for result in asked(rows, rest, judged, chosen, split, seed, folder / left):
                yield replace(result, method=result.method + ending)
