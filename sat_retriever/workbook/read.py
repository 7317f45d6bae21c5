"""Reading of a workbook's records, formulas, structure and skipped parts from a path.

No content of a file raises an error: an unreadable part is a `Skipped` with a reason. Every file
is read by another process, whose memory and time are limited.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event

from sat_retriever._extras import require
from sat_retriever.errors import PathNotFoundError
from sat_retriever.records.contents import ContentsPolicy
from sat_retriever.records.privacy import Privacy
from sat_retriever.records.sheets import Formula, SheetRecord, Skipped
from sat_retriever.records.structure import CellSketch, ColumnProfile, Reference, Structure
from sat_retriever.system import usable_cores
from sat_retriever.workbook.files import File, LocalFile, request_at, request_for
from sat_retriever.workbook.limits import Limits, Refused
from sat_retriever.workbook.opening.encoding import encoding_name
from sat_retriever.workbook.process.ask import Answers, ask
from sat_retriever.workbook.process.pool import Slot, borrowed_slot, map_slots
from sat_retriever.workbook.request import Request

DEFAULT_LIMITS = Limits()
_FACTS = ("format", "content_hash", "size", "modified_ns")


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
    request = request_for(
        path,
        Path(root) if root is not None else None,
        limits,
        Path(within) if within is not None else None,
    )
    options = ReadOptions(privacy, formulas, links, password, encoding_name(encoding))
    request = options.asked(request)
    with borrowed_slot() as slot:
        return _workbook(path, ask(request, slot))


def read_workbooks(  # noqa: PLR0913 - what is read of a file, where, and by how many
    paths: Iterable[str | os.PathLike[str]],
    *,
    root: str | os.PathLike[str] | Callable[[Path], Path] | None = None,
    contents: ContentsPolicy | str = ContentsPolicy.ALL,
    skip_columns: str | None = None,
    formulas: bool = True,
    links: bool = True,
    password: str | None = None,
    encoding: str | None = None,
    within: Callable[[Path], Path] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    workers: int | None = None,
) -> Generator[Workbook]:
    """Yield workbooks in order of completion, read on all cores.

    Closing the iterator, or an exception such as KeyboardInterrupt in the loop over it, kills the
    reading processes at once. A path that no longer exists is a skipped file.

    Args:
        paths: Files; consumed as workers become free.
        root: Folder that sheet ids are relative to, or a function that returns it for a
            file; each file's own folder by default.
        contents: As in `read_workbook`.
        skip_columns: As in `read_workbook`.
        formulas: As in `read_workbook`.
        links: As in `read_workbook`.
        password: Tried on every encrypted workbook.
        encoding: As in `read_workbook`, of every delimited file.
        within: Function that returns the `within` of `read_workbook` for a file.
        limits: As in `read_workbook`.
        workers: Number of reading processes; one per usable core by default.

    Raises:
        InputError: If a path is not under its root, or `contents` or `skip_columns` is wrong.
        MissingExtraError: If a password is given without the extra installed.
    """
    root_of = root if callable(root) else lambda _path: Path(root) if root is not None else None
    files = (LocalFile(path, root_of(path), within and within(path)) for path in map(Path, paths))
    privacy = Privacy.of(contents, skip_columns)
    options = ReadOptions(privacy, formulas, links, password, encoding_name(encoding))
    # Closed here and now: an interruption must not leave reading processes behind.
    with closing(read_files(files, options, limits=limits, workers=workers)) as books:
        for _, book in books:
            yield book


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What is read of every file; see `read_workbook`."""

    privacy: Privacy
    formulas: bool
    links: bool
    password: str | None
    encoding: str = ""

    def asked(self, request: Request) -> Request:
        """Return a request for what is read."""
        return replace(
            request,
            privacy=self.privacy,
            formulas=self.formulas,
            links=self.links,
            password=self.password,
            encoding=self.encoding,
        )


def read_files(
    files: Iterable[File],
    options: ReadOptions,
    *,
    limits: Limits = DEFAULT_LIMITS,
    workers: int | None = None,
) -> Generator[tuple[File, Workbook]]:
    """Yield files with their workbooks in order of completion, as `read_workbooks` does.

    Args:
        files: Files of this machine or of another; consumed as workers become free.
        options: What is read of them.
        limits: As in `read_workbook`.
        workers: As in `read_workbooks`.

    Raises:
        InputError: If a path is not under its root.
        MissingExtraError: If a password is given without the extra installed.
    """
    _require_password(options.password)
    stopping = Event()

    def read(file: File, slot: Slot) -> tuple[File, Workbook]:
        try:
            with file.opened(limits, stopping) as place:
                request = options.asked(request_at(place, limits))
                return file, _workbook(place.path, ask(request, slot))
        except Refused as refused:
            skipped = Skipped(file.relative, refused.reason, refused.message)
            return file, Workbook(Path(file.relative), skipped=(skipped,))

    yield from map_slots(read, iter(files), workers or usable_cores(), stopping.set)


def _workbook(path: Path, answers: Answers) -> Workbook:
    """The answers of a reading process as a workbook."""
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
