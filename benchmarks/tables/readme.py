"""The README's two tables: asked by names, beside the paper; asked by what stands in cells."""

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
# The same for questions about contents, all with NDCG@10.
_CONTENTS_COLUMNS = (
    ("eps_whole", "test", "EPS, real workbooks"),
    ("fetaqa_dev_untitled", "all", "FeTaQA dev"),
    ("tabfact_val_untitled", "all", "TabFact validation"),
    ("wikitablequestions_dev_untitled", "all", "WikiTableQuestions dev"),
    ("wikitablequestions_dev_untitled_distractors", "all", "the same among 8,000 others"),
)
_CONTENTS = {
    "names_reranked": "names alone (`--contents names`)",
    "bm25_all": "BM25 over names and cells",
    "dense_all": "cosine alone",
    "all_reranked": "**sat-retriever as installed**",
}


def readme_tables() -> str:
    """Return both tables, each below what its questions ask by."""
    return (
        f"**Asked by names and headers**\n\n{_names_table()}\n\n"
        f"**Asked by what stands in cells**\n\n{_contents_table()}"
    )


def _contents_table() -> str:
    """Return a row a ranking and a column a set of questions."""
    files = read_results("contents")
    if not files:
        return not_run("contents")
    found = {(x["method"], x["dataset"], x["split"]): x["metrics"]["NDCG@10"] for x in files}
    rows = []
    for name, title in _CONTENTS.items():
        keys = [(name, dataset, part) for dataset, part, _ in _CONTENTS_COLUMNS]
        rows.append([title, *(_mean([found[key]] if key in found else []) for key in keys)])
    return markdown(["ranking", *(heading for *_, heading in _CONTENTS_COLUMNS)], rows)


def _names_table() -> str:
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
