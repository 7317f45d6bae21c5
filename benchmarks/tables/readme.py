"""The README's one table: ours, the figures of the paper, and plain baselines."""

from __future__ import annotations

from benchmarks.corpora import INDUSTRYTAB_1K
from benchmarks.paper import paper
from benchmarks.results import read_results
from benchmarks.tables.breakdown import Files, Spread, of_split
from benchmarks.tables.markdown import markdown, not_run, number

# Columns: corpus, part, metric, heading.
COLUMNS = (
    (INDUSTRYTAB_1K, "standard", "NDCG@5", "1K, standard test"),
    (INDUSTRYTAB_1K, "grouped", "NDCG@5", "1K, unseen families"),
    ("eps", "all", "NDCG@5", "EPS, real workbooks"),
    ("spider_dev", "all", "NDCG@10", "Spider dev"),
    ("bird_dev", "all", "NDCG@10", "BIRD dev"),
)
_NO_LABELS = {
    "bm25": "BM25",
    "dense": "MiniLM alone (RAG)",
    "links": "MiniLM, words, times and links, untrained",
    "general_reranker": "**sat-retriever as installed**",
}
_TRAINED = {
    "graph": "the paper's recipe on MiniLM, trained on 1K",
    "ours": "**sat-retriever, trained on 1K**",
}
_PAPER = {"RAG": "*paper: BGE alone (RAG)*", "SAT": "*paper: SAT, trained on 1K*"}


def readme_table() -> str:
    """Return a row a system and a column a set of questions; the paper's figures as reported."""
    adapted, trained = read_results("adapted"), read_results("trained")
    if not adapted or not trained:
        return not_run("adapted" if trained else "main")
    rows = [[title, *_cells(adapted, name)] for name, title in _NO_LABELS.items()]
    rows += [[title, *_trained(trained, name)] for name, title in _TRAINED.items()]
    rows += [[title, *_reported(name)] for name, title in _PAPER.items()]
    return markdown(["ranking", *(heading for *_, heading in COLUMNS)], rows)


def _cells(files: Files, name: str) -> list[str]:
    """Return the results, by column, of a system that learns from none of these questions."""
    return [
        _mean(
            [
                float(file["metrics"][metric])
                for file in files
                if (file["method"], file["dataset"]) == (name, dataset)
                and file["split"].partition("_")[0] == part
            ]
        )
        for dataset, part, metric, _ in COLUMNS
    ]


def _trained(files: Files, name: str) -> list[str]:
    """Return the results of a system trained on IndustryTab-1K on its two tests."""
    return [
        _mean([float(file["metrics"][metric]) for file in of_split(files, part)[name]])
        if dataset == INDUSTRYTAB_1K
        else ""
        for dataset, part, metric, _ in COLUMNS
    ]


def _reported(name: str) -> list[str]:
    """Return the paper's figure, and on unseen families that of its authors' later runs."""
    figures = {
        "standard": paper.full_corpus(INDUSTRYTAB_1K)[name]["NDCG@5"].mean,
        "grouped": paper.grouped().get(name),
    }
    return [
        number(figures[part]) if dataset == INDUSTRYTAB_1K else "" for dataset, part, *_ in COLUMNS
    ]


def _mean(values: list[float]) -> str:
    """Return the mean over seeds, or over the test sets of unseen families."""
    return number(Spread.of(values).mean) if values else "not run"
