"""The tables of the first page of results: time and size, indexing, and warnings."""

from __future__ import annotations

from benchmarks.results import read_results
from benchmarks.tables.markdown import markdown, not_run, number

_CONTENTS = "_contents"
_FIRST_ANSWER = ("import_s", "open_and_load_encoder_s", "first_answer_s")
# Columns by metric; the first answer of a process is the sum of three.
_SPEED = {
    "default_p50_ms": "a question, median ms",
    "default_p95_ms": "95th percentile, ms",
    "first_answer_s": "first answer of a new process, s",
    "file_mib": "index file, MiB",
    "reader_private_mib": "memory of a process, MiB",
    "recall_at_50": "found of the 50 best",
}
_INDEXING = {
    "sheets": "sheets",
    "workbooks": "workbooks",
    "workbooks_mib": "workbooks, MiB",
    "index_s": "`sat index`, s",
    "index_main_mib": "memory, MiB",
    "index_mib": "index file, MiB",
}
_WARNED = {
    "warned_right": "of right answers",
    "warned_foreign": "of questions about other corpora",
    "warned_removed": "of questions whose sheets were removed",
}


def speed_table() -> str:
    """A row a size of an index file, with and without texts of cells."""
    files = [file for file in read_results("million") if file["method"] == "sat-retriever"]
    if not files:
        return not_run("million")
    rows = []
    for file in sorted(files, key=lambda file: (file["metrics"]["sheets"], file["dataset"])):
        metrics = dict(file["metrics"])
        metrics["first_answer_s"] = sum(metrics[name] for name in _FIRST_ANSWER)
        kept = "names and contents" if file["dataset"].endswith(_CONTENTS) else "names"
        rows.append([number(metrics["sheets"]), kept, *(number(metrics[name]) for name in _SPEED)])
    return markdown(["sheets", "kept", *_SPEED.values()], rows)


def indexing_table() -> str:
    """A row a folder of made workbooks that was indexed."""
    files = [file["metrics"] for file in read_results("synth_scale")]
    rows = sorted(
        (each for each in files if "index_s" in each), key=lambda metrics: metrics["sheets"]
    )
    if not rows:
        return not_run("synth_scale")
    return markdown(
        [*_INDEXING.values()], [[number(row[name]) for name in _INDEXING] for row in rows]
    )


def warned_table() -> str:
    """A row a test corpus: how often an answer has the message that nothing seems to answer."""
    files = [file for file in read_results("nothing") if file["split"] == "test"]
    if not files:
        return not_run("nothing")
    rows = [
        [
            str(file["dataset"]).replace("_", " "),
            *(number(file["metrics"].get(name)) for name in ("questions", *_WARNED)),
        ]
        for file in files
    ]
    return markdown(["corpus", "questions", *_WARNED.values()], rows)
