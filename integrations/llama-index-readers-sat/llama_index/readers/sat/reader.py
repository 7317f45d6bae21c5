"""Read workbooks as one document for each of their sheets."""

from __future__ import annotations

import asyncio
import logging
import os
import posixpath
import uuid
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path, PurePath, PurePosixPath
from typing import Any

from llama_index.core.bridge.pydantic import ConfigDict, Field, PrivateAttr
from llama_index.core.readers.base import BasePydanticReader
from llama_index.core.schema import Document
from llama_index.readers.sat.download import FileSystem, downloaded, files_in

from sat_retriever import Limits, Serialization, SheetRecord, Skipped, Workbook, read_workbook
from sat_retriever.index.sync.folder_listing import FolderListing
from sat_retriever.records.contents import ContentsPolicy
from sat_retriever.records.privacy import Privacy
from sat_retriever.text.serialize import serialize
from sat_retriever.workbook.opening.regular import printable
from sat_retriever.workbook.read import ReadOptions

logger = logging.getLogger(__name__)

Source = str | PurePath
TEXT = Serialization(max_headers=None, examples=True)
# Metadata that a language model reads beside the text; the rest is for programs.
SHOWN = ("citation",)
_KEPT = Privacy.of(ContentsPolicy.EXAMPLES, None)


class SheetReader(BasePydanticReader):
    """A reader of xlsx, xlsm, xltx, xlsb, xls, ods, csv and tsv files, one document a sheet.

    A document's metadata give the location of its data: sheet_id, citation, workbook, path, sheet,
    range, header_row, columns. It also works in `SimpleDirectoryReader(file_extractor={".xlsx":
    SheetReader(root=folder)})`. No content of a file raises an error: unreadable parts are logged
    and recorded in `skipped`.

    Args:
        root: Folder that sheet ids are relative to, as in an index of that folder. A file outside
            it, and every file if no root is given, is identified by its name; a folder outside it
            is its own root.
        follow_links: Read a link in a folder even if its file lies outside the folder.
        limits: Bounds on size, memory and time, also for fetched files.
        serialization: The form of a document's text; None writes name, shape and every header
            with an example.
    """

    model_config = ConfigDict(extra="forbid")

    root: str | None = Field(default=None, description="Folder that sheet ids are relative to.")
    follow_links: bool = Field(default=False, description="Read links that lead out of a folder.")
    limits: Limits = Field(default=Limits(), description="Bounds on one file.")
    serialization: Serialization = Field(default=TEXT, description="The form of a text.")
    _skipped: list[Skipped] = PrivateAttr(default_factory=list)

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        *,
        limits: Limits | None = None,
        serialization: Serialization | None = None,
        **fields: Any,
    ) -> None:
        place = None if root is None else str(root)
        fields.pop("class_name", None)  # of the serialized form
        fields.update(root=place, limits=limits or Limits(), serialization=serialization or TEXT)
        super().__init__(**fields)

    @classmethod
    def class_name(cls) -> str:
        """Return the name in the serialized form."""
        return "SheetReader"

    @property
    def skipped(self) -> list[Skipped]:
        """Files and sheets that gave no document, or only part of it, so far; not serialized."""
        return self._skipped

    def load_data(
        self,
        file: Source | Sequence[Source],
        extra_info: dict[str, Any] | None = None,
        fs: FileSystem | None = None,
    ) -> list[Document]:
        """Return one document for each worksheet with a value, in tab order.

        Args:
            file: A workbook, or a folder, whose workbooks are read in the order of their paths, or
                several of both. A file system other than the local one is asked for a folder only
                if the name does not end as a workbook's does.
            extra_info: More metadata for every document; the reader's own keys have priority.
            fs: An `fsspec` file system that has the files; None is the local one.

        Raises:
            PathNotFoundError: If there is no such file or folder.
            InputError: If the file system cannot be read.
        """
        return list(self.lazy_load_data(file, extra_info, fs))

    def lazy_load_data(
        self,
        file: Source | Sequence[Source],
        extra_info: dict[str, Any] | None = None,
        fs: FileSystem | None = None,
    ) -> Iterator[Document]:
        """Yield the documents of `load_data`; few workbooks are in memory at a time.

        Nothing is read before the first is requested.
        """
        for each in [file] if isinstance(file, (str, PurePath)) else file:
            books = self._workbooks(each) if fs is None else self._fetched(each, fs)
            with closing(books):
                for source, book in books:
                    self._note(book.skipped)
                    for record in book.records:
                        yield self._document(source, record, extra_info or {})

    async def alazy_load_data(self, *args: Any, **kwargs: Any) -> Iterable[Document]:
        """Return the documents of `load_data`, all read, without blocking the event loop.

        The framework's result is iterated on the event loop, which a lazy one would block.
        """
        return await asyncio.to_thread(self.load_data, *args, **kwargs)

    def _workbooks(self, named: Source) -> Generator[tuple[str, Workbook]]:
        """Yield the workbooks of a local file or folder, each with its path."""
        source = os.path.abspath(named)  # noqa: PTH100 - links are kept as named
        if not Path(source).is_dir():
            name = PurePosixPath(PurePath(source).name)
            yield source, self._read(Path(source), self._relative(source, name))
            return
        roots = [] if self.root is None else [str(Path(self.root).resolve())]
        listed = FolderListing.of([Path(source)], roots=roots, follow_links=self.follow_links)
        self._note(listed.skipped)
        options = ReadOptions(_KEPT, formulas=False, links=False, password=None)
        with closing(listed.workbooks(options, self.limits)) as workbooks:
            for _, book in workbooks:
                yield str(book.path), book

    def _fetched(self, named: Source, fs: FileSystem) -> Generator[tuple[str, Workbook]]:
        """Yield the workbooks of a file or folder of another file system, each with its path."""
        for file, below in files_in(fs, str(named)):
            source = posixpath.normpath(file)
            relative = self._relative(source, below)
            with downloaded(fs, file, relative, self.limits.file_bytes) as folder:
                yield source, self._read(folder / relative, relative)

    def _relative(self, source: str, otherwise: PurePosixPath) -> PurePosixPath:
        """Return the path below the root, or another one for a file outside it."""
        path = PurePath(source)
        if self.root is not None:
            for root in (os.path.abspath(self.root), posixpath.normpath(self.root)):  # noqa: PTH100
                if path.is_relative_to(root) and ".." not in path.relative_to(root).parts:
                    return PurePosixPath(path.relative_to(root).as_posix())
        return otherwise

    def _read(self, path: Path, relative: PurePosixPath) -> Workbook:
        root = path.parents[len(relative.parts) - 1] if relative.parts else None
        # Only in the root was the file met, not named.
        met = self.root is not None and str(root) == os.path.abspath(self.root)  # noqa: PTH100
        return read_workbook(
            path,
            root=root,
            contents=ContentsPolicy.EXAMPLES,
            formulas=False,
            links=False,
            within=root if met and not self.follow_links else None,
            limits=self.limits,
        )

    def _note(self, skipped: Iterable[Skipped]) -> None:
        for skip in skipped:
            place = f"{skip.path}#{skip.sheet}" if skip.sheet else skip.path
            logger.warning("skipped %s: %s (%s)", place, skip.message, skip.reason.value)
            self._skipped.append(skip)

    def _document(self, source: str, record: SheetRecord, extra: dict[str, Any]) -> Document:
        own = _metadata(record)
        return Document(
            # The same sheet of the same file has the same document id in every run.
            id_=str(
                uuid.uuid5(uuid.NAMESPACE_URL, f"{printable(PurePath(source))}#{record.sheet}")
            ),
            text=serialize(record, self.serialization),
            metadata={**extra, **own},
            excluded_llm_metadata_keys=[key for key in own if key not in SHOWN],
            excluded_embed_metadata_keys=list(own),
        )


def _metadata(record: SheetRecord) -> dict[str, Any]:
    """Return the location of a sheet's data, as plain values."""
    return {
        "sheet_id": record.sheet_id,
        "citation": record.citation,
        "workbook": record.workbook,
        "path": record.path,
        "sheet": record.sheet,
        "range": record.main_range,
        "header_row": record.header_row,
        "columns": " | ".join(column.name for column in record.columns),
        "visibility": record.visibility.value,
        "format": record.format,
    }
