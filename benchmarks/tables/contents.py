"""The tables of search by contents, and of table retrieval as in TARGET."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.contents.contents import METRICS
from benchmarks.contents.systems import SYSTEMS
from benchmarks.contents.target import DEPTHS, OWN, reported
from benchmarks.contents.variants import Variant, variants
from benchmarks.corpora import Corpus, title_of, used
from benchmarks.tables.markdown import markdown, number, signed
from sat_retriever.datasets.metrics.comparison import difference

File = Mapping[str, Any]
Files = Sequence[File]

_HEADINGS = {"Recall@1": "R@1", "Recall@5": "R@5", "Recall@10": "R@10", "NDCG@10": "NDCG@10"}


def contents_tables(files: Files) -> str:
    """Return a table for each corpus: every variant, every ranking, the lead over the row above."""
    return "\n\n".join(
        f"**{corpus.title}**\n\n{_corpus_table(corpus, files)}"
        for corpus in used("contents").values()
    )


def _corpus_table(corpus: Corpus, files: Files) -> str:
    headings = ["", "tables", "questions", "ranking", *(_HEADINGS[name] for name in METRICS)]
    rows = [
        row
        for part in ("all", *corpus.parts)
        for variant in variants(corpus)
        for row in _rows(variant, part, files)
    ]
    return markdown([*headings, "Δ NDCG@10 to the row above"], rows)


def _rows(variant: Variant, part: str, files: Files) -> Iterator[list[str]]:
    """Yield the rows of one variant, in the order of the systems; one that says so without any."""
    title = variant.title if part == "all" else f"of these `{part}`"
    before: File | None = None
    for system in SYSTEMS:
        file = _found(files, system.name, variant.dataset, part)
        if file is None:
            continue
        metrics = file["metrics"]
        size = _questions(metrics)
        figures = [number(metrics[name]) for name in METRICS]
        yield [title, number(metrics["sheets"]), size, system.title, *figures, _lead(file, before)]
        before = file
    if before is None:
        yield [title, "", "", "not run"]


def _questions(metrics: Mapping[str, Any]) -> str:
    """Return the number of questions, and of how many they were drawn."""
    asked, there = metrics["queries"], metrics["questions_there"]
    return f"{asked:,} of {there:,}" if asked < there else f"{there:,}"


def _found(files: Files, method: str, dataset: str, split: str) -> File | None:
    names = (method, dataset, split)
    return next((f for f in files if (f["method"], f["dataset"], f["split"]) == names), None)


def _lead(file: File, before: File | None) -> str:
    """Return the lead over the row before; questions about one table are resampled together."""
    if before is None:
        return ""
    rows = file["per_query"]
    clusters = [row["about"] for row in rows]
    return signed(
        difference({None: rows}, {None: before["per_query"]}, "NDCG@10", clusters=clusters)
    )


def target_table(files: Files) -> str:
    """Return recall in percent at every depth, then the rows that TARGET reports."""
    rows = []
    for file in files:
        metrics = file["metrics"]
        named = "with titles" if file["split"] == "titles" else "without titles"
        figures = [f"{100 * metrics[f'Recall@{depth}']:.1f}" for depth in DEPTHS]
        sizes = [number(metrics["sheets"]), _questions(metrics)]
        rows.append([f"{title_of(file['dataset'])}, {named}", *sizes, "this package", *figures])
    for ranking, figures_of in reported().items():
        for data, reported_figures in figures_of.items():
            shown = [f"{figure:.1f}" for figure in reported_figures]
            rows.append([f"{data}, TARGET's own test data", "", "", f"*{ranking}*", *shown])
    rows += [[f"{data}, TARGET's own test data", "", "", "this package", "not run"] for data in OWN]
    headings = ["data", "tables", "questions", "ranking", *(f"R@{depth}" for depth in DEPTHS)]
    return markdown(headings, rows)
