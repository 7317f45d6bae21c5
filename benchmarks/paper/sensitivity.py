"""Measure effects of K, depth, gate and channels of the paper's graph, on IndustryTab-1K.

    python -m benchmarks run sensitivity [--encoder mpnet]

One seed is used. Every row changes one setting of the paper's reference. All rows share Stage 1,
and those with equal K the base scorer, with each other and with `benchmarks.paper.trained`, which
describes the options.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from benchmarks.paper.trained import TRAINING, run
from benchmarks.results import Result
from benchmarks.runner import Options, option, suite
from benchmarks.training.corpus import STANDARD_SEED
from benchmarks.training.encoders import ENCODERS
from benchmarks.training.methods import ENCODER, RERANKER, Recipe, of_encoder
from benchmarks.training.plan import Corpus
from sat_retriever.encoder.source import MINILM

SEED = 42
DENSE = ("semantic", "query", "schema", "shape")
JOIN, AGGREGATION = "join_key", "aggregation"
FORMULA, SUMMARY = "formula_reference", "summary_source"


def _with(title: str, *channels: str) -> Recipe:
    return Recipe(title, ENCODER, replace(RERANKER, channels=(*DENSE, *channels)))


ROWS: Mapping[str, Recipe] = MappingProxyType(
    {
        "reference": Recipe("F+S, 1 layer, gate −4, K = 50", ENCODER, RERANKER),
        "k_10": Recipe("K = 10", ENCODER, replace(RERANKER, candidates=10)),
        "k_20": Recipe("K = 20", ENCODER, replace(RERANKER, candidates=20)),
        "layers_2": Recipe("2 layers", ENCODER, replace(RERANKER, layers=2)),
        "layers_3": Recipe("3 layers", ENCODER, replace(RERANKER, layers=3)),
        "gate_8": Recipe("gate −8", ENCODER, replace(RERANKER, gate=-8.0)),
        "gate_6": Recipe("gate −6", ENCODER, replace(RERANKER, gate=-6.0)),
        "join": _with("join", JOIN),
        "aggregation": _with("aggregation", AGGREGATION),
        "formula": _with("formula", FORMULA),
        "summary": _with("summary source", SUMMARY),
        "aggregation_formula_summary": _with(
            "aggregation + formula + summary", AGGREGATION, FORMULA, SUMMARY
        ),
        "all_channels": _with("all four", JOIN, AGGREGATION, FORMULA, SUMMARY),
    }
)


@suite(
    "train_sensitivity",
    "data",
    "runs",
    "set",
    rows=option(list(ROWS), choices=list(ROWS)),
    encoder=option(MINILM, "base encoder", choices=tuple(ENCODERS)),
    **TRAINING,
)
def main(options: Options) -> Iterator[Result]:
    """Train each row's graph and score it."""
    rows = of_encoder({name: ROWS[name] for name in options.rows}, options.encoder)
    corpus = Corpus("industrytab_1k", "standard", STANDARD_SEED, options.limit)
    return run(rows, corpus, SEED, options)
