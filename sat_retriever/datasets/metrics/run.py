"""Hold the ranking that a method gives for every question, in memory and as a file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from sat_retriever.errors import InputError
from sat_retriever.records.files import draft_of, make_folder

FORMAT = 1
DEPTH = 50  # sheets of a ranking that are kept, the paper's K


class RankedSheet(Protocol):
    """A sheet with the score that it is ranked by: a candidate, a hit or a stored row."""

    @property
    def sheet_id(self) -> str:
        """Id of the sheet."""
        ...

    @property
    def score(self) -> float:
        """Its score; higher is better."""
        ...


class Ranked(NamedTuple):
    """A ranked sheet as it is stored."""

    sheet_id: str
    score: float


Ranking = Sequence[RankedSheet]  # best first, each sheet once
Run = Mapping[int, Ranking]  # by the place of the question in its data set


def write_run(path: Path, run: Run, about: Mapping[str, Any]) -> None:
    """Write a run as JSON lines: one that describes it, then one a question.

    Args:
        path: The file; an existing file is replaced as a whole.
        run: Rankings.
        about: Their description, for example method, data set and seed.

    Raises:
        OutputError: If the file cannot be written.
    """
    make_folder(path.parent)
    lines = [json.dumps({"format": FORMAT, **about})]
    lines += [
        json.dumps(
            {
                "query": place,
                "sheets": [ranked.sheet_id for ranked in ranking],
                "scores": [round(ranked.score, 6) for ranked in ranking],
            }
        )
        for place, ranking in run.items()
    ]
    with draft_of(path) as draft:
        draft.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_run(path: Path) -> tuple[dict[str, Any], Run]:
    """Return the description of a stored run, and its rankings.

    Raises:
        InputError: If the file is missing, or was not written by `write_run`.
    """
    try:
        about, *rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        run = {
            row["query"]: [
                Ranked(sheet, score)
                for sheet, score in zip(row["sheets"], row["scores"], strict=True)
            ]
            for row in rows
        }
        known = about["format"] == FORMAT
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} holds no run of rankings; make it again") from error
    if not known:
        raise InputError(f"{path} has format {about['format']!r}; this version reads {FORMAT}")
    return about, run
