"""Reading of a workbook's records, formulas, structure and skipped parts from a path.

No content of a file raises an error: an unreadable part is a `Skipped` with a reason. Every file
is read by another process, whose memory and time are limited.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, fields
from pathlib import Path, PurePath
from threading import Event
from typing import Protocol, TypeVar

from sat_retriever._extras import require
from sat_retriever.errors import InputError, PathNotFoundError
from sat_retriever.records.contents import ContentsPolicy
from sat_retriever.records.privacy import EVERYTHING, Privacy
from sat_retriever.records.progress import PartProgress
from sat_retriever.records.sheets import Formula, SheetRecord, Skipped
from sat_retriever.records.structure import CellSketch, ColumnProfile, Reference, Structure
from sat_retriever.system import usable_cores
from sat_retriever.workbook.limits import Limits, Refused
from sat_retriever.workbook.messages import Request, Window
from sat_retriever.workbook.opening.encoding import encoding_name
from sat_retriever.workbook.opening.regular import printable
from sat_retriever.workbook.process.ask import Answers, ask
from sat_retriever.workbook.process.pool import Slot, borrowed_slot, map_slots

DEFAULT_LIMITS = Limits()
_FACTS = ("format", "content_hash", "size", "modified_ns")


class Readable(Protocol):
    """A workbook, wherever it is kept; equal ones are the same file."""

    @property
    def relative(self) -> str:
        """Its POSIX path as written in sheet ids."""

    def opened(self, limits: Limits, stopping: Event) -> AbstractContextManager[LocalFile]:
        """Have the file here until the block ends, or raise `Refused`; `stopping` ends the wait."""


File = TypeVar("File", bound=Readable)


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A workbook of this machine."""

    path: Path
    # Folder that sheet ids are relative to; the file's own folder if it is None
    root: Path | None = None
    # Folder that it must lie in, or file that it must be, after links are resolved; None allows
    # every place
    within: Path | None = None
    called: str | None = None  # its path in sheet ids, if that is another, as of a copy

    @property
    def relative(self) -> str:
        """Its POSIX path as written in sheet ids."""
        if self.called is not None:
            return self.called
        absolute = Path(os.path.abspath(self.path))  # noqa: PTH100 - links are kept as named
        relative: PurePath = PurePath(absolute.name)
        if self.root is not None:
            folder = Path(os.path.abspath(self.root))  # noqa: PTH100
            if not absolute.is_relative_to(folder):
                raise InputError(f"{str(self.path)!r} is not under the root {str(self.root)!r}.")
            relative = absolute.relative_to(folder)
        return printable(relative)

    def opened(self, limits: Limits, stopping: Event) -> AbstractContextManager[LocalFile]:
        """Return it; nothing has to be opened."""
        return nullcontext(self)


@dataclass(frozen=True, slots=True)
class Workbook:
    """The records and all other results of reading one file.

    Attributes:
        path: The file, as named by the caller.
        format: Format found in its content; empty if none was recognised.
        records: One record for each worksheet with a value or a formula, in tab order.
        formulas: Formulas, sheet by sheet (xlsx, xlsm, xltx, ods). Those of an ods are in
            the notation of Excel.
        references: References of the formulas to other sheets, names and workbooks; at most
            2,000 per sheet and 20,000 in all.
        profiles: Sketches of columns that could be keys; none if only names are kept.
        sketches: Sketches of the cells of its sheets; none if only names are kept.
        skipped: Sheets, or the file, that could not be read, or not completely, with reasons.
        structure: Names, tables, data sources, external workbooks, hidden parts.
        content_hash: BLAKE2b of its bytes; empty if it could not be read at all.
        size: Bytes on disk at the time of reading.
        modified_ns: Modification time at the time of reading, in nanoseconds.
    """

    path: Path
    format: str = ""
    records: tuple[SheetRecord, ...] = ()
    formulas: tuple[Formula, ...] = ()
    references: tuple[Reference, ...] = ()
    profiles: tuple[ColumnProfile, ...] = ()
    sketches: tuple[CellSketch, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    structure: Structure = field(default_factory=Structure)
    content_hash: str = ""
    size: int = 0
    modified_ns: int = 0


def read_workbook(  # noqa: PLR0913 - what is read of a file, and where
    path: str | os.PathLike[str],
    *,
    root: str | os.PathLike[str] | None = None,
    contents: ContentsPolicy | str = ContentsPolicy.ALL,
    skip_columns: str | None = None,
    formulas: bool = True,
    links: bool = True,
    password: str | None = None,
    encoding: str | None = None,
    within: str | os.PathLike[str] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Workbook:
    """Read the records, formulas, references, structure and skipped parts of one workbook.

    Args:
        path: A file of any format in `sat_retriever.records.formats`, whatever its extension.
        root: Folder that sheet ids are relative to; the file's own folder by default.
        contents: What records keep of the cells: "all" texts that identify, "examples" one cell
            of each column, "names" nothing made from cell values, so that there are no profiles
            either.
        skip_columns: A regular expression; of columns whose header it matches, in any case, only
            the header is kept.
        formulas: False leaves out formulas, which can be a million.
        links: False leaves out the input of link discovery: references and profiles.
        password: Password of an encrypted workbook (extra `[encrypted]`).
        encoding: Encoding of a delimited file, such as "cp1252"; None finds it in the file.
        within: Folder that the file must lie in, or file that it must be, after links are
            resolved; other files are skipped. None follows all links.
        limits: Limits on size, memory and time.

    Raises:
        PathNotFoundError: If there is nothing at `path`.
        InputError: If `path` is not under `root`, or `contents`, `skip_columns` or `encoding` is
            wrong.
        MissingExtraError: If a password is given without the extra installed.
    """
    privacy = Privacy.of(contents, skip_columns)
    path = Path(path)
    if not os.path.lexists(path):
        raise PathNotFoundError(f"There is no file at {str(path)!r}; check the path.")
    _require_password(password)
    root, within = (None if each is None else Path(each) for each in (root, within))
    options = ReadOptions(privacy, formulas, links, password, encoding_name(encoding))
    request = options.request(LocalFile(path, root, within), limits)
    with borrowed_slot() as slot:
        return _workbook(path, ask(request, slot))


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What is read of every file; see `read_workbook`."""

    privacy: Privacy = EVERYTHING
    formulas: bool = True
    links: bool = True
    password: str | None = None
    encoding: str = ""

    def request(self, file: LocalFile, limits: Limits, window: Window | None = None) -> Request:
        """Return the request for a file, or for some of its cells."""
        return Request(
            path=os.path.abspath(file.path),  # noqa: PTH100 - links are kept as named
            relative=file.relative,
            within=None if file.within is None else os.path.abspath(file.within),  # noqa: PTH100
            limits=limits,
            window=window,
            **{each.name: getattr(self, each.name) for each in fields(self)},
        )


READ_ALL = ReadOptions()


def read_files(
    files: Iterable[File],
    options: ReadOptions = READ_ALL,
    *,
    limits: Limits = DEFAULT_LIMITS,
    workers: int | None = None,
    told: PartProgress = lambda _path, _share: None,
) -> Generator[tuple[File, Workbook]]:
    """Yield files with their workbooks in order of completion, read on all cores by default.

    Closing the iterator, or an exception such as KeyboardInterrupt in the loop over it, kills the
    reading processes at once. A path that no longer exists is a skipped file. Files are consumed as
    workers become free. `told` is called in this thread, while it waits for the next file, with the
    path of a file and the share of it that was read. Raises `InputError` if one is not under its
    root, `MissingExtraError` if a password is given without the extra installed.
    """
    _require_password(options.password)
    stopping = Event()

    def read(
        file: File, slot: Slot, tell: Callable[[tuple[str, float]], None]
    ) -> tuple[File, Workbook]:
        def say(share: float) -> None:
            tell((file.relative, share))

        try:
            with file.opened(limits, stopping) as local:
                return file, _workbook(local.path, ask(options.request(local, limits), slot, say))
        except Refused as refused:
            skipped = Skipped(file.relative, refused.reason, refused.message)
            return file, Workbook(Path(file.relative), skipped=(skipped,))

    yield from map_slots(
        read, iter(files), workers or usable_cores(), stopping.set, lambda part: told(*part)
    )


def _workbook(path: Path, answers: Answers) -> Workbook:
    known = {name: answers.done[name] for name in _FACTS if name in answers.done}
    if not known and answers.of("record"):  # its process crashed after it had sent sheets
        record = answers.of("record")[0]
        known = {"format": record.format, "content_hash": record.content_hash}
    return Workbook(
        path=path,
        records=tuple(answers.of("record")),
        formulas=tuple(answers.of("formulas")),
        references=tuple(answers.of("references")),
        profiles=tuple(answers.of("profiles")),
        sketches=tuple(answers.of("sketch")),
        skipped=tuple(answers.of("skipped")),
        structure=answers.structure,
        **known,
    )


def _require_password(password: str | None) -> None:
    if password is not None:
        require("msoffcrypto", "encrypted")
