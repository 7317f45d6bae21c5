"""Make the demo's workbooks, and questions with known answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from demo_console import grid, name, plain, title
from rich.console import Console
from rich.text import Text

from sat_retriever import Hit, SheetRetriever
from sat_retriever.datasets.dataset import load_industrytab
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.metrics import mean, ndcg, recall
from sat_retriever.synth.corpus import synthesize
from sat_retriever.synth.options import WORKBOOKS, SynthOptions

QUERIES = 180
SHOWN = 5
DEPTH = 10

Asked = tuple[Query, Sequence[Hit], Sequence[str]]
"""A question, its hits, best first, and the ids of all sheets that answer it."""


@dataclass(frozen=True, slots=True)
class MadeCorpus:
    """Workbooks made from templates, and labelled questions about them.

    Attributes:
        folder: The workbooks.
        queries: The questions.
        ids: Sheet ids in an index, by the sheets' numbers in the labels.
    """

    folder: Path
    queries: Sequence[Query]
    ids: Mapping[str, str]

    def answers(self, query: Query) -> list[str]:
        """Return the ids of all sheets that answer a question."""
        return [self.ids[number] for number in query.positives]


def make(folder: Path) -> MadeCorpus:
    """Make some thirty workbooks, the same on every call; earlier ones are replaced."""
    synthesize(folder, SynthOptions("small", queries=QUERIES), force=True)
    corpus = load_industrytab(folder)
    ids = {record.sheet_id: f"{record.path}#{record.sheet}" for record in corpus.records}
    return MadeCorpus(folder / WORKBOOKS, corpus.queries, ids)


def show_made(console: Console, retriever: SheetRetriever, made: MadeCorpus) -> None:
    """Show a typical question of each type with its true sheets, and metrics of all questions."""
    asked = [
        (query, retriever.retrieve(query.text, top_k=DEPTH), made.answers(query))
        for query in made.queries
    ]
    title(
        console,
        "Questions made with the workbooks, so that every sheet that answers is known",
        "✓ it does",
    )
    for query, hits, answers in _usual(asked):
        _show(console, query, hits[:SHOWN], answers)
    pairs = [([hit.sheet_id for hit in hits], answers) for _, hits, answers in asked]
    found = mean([recall(ranked, true, DEPTH) for ranked, true in pairs])
    order = mean([ndcg(ranked, true, DEPTH) for ranked, true in pairs])
    title(console, f"All {len(pairs)} made questions")
    console.print(
        f"recall@{DEPTH} [bold]{found:.2f}[/bold], nDCG@{DEPTH} [bold]{order:.2f}[/bold]: "
        f"the share of all true sheets among the first {DEPTH}, and in which order"
    )


def _usual(asked: Sequence[Asked]) -> list[Asked]:
    """Return of each type the first question whose result is nearest to the type's average.

    Only questions with two to `SHOWN` true sheets are considered.
    """
    by_type: dict[str, list[Asked]] = {}
    for each in asked:
        if 2 <= len(each[2]) <= SHOWN:
            by_type.setdefault(each[0].query_type, []).append(each)
    usual = []
    for same in by_type.values():
        shares = [_found(hits, answers) / len(answers) for _, hits, answers in same]
        average = mean(shares)
        nearest = min(range(len(same)), key=lambda place: abs(shares[place] - average))
        usual.append(same[nearest])
    return usual


def _found(hits: Sequence[Hit], answers: Sequence[str]) -> int:
    return sum(hit.sheet_id in answers for hit in hits[:SHOWN])


def _show(console: Console, query: Query, hits: Sequence[Hit], answers: Sequence[str]) -> None:
    kind = query.query_type.replace("_", " ")
    title(console, query.text)
    found = f"{_found(hits, answers)} of {len(answers)} found in the first {SHOWN}"
    console.print(f"{kind}: {found}", style="dim")
    table = grid(1, 5, 28, 62)
    for hit in hits:
        mark = Text("✓", style="bold green") if hit.sheet_id in answers else Text("")
        table.add_row(mark, Text(f"{hit.score:.2f}"), *name(hit.record))
    ranked = {hit.sheet_id for hit in hits}
    for answer in answers:
        if answer not in ranked:
            path, _, sheet = answer.rpartition("#")
            row = ("–", "later", sheet, path)
            table.add_row(*(Text(plain(part).plain, style="dim") for part in row))
    console.print(table)
