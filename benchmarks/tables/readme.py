"""The README's table: rankings of real workbooks, by cells, and beside the paper."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.corpora import INDUSTRYTAB_1K
from benchmarks.paper import paper
from benchmarks.results import read_results
from benchmarks.tables.breakdown import Files, Spread
from benchmarks.tables.markdown import markdown, not_run, number

# Columns: benchmark, corpus, split, metric, heading. Trained rows stand in other results.
COLUMNS = (
    ("real", "nz_times", "all", "NDCG@10", "energy (`nz_times`)"),
    ("real", "nz_contents", "all", "NDCG@10", "statistics (`nz_contents`)"),
    ("real", "eps", "all", "NDCG@10", "energy model (EPS)"),
    ("contents", "fetaqa_dev_untitled", "all", "NDCG@10", "FeTaQA"),
    ("contents", "wikitablequestions_dev_untitled", "all", "NDCG@10", "WikiTableQuestions"),
    ("adapted", "spider_dev", "all", "NDCG@10", "Spider"),
    ("adapted", INDUSTRYTAB_1K, "standard", "NDCG@5", "1K, standard test"),
)
NOT_COMPARED, NOTHING = "–", ""
# Rows: title, and the name of the system in the results of each benchmark. One without its name
# there is not in that comparison; one with an empty name cannot be.
ROWS: tuple[tuple[str, Mapping[str, str]], ...] = (
    (
        "BM25, names and headers",
        {"real": "bm25_names", "contents": "bm25_names", "adapted": "bm25"},
    ),
    ("BM25, names and cells", {"real": "bm25_cells", "contents": "bm25_all", "adapted": NOTHING}),
    ("MiniLM alone (RAG)", {"real": "minilm_rows", "adapted": "dense"}),
    ("arctic-embed-xs alone", {"real": "arctic_rows"}),
    ("BM25 and arctic-embed-xs, added", {"real": "sum"}),
    (
        "**sat-retriever as installed**",
        {"real": "default", "contents": "all_reranked", "adapted": "general_reranker"},
    ),
)
_TRAINED = (
    ("the paper's recipe on MiniLM, trained on 1K", "graph"),
    ("**sat-retriever, trained on 1K**", "ours"),
)
_PAPER = (
    ("*paper: BGE alone (RAG)*", "RAG"),
    ("*paper: SAT, trained on 1K*", "SAT"),
)


def readme_table() -> str:
    """The table, a row a ranking and a column a set of questions."""
    files = _results("real", "contents", "adapted", "trained")
    if isinstance(files, str):
        return files
    rows = [[title, *_figures(files, names)] for title, names in ROWS]
    last = len(COLUMNS) - 1
    for title, name in _TRAINED:
        rows.append([title, *[NOTHING] * last, _mean(files["trained"], name, last)])
    reported = paper.full_corpus(INDUSTRYTAB_1K)
    for title, name in _PAPER:
        rows.append([title, *[NOTHING] * last, number(reported[name]["NDCG@5"].mean)])
    return markdown(["ranking", *(heading for *_, heading in COLUMNS)], rows)


def untrained_table() -> str:
    """The rows and columns of the table in which nothing was trained on the questions' corpus."""
    files = _results("real", "contents", "adapted")
    if isinstance(files, str):
        return files
    rows = [[title, *_figures(files, names)[:-1]] for title, names in ROWS]
    return markdown(["ranking", *(heading for *_, heading in COLUMNS[:-1])], rows)


def _results(*names: str) -> Mapping[str, Files] | str:
    """The results of some benchmarks; if one has none, the text that says so."""
    files = {name: read_results(name) for name in names}
    missing = [name for name, found in files.items() if not found]
    return not_run(missing[0]) if missing else files


def _figures(files: Mapping[str, Files], names: Mapping[str, str]) -> list[str]:
    """The figures of a system by column."""
    by_column = [(benchmark, names.get(benchmark, NOT_COMPARED)) for benchmark, *_ in COLUMNS]
    return [
        _mean(files[benchmark], name, column) if name else NOTHING
        for column, (benchmark, name) in enumerate(by_column)
    ]


def _mean(files: Files, name: str, column: int) -> str:
    """The mean of a system over its seeds."""
    _, dataset, split, metric, _ = COLUMNS[column]
    values = [
        float(file["metrics"][metric])
        for file in files
        if (file["method"], file["dataset"]) == (name, dataset)
        and file["split"].partition("_")[0] == split
    ]
    return number(Spread.of(values).mean) if values else NOT_COMPARED
