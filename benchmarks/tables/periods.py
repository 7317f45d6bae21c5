"""The tables of times and owners in questions, from their result files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.tables.markdown import markdown, not_run, number

Files = Sequence[Mapping[str, Any]]

_ORDER = ("bm25", "fused", "links", "general", "stage1", "cascade", "oracle")
_WHOLE = {
    "NDCG@10": "NDCG@10",
    "Recall@10": "R@10",
    "AllRelevant@10": "all@10",
    "Precision@m": "precision@m",
    "FamilyPrecision@m": "precision@m in the family",
}


def periods_table(files: Files) -> str:
    """Return every system over all questions, then NDCG@10 by how a time or an owner is named."""
    if not files:
        return not_run("periods")
    ordered = sorted(files, key=_place)
    whole = markdown(
        ["ranking", *_WHOLE.values()],
        [
            [file["metrics"]["title"], *(number(file["metrics"][name]) for name in _WHOLE)]
            for file in ordered
        ],
    )
    kinds = ordered[0]["metrics"]["kinds"]
    rows = []
    for kind, first in kinds.items():
        cells = [number(file["metrics"]["kinds"][kind]["NDCG@10"]) for file in ordered]
        rows.append([kind, number(first["questions"]), number(first["questions_read"]), *cells])
    headings = ["named", "questions", "read right by the reader of names"]
    titles = [file["metrics"]["title"] for file in ordered]
    return f"{whole}\n\nNDCG@10:\n\n{markdown([*headings, *titles], rows)}"


def _place(file: Mapping[str, Any]) -> tuple[int, str]:
    method = str(file["method"])
    return next((n for n, name in enumerate(_ORDER) if method.startswith(name)), 0), method
