"""Load workbooks as LangChain documents, one a sheet, from folders, files or blobs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Any

from langchain_core.document_loaders import BaseBlobParser, BaseLoader
from langchain_core.documents import Document
from langchain_core.documents.base import Blob

from langchain_sat.documents import record_document
from sat_retriever import (
    InputError,
    Limits,
    Serialization,
    SheetRecord,
    Skipped,
    Workbook,
    read_workbook,
)
from sat_retriever.index.sync.folder_listing import FolderListing
from sat_retriever.records.contents import ContentsPolicy
from sat_retriever.records.formats import FLAT_EXTENSIONS, extension_of, format_named
from sat_retriever.records.privacy import Privacy
from sat_retriever.records.sheets import SkipReason
from sat_retriever.text.serialize import serialize
from sat_retriever.workbook.read import ReadOptions

_TEXT_TYPES = {"text/csv": ".csv", "text/tab-separated-values": ".tsv"}


class SheetLoader(BaseLoader):
    """A loader of one document for every sheet of some workbooks, in the order of their paths.

    An unreadable file raises no error. After a load, `skipped` names every file and sheet that
    gave no document, or only part of it, and why; `ignored` counts files that are not
    spreadsheets.

    Args:
        paths: Folders and files. Sheet ids are relative to the folder.
        serialization: The form of a document's text; None takes the paper's form.
        contents: "names" keeps cell values out of the documents; None lets each column have an
            example.
        skip_columns: A regular expression; columns whose header it matches have no example.
        follow_links: Read a link in a folder even if its file lies outside all of `paths`.
        password: Password of encrypted workbooks (extra `[encrypted]`).
        limits: Bounds on size, memory and time of one file.
        workers: Reading processes; None takes all cores.
    """

    def __init__(
        self,
        paths: Sequence[str | Path] | str | Path,
        *,
        serialization: Serialization | None = None,
        contents: ContentsPolicy | str = ContentsPolicy.EXAMPLES,
        skip_columns: str | None = None,
        follow_links: bool = False,
        password: str | None = None,
        limits: Limits | None = None,
        workers: int | None = None,
    ) -> None:
        named = [paths] if isinstance(paths, (str, Path)) else list(paths)
        self.paths = [Path(path) for path in named]
        self.skipped: list[Skipped] = []
        self.ignored = 0
        self._serialization = serialization
        self._kept = Privacy.of(contents, skip_columns)
        self._follow_links = follow_links
        self._password = password
        self._limits = limits or Limits()
        self._workers = workers

    def lazy_load(self) -> Iterator[Document]:
        """Yield documents; nothing is read before the first is requested.

        Raises:
            PathNotFoundError: If a path does not exist.
            MissingExtraError: If a password is given without the extra installed.
        """
        listed = FolderListing.of(self.paths, follow_links=self._follow_links)
        self.skipped, self.ignored = list(listed.skipped), listed.ignored
        options = ReadOptions(self._kept, formulas=False, links=False, password=self._password)
        with closing(listed.workbooks(options, self._limits, self._workers)) as workbooks:
            for _, workbook in workbooks:
                self.skipped += workbook.skipped
                yield from _documents(workbook.records, self._serialization)


class SheetBlobParser(BaseBlobParser):
    """A parser of workbooks in blobs, in memory or on disk, one document for every sheet.

    A blob in memory is written to a temporary file, if it is no larger than `limits.file_bytes`,
    and read like any other file. Sheet ids begin with the blob's source, or with "blob" if it has
    none. `skipped` names the skipped parts of the last parsed blob.

    Args:
        serialization: The form of a document's text; None takes the paper's form.
        contents: "names" keeps cell values out of the documents; None lets each column have an
            example.
        skip_columns: A regular expression; columns whose header it matches have no example.
        password: Password of encrypted workbooks (extra `[encrypted]`).
        limits: Bounds on size, memory and time of one file.
    """

    def __init__(
        self,
        *,
        serialization: Serialization | None = None,
        contents: ContentsPolicy | str = ContentsPolicy.EXAMPLES,
        skip_columns: str | None = None,
        password: str | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.skipped: list[Skipped] = []
        self._serialization = serialization
        self._kept = Privacy.of(contents, skip_columns)
        self._password = password
        self._limits = limits or Limits()

    def lazy_parse(self, blob: Blob) -> Iterator[Document]:
        """Yield documents of the workbook's sheets, in tab order.

        Raises:
            PathNotFoundError: If a blob's file does not exist.
            InputError: If a blob holds neither data nor a path.
            MissingExtraError: If a password is given without the extra installed.
        """
        source = _source(blob)
        workbook = self._read(blob, source)
        self.skipped = [replace(each, path=source) for each in workbook.skipped]
        records = [_placed(record, source) for record in workbook.records]
        yield from _documents(records, self._serialization, blob.metadata)

    def _read(self, blob: Blob, source: str) -> Workbook:
        if blob.data is None:
            if blob.path is None:
                raise InputError("the blob has neither data nor a path; give one of them")
            return self._read_file(Path(blob.path))
        data = blob.data.encode(blob.encoding) if isinstance(blob.data, str) else blob.data
        most = self._limits.file_bytes
        if len(data) > most:
            message = f"The blob has {len(data):,} bytes, more than the limit of {most:,}."
            skip = Skipped(source, SkipReason.TOO_LARGE, message)
            return Workbook(Path(source), skipped=(skip,))
        with TemporaryDirectory(prefix="sat-blob-") as folder:
            file = Path(folder, f"blob{_suffix(blob, source)}")
            file.write_bytes(data)
            return self._read_file(file)

    def _read_file(self, file: Path) -> Workbook:
        return read_workbook(
            file,
            contents=self._kept.contents,
            skip_columns=self._kept.skip_columns,
            formulas=False,
            links=False,
            password=self._password,
            limits=self._limits,
        )


def _documents(
    records: Sequence[SheetRecord],
    serialization: Serialization | None,
    more: Mapping[Any, Any] | None = None,
) -> Iterator[Document]:
    for record in records:
        yield record_document(record, serialize(record, serialization), more or {})


def _source(blob: Blob) -> str:
    """Return the blob's source, with forward slashes; "blob" and a suffix if it has none."""
    return str(blob.source or "").replace("\\", "/") or f"blob{_suffix(blob, '')}"


def _suffix(blob: Blob, source: str) -> str:
    """Return an extension for text formats; other formats are recognised by content."""
    named = extension_of(PurePath(source).name)
    if named in FLAT_EXTENSIONS:
        return f".{named}"
    text = ".csv" if isinstance(blob.data, str) else ""
    return _TEXT_TYPES.get((blob.mimetype or "").lower(), text)


def _placed(record: SheetRecord, source: str) -> SheetRecord:
    """Return the record with the blob's source in place of the temporary file."""
    name = PurePath(source).name
    sheet = record.sheet
    if sheet == "blob" and format_named(record.format).flat:  # its sheet is named after the file
        sheet = PurePath(name).stem
    return replace(record, sheet_id=f"{source}#{sheet}", sheet=sheet, workbook=name, path=source)
