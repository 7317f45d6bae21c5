"""Read a workbook as one document for each of its sheets."""

from __future__ import annotations

import logging
import os
import posixpath
import uuid
from pathlib import Path, PurePath, PurePosixPath
from typing import Any

from llama_index.core.readers.base import BaseReader
from llama_index.core.schema import Document
from llama_index.readers.sat.download import FileSystem, downloaded

from sat_retriever import Limits, Serialization, SheetRecord, Skipped, Workbook, read_workbook
from sat_retriever.records.contents import Kept
from sat_retriever.text.serialize import serialize
from sat_retriever.workbook.opening.paths import printable

logger = logging.getLogger(__name__)

TEXT = Serialization(max_headers=None, examples=True)
# Metadata that a language model reads beside the text; the rest is for programs.
SHOWN = ("citation",)


class SheetReader(BaseReader):
    """A reader of xlsx, xlsm, xltx, xlsb, xls, ods, csv and tsv files, one document a sheet.

    A document's metadata give the location of its data: sheet_id, citation, workbook, path, sheet,
    range, header_row, columns. It also works in `SimpleDirectoryReader(file_extractor={".xlsx":
    SheetReader(root=folder)})`. No content of a file raises an error: unreadable parts are logged
    and recorded in `skipped`.

    Args:
        root: Folder that sheet ids are relative to, as in an index of that folder. A file outside
            it, and every file if no root is given, is identified by its name.
        follow_links: Read a link in the root even if its file lies outside the root.
        limits: Bounds on size, memory and time, also for fetched files.
        serialization: The form of a document's text; None writes name, shape and every header
            with an example.
    """

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        *,
        follow_links: bool = False,
        limits: Limits | None = None,
        serialization: Serialization | None = None,
    ) -> None:
        self.root = None if root is None else str(root)
        self.follow_links = follow_links
        self.limits = limits or Limits()
        self.serialization = serialization or TEXT
        self.skipped: list[Skipped] = []

    def load_data(
        self,
        file: str | PurePath,
        extra_info: dict[str, Any] | None = None,
        fs: FileSystem | None = None,
    ) -> list[Document]:
        """Return one document for each worksheet with a value, in tab order.

        Args:
            file: The workbook.
            extra_info: More metadata for every document; the reader's own keys have priority.
            fs: An `fsspec` file system that has the file; None is the local one.

        Raises:
            PathNotFoundError: If there is no such file.
            InputError: If the file system cannot be read.
        """
        if fs is None:
            source = os.path.abspath(file)  # noqa: PTH100 - links are kept as named
            book = self._read(Path(source), self._relative(source))
        else:
            source = posixpath.normpath(str(file))
            relative = self._relative(source)
            with downloaded(fs, str(file), relative, self.limits.file_bytes) as folder:
                book = self._read(folder / relative, relative)
        for skip in book.skipped:
            place = f"{skip.path}#{skip.sheet}" if skip.sheet else skip.path
            logger.warning("skipped %s: %s (%s)", place, skip.message, skip.reason.value)
        self.skipped += book.skipped
        return [self._document(source, record, extra_info or {}) for record in book.records]

    def _relative(self, source: str) -> PurePosixPath:
        """Return the path below the root, or only the name of a file outside it."""
        path = PurePath(source)
        if self.root is not None:
            for root in (os.path.abspath(self.root), posixpath.normpath(self.root)):  # noqa: PTH100
                if path.is_relative_to(root) and ".." not in path.relative_to(root).parts:
                    return PurePosixPath(path.relative_to(root).as_posix())
        return PurePosixPath(path.name)

    def _read(self, path: Path, relative: PurePosixPath) -> Workbook:
        root = path.parents[len(relative.parts) - 1] if relative.parts else None
        # Only in the root was the file met, not named.
        met = self.root is not None and str(root) == os.path.abspath(self.root)  # noqa: PTH100
        return read_workbook(
            path,
            root=root,
            contents=Kept.EXAMPLES,
            formulas=False,
            links=False,
            within=root if met and not self.follow_links else None,
            limits=self.limits,
        )

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
