"""Made histories with questions for the newest version and for one that is named."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sat_retriever.synth.corpus import synthesize
from sat_retriever.synth.histories.histories import Histories, Written, write_histories
from sat_retriever.synth.options import WORKBOOKS, SynthOptions

_BOOKS = 39


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a history, and the sheets that answer it."""

    text: str
    kind: str
    sheet_ids: frozenset[str]


def make_histories(folder: Path, seed: int) -> Histories:
    """Write histories below a folder, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    source = folder / "source"
    # One worker: what is made does not depend on it, and any script can call this.
    synthesize(source, SynthOptions(scale="120", seed=seed, queries=4), workers=1)
    return write_histories(source / WORKBOOKS, folder / "files", seed, _BOOKS)


def questions(made: Histories) -> list[Question]:
    """Questions about all histories of copies with names that tell versions apart."""
    return [
        question
        for history in made.histories
        if history.copies and history.kind not in ("moved", "tabs_copied")
        for question in _questions(history.versions, timed=history.timed)
    ]


def _questions(history: Sequence[Written], *, timed: bool) -> Iterator[Question]:
    """The newest version without naming it, and each version that can be named."""
    first = history[0].book.tabs[0]
    stem = Path(history[-1].path).stem
    words = " ".join(word for word in stem.replace("_", " ").split() if word.isalpha())
    for mark in ("final", "Kopie", "Copy", "of", "backup", "version", "draft"):
        words = " ".join(word for word in words.split() if word != mark)
    asked = f"{words} {first.origin}"
    by_version = {}
    for version in history:
        tab = next(each for each in version.book.tabs if each.origin == first.origin)
        by_version[version] = f"{version.path}#{tab.name}"
    newest = frozenset({by_version[history[-1]]})
    # Two copies without version or time are equally new.
    marked = all(each.said for each in history[1:]) or timed
    if marked and not any("backup" in each.path for each in history):
        yield Question(asked, "newest", newest)
    for version, sheet_id in by_version.items():
        if version.said:
            yield Question(f"{version.said} of {asked}", "named", frozenset({sheet_id}))
