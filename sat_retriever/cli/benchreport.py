"""The labelled questions of `sat bench`, its table, and the notes below it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from sat_retriever.cli.terminal import counted, grid, plain, stdout
from sat_retriever.datasets.labels import Query, load_labels

if TYPE_CHECKING:
    from sat_retriever.evaluation.abstention import NothingThere

if TYPE_CHECKING:
    from sat_retriever.evaluation.bench import Bench


_TEXTS, _TEXT_CHARS = 3, 60  # merged questions that are listed, and characters of each
_ANY = 10_000  # columns, more than a table has
_WARNINGS = ("Only", "Left out", "Merged")


@dataclass(frozen=True, slots=True)
class Labels:
    """The questions of a file, its digest, and the questions with several entries.

    Attributes:
        unanswerable: Questions without an answer; no ranking of sheets is right.
        merged: Number of entries of each question that has several.
    """

    path: Path
    queries: Sequence[Query]
    unanswerable: Sequence[Query]
    sha256: str
    merged: Mapping[str, int]

    @property
    def every(self) -> list[Query]:
        """All questions; those with relevant sheets come first."""
        return [*self.queries, *self.unanswerable]

    def remarks(self, said: NothingThere) -> list[str]:
        """What is said of the questions below the table."""
        return [*_unanswerable(self), *_nothing_there(said), *_merged(self)]


def read_labels(path: Path) -> Labels:
    """The questions, with the digest of the file as it was read."""
    merged: dict[str, int] = {}
    every = load_labels(path, merged.update, unanswerable=True)
    queries = [query for query in every if query.positives]
    unanswerable = [query for query in every if not query.positives]
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return Labels(path, queries, unanswerable, digest, merged)


def _unanswerable(labels: Labels) -> list[str]:
    if not labels.unanswerable:
        return []
    number = counted(len(labels.unanswerable), "question")
    return [f"Left out: {number} of {labels.path.name} without an answer; no ranking is right."]


def _nothing_there(said: NothingThere) -> list[str]:
    """How often the message that no sheet answers was shown, rightly and wrongly."""
    if not said.unanswerable and not said.found_said:
        return []
    wrong = f"{said.found_said:,} of {counted(said.found, 'right answer')}"
    if not said.unanswerable:
        return [f"The message that no sheet answers was shown wrongly for {wrong}."]
    right = f"{said.unanswerable_said:,} of {counted(said.unanswerable, 'question')}"
    return [
        f"The message that no sheet answers was shown for {right} without an answer, and wrongly "
        f"for {wrong}."
    ]


def _merged(labels: Labels) -> list[str]:
    if not labels.merged:
        return []
    number = counted(len(labels.merged), "question")
    shown = ", ".join(f"“{text[:_TEXT_CHARS]}”" for text in list(labels.merged)[:_TEXTS])
    more = f" and {len(labels.merged) - _TEXTS:,} more" if len(labels.merged) > _TEXTS else ""
    return [
        f"Merged: {number} with more than one entry in {labels.path.name}; entries with the same "
        f"text are one question with the sheets of all of them: {shown}{more}."
    ]


def asked_of(found: Bench, about: dict[str, Any]) -> str:
    """The number of questions, their file, and the index they were asked of."""
    number = counted(len(found.queries), "question")
    return f"{number} of {about['labels']}, {counted(about['sheets'], 'sheet')} in {about['index']}"


def print_table(found: Bench, about: dict[str, Any], remarks: Sequence[str]) -> None:
    """Print the main table on standard output, with notes below it."""
    from sat_retriever.evaluation.maintable import notes

    console = stdout()
    console.print(plain(asked_of(found, about)), style="bold")
    console.print()
    console.print(_table(found))
    console.print()
    for note in (*notes(found), *remarks):
        console.print(plain(note), style="yellow" if note.startswith(_WARNINGS) else "dim")


def _table(found: Bench) -> Table:
    from sat_retriever.evaluation.maintable import COLUMNS, cells, signed

    table = grid("method", *(column.title for column in COLUMNS))
    for column in table.columns[1:]:
        column.justify, column.no_wrap = "right", True
    if len(found.scored) > 1:
        table.add_column("Δ NDCG@5", header_style="dim")
    for scored, row in zip(found.scored, cells(found), strict=True):
        shown = [Text(cell.text, style="bold" if cell.best else "") for cell in row]
        ahead = [signed(scored.difference)] if len(found.scored) > 1 else []
        table.add_row(plain(scored.name), *shown, *ahead)
    console = stdout()
    if (
        console.measure(table, options=console.options.update(max_width=_ANY)).maximum
        > console.width
    ):
        table.padding = (0, 1, 0, 0)
    return table
