"""Lookup of sheets and workbooks by the names that users give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from sat_retriever.errors import InputError, PathNotFoundError, UnknownSheetError
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.stages import Told, tell
from sat_retriever.text.oneline import one_line
from sat_retriever.workbook.remote.url import is_url, joined

_COMPARED = 3_000  # up to this many sheets, every name is compared, within a second
_LIKELY = 200
_LISTED = 20
_NEAREST = 3  # names suggested for an unknown one
_MOST_CUTS = 16  # places at which a name is cut in two


def find_sheets(opened: SheetIndex, name: str, *, on_disk: bool = True) -> tuple[str, list[str]]:
    """The workbook that a name denotes ("" if it denotes sheets), and ids of its sheets.

    Args:
        on_disk: True takes also a path of this machine. False is for names that come from
            elsewhere: whoever sends them must not learn where files lie, nor have the system look
            for one.
    """
    if opened.records([name]):
        return "", [name]
    paths = cache(opened.paths)
    whole = _sheets(opened, name, paths, on_disk=on_disk)
    if whole or "#" not in name:
        return name, whole
    # Either name may contain a "#", so every split is tried; not of a name that is nothing else.
    parts = name.split("#")
    for cut in range(1, min(len(parts), _MOST_CUTS + 1)):
        sheet = "#".join(parts[cut:])
        workbook = "#".join(parts[:cut])
        records = opened.records(_sheets(opened, workbook, paths, on_disk=on_disk))
        found = [sheet_id for sheet_id, record in records.items() if record.sheet == sheet]
        if found:
            return "", found
    return name, []


def named_sheet(opened: SheetIndex, name: str, *, on_disk: bool = True) -> tuple[SheetRecord, str]:
    """The one sheet that a name denotes, and the range of cells if a citation has one.

    A name is a sheet's id, a citation (`id!A1:D20`), or either with runs of blanks printed as one.
    The name of a workbook with one sheet denotes that sheet. `on_disk` is as in `find_sheets`.

    Raises:
        UnknownSheetError: If there is no such sheet; the message names the nearest ones.
        InputError: If there are several; the message names some.
    """
    found, cited = _meant(opened, name, on_disk=on_disk)
    if not found:
        raise UnknownSheetError(unknown_name(opened, one_line(name)))
    if len(found) > 1:
        raise InputError(several(name, list(found)))
    record = next(iter(found.values()))
    tell(Told.READ, record.sheet_id)
    return record, cited


def _meant(
    opened: SheetIndex, name: str, *, on_disk: bool = True
) -> tuple[dict[str, SheetRecord], str]:
    plain = name.strip()
    cut, _mark, cited = plain.rpartition("!")
    for text, range_ in dict.fromkeys(((name, ""), (plain, ""), (cut, cited))):
        _workbook, ids = find_sheets(opened, text, on_disk=on_disk) if text else ("", [])
        if ids and (found := opened.records(ids)):
            return found, range_
    if len(opened) > _COMPARED:
        return {}, ""
    printed: dict[str, list[str]] = {}
    for sheet_id in opened.sheet_ids():
        printed.setdefault(one_line(sheet_id), []).append(sheet_id)
    for text, range_ in ((plain, ""), (cut, cited)):
        if one_line(text) in printed:
            return opened.records(printed[one_line(text)]), range_
    return {}, ""


def sheets_called(opened: SheetIndex, name: str) -> list[str]:
    """Ids of sheets that match a name, ignoring case: by id, file and sheet, or sheet name."""
    wanted = name.strip().casefold()
    ends = (f"/{wanted}", f"#{wanted}")
    ids = [each for each in opened.sheet_ids() if f"/{each}".casefold().endswith(ends)]
    if not wanted or len(ids) > _LIKELY:
        return []
    found: tuple[list[str], ...] = ([], [], [])
    for sheet_id, record in opened.records(ids).items():
        names = (sheet_id, f"{record.workbook}#{record.sheet}", record.sheet)
        for fitting, each in zip(found, names, strict=True):
            if each.casefold() == wanted:
                fitting.append(sheet_id)
    return sorted(next(filter(None, found), []))


def one_sheet(opened: SheetIndex, name: str) -> str:
    """Id of the one sheet that a name means: an id, a citation, or a part that no other id has.

    A sheet that was skipped when its workbook was read can be named by its whole id.

    Raises:
        UnknownSheetError: If there is no such sheet; the message names the nearest ones.
        InputError: If there are several; the message names some.
    """
    found, _cited = _meant(opened, name)
    ids = list(found) or sheets_called(opened, name) or _holding(opened, name)
    if not ids and _is_skipped(opened, name):
        return name
    if not ids:
        raise UnknownSheetError(unknown_name(opened, one_line(name)))
    if len(ids) > 1:
        raise InputError(several(name, ids))
    return ids[0]


def gone(record: SheetRecord) -> PathNotFoundError:
    """The error that a sheet's file is no longer there; its full path stays private."""
    return PathNotFoundError(f"the workbook of {record.sheet_id!r} is gone; index its folder again")


def several(name: str, ids: Sequence[str]) -> str:
    """A sentence that says that a name means several sheets, with some of them."""
    listed = ", ".join(map(repr, sorted(ids)[:_LISTED]))
    return f"{one_line(name)!r} is {len(ids)} sheets; name one of them: {listed}"


def _holding(opened: SheetIndex, name: str) -> list[str]:
    wanted = one_line(name).casefold()
    return [each for each in opened.sheet_ids() if wanted and wanted in each.casefold()]


def _is_skipped(opened: SheetIndex, name: str) -> bool:
    return any(
        name in (skip.path, f"{skip.path}#{skip.sheet}")
        for state in opened.workbooks()
        for skip in state.skipped
    )


def unknown_name(opened: SheetIndex, name: str) -> str:
    """An error message for an unknown name, with the nearest names, skipped files last."""
    close = nearest_names(opened, name)
    hint = f"; did you mean {', '.join(map(repr, close))}?" if close else ""
    return f"there is no workbook or sheet {name!r} in the index{hint}"


def nearest_names(opened: SheetIndex, name: str) -> list[str]:
    """The names of sheets and workbooks that are most like an unknown one, skipped files last."""
    called = sheets_called(opened, name)
    near = get_close_matches(name, _names(opened, name), n=_NEAREST, cutoff=0.4)
    read = [each for each in near if opened.records([each]) or opened.sheet_ids(each)]
    return list(dict.fromkeys([*called, *read, *near]))[:_NEAREST]


def _names(opened: SheetIndex, name: str) -> list[str]:
    """Names of sheets and workbooks to compare with: all of a small index, else likely ones."""
    if len(opened) <= _COMPARED or not name.strip():
        ids = opened.sheet_ids()[:_COMPARED]
        paths = {state.path for state in opened.workbooks()}
    else:
        ids = [found.sheet_id for found in opened.candidates(name, _LIKELY)]
        paths = set(opened.workbook_of(ids).values())
    return sorted({*ids, *paths, *(path.rpartition("/")[2] for path in paths)})


def place_of(workbook: str) -> str:
    """The place of a workbook that a user names, as an index joins it: a whole path, or the URL."""
    return workbook if is_url(workbook) else Path(workbook).resolve().as_posix()


def _sheets(
    opened: SheetIndex, workbook: str, known: Callable[[], list[str]], *, on_disk: bool
) -> list[str]:
    """Ids of a workbook's sheets; its name is as in the index, its URL, or on disk its path.

    The end of a path is enough where no other path ends so.
    """
    ids = opened.sheet_ids(workbook)
    if not ids and workbook:
        paths: list[str] = []
        if on_disk or is_url(workbook):  # as citations of files at URLs are
            here = place_of(workbook)
            paths = [s.path for s in opened.workbooks() if joined(s.root, s.path) == here]
        if not paths:
            paths = [path for path in known() if path.endswith(f"/{workbook}")]
            paths = paths if len(paths) == 1 else []
        ids = opened.sheet_ids(paths[0]) if paths else []
    return ids
