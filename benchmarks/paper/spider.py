"""Train both stages on Spider's training questions, and score them on its dev part and BIRD's.

    python -m benchmarks run spider --seeds 42 --bird-tables dev_tables.json

Training sees three quarters of the training databases, validation the others. The databases of dev
and of BIRD are in neither. Links are the declared foreign keys ("given") or those that the index
finds by headers ("found"); BIRD's declared keys need its dev_tables.json. The link reranker needs
no training and gets the same candidates. See `benchmarks.paper.trained` for the other options.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from benchmarks.paper.trained import TRAINING, Measured, changed, measure
from benchmarks.results import Result
from benchmarks.runner import Options, option, suite
from benchmarks.training.corpus import dataset_of, spider_tests
from benchmarks.training.methods import SPIDER_ENCODER, SPIDER_RERANKER, Recipe
from benchmarks.training.plan import Corpus
from benchmarks.unlabelled.quality import whole
from sat_retriever.index.search.fusion import DENSE_WEIGHT

SPLIT_SEED = 42  # of the held-out validation databases, for every training seed

_UNTRAINED = Recipe("MiniLM + words, untrained", dense_weight=DENSE_WEIGHT)
_STAGE1 = Recipe("Stage 1, trained", SPIDER_ENCODER)
_FUSED = replace(_STAGE1, title="+ words", dense_weight=None)
_GRAPH = Recipe("+ graph", SPIDER_ENCODER, SPIDER_RERANKER)


def _links(method: Recipe, title: str, kind: str) -> Recipe:
    label = "declared links" if kind == "given" else "links found by headers"
    return replace(method, title=f"{title}, {label}", links=kind)  # type: ignore[arg-type]


SYSTEMS: Mapping[str, Recipe] = MappingProxyType(
    {
        "fused": _UNTRAINED,
        "fused_walk_found": replace(_links(_UNTRAINED, "+ link reranker", "found"), walk=True),
        "fused_walk_given": replace(_links(_UNTRAINED, "+ link reranker", "given"), walk=True),
        "stage1": _STAGE1,
        "stage1_fused": _FUSED,
        "walk_found": replace(_links(_FUSED, "+ link reranker", "found"), walk=True),
        "walk_given": replace(_links(_FUSED, "+ link reranker", "given"), walk=True),
        "base": replace(_GRAPH, reranker=replace(SPIDER_RERANKER, layers=0), title="+ base scorer"),
        "graph_found": _links(_GRAPH, "+ graph", "found"),
        "graph_given": _links(_GRAPH, "+ graph", "given"),
    }
)


@suite(
    "train_spider",
    "data",
    "runs",
    "set",
    seeds=[42],
    methods=option(list(SYSTEMS), choices=list(SYSTEMS)),
    bird_tables=option(None, "dev_tables.json of BIRD's release", type=Path),
    **TRAINING,
)
def main(options: Options) -> Iterator[Result]:
    """Train and score each system on each data set."""
    corpus = Corpus("spider", "train", SPLIT_SEED, options.limit)
    tests = spider_tests(options.data, options.bird_tables)
    learnt = dataset_of(corpus, options.data).files
    for seed in options.seeds:
        for name in options.methods:
            recipe = changed(SYSTEMS[name], options.set)
            step = recipe.step(corpus, seed)
            for dataset in tests:
                if name.endswith("given") and not dataset.links:
                    print(f"{name} on {dataset.name}: not run, no declared links (--bird-tables)")
                    continue
                asked = whole(dataset)
                data = dataset.files if step is None else (*dataset.files, *learnt)
                own = None if step is None else seed
                yield from measure(Measured(name, recipe, step, asked, own), data, options)
