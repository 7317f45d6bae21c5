"""The tables of `benchmarks.unlabelled.quality`: every corpus without training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.corpora import shown_parts
from benchmarks.paper import paper
from benchmarks.tables.markdown import markdown, not_run, number, signed
from sat_retriever.datasets.metrics.comparison import difference

File = Mapping[str, Any]

_QUALITY_COLUMNS = {
    "NDCG@5": "NDCG@5",
    "NDCG@10": "NDCG@10",
    "Recall@1": "R@1",
    "Recall@5": "R@5",
    "Recall@10": "R@10",
    "Recall@50": "R@50",
    "AllRelevant@10": "all@10",
    "MRR": "MRR",
}


def quality_table(files: Sequence[File]) -> str:
    """Return untrained retrieval on the open corpora, with the paper's figures beside it."""
    if not files:
        return not_run("quality")
    headings = ["corpus", "queries", "method", *_QUALITY_COLUMNS.values(), "Δ NDCG@10 to BM25"]
    rows = []
    for (dataset, split), title in shown_parts("untrained").items():
        found = [f for f in files if (f["dataset"], f["split"]) == (dataset, split)]
        if not found:
            rows.append([title, "not run"])
        baseline = next((f for f in found if f["method"] == "bm25"), None)
        for file in found:
            numbers = [number(file["metrics"][column]) for column in _QUALITY_COLUMNS]
            size = str(file["metrics"]["queries"])
            rows.append([title, size, file["method"], *numbers, lead(file, baseline)])
        if split == "standard":
            rows += _paper_rows(title, dataset)
    return markdown(headings, rows)


def _paper_rows(title: str, dataset: str) -> list[list[str]]:
    """Return the paper's figures on the same test split."""
    return [
        [title, "", f"*paper: {method}*", number(row["NDCG@5"].mean)]
        for method, row in paper.full_corpus(dataset).items()
    ]


_OPEN = {"bm25": "BM25", "dense_minilm": "MiniLM", "fused_minilm": "both"}
_LINKED = {"pagerank_found": "+ links found", "pagerank_given": "+ links as published"}


def open_table(files: Sequence[File], links: Sequence[File]) -> str:
    """Return NDCG@10 of every corpus without training, in one row each.

    Args:
        files: Result files of `benchmarks.unlabelled.quality`.
        links: Result files of `benchmarks.links.quality`.
    """
    rows = []
    for (dataset, split), title in shown_parts("untrained").items():
        cells = []
        for name in (*_OPEN, *_LINKED):
            among = files if name in _OPEN else links
            found = (
                file["metrics"]["NDCG@10"]
                for file in among
                if (file["dataset"], file["split"]) == (dataset, split)
                and file["method"].startswith(name)
            )
            cells.append(number(next(found, None)))
        rows.append([title, *cells])
    return markdown(["NDCG@10", *_OPEN.values(), *_LINKED.values()], rows)


def lead(file: File, baseline: File | None) -> str:
    """Return the mean difference in NDCG@10 to the baseline with its 95 % bootstrap interval."""
    if baseline is None or file is baseline:
        return ""
    return signed(difference({None: file["per_query"]}, {None: baseline["per_query"]}, "NDCG@10"))
