"""The tables of real workbooks: a source each, and the default's lead over every other ranking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.real.systems import COMPARED, DEFAULT, RUNGS
from benchmarks.tables.markdown import markdown, number, signed
from benchmarks.tables.part import Files
from sat_retriever.metrics.comparison import difference

_HEADINGS = {"NDCG@10": "NDCG@10", "Hit@1": "first is right", "Recall@10": "R@10"}


def real_tables(files: Files) -> str:
    """Return a table for each source and part, those for choices first."""
    parts = {(file["dataset"], file["split"]): file["metrics"]["role"] for file in files}
    return "\n\n".join(
        _table([file for file in files if (file["dataset"], file["split"]) == part])
        for part in sorted(parts, key=lambda part: (parts[part] != "validation", part))
    )


def _table(files: Files) -> str:
    by_name = {file["method"]: file for file in files}
    first = next(iter(by_name.values()))
    metrics = first["metrics"]
    rows = []
    for name, title in {each.name: each.title for each in (*COMPARED, *RUNGS)}.items():
        if name in by_name:
            figures = [number(by_name[name]["metrics"][each]) for each in _HEADINGS]
            rows.append([title, *figures, _lead(by_name, name)])
    title = f"`{first['dataset']}`, {first['split']}"
    sizes = f"{number(metrics['queries'])} questions, {number(metrics['sheets'])} sheets"
    headings = ["", *_HEADINGS.values(), "the default's lead, NDCG@10"]
    return f"**{title}**: {sizes}\n\n{markdown(headings, rows)}"


def _lead(by_name: Mapping[str, Mapping[str, Any]], name: str) -> str:
    if name == DEFAULT.name or DEFAULT.name not in by_name:
        return ""
    ours, theirs = (by_name[each]["per_query"] for each in (DEFAULT.name, name))
    return signed(difference({None: ours}, {None: theirs}, "NDCG@10"))
