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

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.contents.systems import SYSTEMS, Indexes, System, asked
from benchmarks.contents.tokens import CachedEncoder
from benchmarks.contents.variants import Variant, sampled, variants
from benchmarks.corpora import used, where_to_get
from benchmarks.results import Result, is_current, read_summaries, write_result
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.metrics.rows import Rows, metrics_of
from sat_retriever.encoder import DEFAULT
from sat_retriever.errors import CorpusError
from sat_retriever.records.tokens import Encoder, FloatArray

BENCHMARK = "contents"
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
        for each in read_summaries(BENCHMARK, folder).values()
        if each["dataset"] == variant.dataset
        and each["split"] == "all"
        and each["metrics"]["queries"] == min(most, each["metrics"]["questions_there"])
        and is_current(each)
    }
    return [system for system in SYSTEMS if system.name not in there]


def show(found: Sequence[Result]) -> Table:
    """Return results as a table for the terminal."""
    table = Table("data set", "part", "sheets", "questions", "ranking", *METRICS, box=None)
    for each in found:
        sizes = (f"{each.metrics[name]:,}" for name in ("sheets", "queries"))
        numbers = (f"{each.metrics[name]:.3f}" for name in METRICS)
        table.add_row(each.dataset, each.split, *sizes, each.method, *numbers)
    return table


def run(variant: Variant, encoder: Encoder, options: argparse.Namespace) -> Iterator[Result]:
    """Measure what is left of a variant; write each result as soon as it is there.

    Raises:
        CorpusError: If a file is missing or malformed.
    """
    most = QUICK if options.quick else options.most
    left = list(SYSTEMS) if options.quick else left_to_do(variant, most, options.out)
    if not left:
        return
    found = Asked.of(variant, options.data, encoder, most)
    root = found.dataset.root
    with tempfile.TemporaryDirectory(dir=options.work) as folder:
        for made in measured(found, encoder, left, Path(folder)):
            for result in made:
                if not options.quick:
                    data = found.dataset.files if root is None else [root]
                    write_result(BENCHMARK, result, data=data, folder=options.out)
                sys.stderr.write(f"{result.name}: NDCG@10 {result.metrics['NDCG@10']:.3f}\n")
                yield result


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the corpora, write result files, print a table."""
    options = _parser().parse_args(arguments)
    options.work.mkdir(parents=True, exist_ok=True)
    console = Console(width=None if sys.stdout.isatty() else 150)
    encoder = CachedEncoder.kept(options.encoder, options.work)
    found: list[Result] = []
    tests = [name for name in used("contents") if name not in used("contents_chosen")]
    for name in tests if options.tests else options.corpora:
        corpus = used("contents")[name]
        for variant in variants(corpus, distractors=not options.quick and not options.own):
            try:
                found += run(variant, encoder, options)
            except CorpusError as error:
                source = where_to_get("contents")
                console.print(f"not run: {error}\nThe data can be had from: {source}")
    console.print(show(found))


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    made.add_argument("--data", type=Path, default=Path("../shared/data"))
    made.add_argument("--work", type=Path, default=Path(".cache/contents"), help="kept tokens")
    made.add_argument("--out", type=Path, help="folder of the results")
    made.add_argument("--encoder", default=DEFAULT, help="what SheetEncoder.load takes")
    which = made.add_mutually_exclusive_group()
    which.add_argument(
        "--corpora", nargs="+", default=list(used("contents_chosen")), choices=used("contents"),
        metavar="NAME", help=f"from {', '.join(used('contents'))}",
    )  # fmt: skip
    which.add_argument("--tests", action="store_true", help="all corpora that are tests")
    made.add_argument("--most", type=int, default=MOST, help="questions of a corpus that are asked")
    made.add_argument("--own", action="store_true", help="without distractors")
    made.add_argument("--quick", action="store_true", help="a look; writes no results")
    return made
