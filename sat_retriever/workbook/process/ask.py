"""Requests to a reading process, retried if it fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sat_retriever.records.jsonform import record_from_json, skipped_from_json
from sat_retriever.records.sheets import Skipped, SkipReason
from sat_retriever.records.structure import CellSketch, Structure
from sat_retriever.stages import Stage, stage
from sat_retriever.workbook.messages import (
    Request,
    formulas_from_json,
    profiles_from_json,
    read_as,
    references_from_json,
)
from sat_retriever.workbook.process.pool import Slot
from sat_retriever.workbook.process.worker import Worker, WorkerFailed
from sat_retriever.workbook.share import Tell

# Reasons for a failure that earlier files in the same process may have caused.
_OF_THE_PROCESS = {SkipReason.OUT_OF_MEMORY, SkipReason.READER_CRASHED}
_UNTOLD: Tell = lambda _share: None  # noqa: E731
_FEWER = 8  # a second attempt holds a sheet's cells divided by this
_READ: dict[str, Callable[[Any], list[Any]]] = {
    "record": lambda content: [record_from_json(content)],
    "formulas": formulas_from_json,
    "references": references_from_json,
    "profiles": profiles_from_json,
    "sketch": lambda content: [read_as(CellSketch, content)],
    "cells": lambda content: [content],
    "table": lambda content: [content],
    "data": lambda content: [content],
    "computed": lambda content: [(row, col) for row, col in content],
    "skipped": lambda content: [skipped_from_json(content)],
}


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of a reading process about one file."""

    lists: Mapping[str, list[Any]]
    structure: Structure = field(default_factory=Structure)
    # Facts about the file itself; empty if the process did not finish
    done: Mapping[str, Any] = field(default_factory=dict)
    # Reason why it did not finish or ran out of memory; None if it succeeded. Earlier answers are
    # kept.
    failure: Skipped | None = None

    def of(self, kind: str) -> list[Any]:
        """The messages of a kind."""
        return self.lists.get(kind, [])

    def crashed(self) -> bool:
        """True if the reader reported that no reader is left for the file."""
        return any(skip.reason is SkipReason.READER_CRASHED for skip in self.of("skipped"))


@stage(Stage.PARSE)
def ask(request: Request, slot: Slot, tell: Tell = _UNTOLD) -> Answers:
    """Read one file; after a failure, retry without calamine and with fewer cells.

    `tell` is given the share of the file that was read; a retry begins anew.

    No content of a file raises an error: unreadable parts are among the skipped. Sheets that
    were sent before a failure are kept.
    """
    try:
        first = _attempt(request, slot, tell)
        if first.done.get("changed"):
            first = _attempt(request, slot, tell)
        if first.done.get("changed"):
            moving = "The file kept changing while it was read."
            return _failed(request, SkipReason.UNREADABLE, moving)
        if first.failure is None:
            return first
        fewer = replace(request.limits, cells=request.limits.cells // _FEWER)
        second = _attempt(replace(request, safe=True, limits=fewer), slot, tell)
    except WorkerFailed as failed:  # no process could be started
        return _failed(request, failed.reason, failed.message)
    if second.failure is None and not second.crashed():
        return second
    return _told(first, max(first, second, key=lambda each: len(each.of("record"))))


def _attempt(request: Request, slot: Slot, tell: Tell) -> Answers:
    """One attempt at a file.

    A process that has read other files before may fail because of them. It is then replaced, and
    the request is repeated.
    """
    worker = slot.worker()
    used = worker.files > 0
    answers = _asked(request, worker, tell)
    if used and answers.failure is not None and answers.failure.reason in _OF_THE_PROCESS:
        return _asked(request, slot.worker(), tell)
    return answers


def _asked(request: Request, worker: Worker, tell: Tell = _UNTOLD) -> Answers:
    lists: dict[str, list[Any]] = {kind: [] for kind in _READ}
    structure = Structure()
    done: dict[str, Any] = {}
    failure: Skipped | None = None
    try:
        for message in worker.ask(request):
            [(kind, content)] = message.items()
            if kind in _READ:
                lists[kind] += _READ[kind](content)
            elif kind == "structure":
                structure = read_as(Structure, content)
            elif kind == "share":
                tell(content)
            else:
                done = content
    except WorkerFailed as failed:
        failure = Skipped(request.relative, failed.reason, failed.message)
    for skip in lists["skipped"]:
        if skip.reason is SkipReason.OUT_OF_MEMORY:
            failure = skip
            worker.retired = True
    if failure is not None:
        lists["skipped"] = [skip for skip in lists["skipped"] if skip is not failure]
    return Answers(lists, structure, done, failure)


def _told(first: Answers, kept: Answers) -> Answers:
    """The kept answers of two failed attempts, with the reason of the first failure."""
    assert first.failure is not None
    failure = first.failure
    sheets = len(kept.of("record"))
    if sheets:
        read = (
            f"The {sheets:,} sheets read before are" if sheets > 1 else "The sheet read before is"
        )
        failure = replace(failure, message=f"{failure.message} {read} kept.")
    others = [skip for skip in kept.of("skipped") if skip.reason is not SkipReason.READER_CRASHED]
    return replace(kept, lists={**kept.lists, "skipped": [*others, failure]})


def _failed(request: Request, reason: SkipReason, message: str) -> Answers:
    return Answers({"skipped": [Skipped(request.relative, reason, message)]})
