"""Change an index: sheets, links and settings."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import IO, TypeVar

import numpy as np

from sat_retriever.encoder.embedder import Cost
from sat_retriever.errors import IndexStorageError, PathNotFoundError
from sat_retriever.index.permissions import (
    ByFiles,
    ByFunction,
    ByRules,
    Change,
    Given,
    Permissions,
    granted,
    noted_permissions,
    permission_notes,
    permissions_of,
)
from sat_retriever.index.search.mapped import renew_mapped
from sat_retriever.index.search.snapshot import check_encoder
from sat_retriever.index.settings import (
    IndexSettings,
    IndexState,
    encoder_notes,
    home_note,
    reranker_note,
)
from sat_retriever.index.store.place import Place
from sat_retriever.index.store.rows import RowToken
from sat_retriever.index.store.store import Store
from sat_retriever.index.sync.executor import encoded, token_text
from sat_retriever.index.sync.sync import SyncOptions, SyncReport, sync_paths
from sat_retriever.links.claims import checked_link, claims_of, discover
from sat_retriever.records.links import Link
from sat_retriever.records.progress import OnListed, PathProgress, Progress
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.records.tokens import Encoder
from sat_retriever.text.serialize import Serialization

AT_ONCE = 1024  # records encoded and written together
_RELINKED = 64  # workbooks without a file that are linked in one transaction
Item = TypeVar("Item")


class IndexWriter:
    """A writer to a store; `SheetIndex` documents its methods for users.

    Methods exclude other writing processes until they return, and raise `IndexBusyError` if one of
    them is already writing. In a store that allows them, several may sync, add and remove at once.
    """

    def __init__(self, store: Store, state: IndexState) -> None:
        self._store = store
        self._state = state

    def delete_if_empty(self) -> bool:
        """Close the store and delete its file if it is empty; True if it was."""
        with self._alone():
            if any(self._store.counts().values()):
                return False
            self._store.delete()
        return True

    def sync(
        self,
        paths: Sequence[str | Path] | str | Path,
        options: SyncOptions,
        progress: PathProgress | None,
        spent: Callable[[Cost], None] | None,
        listed: OnListed | None = None,
    ) -> SyncReport:
        """Bring the store in line with the workbooks under some paths and URLs."""
        named = [paths] if isinstance(paths, (str, Path)) else list(paths)
        if not all(str(path) for path in named):
            raise PathNotFoundError("a path is empty; name a folder or a file")
        with self._beside_others(), self._state.telling(spent):
            permissions = self._permissions()
            report = sync_paths(
                self._store, self._state, named, options, progress, listed, permissions
            )
            by_files = isinstance(permissions, ByFiles)  # rights change without the files
            if by_files and (changes := self._changes(permissions)):
                self._store.permit(_groups(changes), {})
        return report

    def add_records(
        self, records: Iterable[SheetRecord], links: Iterable[Link], *, find_links: bool
    ) -> int:
        """Add sheets without files; return their number."""
        given = [checked_link(link) for link in links]
        workbooks: dict[str, None] = {}
        added = 0
        with self._beside_others():
            try:
                for part in _parts(records, AT_ONCE):
                    self._put(part, find_links=find_links)
                    added += len(part)
                    workbooks.update((each.workbook, None) for each in part if each.workbook)
            finally:  # link the written sheets even if the rest could not be read
                self._link(workbooks if find_links else ())
            self._store.put_links(given)
        return added

    def remove(self, sheet_ids: Sequence[str]) -> int:
        """Remove sheets; return how many existed."""
        with self._beside_others():
            removed = self._store.remove_sheets(sheet_ids)
            self._store.settle()
        return removed

    def reencode(
        self,
        encoder: Encoder,
        *,
        dense_weight: float | None,
        reranker: str | Path | None,
        progress: Progress | None,
    ) -> None:
        """Give every sheet a token of another encoder."""
        path = self._store.path
        notes = encoder_notes(encoder, dense_weight) | reranker_note(reranker) | home_note(path)
        with self._alone():
            texts = self._state.settings.serialization
            with fresh_tokens(self._store, encoder, texts, progress) as tokens:
                self._store.replace_tokens(tokens, notes)
            self._state.replace(self._noted(), encoder)
            renew_mapped(self._store, self._state.settings.width)

    def name_reranker(self, folder: str | Path | None) -> None:
        """Record the reranker that searches use if none is named."""
        if folder is not None and not (str(folder) and Path(folder).is_dir()):
            raise PathNotFoundError(
                f"there is no folder {folder}; name one with a trained reranker, or None"
            )
        with self._alone():
            # The encoder's folder may have moved with the file, whose folder is recorded anew.
            encoder = {"encoder": self._state.encoder_name}
            self._store.note(reranker_note(folder) | encoder | home_note(self._store.path))
            self._state.replace(self._noted())

    def permit(self, given: Given | None) -> list[Change]:
        """Give all sheets their groups; return the sheets that have others now."""
        permissions = None if given is None else permissions_of(given)
        with self._alone():
            changes = self._changes(permissions)
            self._store.permit(_groups(changes), permission_notes(permissions))
        self._state.by_function = permissions if isinstance(permissions, ByFunction) else None
        return changes

    def permitting(self, given: Given) -> list[Change]:
        """The sheets that would have other groups; nothing is written."""
        return self._changes(permissions_of(given))

    def idle_rules(self, given: Given | None) -> list[str]:
        """A warning for each rule, of those given or noted, that decides for no sheet."""
        permissions = self._permissions() if given is None else permissions_of(given)
        if not isinstance(permissions, ByRules):
            return []
        parts = _parts(self._store.all_sheet_ids(), AT_ONCE)
        found = (name for ids in parts for name in self._store.names(ids).values())
        return permissions.rules.idle((each.home, each.sheet) for each in found)

    def _permissions(self) -> Permissions | None:
        """The permissions that the store notes; a function only if it was given here."""
        noted = noted_permissions(self._store.meta(), self._store.path)
        return (self._state.by_function or noted) if isinstance(noted, ByFunction) else noted

    def _changes(self, permissions: Permissions | None) -> list[Change]:
        changes = []
        for ids in _parts(self._store.all_sheet_ids(), AT_ONCE):
            records, groups = self._store.records(ids), self._store.groups_of(ids)
            files = {each: place[:2] for each, place in self._store.files(ids).items()}
            for each, record in records.items():
                before = groups.get(each, ())
                after = permissions.groups_of(record, files.get(each)) if permissions else ()
                if after != before:
                    changes.append(Change(each, before, after))
        return changes

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other processes from writing in the block; refuse tokens that were made anew."""
        with self._store.sole_writer():
            check_encoder(self._store, self._state.settings.fingerprint)
            yield

    @contextmanager
    def _beside_others(self) -> Iterator[None]:
        """Write in the block, beside writers of other workbooks where the store allows them.

        In the end the mapped state of a large index is renewed.
        """
        with self._store.writing_beside_others():
            check_encoder(self._store, self._state.settings.fingerprint)
            yield
            renew_mapped(self._store, self._state.settings.width)

    def _noted(self) -> IndexSettings:
        return IndexSettings.from_meta(self._store.meta(), self._store.path)

    def _put(self, records: Sequence[SheetRecord], *, find_links: bool) -> None:
        records = [self._state.settings.privacy.limited(record) for record in records]
        alone = [record for record in records if find_links and not record.workbook]
        rows = granted(list(encoded(records, self._state)), self._permissions())
        self._store.put_sheets(rows, claims_of(alone))

    def _link(self, workbooks: Iterable[str]) -> None:
        for names in _parts(workbooks, _RELINKED):
            called = [self._store.records_called(workbook) for workbook in names]
            self._store.relink_sheets(
                [([each.sheet_id for each in records], discover(records)) for records in called]
            )
        self._store.settle()


def _groups(changes: Iterable[Change]) -> Iterator[tuple[str, Sequence[str]]]:
    return ((each.sheet_id, each.after) for each in changes)


def _parts(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    rest = iter(items)
    return iter(lambda: list(islice(rest, size)), [])


@contextmanager
def fresh_tokens(
    store: Store,
    encoder: Encoder,
    serialization: Serialization,
    progress: Progress | None = None,
) -> Iterator[Iterator[RowToken]]:
    """Yield the row id and new tokens of every sheet, by row id; the caller excludes other writers.

    The tokens are in a nameless file beside the index. Memory holds a thousand of them, and a
    killed process leaves no file behind.
    """
    ids = np.sort(store.ids_by_sheet_id()).tolist()
    with _spare_file(store.path) as file:
        for start in range(0, len(ids), AT_ONCE):
            part = ids[start : start + AT_ONCE]
            sheets = _records(store, part)
            tokens = encoder.encode_sheets([token_text(each, serialization) for each in sheets])
            with _room(store.path):
                file.write(np.ascontiguousarray(tokens, dtype="<f4").tobytes())
            if progress is not None:
                progress(start + len(part), len(ids))
        with _room(store.path):
            file.seek(0)  # writes the buffer
        yield ((row_id, file.read(4 * encoder.width)) for row_id in ids)


def _records(store: Store, row_ids: Sequence[int]) -> list[SheetRecord]:
    names = store.sheet_ids(row_ids)
    records, contents = store.records([*names.values()]), store.contents([*names.values()])
    ids = [names[row_id] for row_id in row_ids]
    return [replace(records[each], contents=contents.get(each)) for each in ids]


@contextmanager
def _spare_file(place: Place) -> Iterator[IO[bytes]]:
    """Yield a file without a name, on the disk of an index file, or of temporary files."""
    folder = place.parent if isinstance(place, Path) else None
    with _room(place):
        file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed below
    with file:
        yield file


@contextmanager
def _room(place: Place) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        where = "beside it" if isinstance(place, Path) else f"to {tempfile.gettempdir()}"
        raise IndexStorageError(
            f"the new tokens of {place} cannot be written {where}: "
            f"{error.strerror or error}; make room there (the index is as it was)"
        ) from error
