"""Make the main table in two minutes: a small made corpus, few questions, one epoch."""

from __future__ import annotations

from benchmarks.runner import Options
from sat_retriever.synth.corpus import synthesize
from sat_retriever.synth.options import SynthOptions

SHEETS, QUERIES, TAUGHT = 120, 200, 64
# Both recipes then share Stage 1, which is trained once.
_ONE_EPOCH = (
    "epochs=1",
    "base_epochs=1",
    "graph_epochs=1",
    "candidates=20",
    "trained_layers=1",
    'negative_choice="random"',
)


def make_quick(options: Options) -> None:
    """Change the options of `run main` to a quick trial, and make its corpus if missing."""
    folder = options.runs.resolve() / "quick" / f"corpus-{SHEETS}"
    if not (folder / "corpus.json").is_file():  # written last
        synthesize(folder, SynthOptions(str(SHEETS), seed=7, queries=QUERIES))
    options.corpus, options.seeds, options.limit = str(folder), [42], TAUGHT
    options.set = [*_ONE_EPOCH, *options.set]
