"""Messages about one file: records, formulas, structure and skipped parts, as JSON objects.

This is the worker's half of the reader. It is a generator, so that messages reach the parent
process while the next sheet is read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from sat_retriever.records.formats import format_named
from sat_retriever.records.jsonform import Json
from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.formats.kind import FileKind, module_of, sniff_bytes, sniff_file
from sat_retriever.workbook.formats.reading import Reading
from sat_retriever.workbook.limits import Refused
from sat_retriever.workbook.messages import Request, skip
from sat_retriever.workbook.opening.encryption import decrypt, encryption_refusal
from sat_retriever.workbook.opening.regular import content_hash, open_regular
from sat_retriever.workbook.share import Tell
from sat_retriever.workbook.tables.records import Source

# Excel encrypts with it when only the structure is protected, and opens such files unasked.
_EXCELS_OWN_PASSWORD = "VelvetSweatshop"


def load(request: Request, tell: Tell | None = None) -> Iterator[Json]:
    """Yield messages about one file; the last one has the key "done".

    `tell` is given the share of the file that was read, from another thread, too.
    """
    path = Path(request.path)
    done: Json = {"format": "", "content_hash": "", "size": 0, "modified_ns": 0, "changed": False}
    try:
        with open_regular(path, Path(request.within) if request.within else None) as file:
            before = os.fstat(file.fileno())
            done.update(size=before.st_size, modified_ns=before.st_mtime_ns)
            told = False
            for message in _load_open(request, file, done, tell):
                told = told or "record" in message or "skipped" in message
                yield message
            if not told and request.window is None:
                raise Refused(SkipReason.DAMAGED, "The workbook lists no sheet.")
            after = path.stat()
            same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
            done["changed"] = not same
    except Refused as refused:
        yield skip(request, refused.reason, refused.message)
    except MemoryError:
        over = f"Reading needs more than {request.limits.memory_mb:,} MiB of memory."
        yield skip(request, SkipReason.OUT_OF_MEMORY, over)
    except OSError as error:
        unreadable = f"The file cannot be read: {error.strerror or error}."
        yield skip(request, SkipReason.UNREADABLE, unreadable)
    yield {"done": done}


def _load_open(request: Request, file: BinaryIO, done: Json, tell: Tell | None) -> Iterator[Json]:
    name = Path(request.path).name
    kind = _sound(sniff_file(file, name, request.limits), done)
    done["content_hash"] = content_hash(file)
    refusal = encryption_refusal(file, request.limits)
    if kind.reason is SkipReason.ENCRYPTED:  # also for an ods
        refusal = Refused(kind.reason, kind.message)
    if refusal is not None:
        file = _decrypted(request, file, refusal)
        again = encryption_refusal(file, request.limits)
        if again is not None:
            raise again
        kind = _sound(sniff_bytes(file, request.limits), done)
    shown = PurePosixPath(request.relative).name
    source = Source(request.relative, shown, kind.format, done["content_hash"])
    reading = Reading(request, source, file, damage=kind.message, tell=tell)
    try:
        yield from module_of(format_named(kind.format)).messages(reading)
    finally:
        done["format"] = reading.source.format


def _sound(kind: FileKind, done: Json) -> FileKind:
    """Check that reading a file of this kind can be tried; return the kind."""
    done["format"] = kind.format
    if kind.reason not in (SkipReason.DAMAGED, SkipReason.ENCRYPTED, None):
        raise Refused(kind.reason, kind.message)
    return kind


def _decrypted(request: Request, file: BinaryIO, refusal: Refused) -> BinaryIO:
    if request.password is not None:
        return decrypt(file, request.password, request.limits)
    if find_spec("msoffcrypto") is None:
        raise refusal
    try:
        return decrypt(file, _EXCELS_OWN_PASSWORD, request.limits)
    except Refused as refused:
        raise refusal from refused
