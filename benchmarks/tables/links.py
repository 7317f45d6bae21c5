"""The README's table of what links buy, from the result files of `benchmarks.links.quality`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.tables.markdown import markdown, number

File = Mapping[str, Any]

_METHODS = {
    "fused": "fused candidates",
    "siblings": "+ sheets of the same workbook",
    "pagerank_given": "+ links as published",
    "pagerank_found": "+ links found by the index",
}
_COLUMNS = {
    "Recall@10": "R@10",
    "AllRelevant@10": "all@10",
    "NDCG@10": "NDCG@10",
    "Recall@1": "R@1",
}


def links_table(files: Sequence[File], corpora: Mapping[tuple[str, str], str]) -> str:
    """Return the fused candidates before and after links, by corpus.

    Args:
        files: Result files.
        corpora: Title of each data set and split, in the order shown.
    """
    headings = ["corpus", "ranking", *_COLUMNS.values(), "Δ R@10", "Δ R@10, one gold sheet"]
    headings += ["Δ NDCG@10, one gold sheet", "complete set: F1", "its mean size"]
    headings.append("F1 of the best fixed size")
    rows = []
    for (dataset, split), title in corpora.items():
        found = [f for f in files if (f["dataset"], f["split"]) == (dataset, split)]
        for name, method in _METHODS.items():
            file = next((f for f in found if f["method"].startswith(name)), None)
            rows.append([title, method, *_numbers(file)])
    return markdown(headings, rows)


def _numbers(file: File | None) -> list[str]:
    if file is None:
        return ["not run"]
    metrics = file["metrics"]
    one = metrics.get("one_gold") or {}
    cut = metrics["complete_set"]
    return [
        *(number(metrics[column]) for column in _COLUMNS),
        _gap(metrics, "Recall@10"),
        _gap(one, "Recall@10"),
        _gap(one, "NDCG@10"),
        number(cut["adaptive"]["F1"]),
        number(cut["adaptive"]["size"]),
        number(cut["best_fixed"]["F1"]),
    ]


def _gap(metrics: Mapping[str, Any], name: str) -> str:
    """Return the mean difference to the fused candidates with its 95 % bootstrap interval."""
    gap = (metrics.get("against_fused") or {}).get(name)
    return f"{gap['mean']:+.3f} [{gap['low']:+.3f}, {gap['high']:+.3f}]" if gap else ""
