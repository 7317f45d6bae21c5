"""The workbook of a sheet as a file: given out as it is, or opened on this machine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

from sat_retriever.index.index import SheetIndex
from sat_retriever.records.files import portable
from sat_retriever.records.formats import EXTENSIONS, extension_of
from sat_retriever.records.permissions import OWNER
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.serve.asgi import Message, fields_of
from sat_retriever.serve.guard import is_local
from sat_retriever.serve.pieces import gone, reading, record_of
from sat_retriever.serve.plan import OpenFiles
from sat_retriever.serve.request import PageError
from sat_retriever.stages import Told, tell
from sat_retriever.workbook.limits import Refused
from sat_retriever.workbook.opening.regular import open_regular, real_path

_CHUNK = 1 << 18
_FAILS_WITHIN_S = 2.0
_ODD = re.compile(r"[^A-Za-z0-9 ._-]+")
_OFF = "This server does not give out workbooks: it was started with --open-files off."
_PART = (
    "Whole workbooks are given to the owner of this index only, as a file may hold more than "
    "the sheets that you may see."
)


@dataclass(frozen=True, slots=True)
class Ways:
    """Ways to a workbook: as a download, and by programs of this machine; `why` there is none."""

    download: bool = False
    desktop: bool = False
    why: str = ""

    @classmethod
    def of(cls, index: SheetIndex, allowed: OpenFiles) -> Ways:
        """Return those to an index's workbooks; one who sees a part of it has none."""
        if allowed == OpenFiles.OFF:
            return cls(why=_OFF)
        if index.is_restricted and index.principals is not OWNER:
            return cls(why=_PART)
        return cls(True, allowed == OpenFiles.DESKTOP and has_desktop())


def given_out(
    index: SheetIndex, ways: Ways, given: Mapping[str, str]
) -> tuple[Iterator[bytes], dict[str, str]]:
    """Return the bytes of a workbook as it is now, and the headers that name the file."""
    record = record_of(index, given)
    if not ways.download:
        raise PageError(403, ways.why)
    file = _opened(index, record)[0]
    size = os.fstat(file.fileno()).st_size
    tell(Told.WORKBOOK, record.path)
    ending = Path(record.path).suffix[1:] if extension_of(record.path) else record.format
    headers = attachment(record.workbook_name, ending)
    return _bytes(file, size), {**headers, "content-length": str(size)}


def open_here(index: SheetIndex, ways: Ways, body: bytes, scope: Message) -> None:
    """Have a program of this machine open the workbook, or its folder, that a form names.

    The form has a sheet's id as `open` or as `folder`. It must come from this machine itself.
    """
    if not ways.desktop:
        raise PageError(403, ways.why or "This server opens no programs on its machine.")
    if not is_local(scope):
        raise PageError(403, "Only a browser on the server's machine can open files there.")
    form = fields_of(body.decode("utf-8", "replace"), 8)
    folder = "folder" in form
    record = record_of(index, {"id": form.get("folder" if folder else "open", [""])[0]})
    if record.url:
        raise PageError(409, "This workbook is no file of this machine; download it.")
    file, path = _opened(index, record)
    file.close()
    if extension_of(path.name) not in EXTENSIONS:
        raise PageError(409, "Its file has no name of a workbook, so it is not opened.")
    tell(Told.WORKBOOK, record.path)
    _start(_command(path, folder=folder))


@cache
def has_desktop() -> bool:
    """True if this machine has a program that opens files on a screen."""
    screen = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    there = bool(screen) or sys.platform in ("darwin", "win32")
    return there and shutil.which(_command(Path(), folder=False)[0]) is not None


def attachment(name: str, extension: str) -> dict[str, str]:
    r"""Return the headers of a file to be saved.

    >>> attachment('Währung/"x"', "csv")["content-disposition"]
    'attachment; filename="Wahrung x.csv"; filename*=UTF-8\'\'W%C3%A4hrung%20x.csv'
    """
    letters = "".join(c if c.isalnum() or c in "._-" else " " for c in name)
    clean = portable(" ".join(letters.split())[:120]) or "table"
    plain = unicodedata.normalize("NFKD", clean).encode("ascii", "ignore").decode()
    ascii_name = portable(_ODD.sub(" ", plain)) or "table"
    full = quote(f"{clean}.{extension}", safe="", errors="replace")
    said = f"attachment; filename=\"{ascii_name}.{extension}\"; filename*=UTF-8''{full}"
    return {"content-disposition": said}


def _opened(index: SheetIndex, record: SheetRecord) -> tuple[BinaryIO, Path]:
    """Open the file of a sheet, which must still lie where it was indexed; its path has no link."""
    try:
        with reading(record):
            named, within = index.bounded_file_of(record.sheet_id)
            path = real_path(named)
            return open_regular(path, within), path
    except FileNotFoundError as error:
        raise PageError(410, gone(record)) from error
    except (Refused, OSError) as error:
        raise PageError(409, "The file of this workbook cannot be opened any more.") from error


def _bytes(file: BinaryIO, size: int) -> Iterator[bytes]:
    """Yield as many bytes as the file had; a file that grows meanwhile is cut."""
    with file:
        while size > 0 and (chunk := file.read(min(_CHUNK, size))):
            size -= len(chunk)
            yield chunk


def _command(path: Path, *, folder: bool) -> list[str]:
    if sys.platform == "darwin":
        return ["open", *(["-R"] if folder else []), str(path)]
    if sys.platform == "win32":
        return ["explorer", f"/select,{path}" if folder else str(path)]
    return ["xdg-open", str(path.parent if folder else path)]


def _start(command: list[str]) -> None:
    """Start a program, and leave it to itself unless it fails at once."""
    quiet = subprocess.DEVNULL
    try:
        started = subprocess.Popen(
            command, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
        )
    except OSError as error:
        raise PageError(500, "This machine has no program that opens it.") from error
    try:
        failed = started.wait(_FAILS_WITHIN_S) and sys.platform != "win32"  # explorer says 1
    except subprocess.TimeoutExpired:
        threading.Thread(target=started.wait, daemon=True).start()  # leaves no zombie
        return
    if failed:
        raise PageError(500, "No program of this machine could open it.")
