"""One request to a reading process and all its answers, tried again if it fails."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sat_retriever.jsonform import record_from_json, skipped_from_json
from sat_retriever.structure import Structure
from sat_retriever.types import Skipped, SkipReason
from sat_retriever.workbook.pool import Slot
from sat_retriever.workbook.process import WorkerFailed
from sat_retriever.workbook.request import Request
from sat_retriever.workbook.wire import (
    formulas_from_json,
    profiles_from_json,
    references_from_json,
    structure_from_json,
)

_FIRST_SHARE = 0.8  # of a file's time that the first attempt may take
_READ: dict[str, Callable[[Any], list[Any]]] = {
    "record": lambda content: [record_from_json(content)],
    "formulas": formulas_from_json,
    "references": references_from_json,
    "profiles": profiles_from_json,
    "cells": lambda content: [content],
    "computed": lambda content: [(row, col) for row, col in content],
    "skipped": lambda content: [skipped_from_json(content)],
}


@dataclass(frozen=True, slots=True)
class Answers:
    """What a reading process told of one file.

    Attributes:
        lists: Its messages by kind, each read.
        structure: Names, tables, data sources, external workbooks, hidden parts.
        done: Facts about the file itself; empty if it could not be read at all.
    """

    lists: Mapping[str, list[Any]]
    structure: Structure = field(default_factory=Structure)
    done: Mapping[str, Any] = field(default_factory=dict)

    def of(self, kind: str) -> list[Any]:
        """The messages of a kind."""
        return self.lists.get(kind, [])


def ask(request: Request, slot: Slot) -> Answers:
    """One file's answers, tried again without calamine if the first attempt took the worker down.

    Nothing that a file contains raises: what cannot be read is among the skipped.
    """
    start = time.monotonic()
    seconds = request.limits.seconds
    try:
        answers = _attempt(request, slot, seconds * _FIRST_SHARE)
        if answers.done["changed"]:
            answers = _attempt(request, slot, seconds)
        if answers.done["changed"]:
            moving = "The file kept changing while it was read."
            return _failed(request, SkipReason.UNREADABLE, moving)
        return answers
    except WorkerFailed as failed:
        left = seconds - (time.monotonic() - start)
        first = failed
    try:
        if left <= 0:
            raise first
        answers = _attempt(replace(request, safe=True, seconds=left), slot, left)
        if all(skip.reason is not SkipReason.READER_CRASHED for skip in answers.of("skipped")):
            return answers
        raise first
    except WorkerFailed:
        return _failed(request, first.reason, first.message)


def _attempt(request: Request, slot: Slot, seconds: float) -> Answers:
    lists: dict[str, list[Any]] = {kind: [] for kind in _READ}
    structure = Structure()
    done: dict[str, Any] = {}
    for message in slot.worker().ask(request, seconds):
        [(kind, content)] = message.items()
        if kind in _READ:
            lists[kind] += _READ[kind](content)
        elif kind == "structure":
            structure = structure_from_json(content)
        else:
            done = content
    return Answers(lists, structure, done)


def _failed(request: Request, reason: SkipReason, message: str) -> Answers:
    return Answers({"skipped": [Skipped(request.relative, reason, message)]})
