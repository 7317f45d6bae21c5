"""Histories of workbooks as a part of a corpus, with records as they are read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from sat_retriever.synth.histories.histories import Histories, write_histories
from sat_retriever.synth.unit import MadeSheet, MadeUnit
from sat_retriever.workbook.read import read_workbook

FOLDER = "histories"
_CATEGORY = "Histories"


def history_unit(workbooks: Path, seed: int, number: int, *, asked: bool) -> MadeUnit:
    """Write workbooks of a corpus again, in versions and copies, below its folder.

    Their sheets answer no questions by name, and have no links.

    Args:
        workbooks: Folder of the corpus's workbooks.
        seed: Seed of all choices.
        number: Most workbooks that are written again.
        asked: True tells their contents.

    Raises:
        OutputError: If a file cannot be written.
    """
    made = write_histories(workbooks, workbooks / FOLDER, seed, number)
    sheets = tuple(
        sheet if asked else replace(sheet, contents=None) for sheet in _sheets(made, workbooks)
    )
    return MadeUnit(sheets, (), (), len({sheet.record.path for sheet in sheets}))


def _sheets(made: Histories, workbooks: Path) -> Iterator[MadeSheet]:
    paths = dict.fromkeys(each.path for history in made.histories for each in history.versions)
    for path in paths:
        for record in read_workbook(made.folder / path, root=workbooks).records:
            own = record.sheet_id.removeprefix(f"{FOLDER}/")
            yield MadeSheet(
                record=replace(record, contents=None),
                category=_CATEGORY,
                convention=made.kinds[own],
                facts=None,
                columns=(),
                stem="",
                contents=record.contents,
                group=made.groups[own],
            )
