"""Read, link and encode workbooks for a sync, on this machine or by another executor."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from typing import Protocol

from sat_retriever.encoder.sheet import SheetEncoder
from sat_retriever.errors import InputError
from sat_retriever.index.settings import IndexState
from sat_retriever.index.store.rows import NewWorkbook, SheetRow
from sat_retriever.index.sync.file_check import FileCheck, MetFile, check_here
from sat_retriever.index.sync.sync_plan import ToRead
from sat_retriever.links.claims import discover
from sat_retriever.links.copies.claims import copy_claims
from sat_retriever.records.progress import PartProgress
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.text.serialize import Serialization, contents_text, serialize
from sat_retriever.workbook.limits import Limits
from sat_retriever.workbook.read import ReadOptions, Workbook, read_files
from sat_retriever.workbook.remote.file import RemoteFile

Done = tuple[ToRead, NewWorkbook]
# Texts are encoded faster together; a kill loses at most this many sheets.
BATCH_SHEETS = 128
_FIRST_SHEETS = 8
_BATCH_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Work:
    """How the workbooks of a sync are read and encoded."""

    state: IndexState  # the form of a record's text, and the encoder
    reading: ReadOptions
    limits: Limits
    workers: int | None  # most workbooks that are read at the same time; None takes one per core
    # Is told the share of each workbook that was read; an executor may leave it out
    parts: PartProgress | None = None


class Executor(Protocol):
    """Checks files, and reads, links and encodes workbooks; the caller stores them."""

    def check_files(self, met: Sequence[MetFile], *, verify: bool) -> Iterable[FileCheck]:
        """Return the result of `check_file` for each file, in order."""
        ...

    def prepare(self, jobs: Sequence[ToRead], work: Work) -> Generator[Done]:
        """Yield every workbook once, in order of completion.

        Closing the iterator, or an exception in the loop over it, ends all work on the rest. Raises
        `InputError` for a value that cannot be stored, `EncoderError` if the encoder fails.
        """
        ...


class ThisMachine:
    """The executor that needs no other machine: reading processes, and the encoder in this one."""

    def check_files(self, met: Sequence[MetFile], *, verify: bool) -> Iterator[FileCheck]:
        """Check files; see `Executor`."""
        return check_here(met, verify=verify)

    def prepare(self, jobs: Sequence[ToRead], work: Work) -> Generator[Done]:
        """Yield every workbook once; see `Executor`."""
        books = books_of(jobs, work.reading, work.limits, work.workers, work.parts)
        with closing(books):
            for group in _grouped((job, linked(job, book)) for job, book in books):
                done = encoded_workbooks([book for _, book in group], work.state)
                yield from zip((job for job, _ in group), done, strict=True)


def books_of(
    jobs: Sequence[ToRead],
    reading: ReadOptions,
    limits: Limits,
    workers: int | None,
    parts: PartProgress | None = None,
) -> Generator[tuple[ToRead, Workbook]]:
    """Yield workbooks in order of completion; closing the iterator ends the reading processes."""
    by_file = {job.file: job for job in jobs}
    told = {} if parts is None else {"told": parts}
    books = read_files(by_file, reading, limits=limits, workers=workers, **told)
    with closing(books):  # an interruption must not leave reading processes behind
        for file, book in books:
            yield by_file[file], book


def _grouped(books: Iterator[Done]) -> Iterator[list[Done]]:
    """Yield workbooks in groups of enough sheets or seconds; the first are small, to show soon."""
    batch: list[Done] = []
    sheets, since, enough = 0, time.monotonic(), _FIRST_SHEETS
    for job, book in books:
        batch.append((job, book))
        sheets += len(book.rows)
        if sheets >= enough or time.monotonic() - since > _BATCH_SECONDS:
            yield batch
            batch, sheets, since = [], 0, time.monotonic()
            enough = min(2 * enough, BATCH_SHEETS)
    if batch:
        yield batch


def linked(job: ToRead, book: Workbook) -> NewWorkbook:
    """A workbook that was read as it is to be stored, but for its tokens: with all of its links."""
    own = discover(book.records, book.references, book.structure, book.profiles)
    claims = replace(own.claims, copies=copy_claims(book.records, book.sketches))
    url = job.file.url if isinstance(job.file, RemoteFile) else ""
    return replace(
        job.book,
        state=replace(job.state, content_hash=book.content_hash, skipped=book.skipped),
        rows=[SheetRow(replace(record, url=url) if url else record) for record in book.records],
        discovery=replace(own, claims=claims),
    )


def encoded_workbooks(books: Sequence[NewWorkbook], state: IndexState) -> Iterator[NewWorkbook]:
    """Workbooks with the tokens of their sheets, which are encoded together, as they are ready."""
    rows = encoded([row.record for book in books for row in book.rows], state)
    for book in books:
        yield replace(book, rows=list(islice(rows, len(book.rows))))


def encoded(records: Sequence[SheetRecord], state: IndexState) -> Iterator[SheetRow]:
    """Records with their tokens, in their order; without records no encoder is loaded."""
    for record in records:
        _check(record)
    if not records:
        return
    texts = [token_text(record, state.settings.serialization) for record in records]
    encoder = state.encoder
    if isinstance(encoder, SheetEncoder):
        yield from map(SheetRow, records, encoder.each_sheet(texts))
    else:
        yield from map(SheetRow, records, encoder.encode_sheets(texts))


def token_text(record: SheetRecord, serialization: Serialization) -> str:
    """The text of a sheet's token: of names and contents, or of names where there are none."""
    return contents_text(record) or serialize(record, serialization)


def _check(record: SheetRecord) -> None:
    for key, value in record.metadata.items():
        if not isinstance(value, (str, int, float, bool)):
            raise InputError(
                f"the metadata {key!r} of {record.sheet_id!r} is a {type(value).__name__}; "
                "give a text, number or boolean"
            )
    parts = (record.sheet_id, record.sheet, record.workbook, record.path)
    try:
        "".join((*parts, *(column.name for column in record.columns))).encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"the record {record.sheet_id!r} has text that is not Unicode ({error.reason}); "
            "replace lone surrogates in its names"
        ) from error
