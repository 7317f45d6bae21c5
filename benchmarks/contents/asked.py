"""Made questions by value, note and row label, and about nothing, by what an index keeps.

    python -m benchmarks run asked [--seeds 0 1 2] [--sheets 100]

Seeds 0 to 2 are for choices; the others are the test. A question is unique if one sheet holds its
text; recall@1 is over these.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from benchmarks.results import Result
from benchmarks.runner import Options, option, suite
from sat_retriever.answer.retriever import SheetRetriever
from sat_retriever.datasets.labels import UNANSWERABLE, Query, load_labels
from sat_retriever.datasets.sheets import load_sheets
from sat_retriever.index.index import SheetIndex
from sat_retriever.questions.contents.draw import PHRASED
from sat_retriever.records.contents import ContentsPolicy
from sat_retriever.synth.corpus import synthesize
from sat_retriever.synth.options import WORKBOOKS, SynthOptions

DEVELOPMENT = (0, 1, 2)
TEST = (10, 11, 12)
_ASKS = "value=.25,note=.25,label=.25,unanswerable=.1"
_TOP = 10

Ask = Callable[[str], list[str]]
"""A function that returns the ids of the first sheets for a question."""


def searched(index: SheetIndex) -> Ask:
    """Ask as `sat search` does."""
    retriever = SheetRetriever(index)
    return lambda text: [hit.sheet_id for hit in retriever.retrieve(text, _TOP)]


def by_words(index: SheetIndex) -> Ask:
    """Ask by the words of names and contents, without the cosine."""

    def ask(text: str) -> list[str]:
        found = index.candidates(index.question(text, dense_weight=0.0), _TOP)
        return [each.sheet_id for each in found]

    return ask


def by_contents(index: SheetIndex) -> Ask:
    """Ask by the words of contents alone."""

    def ask(text: str) -> list[str]:
        found = index.search.score_sheets(index.question(text), index.sheet_ids())
        ordered = sorted(found, key=lambda each: (-each.contents, each.rank))
        return [each.sheet_id for each in ordered[:_TOP]]

    return ask


METHODS: Mapping[str, tuple[ContentsPolicy, Callable[[SheetIndex], Ask]]] = MappingProxyType(
    {
        "names": (ContentsPolicy.NAMES, searched),
        "examples": (ContentsPolicy.EXAMPLES, searched),
        "all": (ContentsPolicy.ALL, searched),
        "all_words": (ContentsPolicy.ALL, by_words),
        "all_contents": (ContentsPolicy.ALL, by_contents),
    }
)
"""What an index keeps and how it is asked, by the name of the row."""


def asked_corpus(folder: Path, seed: int, sheets: int) -> list[Query]:
    """Make a corpus, and return its questions about contents with ids as an index has them."""
    options = SynthOptions(scale=str(sheets), seed=seed, queries=2 * sheets, asks=_ASKS)
    synthesize(folder, options, workers=1)
    ids = {
        each.sheet_id: f"{each.path}#{each.sheet}" for each in load_sheets(folder / "sheets.json")
    }
    return [
        Query(query.text, tuple(ids[each] for each in query.positives), query_type=query.query_type)
        for query in load_labels(folder / "query.json", unanswerable=True)
        if query.query_type in (*PHRASED, UNANSWERABLE)
    ]


def rows_of(ask: Ask, questions: Sequence[Query]) -> list[dict[str, Any]]:
    """One row a question: its place, type, number of sheets, and the rank of the first of them.

    The rank is 0 if none is among the first ten.
    """
    rows = []
    for place, query in enumerate(questions):
        found = ask(query.text)
        ranks = [found.index(each) + 1 for each in query.positives if each in found]
        row = {"query": place, "type": query.query_type, "sheets": len(query.positives)}
        rows.append({**row, "rank": min(ranks, default=0)})
    return rows


def metrics_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Questions, unique ones, recall@1 of the unique ones and hit@1 of all, by type."""
    found: dict[str, Any] = {}
    for kind in PHRASED:
        own = [row for row in rows if row["type"] == kind]
        unique = [row for row in own if row["sheets"] == 1]
        found[f"{kind}_questions"], found[f"{kind}_unique"] = len(own), len(unique)
        found[f"{kind}_recall@1"] = _share(unique, 1)
        found[f"{kind}_recall@10"] = _share(unique, _TOP)
        found[f"{kind}_hit@1"] = _share(own, 1)
    found["unanswerable_questions"] = sum(row["type"] == UNANSWERABLE for row in rows)
    return found


def _share(rows: Sequence[Mapping[str, Any]], within: int) -> float | None:
    return sum(0 < row["rank"] <= within for row in rows) / len(rows) if rows else None


def results(seeds: Sequence[int], sheets: int, methods: Sequence[str]) -> Iterator[Result]:
    """One result for each seed and row."""
    for seed in seeds:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            questions = asked_corpus(folder / "made", seed, sheets)
            split = "development" if seed in DEVELOPMENT else "test"
            for level in ContentsPolicy:
                own = [method for method in methods if METHODS[method][0] is level]
                if not own:
                    continue
                with SheetIndex.create(folder / f"{level}.sat", contents=level) as index:
                    index.sync(folder / "made" / WORKBOOKS)
                    for method in own:
                        rows = rows_of(METHODS[method][1](index), questions)
                        metrics = {"sheets": len(index), **metrics_of(rows)}
                        yield Result(method, "made_contents", metrics, split, seed, rows)


@suite(
    "asked",
    seeds=[*DEVELOPMENT, *TEST],
    sheets=100,
    methods=option(list(METHODS), choices=list(METHODS)),
)
def main(options: Options) -> Iterable[Result]:
    """Make corpora, index them and ask."""
    return results(options.seeds, options.sheets, options.methods)
