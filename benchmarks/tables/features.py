"""The tables of the feature reranker, from its result files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.general.gains import GROUPS, START, UNGUARDED, WHOLE, gap, ndcg
from benchmarks.tables.markdown import markdown, not_run, number, signed
from sat_retriever.datasets.metrics import Difference, mean

Files = Sequence[Mapping[str, Any]]

_USES = ("judged", "watched")
_SHOWN = ("NDCG@10", "AllRelevant@10")


def features_tables(files: Files) -> str:
    """Return what the reranker adds to the order of the links, and what each part is worth."""
    if not files:
        return not_run("features")
    return f"{_added(files)}\n\n{_parts(files)}"


def _added(files: Files) -> str:
    rows = []
    for first in _ordered(files):
        metrics = first["metrics"]
        whole, free = (_seeds(files, name, first["dataset"]) for name in (WHOLE, UNGUARDED))
        cells = [number(metrics[name]) for name in _SHOWN]
        rows.append(
            [
                str(first["dataset"]).replace("_", " "), str(metrics["use"]),
                number(len(first["per_query"])), cells[0], _gap(first, whole), _gap(first, free),
                cells[1], number(mean([each["metrics"]["AllRelevant@10"] for each in whole])),
            ]
        )  # fmt: skip
    headings = [
        "corpus", "use", "questions", "links NDCG@10", "Δ reranked", "Δ without the guard",
        "links all@10", "reranked",
    ]  # fmt: skip
    return markdown(headings, rows)


def _parts(files: Files) -> str:
    """Return mean NDCG@10 over the corpora of each use, whole and without each group."""
    rows = []
    for method in (START, WHOLE, UNGUARDED, *(f"without_{group}" for group in GROUPS)):
        cells = []
        for use in _USES:
            of_use = [f for f in files if (f["method"], f["metrics"]["use"]) == (method, use)]
            values = [file["metrics"]["NDCG@10"] for file in of_use]
            cells.append(number(mean(values)) if values else "–")
        if any(file["method"] == method for file in files):
            rows.append([method.replace("_", " "), *cells])
    return markdown(["NDCG@10, mean over corpora", *_USES], rows)


def _ordered(files: Files) -> list[Mapping[str, Any]]:
    found = [file for file in files if file["method"] == START]
    return sorted(found, key=lambda file: (_USES.index(file["metrics"]["use"]), file["dataset"]))


def _seeds(files: Files, method: str, corpus: str) -> Files:
    return [file for file in files if (file["method"], file["dataset"]) == (method, corpus)]


def _gap(first: Mapping[str, Any], others: Files) -> str:
    found: Difference = gap(ndcg(first["per_query"]), [ndcg(each["per_query"]) for each in others])
    return signed(found)
