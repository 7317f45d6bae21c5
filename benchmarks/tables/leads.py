"""The table of what a search answers beside each baseline, on every test, from result files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.corpora import title_of, used
from benchmarks.tables.breakdown import gap_of
from benchmarks.tables.markdown import markdown, not_run, number, signed

File = Mapping[str, Any]
Files = Sequence[File]

_METRIC = "NDCG@10"
# Result names of what a search answers, then of the rankings that it stands beside.
_BY_NAMES = ("general_reranker", "bm25", "fused", "links", "general")
_BY_CONTENTS = ("all_reranked", "bm25_all", "", "", "all")
_HEADINGS = (
    "corpus", "questions", "as installed", "Δ to BM25", "Δ to MiniLM + BM25",
    "Δ to MiniLM with times and links", "Δ to its own Stage 1",
)  # fmt: skip


def leads_table(by_names: Files, by_contents: Files) -> str:
    """Return a row a test with the lead over each baseline; a dash where one was not measured.

    Args:
        by_names: Results of `run general_tests`.
        by_contents: Results of `run contents`.
    """
    names = (corpus.dataset for corpus in used("judged").values())
    rows = list(_rows(by_names, _BY_NAMES, names, "names"))
    tests = [c for name, c in used("contents").items() if name not in used("contents_chosen")]
    untitled = (c.dataset if c.folder == "eps" else f"{c.dataset}_untitled" for c in tests)
    rows += _rows(by_contents, _BY_CONTENTS, untitled, "contents")
    return markdown(_HEADINGS, rows) if rows else not_run("general_tests")


def _rows(
    files: Files, methods: Sequence[str], datasets: Iterator[str], read: str
) -> Iterator[list[str]]:
    for dataset in datasets:
        of_each = {
            file["method"]: file
            for file in files
            if (file["dataset"], file["split"]) == (dataset, "all") and file["seed"] is None
        }
        own = of_each.get(methods[0])
        if own is None:
            continue
        gaps = [_gap(own, of_each.get(method)) for method in methods[1:]]
        count = number(len(own["per_query"]))
        title = f"{title_of(dataset.removesuffix('_untitled'))}, by {read}"
        yield [title, count, number(own["metrics"][_METRIC]), *gaps]


def _gap(own: File, other: File | None) -> str:
    found = None if other is None else gap_of([own], [other], _METRIC)
    return "–" if found is None else signed(found)
