"""Write a bench as a folder: the report to read, the numbers, and every ranking."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any

from sat_retriever.datasets.metrics.rows import write_run
from sat_retriever.errors import InputError
from sat_retriever.evaluation.bench import Bench, results_of
from sat_retriever.records.files import draft_of, make_folder, portable, writing

REPORT, RESULTS, RUNS = "report.html", "results.json", "runs"
_ENDING = ".jsonl"
_NAME_CHARS = 50


def check_folder(out: Path, *, force: bool) -> None:
    """Refuse a folder that a report must not be written to.

    Raises:
        InputError: If it is a file, has no parent folder, cannot be written, or already has a
            report and `force` is not given.
    """
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file; name a folder for the report")
    above = out if out.is_dir() else out.absolute().parent
    if not above.is_dir():
        raise InputError(f"the folder {above} does not exist")
    if not os.access(above, os.W_OK):
        raise InputError(f"{above} cannot be written; choose another place")
    for name in (REPORT, RESULTS):
        if (out / name).exists() and not force:
            raise InputError(
                f"{out / name} exists already; replace it with --force, or choose another folder"
            )


def write_folder(out: Path, found: Bench, page: str, about: Mapping[str, Any]) -> None:
    """Write a bench; if a file cannot be written, the folder stays as it was.

    Runs of an earlier bench there that this one does not have are removed; its `results.json`
    names them. Other files stay. `about` describes the measurement.
    """
    results = results_of(found, about)
    for name, kept in zip(
        file_names([scored.name for scored in found.scored]), results["methods"], strict=True
    ):
        kept["run"] = f"{RUNS}/{name}"
    with _folders(out, out / RUNS), ExitStack() as drafts:
        earlier = _runs_of(out)
        texts = ((REPORT, page), (RESULTS, json.dumps(results) + "\n"))
        for name, text in texts:
            draft = drafts.enter_context(draft_of(out / name))
            with writing(out / name):
                draft.write_text(text, encoding="utf-8", newline="\n")
        for scored, kept in zip(found.scored, results["methods"], strict=True):
            said = {"method": scored.name, "index": about["index"], "labels": about["labels"]}
            draft = drafts.enter_context(draft_of(out / kept["run"]))
            write_run(draft, scored.run, said)
    for gone in sorted(earlier - {kept["run"] for kept in results["methods"]}):
        with writing(out / gone):
            (out / gone).unlink(missing_ok=True)


def file_names(methods: Sequence[str]) -> list[str]:
    """Turn names of methods into different file names.

    >>> file_names(["+ link reranker", "RAG (minilm)", "Stage 2 (run 7)", "Stage 2 (run-7)"])
    ['link-reranker.jsonl', 'rag-minilm.jsonl', 'stage-2-run-7.jsonl', 'stage-2-run-7-2.jsonl']
    """
    taken: dict[str, None] = {}
    for method in methods:
        kept = "".join(char if char.isalnum() else " " for char in method.lower())
        name = portable("-".join(kept.split())[:_NAME_CHARS]) or "method"
        number, free = 1, name
        while free in taken:
            number += 1
            free = f"{name}-{number}"
        taken[free] = None
    return [f"{name}{_ENDING}" for name in taken]


def _runs_of(out: Path) -> set[str]:
    """Return the files that a folder's `results.json` names as runs, if they can only be runs."""
    try:
        methods = json.loads((out / RESULTS).read_text(encoding="utf-8"))["methods"]
        named = [PurePosixPath(method["run"]) for method in methods]
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    return {
        str(path)
        for path in named
        if path.parts == (RUNS, path.name) and path.suffix == _ENDING and "\\" not in path.name
    }


@contextmanager
def _folders(*folders: Path) -> Iterator[None]:
    """Make folders, outer ones first, and remove the new ones if the block fails."""
    new = [folder for folder in folders if not folder.exists()]
    try:
        for folder in folders:
            make_folder(folder)
        yield
    except BaseException:
        for folder in reversed(new):
            with suppress(OSError):  # something else is in it by now
                folder.rmdir()
        raise
