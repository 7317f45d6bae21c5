"""The tables of the first page of results: time and size, indexing, and warnings."""

from __future__ import annotations

import statistics

from benchmarks.results import read_results
from benchmarks.tables.markdown import markdown, not_run, number

_CONTENTS = "_contents"  # data sets of `million` whose sheets have texts of cells
_FIRST_ANSWER = ("import_s", "open_and_load_encoder_s", "first_answer_s")
_INDEXING = {
    "sheets": "sheets",
    "workbooks": "workbooks",
    "index_s": "`sat index`, s",
    "index_main_mib": "memory, MiB",
    "index_mib": "index file, MiB",
}
_WARNED = {
    "warned_right": "answers with a right sheet among the first five",
    "warned_foreign": "questions about another corpus",
    "warned_removed": "questions whose sheets were removed",
}


def speed_table() -> str:
    """A row a size of an index file that keeps texts of cells, as by default."""
    files = [
        file["metrics"]
        for file in read_results("million")
        if file["method"] == "sat-retriever" and file["dataset"].endswith(_CONTENTS)
    ]
    if not files:
        return not_run("million")
    headings = (
        "sheets", "median, ms", "95 % within, ms", "first answer of a process, s",
        "index file, MiB", "memory, MiB", "of the 50 best, found",
    )  # fmt: skip
    rows = [
        (
            file["sheets"], file["default_p50_ms"], file["default_p95_ms"],
            sum(file[name] for name in _FIRST_ANSWER),
            file["file_mib"], file["reader_private_mib"], file["recall_at_50"],
        )
        for file in sorted(files, key=lambda file: file["sheets"])
    ]  # fmt: skip
    return markdown(headings, [[number(value) for value in row] for row in rows])


def indexing_table() -> str:
    """A row a folder of made workbooks that was indexed."""
    files = [file["metrics"] for file in read_results("synth_scale")]
    rows = sorted(
        (each for each in files if "index_s" in each), key=lambda metrics: metrics["sheets"]
    )
    if not rows:
        return not_run("synth_scale")
    return markdown(
        list(_INDEXING.values()), [[number(row[name]) for name in _INDEXING] for row in rows]
    )


def warned_table() -> str:
    """A row a kind of answers: how often the message that no sheet answers is shown with them."""
    files = [file["metrics"] for file in read_results("nothing") if file["split"] == "test"]
    if not files:
        return not_run("nothing")
    rows = []
    for name, answers in _WARNED.items():
        shares = [file[name] for file in files]
        found = (min(shares), statistics.median(shares), max(shares))
        rows.append([answers, *map(number, found)])
    return markdown(["message shown for", "least", "median", f"most of {len(files)} tests"], rows)
