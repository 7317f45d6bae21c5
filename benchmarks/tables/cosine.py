"""The table of both encoders' cosines, from its result files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.corpora import CORPORA, title_of
from benchmarks.tables.breakdown import gap_of
from benchmarks.tables.markdown import markdown, not_run, number, signed
from sat_retriever.encoder.models.folder import GENERAL
from sat_retriever.encoder.source import MINILM

Files = Sequence[Mapping[str, Any]]

_METRIC = "NDCG@10"


def cosine_table(files: Files) -> str:
    """Return a row a corpus and kind of text; real workbooks come first."""
    if not files:
        return not_run("cosine")
    found = {(file["dataset"], file["split"], file["method"]): file for file in files}
    order = [corpus.dataset for corpus in CORPORA.values()]
    parts = sorted(
        {(dataset, split) for dataset, split, _ in found},
        key=lambda part: (
            not part[0].startswith("eps"),
            _place(part[0], order),
            part[1] != "names",
        ),
    )
    rows = []
    for dataset, split in parts:
        before, after = (found.get((dataset, split, name)) for name in (MINILM, GENERAL))
        if before is None or after is None:
            continue
        metrics = [each["metrics"] for each in (before, after)]
        gap = gap_of([after], [before], _METRIC)
        title = title_of(dataset.removesuffix("_untitled"))
        sizes = (number(metrics[0][name]) for name in ("sheets", "queries"))
        values = (number(each[_METRIC]) for each in metrics)
        rows.append([title, split, *sizes, *values, signed(gap) if gap else ""])
    headings = ["corpus", "texts of", "sheets", "questions", "MiniLM", "general", "Δ NDCG@10"]
    return markdown(headings, rows)


def _place(dataset: str, order: Sequence[str]) -> int:
    plain = dataset.removesuffix("_untitled")
    return order.index(plain) if plain in order else len(order)
