"""One file to messages: records, formulas, structure and skipped parts, as JSON objects.

This is the worker's half of the reader. It is a generator, so that formulas cross to
the parent while the next sheet is read.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from sat_retriever.records.jsonform import Json, to_json
from sat_retriever.records.sheets import Skipped, SkipReason
from sat_retriever.workbook.formats.byvalue import read_by_value
from sat_retriever.workbook.formats.ods.read import read_ods
from sat_retriever.workbook.formats.text import read_text
from sat_retriever.workbook.formats.xlsx.read import read_xlsx
from sat_retriever.workbook.limits import Refused
from sat_retriever.workbook.opening import locked
from sat_retriever.workbook.opening.decrypt import decrypt
from sat_retriever.workbook.opening.digest import content_hash
from sat_retriever.workbook.opening.regular import open_regular
from sat_retriever.workbook.opening.sniff import TEXT_SUFFIXES, Kind, sniff_bytes, sniff_file
from sat_retriever.workbook.process.budget import Budget
from sat_retriever.workbook.process.request import Request
from sat_retriever.workbook.process.wire import cells_to_json, profiles_to_json
from sat_retriever.workbook.tables.records import Source, sheet_record
from sat_retriever.workbook.values.profile import column_profiles
from sat_retriever.workbook.values.reading import why_partial

# What Excel encrypts with when only a structure is protected, and opens without asking.
_EXCELS_OWN_PASSWORD = "VelvetSweatshop"


def load(request: Request) -> Iterator[Json]:
    """Messages about one file, the last one with the key "done"."""
    path = Path(request.path)
    done: Json = {"format": "", "content_hash": "", "size": 0, "modified_ns": 0, "changed": False}
    try:
        with open_regular(path, Path(request.within) if request.within else None) as file:
            before = os.fstat(file.fileno())
            done.update(size=before.st_size, modified_ns=before.st_mtime_ns)
            told = False
            for message in _load_open(request, path, file, done):
                told = told or "record" in message or "skipped" in message
                yield message
            if not told and request.window is None:
                raise Refused(SkipReason.DAMAGED, "The workbook lists no sheet.")
            after = path.stat()
            same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
            done["changed"] = not same
    except Refused as refused:
        yield _skipped(request, refused.reason, refused.message)
    except MemoryError:
        over = f"Reading takes more than {request.limits.memory_mb:,} MiB of memory."
        yield _skipped(request, SkipReason.OUT_OF_MEMORY, over)
    except OSError as error:
        unreadable = f"The file cannot be read: {error.strerror or error}."
        yield _skipped(request, SkipReason.UNREADABLE, unreadable)
    yield {"done": done}


def _load_open(request: Request, path: Path, file: BinaryIO, done: Json) -> Iterator[Json]:
    kind = sniff_file(file, path.name, request.limits)
    done["format"] = kind.format
    if kind.reason not in (SkipReason.DAMAGED, SkipReason.ENCRYPTED, None):
        raise Refused(kind.reason or SkipReason.DAMAGED, kind.message)
    done["content_hash"] = content_hash(file)
    values = _for_calamine(path, file, kind)
    refusal = locked.refusal(file, request.limits)
    if kind.reason is SkipReason.ENCRYPTED:  # of an ods, too
        refusal = Refused(kind.reason, kind.message)
    if refusal is not None:
        file = _decrypted(request, file, refusal)
        values = io.BytesIO(file.read())  # of its own: both are read at the same time
        kind = sniff_bytes(file, request.limits)
        done["format"] = kind.format
    source = Source(request.relative, _shown(request).name, kind.format, done["content_hash"])
    if kind.format == "csv":
        yield from _load_text(request, file, source, done)
        return
    if kind.reason is None and kind.format in ("xlsx", "xlsm", "xltx"):
        yield from read_xlsx(request, source, file, values)
    elif kind.format == "ods":
        yield from read_ods(request, source, file, values, damage=kind.message)
    else:
        budget = Budget(request.limits)
        yield from read_by_value(request, source, file, values, budget, damage=kind.message)


def _decrypted(request: Request, file: BinaryIO, refusal: Refused) -> BinaryIO:
    """The plain file by the password at hand, or by the one that Excel itself tries.

    Raises:
        Refused: If no password opens it, or what it opens is damaged or encrypted again.
    """
    plain = _opened(request, file, refusal)
    again = locked.refusal(plain, request.limits)
    if again is not None:
        raise again
    return plain


def _opened(request: Request, file: BinaryIO, refusal: Refused) -> BinaryIO:
    if request.password is not None:
        return decrypt(file, request.password, request.limits)
    if find_spec("msoffcrypto") is None:
        raise refusal
    try:
        return decrypt(file, _EXCELS_OWN_PASSWORD, request.limits)
    except Refused as refused:
        raise refusal from refused


def _load_text(request: Request, file: BinaryIO, source: Source, done: Json) -> Iterator[Json]:
    path = Path(request.path)
    strict = path.suffix.lower() not in TEXT_SUFFIXES
    values, found = read_text(file, Budget(request.limits), strict=strict)
    grid, area = values.grid, values.area
    done["format"] = found
    source = Source(source.path, source.workbook, found, source.content_hash)
    if area is None:
        empty = "The file has no cell with a value."
        yield _skipped(request, SkipReason.EMPTY_SHEET, empty, _shown(request).stem)
        return
    if request.window is not None:
        if request.asks_for(_shown(request).stem):
            short = bool(values.cut or values.shortened)
            yield {"cells": cells_to_json(grid, request.window.area, area, cut=short)}
        return
    cut = why_partial(values, None, area, request.limits)
    record = sheet_record(source, _shown(request).stem, grid, area, examples=request.examples)
    yield {"record": to_json(replace(record, partial=cut is not None))}
    profiles = column_profiles(record, grid) if request.examples and request.links else []
    if profiles:
        yield {"profiles": profiles_to_json(record.sheet, profiles)}
    if cut is not None:
        yield _skipped(request, *cut, _shown(request).stem)


def _shown(request: Request) -> PurePosixPath:
    """The path as sheet ids show it: always Unicode, which the real one need not be."""
    return PurePosixPath(request.relative)


def _for_calamine(path: Path, file: BinaryIO, kind: Kind) -> Path | BinaryIO:
    """The path if its extension is true, else the bytes: calamine believes extensions."""
    if path.suffix.lower() == f".{kind.format}":
        return path
    file.seek(0)
    content = io.BytesIO(file.read())
    file.seek(0)
    return content


def _skipped(request: Request, reason: SkipReason, message: str, sheet: str | None = None) -> Json:
    return {"skipped": to_json(Skipped(request.relative, reason, message, sheet))}
