"""Search by contents: words and cosine, over names and over all, on tables and real workbooks.

    python -m benchmarks run contents
    python -m benchmarks run contents --tests
    python -m benchmarks run contents --quick

The first command measures the parts that choices may use; the second measures the tests, which
are looked at once. Each corpus of tables is asked with its titles and with names that tell
nothing, among its own tables and among those of OTT-QA too. Tokens are kept by text, and results
of the same commit are not measured again, so a stopped run goes on. `--quick` asks 200 questions
among own tables and writes no results.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.contents.systems import SYSTEMS, Indexes, System, asked
from benchmarks.contents.tokens import TOKENS, CachedEncoder
from benchmarks.contents.variants import Variant, sampled, variants
from benchmarks.corpora import used, where_to_get
from benchmarks.results import Result, is_current, read_summaries
from benchmarks.runner import Options, console, option, suite
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.metrics.rows import Rows, metrics_of
from sat_retriever.errors import CorpusError
from sat_retriever.records.tokens import Encoder, FloatArray

METRICS = ("Recall@1", "Recall@5", "Recall@10", "NDCG@10")
MOST, QUICK = 2_000, 200  # questions of a corpus


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A corpus, and those of its questions that are asked.

    Attributes:
        dataset: The corpus.
        queries: The questions by their place in it.
        tokens: Their tokens in the same order, (n, d).
        parts: Places of the questions of each part besides "all".
    """

    dataset: Dataset
    queries: Mapping[int, Query]
    tokens: FloatArray
    parts: Mapping[str, frozenset[int]]

    @classmethod
    def of(cls, variant: Variant, data: Path, encoder: Encoder, most: int) -> Asked:
        """Read a variant and encode its questions.

        Raises:
            CorpusError: If a file is missing or malformed.
        """
        dataset = variant.read(data)
        queries = sampled(dataset, most)
        tokens = encoder.encode_queries([query.text for query in queries.values()])
        parts = {part: frozenset(places(dataset)) for part, places in variant.corpus.parts.items()}
        return cls(dataset, queries, tokens, parts)


def measured(
    found: Asked, encoder: Encoder, systems: Sequence[System], folder: Path
) -> Iterator[list[Result]]:
    """Yield the results of each system, of all questions and of each part.

    Args:
        found: The corpus and its questions.
        encoder: Encoder of the tokens.
        systems: The systems.
        folder: Where indexes may be written.
    """
    with Indexes(found.dataset, encoder, folder) as indexes:
        for system in systems:
            index = indexes.at(system.level)
            rows = asked(system, index, found.queries, found.tokens)
            yield results(system, found, rows, len(index))


def results(system: System, found: Asked, rows: Rows, sheets: int) -> list[Result]:
    """Return a system's result over all questions, and over each part with a question."""
    sizes = {"sheets": sheets, "questions_there": len(found.dataset.queries)}
    made = []
    for part, places in {"all": frozenset(found.queries), **found.parts}.items():
        kept = [row for row in rows if row["query"] in places]
        if kept:
            metrics = {**metrics_of(kept, METRICS), "queries": len(kept), **sizes}
            made.append(Result(system.name, found.dataset.name, metrics, part, None, kept))
    return made


def left_to_do(variant: Variant, most: int, folder: Path | None) -> list[System]:
    """Return the systems without a result of this commit with as many questions."""
    there = {
        each["method"]
        for each in read_summaries("contents", folder).values()
        if each["dataset"] == variant.dataset
        and each["split"] == "all"
        and each["metrics"]["queries"] == min(most, each["metrics"]["questions_there"])
        and is_current(each)
    }
    return [system for system in SYSTEMS if system.name not in there]


def run(variant: Variant, encoder: Encoder, options: Options) -> Iterator[Result]:
    """Measure what is left of a variant.

    Raises:
        CorpusError: If a file is missing or malformed.
    """
    most = QUICK if options.quick else options.most
    left = list(SYSTEMS) if options.quick else left_to_do(variant, most, options.out)
    if not left:
        return
    found = Asked.of(variant, options.data, encoder, most)
    root = found.dataset.root
    data = found.dataset.files if root is None else (root,)
    with tempfile.TemporaryDirectory(dir=options.work) as folder:
        for made in measured(found, encoder, left, Path(folder)):
            yield from (replace(result, data=data) for result in made)


@suite(
    "contents",
    "data",
    "encoder",
    "quick",
    work=TOKENS,
    corpora=option(
        None, "default: those that choices may use", nargs="+", choices=list(used("contents"))
    ),
    tests=option(False, "all corpora that are tests"),
    most=option(MOST, "questions of a corpus that are asked"),
    own=option(False, "without distractors"),
)
def main(options: Options) -> Iterator[Result]:
    """Measure the corpora."""
    encoder = CachedEncoder.kept(options.encoder, options.work)
    tests = [name for name in used("contents") if name not in used("contents_chosen")]
    for name in tests if options.tests else options.corpora or used("contents_chosen"):
        corpus = used("contents")[name]
        for variant in variants(corpus, distractors=not options.quick and not options.own):
            try:
                yield from run(variant, encoder, options)
            except CorpusError as error:
                source = where_to_get("contents")
                console.print(f"not run: {error}\nThe data can be had from: {source}")
