"""The tables of real workbooks: a source each, and the default's lead over every other ranking."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from benchmarks.real.rungs import RUNGS
from benchmarks.real.systems import COMPARED, DEFAULT
from benchmarks.tables.markdown import markdown, number, signed
from benchmarks.tables.part import Files
from sat_retriever.datasets.metrics.comparison import difference

Cost = Callable[[Mapping[str, Any]], str]  # metrics of a result in, a cell out
_HEADINGS = {"NDCG@10": "NDCG@10", "Hit@1": "first is right", "Recall@10": "R@10"}


def real_tables(files: Files, costs: Mapping[str, Cost] = MappingProxyType({})) -> str:
    """Return a table for each source and part, those for choices first.

    Args:
        files: The result files.
        costs: Further columns by their headings: what each says of a result's metrics.
    """
    parts = {(file["dataset"], file["split"]): file["metrics"]["role"] for file in files}
    return "\n\n".join(
        _table([file for file in files if (file["dataset"], file["split"]) == part], costs)
        for part in sorted(parts, key=lambda part: (parts[part] != "validation", part))
    )


def _table(files: Files, costs: Mapping[str, Cost]) -> str:
    by_name = {file["method"]: file for file in files}
    first = next(iter(by_name.values()))
    metrics = first["metrics"]
    rows = []
    for name, title in {each.name: each.title for each in (*COMPARED, *RUNGS)}.items():
        if name in by_name:
            own = by_name[name]["metrics"]
            figures = [number(own[each]) for each in _HEADINGS]
            told = [tell(own) for tell in costs.values()]
            rows.append([title, *figures, lead(by_name, name), *told])
    title = f"`{first['dataset']}`, {first['split']}"
    sizes = f"{number(metrics['queries'])} questions, {number(metrics['sheets'])} sheets"
    headings = ["", *_HEADINGS.values(), "the default's lead, NDCG@10", *costs]
    return f"**{title}**: {sizes}\n\n{markdown(headings, rows)}"


def lead(by_name: Mapping[str, Mapping[str, Any]], name: str) -> str:
    """Return the default's lead over a ranking with its interval; nothing for the default."""
    if name == DEFAULT.name or DEFAULT.name not in by_name:
        return ""
    ours, theirs = (by_name[each]["per_query"] for each in (DEFAULT.name, name))
    return signed(difference({None: ours}, {None: theirs}, "NDCG@10"))
