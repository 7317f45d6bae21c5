"""Measure the cost of an error of the released training: Stage 1 with it, without it, ours.

    python -m benchmarks run bug --seeds 42 43 44

The released recipe takes one relevant sheet per question, so the question's other relevant sheets
count as wrong in a batch, and hard negatives of the untrained encoder. Its epochs end at a question
without a hard negative (`benchmarks.training.released`). The other options are those of
`benchmarks.paper.trained`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from benchmarks.paper.trained import parser, run
from benchmarks.training.corpus import STANDARD_SEED
from benchmarks.training.methods import ENCODER, Recipe
from benchmarks.training.plan import RELEASED_STOPS, Corpus

BENCHMARK = "train_bug"
_RELEASED = replace(ENCODER, loss="single_positive", mining="fixed")
ROWS: Mapping[str, Recipe] = MappingProxyType(
    {
        "released_stops": Recipe("released recipe, as released", _RELEASED, variant=RELEASED_STOPS),
        "released": Recipe("the same, its epochs whole", _RELEASED),
        "paper_loss": Recipe("+ the paper's loss", replace(_RELEASED, loss="multi_positive")),
        "mined": Recipe("+ negatives mined anew each epoch", ENCODER),
    }
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train each row's Stage 1, score it, write its result file."""
    made = parser(__doc__)
    made.add_argument("--seeds", type=int, nargs="+", default=[42, 43, 44])
    made.add_argument("--rows", nargs="+", choices=tuple(ROWS), default=list(ROWS))
    options = made.parse_args(arguments)
    corpus = Corpus("industrytab_1k", "standard", STANDARD_SEED, options.limit)
    for seed in options.seeds:
        run(BENCHMARK, {name: ROWS[name] for name in options.rows}, corpus, seed, options)
