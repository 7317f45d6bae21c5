"""The tables of `benchmarks.quality`: every corpus without training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks import paper
from benchmarks.markdown import markdown, not_run, number
from sat_retriever.metrics import mean, ndcg, paired_bootstrap

File = Mapping[str, Any]

CORPORA = {
    ("industrytab_1k", "standard"): "IndustryTab-1K, standard test",
    ("industrytab_1k", "all"): "IndustryTab-1K, all queries",
    ("spider_dev", "all"): "Spider dev",
    ("bird_dev", "all"): "BIRD dev, question only",
    ("bird_dev_evidence", "all"): "BIRD dev, question + evidence",
    ("eps", "all"): "EPS, real workbooks",
}
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
    """Untrained retrieval on the open corpora, with the paper's figures beside it."""
    if not files:
        return not_run("quality")
    headings = ["corpus", "queries", "method", *_QUALITY_COLUMNS.values(), "Δ NDCG@10 to BM25"]
    rows = []
    for (dataset, split), title in CORPORA.items():
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
    """The paper's figures on the same test split."""
    return [
        [title, "", f"*paper: {method}*", number(row["NDCG@5"].mean)]
        for method, row in paper.full_corpus(dataset).items()
    ]


_OPEN = {"bm25": "BM25", "dense_minilm": "MiniLM", "fused_minilm": "both"}
_LINKED = {"pagerank_found": "+ links found", "pagerank_given": "+ links as published"}


def open_table(files: Sequence[File], links: Sequence[File]) -> str:
    """NDCG@10 of every corpus without training, in one row each.

    Args:
        files: Result files of `benchmarks.quality`.
        links: Result files of `benchmarks.links_quality`.
    """
    rows = []
    for (dataset, split), title in CORPORA.items():
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
    """Mean difference in NDCG@10 to the baseline with its 95 % bootstrap interval."""
    if baseline is None or file is baseline:
        return ""
    ours, theirs = (_ndcg_rows(one["per_query"]) for one in (file, baseline))
    gap = paired_bootstrap(list(ours.values()), [theirs[query] for query in ours])
    return f"{gap.mean:+.3f} [{gap.low:+.3f}, {gap.high:+.3f}]"


def _ndcg_rows(rows: Sequence[Mapping[str, Any]]) -> dict[int, float]:
    """NDCG@10 by query, computed anew from the ranks of the positives."""
    return {row["query"]: ndcg_of_hits(row["hits"], row["relevant"], 10) for row in rows}


def ndcg_of_hits(hits: Sequence[int], relevant: int, k: int) -> float:
    """NDCG@k from the ranks (from 1) of the positives that were ranked.

    >>> ndcg_of_hits([1, 3], 2, 5) == ndcg(["a", "x", "b"], ["a", "b"], 5)
    True
    """
    ranking = [f"x{rank}" for rank in range(1, k + 1)]
    for rank in hits:
        if rank <= k:
            ranking[rank - 1] = f"p{rank}"
    return ndcg(
        ranking, [f"p{rank}" for rank in (*hits, *range(-1, -relevant - 1, -1))][:relevant], k
    )


def unsupported(file: File) -> list[str]:
    """Stored metrics of a quality file that do not follow from its own rows."""
    rows = file["per_query"]
    expected = {
        "NDCG@5": mean([ndcg_of_hits(row["hits"], row["relevant"], 5) for row in rows]),
        "NDCG@10": mean([ndcg_of_hits(row["hits"], row["relevant"], 10) for row in rows]),
        "MRR": mean([1 / min(row["hits"]) if row["hits"] else 0.0 for row in rows]),
        "AllRelevant@10": mean(
            [float(sum(rank <= 10 for rank in row["hits"]) == row["relevant"]) for row in rows]
        ),
    }
    for k in (1, 5, 10, 50):
        shares = [sum(rank <= k for rank in row["hits"]) / row["relevant"] for row in rows]
        expected[f"Recall@{k}"] = mean(shares)
    where = f"{file['method']}.{file['dataset']}.{file['split']}"
    return [
        f"{where}: {name} is {file['metrics'][name]}, its rows give {value}"
        for name, value in expected.items()
        if abs(file["metrics"][name] - value) > 1e-9
    ]
