"""Both stages trained on Spider's training questions, scored on its dev part and on BIRD's.

    python -m benchmarks.train_spider --seeds 42 --bird-tables dev_tables.json

Training sees three quarters of the training databases, validation the others; the databases of
dev and of BIRD are in neither. Links are the declared foreign keys ("given") or those that the
index finds by headers ("found"); BIRD's declared keys take its dev_tables.json. The link
reranker needs no training, and gets the same candidates. See `benchmarks.trained` for the
other options.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from benchmarks.results import Result, write_result
from benchmarks.train_corpus import index_of, numbers, source_of, spider_tests
from benchmarks.train_methods import SPIDER_ENCODER, SPIDER_RERANKER, Method
from benchmarks.train_plan import Corpus
from benchmarks.train_rank import linked, ranked, ranking
from benchmarks.train_runner import Places, costs, encoder_folder, trained
from benchmarks.train_score import metrics_of, rows_of
from benchmarks.trained import changed, is_done, parser, results_folder, settings_of
from sat_retriever.corpora import Dataset
from sat_retriever.scoring import DENSE_WEIGHT

BENCHMARK = "train_spider"
SPLIT_SEED = 42  # of the databases held out for validation, whatever the training seed


@dataclass(frozen=True, slots=True)
class System:
    """One row.

    Attributes:
        method: What is trained, and the links of the index.
        walk: Whether the link reranker that needs no training comes last.
    """

    method: Method
    walk: bool = False


_UNTRAINED = Method("MiniLM + words, untrained", dense_weight=DENSE_WEIGHT)
_STAGE1 = Method("Stage 1, trained", SPIDER_ENCODER)
_FUSED = replace(_STAGE1, title="+ words", dense_weight=None)
_GRAPH = Method("+ graph", SPIDER_ENCODER, SPIDER_RERANKER)


def _links(method: Method, title: str, kind: str) -> Method:
    label = "declared links" if kind == "given" else "links found by headers"
    return replace(method, title=f"{title}, {label}", links=kind)  # type: ignore[arg-type]


SYSTEMS: Mapping[str, System] = MappingProxyType(
    {
        "fused": System(_UNTRAINED),
        "fused_walk_found": System(_links(_UNTRAINED, "+ link reranker", "found"), walk=True),
        "fused_walk_given": System(_links(_UNTRAINED, "+ link reranker", "given"), walk=True),
        "stage1": System(_STAGE1),
        "stage1_fused": System(_FUSED),
        "walk_found": System(_links(_FUSED, "+ link reranker", "found"), walk=True),
        "walk_given": System(_links(_FUSED, "+ link reranker", "given"), walk=True),
        "base": System(
            replace(_GRAPH, reranker=replace(SPIDER_RERANKER, layers=0), title="+ base scorer")
        ),
        "graph_found": System(_links(_GRAPH, "+ graph", "found")),
        "graph_given": System(_links(_GRAPH, "+ graph", "given")),
    }
)


def scored(system: System, dataset: Dataset, corpus: Corpus, places: Places, seed: int) -> Result:
    """One system's metrics and rows on all questions of a data set."""
    start = time.perf_counter()
    method = system.method
    step = method.step(corpus, seed)
    encoder, folder = encoder_folder(step, places)
    with index_of(dataset, encoder, method.links, folder) as index:
        rank = ranking(index, step, method.dense_weight, places)
        queries = dict(enumerate(dataset.queries))
        run = ranked(linked(rank, index) if system.walk else rank, queries)
        rows = rows_of(queries, run, numbers(index.sheet_ids()))
    found: dict[str, Any] = {
        **metrics_of(rows),
        "queries": len(rows),
        "settings": _settings(system, corpus, seed),
        "steps": {} if step is None else costs(step, places),
        "evaluation_s": round(time.perf_counter() - start, 1),
    }
    return Result("", dataset.name, found, seed=None if step is None else seed, per_query=rows)


def _settings(system: System, corpus: Corpus, seed: int) -> dict[str, Any]:
    method = system.method
    return settings_of(method, method.step(corpus, seed)) | {"walk": system.walk}


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, score each system on each data set, write a result file each."""
    made = parser(__doc__)
    made.add_argument("--seeds", type=int, nargs="+", default=[42])
    made.add_argument("--methods", nargs="+", choices=tuple(SYSTEMS), default=list(SYSTEMS))
    made.add_argument("--bird-tables", type=Path, help="dev_tables.json of BIRD's release")
    options = made.parse_args(arguments)
    places, folder = Places(options.data, options.runs), results_folder(options)
    corpus = Corpus("spider", "train", SPLIT_SEED, options.limit)
    tests = spider_tests(options.data, options.bird_tables)
    learnt = source_of(corpus, options.data).dataset.files
    for seed in options.seeds:
        for name in options.methods:
            system = replace(SYSTEMS[name], method=changed(SYSTEMS[name].method, options.set))
            step = system.method.step(corpus, seed)
            for dataset in tests:
                if system.method.links == "given" and name.endswith("given") and not dataset.links:
                    print(f"{name} on {dataset.name}: not run, no declared links (--bird-tables)")
                    continue
                ending = "" if step is None else f".{seed}"
                path = folder / BENCHMARK / f"{name}.{dataset.name}.all{ending}.json"
                if not options.again and is_done(path, _settings(system, corpus, seed)):
                    continue
                if step is not None:
                    trained(step, places)
                found = replace(scored(system, dataset, corpus, places, seed), method=name)
                files = dataset.files if step is None else (*dataset.files, *learnt)
                write_result(BENCHMARK, found, data=dict.fromkeys(files), folder=folder)
                shown = ("NDCG@10", "Recall@10", "AllRelevant@10")
                cells = " ".join(f"{each} {found.metrics[each]:.4f}" for each in shown)
                print(f"{name}.{dataset.name}.{found.seed}: {cells}", flush=True)


if __name__ == "__main__":
    main()
