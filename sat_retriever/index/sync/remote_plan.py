"""Plan a sync of workbooks at URLs: compare listings with the states in the index."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace

from sat_retriever.errors import PathNotFoundError, RemoteError
from sat_retriever.index.store.rows import WorkbookState
from sat_retriever.index.sync.file_check import OF_NAMED, must_read, same_version
from sat_retriever.index.sync.local_plan import is_passed_over
from sat_retriever.index.sync.sync_plan import Plan, PlanDraft, ToRead, is_in
from sat_retriever.records.formats import extension_of
from sat_retriever.records.progress import OnListed
from sat_retriever.records.sheets import Skipped, SkipReason
from sat_retriever.workbook.remote.file import RemoteFile, too_large
from sat_retriever.workbook.remote.listing import file_at, files_below
from sat_retriever.workbook.remote.url import canonical, is_plain, is_url, parent_of, shown, under

_NAME_SHOWN = 200  # characters of an unusable name
_BAD_NAME = (
    "The name has empty parts, `.`, `..` or control characters, or is very long; rename the file."
)


@dataclass(frozen=True, slots=True)
class RemoteScope:
    """One URL that the user named."""

    root: str  # URL that the paths of its workbooks are relative to
    url: str  # the named folder or file: the root or below it
    file: RemoteFile | None = None  # the named file; None for a folder
    explicit: bool = True  # false for a file that was not named but met in a folder


def remote_scopes(urls: Iterable[str], known_roots: Iterable[str]) -> list[RemoteScope]:
    """The named URLs with the root of each, without URLs inside others; see `scopes`."""
    known = [root for root in known_roots if is_url(root)]
    found: list[RemoteScope] = []
    for url in sorted(map(canonical, urls)):
        if not is_in(url, [scope.url for scope in found]):
            found.append(_scope(url, known))
    return found


def scope_of_file(root: str, url: str) -> RemoteScope | None:
    """Scope of one known workbook; None if it is not there, or cannot be reached."""
    try:
        file = file_at(url)
    except (PathNotFoundError, RemoteError):
        return None
    if file is None:
        return None
    placed = replace(file, root=root, relative=under(root, url))
    return RemoteScope(root, url, placed, explicit=False)


def _scope(url: str, known: Sequence[str]) -> RemoteScope:
    file = file_at(url)
    own = parent_of(url) if file else url
    root = max((each for each in known if is_in(own, [each])), key=len, default=own)
    placed = file and replace(file, root=root, relative=under(root, url))
    return RemoteScope(root, url, placed)


def make_remote_plan(
    named: Sequence[RemoteScope],
    states: Sequence[WorkbookState],
    *,
    most_bytes: int,
    again: Set[SkipReason],
    verify: bool = False,
    listed: OnListed | None = None,
) -> Plan:
    """Compare the files at URLs with their states in the index; downloads nothing.

    In a folder a file counts as a workbook by its extension, since only a download could tell more.
    Arguments are as in `make_local_plan`, but a file of `most_bytes` or more is not downloaded, and
    `verify` reads those again that have no version. Raises `PathNotFoundError` if there is no such
    folder, and never was one, `RemoteError` if one cannot be listed; nothing is known to be missing
    then.
    """
    draft = PlanDraft([scope.url for scope in named], states)
    bad: list[Skipped] = []
    for scope in named:
        reasons = again | OF_NAMED if scope.explicit and scope.file else again
        for file in _files(scope, draft, listed):
            if not scope.file and _is_left_out(under(scope.url, file.url)):
                continue
            now = _state(file)
            old = draft.state_of(now)
            if not (scope.file or old or extension_of(file.relative.rpartition("/")[2])):
                draft.plan.ignored += 1
            elif not is_plain(file.relative):
                bad.append(Skipped(file.relative[:_NAME_SHOWN], SkipReason.BAD_NAME, _BAD_NAME))
            else:
                job = draft.to_read(now, file)
                if old is not None and _is_unchanged(old, job, reasons, verify=verify):
                    moved = replace(now, content_hash=old.content_hash, skipped=old.skipped)
                    draft.keep(old if old.mtime_ns == now.mtime_ns else moved)
                elif now.size > most_bytes:
                    refused = too_large(now.size, most_bytes)
                    why = Skipped(now.path, refused.reason, refused.message)
                    draft.take(job, replace(now, skipped=(why,)))
                else:
                    draft.take(job)
    return draft.finished(bad)


def _is_unchanged(old: WorkbookState, job: ToRead, again: Set[SkipReason], *, verify: bool) -> bool:
    """True if a workbook need not be read; verifying trusts a version, but no time."""
    trusted = bool(job.state.version) or not verify
    same = trusted and same_version(old, job.state)
    return same and not must_read(old, again, clashes=verify or bool(job.book.left))


def _files(scope: RemoteScope, known: PlanDraft, listed: OnListed | None) -> Iterator[RemoteFile]:
    if scope.file is not None:
        yield scope.file
        return
    count = 0
    for page in files_below(scope.url, scope.root):
        count += len(page)
        if listed:
            listed(scope.url, count)
        yield from page
    # A folder of which the index knows no workbook either may be misspelt.
    if not count and not any(is_in(f"{root}/{path}", [scope.url]) for root, path in known.inside):
        raise PathNotFoundError(f"there is nothing at {shown(scope.url)!r}; check the spelling")


def _is_left_out(path: str) -> bool:
    *folders, name = path.split("/")
    hidden = any(each.startswith(".") and each not in (".", "..") for each in folders)
    return hidden or is_passed_over(name)


def _state(file: RemoteFile) -> WorkbookState:
    return WorkbookState(
        root=file.root,
        path=file.relative,
        size=file.size or 0,
        mtime_ns=file.mtime_ns,
        checked_ns=time.time_ns(),
        content_hash="",
        version=file.version,
    )
