"""Measure the cost of an error of the released training: Stage 1 with it, without it, ours.

    python -m benchmarks run bug --seeds 42 43 44

The released recipe takes one relevant sheet per question, so the question's other relevant sheets
count as wrong in a batch, and hard negatives of the untrained encoder. Its epochs end at a question
without a hard negative (`benchmarks.training.released`). The other options are those of
`benchmarks.paper.trained`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from benchmarks.paper.trained import TRAINING, run
from benchmarks.results import Result
from benchmarks.runner import Options, option, suite
from benchmarks.training.corpus import STANDARD_SEED
from benchmarks.training.methods import ENCODER, Recipe
from benchmarks.training.plan import RELEASED_STOPS, Corpus

_RELEASED = replace(ENCODER, loss="single_positive", mining="fixed")
ROWS: Mapping[str, Recipe] = MappingProxyType(
    {
        "released_stops": Recipe("released recipe, as released", _RELEASED, variant=RELEASED_STOPS),
        "released": Recipe("the same, its epochs whole", _RELEASED),
        "paper_loss": Recipe("+ the paper's loss", replace(_RELEASED, loss="multi_positive")),
        "mined": Recipe("+ negatives mined anew each epoch", ENCODER),
    }
)


@suite(
    "train_bug",
    "data",
    "runs",
    "seeds",
    "set",
    rows=option(list(ROWS), choices=list(ROWS)),
    **TRAINING,
)
def main(options: Options) -> Iterator[Result]:
    """Train each row's Stage 1 and score it."""
    corpus = Corpus("industrytab_1k", "standard", STANDARD_SEED, options.limit)
    for seed in options.seeds:
        yield from run({name: ROWS[name] for name in options.rows}, corpus, seed, options)
