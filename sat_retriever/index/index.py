"""The index of a corpus: sheets in, candidates out."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from filelock import FileLock, Timeout

from sat_retriever.counts import check_counts
from sat_retriever.encoder import SheetEncoder
from sat_retriever.errors import (
    FingerprintMismatchError,
    IndexBusyError,
    IndexFormatError,
    IndexStorageError,
    InputError,
    PathNotFoundError,
)
from sat_retriever.index.question import Question, check_dense_weight
from sat_retriever.index.reencoding import fresh_tokens
from sat_retriever.index.scores import DENSE_WEIGHT
from sat_retriever.index.search import Searched, SheetSearch
from sat_retriever.index.snapshot import check_encoder
from sat_retriever.index.store.sqlite import SqliteStore
from sat_retriever.index.store.write import SheetRow, WorkbookState
from sat_retriever.index.sync import Progress, SyncOptions, SyncReport, sync_paths
from sat_retriever.links.claims import Discovery, claims_of, discover
from sat_retriever.links.given import checked_link
from sat_retriever.period.asked import UNDATED, AskedTimes
from sat_retriever.period.spans import Span
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.filters import Filters
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import SheetRecord, without_examples
from sat_retriever.records.tokens import Encoder, FloatArray
from sat_retriever.text.lexical import WordShares, sheet_words
from sat_retriever.text.serialize import Serialization, serialize
from sat_retriever.workbook.limits import Limits
from sat_retriever.workbook.opening.regular import is_within, real_path

_RERANKER, _HOME = "reranker", "home"  # keys in the file; its folder when others were named
UNRESOLVED_SHOWN = 20  # workbook files that status names
_AT_ONCE = 1024  # records encoded and written together
_RELINKED = 64  # workbooks without a file that are linked in one transaction
WRITER_WAIT_S = 10.0  # how long a second writer waits for the first


Item = TypeVar("Item")


class SheetIndex:
    """Records, tokens and words of a corpus in one file.

    Safe to share between threads. Many processes may read while one writes.

    Args:
        store: An open store.
        encoder: Encoder of the tokens in it; None loads the one the index names, at
            the first query.
        times: Hold sheets back whose time is another than a query names; False scores as the
            paper does. Not part of the file.
    """

    def __init__(
        self, store: SqliteStore, encoder: Encoder | None = None, *, times: bool = True
    ) -> None:
        self._store = store
        self._times = times
        self._encoder_lock = threading.Lock()
        self._meta: Mapping[str, str] = {}
        meta = store.meta()
        try:
            self._take(meta)
            self.serialization = Serialization.from_dict(json.loads(meta["serialization"]))
            self.examples = meta["examples"] == "yes"
            fingerprint = meta["serialization_fingerprint"]
        except (KeyError, ValueError, TypeError) as error:
            raise IndexFormatError(
                f"the settings in {store.path} are damaged ({error}): index the folders anew into "
                "another file"
            ) from error
        if self.serialization.fingerprint != fingerprint:
            raise FingerprintMismatchError(
                f"{store.path} was written by a version that turned records into other texts: "
                "index the folders anew into another file"
            )
        self._encoder = None if encoder is None else self._checked(encoder)

    @classmethod
    def create(
        cls,
        path: str | Path,
        encoder: Encoder | None = None,
        *,
        serialization: Serialization | None = None,
        examples: bool = True,
        dense_weight: float | None = None,
    ) -> SheetIndex:
        """A new, empty index file.

        Args:
            path: Where to write it.
            encoder: Makes its tokens; None takes the general one of this package.
            serialization: How a record becomes text; None takes the paper's form.
            examples: False keeps every cell value out of the file (metadata only).
            dense_weight: Share of the cosine in its scores, unless a query gives another;
                None takes the encoder's own (a fine-tuned one can bring it), or the default.

        Raises:
            InputError: If there is a file at `path` already, or `dense_weight` is out of its
                range.
            IndexStorageError: If the file cannot be written.
        """
        path = Path(path).absolute()
        if os.path.lexists(path):
            raise InputError(f"{path} exists already; open it, or choose another file")
        encoder = encoder or SheetEncoder.load()
        serialization = serialization or Serialization()
        about = _about(encoder, dense_weight)
        meta = {
            **{key: value for key, value in about.items() if value is not None},
            _HOME: str(path.parent.resolve()),
            "serialization": json.dumps(serialization.to_dict(), sort_keys=True),
            "serialization_fingerprint": serialization.fingerprint,
            "examples": "yes" if examples else "no",
        }
        return cls(SqliteStore.create(path, meta), encoder)

    @classmethod
    def open(
        cls, path: str | Path, encoder: Encoder | None = None, *, times: bool = True
    ) -> SheetIndex:
        """An existing index.

        Args:
            path: The index file.
            encoder: Used in place of the one the index names; must have the same
                fingerprint.
            times: See `SheetIndex`.

        Raises:
            IndexNotFoundError: If there is no such file.
            IndexFormatError: If it is no index, or was written by a newer version.
            FingerprintMismatchError: If `encoder` is not the one it was written with.
        """
        store = SqliteStore.open(Path(path).resolve())
        try:
            return cls(store, encoder, times=times)
        except BaseException:
            store.close()
            raise

    def copied(self, path: str | Path) -> SheetIndex:
        """An index of its own that stays as this one is now, whatever is indexed later.

        Args:
            path: Its file; what is there is replaced.

        Raises:
            OutputError: If it cannot be written.
        """
        self._store.copy_to(Path(path).absolute())
        with self._encoder_lock:
            encoder = self._encoder
        return SheetIndex.open(path, encoder, times=self.times)

    def close(self) -> None:
        """Release the file."""
        self._store.close()

    def __enter__(self) -> SheetIndex:
        """The index itself; leaving the block closes it."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __len__(self) -> int:
        """Number of sheets."""
        return self._store.counts()["sheets"]

    @property
    def path(self) -> Path:
        """The index file."""
        return self._store.path

    @property
    def encoder(self) -> Encoder:
        """The encoder of its tokens, loaded when first asked for.

        Raises:
            EncoderError: If it cannot be loaded.
            FingerprintMismatchError: If what its name loads today is another encoder.
        """
        with self._encoder_lock:
            if self._encoder is None:
                self._encoder = self._checked(SheetEncoder.load(self.encoder_name))
            return self._encoder

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the encoder its tokens were made with; loads nothing."""
        return self._meta["fingerprint"]

    @property
    def encoder_name(self) -> str:
        """What loads the encoder its tokens were made with: a name or a folder.

        A folder that was moved along with the index is found beside it.
        """
        return self._moved(self._meta["encoder"])

    @property
    def reranker_name(self) -> str | None:
        """Folder of the trained reranker that searches take where none is named."""
        folder = self._meta.get(_RERANKER)
        return None if folder is None else self._moved(folder)

    @property
    def width(self) -> int:
        """Token width d."""
        return int(self._meta["width"])

    @property
    def times(self) -> bool:
        """True if sheets are held back whose time is another than a query names."""
        return self._times

    # ---- writing

    def delete_if_empty(self) -> bool:
        """Close the index and delete its file if it holds nothing; True if that was so.

        Raises:
            IndexBusyError: If another process is writing to it.
            IndexStorageError: If the file cannot be deleted.
        """
        with self._sole_writer():
            if len(self) or self.workbooks():
                return False
            self._store.delete()
        return True

    def sync(
        self,
        paths: Sequence[str | Path] | str | Path,
        *,
        verify: bool = False,
        follow_links: bool = False,
        password: str | None = None,
        workers: int | None = None,
        limits: Limits | None = None,
        progress: Progress | None = None,
    ) -> SyncReport:
        """Bring the index in line with the workbooks under some paths.

        New and changed workbooks are read, encoded and replaced, each in one
        transaction; those that are gone from under the paths are removed. An
        interruption leaves every workbook in its old or its new state.

        A folder that was renamed or moved is indexed anew under its new name: a workbook of
        a folder that is there no more goes as soon as one of the same path in a folder, and
        with one of the same sheets, comes. No other workbook of such a folder goes, which may
        be an unmounted disk.

        Args:
            paths: Folders and files. Sheet ids are relative to the folder; a path
                inside a folder that was indexed before keeps that folder.
            verify: Hash every file instead of trusting size and modification time, and check
                every row of the index: workbooks with damaged rows are read anew, also outside
                the paths.
            follow_links: Read a link in a folder also where its file lies outside all folders
                and files that were ever named; else such a link is skipped. Links to folders
                are never followed. A path that is named is read wherever it leads.
            password: Opens encrypted workbooks.
            workers: Reading processes; all cores by default.
            limits: Bounds on what one file may cost, in place of the usual ones; workbooks
                that were cut at a limit are read again.
            progress: Called with workbooks done, workbooks in all, and the path.

        Raises:
            PathNotFoundError: If a path does not exist; nothing is changed then.
            IndexBusyError: If another process is writing to the index.
            IndexStorageError: If the file cannot be written.
            IndexDamagedError: If rows are damaged that it needs, without `verify`.
            IndexFormatError: If the file itself is broken.
        """
        named = [paths] if isinstance(paths, (str, Path)) else list(paths)
        if not all(str(path) for path in named):
            raise PathNotFoundError("a path is empty; name a folder or a file")
        options = SyncOptions(
            examples=self.examples,
            verify=verify,
            follow_links=follow_links,
            password=password,
            workers=workers,
            limits=limits,
            width=self.width,
        )
        with self._sole_writer():
            places = [Path(path) for path in named]
            return sync_paths(self._store, places, self._rows, options, progress)

    def add_records(
        self,
        records: Iterable[SheetRecord],
        links: Iterable[Link] = (),
        *,
        find_links: bool = True,
    ) -> int:
        """Add sheets without files, each in place of a sheet of the same id.

        Records are written a thousand at a time; what was written stays, with the links
        that were found, if the iterable fails later.

        Args:
            records: The sheets; those of one `workbook` belong together.
            links: Links that are known, for example foreign keys. Their ends need not be
                here yet. All are checked before anything is written.
            find_links: Also find links by names and headers.

        Returns:
            Number of records added.

        Raises:
            InputError: If a link or a record has a value that cannot be kept.
            IndexBusyError: If another process is writing to the index.
        """
        added = 0
        given = [checked_link(link) for link in links]
        workbooks: dict[str, None] = {}
        with self._sole_writer():
            try:
                for part in _parts(records, _AT_ONCE):
                    kept = part if self.examples else [without_examples(record) for record in part]
                    alone = [record for record in kept if find_links and not record.workbook]
                    self._store.put_sheets(self._rows(kept), claims_of(alone))
                    added += len(part)
                    workbooks.update((record.workbook, None) for record in kept if record.workbook)
            finally:  # what was written is linked even if the rest could not be read
                for names in _parts(workbooks if find_links else (), _RELINKED):
                    self._store.relink_sheets([self._found(workbook) for workbook in names])
                self._store.settle_families()
            self._store.put_links(given)
        return added

    def reencode(
        self,
        encoder: Encoder,
        *,
        dense_weight: float | None = None,
        reranker: str | Path | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Give every sheet a token by another encoder, in one transaction.

        Until its end, and if it fails or is killed, the index stays as it was, also for those
        who read it meanwhile. Whoever has it open afterwards has to open it again. Takes room
        for the tokens twice beside the file, and little memory.

        Args:
            encoder: Makes the tokens, of the texts that the index was written with.
            dense_weight: Share of the cosine in its scores from now on; None takes the
                encoder's own, or the default.
            reranker: Folder of the trained reranker for these tokens; see `name_reranker`.
            progress: Called with sheets encoded, and sheets in all.

        Raises:
            InputError: If `dense_weight` is out of its range.
            IndexBusyError: If another process is writing to the index.
            IndexStorageError: If there is no room, or the file cannot be written.
        """
        meta = _about(encoder, dense_weight) | {_RERANKER: _place(reranker)} | self._home()
        with self._sole_writer():
            with fresh_tokens(self._store, encoder, self.serialization, progress) as tokens:
                self._store.replace_tokens(tokens, meta)
            with self._encoder_lock:
                self._encoder = encoder
                self._take(self._store.meta())

    def name_reranker(self, folder: str | Path | None) -> None:
        """Note the trained reranker that searches of this index take where none is named.

        Who has the index open already has to open it again.

        Args:
            folder: A trained reranker, or the run folder of its training; None forgets it.

        Raises:
            PathNotFoundError: If there is no such folder.
            IndexBusyError: If another process is writing to the index.
            IndexStorageError: If the file cannot be written.
        """
        if folder is not None and not (str(folder) and Path(folder).is_dir()):
            raise PathNotFoundError(
                f"there is no folder {folder}; name one with a trained reranker, or None"
            )
        with self._sole_writer():
            encoder = {"encoder": self.encoder_name}  # its folder may have moved with the file
            self._store.note({_RERANKER: _place(folder)} | encoder | self._home())
            self._meta = self._store.meta()

    def _found(self, workbook: str) -> tuple[list[str], Discovery]:
        """Sheet ids of a workbook that has no file, and what it says about links."""
        records = self._store.records_called(workbook)
        return [record.sheet_id for record in records], discover(records)

    def remove(self, sheet_ids: Sequence[str]) -> int:
        """Drop sheets; the number that was there.

        A sheet of a workbook file comes back when the file changes and is synced.

        Raises:
            IndexBusyError: If another process is writing to the index.
        """
        with self._sole_writer():
            removed = self._store.remove_sheets(sheet_ids)
            self._store.settle_families()
            return removed

    # ---- reading

    def warm_up(self) -> None:
        """Load encoder and tokens now, side by side, so that the first query is quick.

        Raises:
            EncoderError: If the encoder cannot be loaded.
            FingerprintMismatchError: If what its name loads today is another encoder.
        """
        with ThreadPoolExecutor(1) as beside:
            loading = beside.submit(lambda: self.encoder)
            self._search.warm_up()
            loading.result()

    def question(
        self,
        query: str,
        *,
        dense_weight: float | None = None,
        token: FloatArray | None = None,
        today: date = UNDATED,
        times: bool | None = None,
    ) -> Question:
        """A query, encoded and scored once; all that is done about it takes this question.

        Args:
            query: Words of any language.
            dense_weight: Share of the cosine in its scores, in [0, 1]; None takes the index's.
            token: The query's token (d,) by the index's encoder, if it is at hand already; it
                is brought to unit length.
            today: The day that "last year" and the like count from; with `UNDATED` they say
                nothing.
            times: Hold sheets back whose time is another than the query names; None takes the
                index's choice.

        Raises:
            EmptyInputError: If the query has no character.
            InputError: If `dense_weight` is out of its range, or `token` no direction of the
                index's width.
            EncoderError: If the encoder cannot be loaded.
            FingerprintMismatchError: If the tokens are of another encoder by now.
        """
        return self._search.question(
            query, today, dense_weight=dense_weight, token=token, times=times
        )

    def candidates(
        self, question: Question | str, top_k: int = 50, filters: Filters | None = None
    ) -> list[Candidate]:
        """The best sheets of the whole corpus for a question, best first.

        Source: paper, section 3.3 (cosine over all tokens). Departs: the score is
        `dense_weight · cosine + (1 - dense_weight) · BM25 / its possible maximum`;
        a dense weight of 1 gives the paper's order, 0 gives BM25's.

        Args:
            question: What `question` made of a query; a text is asked without options.
            top_k: Most candidates.
            filters: Conditions every candidate meets.

        Raises:
            EmptyInputError: If the query has no character.
            InputError: If `top_k` is no whole number above 0.
        """
        check_counts(top_k=top_k)
        asked = self.question(question) if isinstance(question, str) else question
        return self._search.candidates(asked, top_k, filters)

    def score_sheets(
        self, question: Question, sheet_ids: Sequence[str], filters: Filters | None = None
    ) -> list[Candidate]:
        """Chosen sheets as candidates for a question, best first, scored as `candidates` does.

        Args:
            question: What `question` made of a query.
            sheet_ids: The sheets; those that are not in the index, or do not meet the
                filters, are absent from the result. Ranks count within the result.
            filters: Conditions every candidate meets.
        """
        return self._search.score_sheets(question, sheet_ids, filters)

    def asked_times(self, query: str, *, today: date = UNDATED) -> AskedTimes:
        """The times that a query is understood to name; none if times do not count.

        Args:
            query: Words of any language.
            today: See `question`.

        Raises:
            EmptyInputError: If the query has no character.
        """
        return self._search.asked_times(query, today)

    def missing_times(
        self, query: str, filters: Filters | None = None, *, today: date = UNDATED
    ) -> tuple[Span, ...]:
        """The times that a query names, if all sheets of known times are of others; else none.

        Then `candidates` scores as if the query named none. A time that is a part of a sheet's
        time, as a month is of its year, is not missing.

        Args:
            query: Words of any language.
            filters: Conditions that the sheets meet.
            today: See `question`.

        Raises:
            EmptyInputError: If the query has no character.
        """
        return self._search.missing_times(query, filters, today)

    def check_filters(self, filters: Filters | None) -> None:
        """Refuse filters by a metadata field that no sheet has; an empty index knows no fields.

        Raises:
            InputError: If no sheet has one of the metadata fields.
        """
        self._search.check_filters(filters)

    def word_shares(self, question: Question, sheet_ids: Sequence[str]) -> WordShares:
        """Share of each word of a question in the score of each sheet.

        Args:
            question: What `question` made of a query.
            sheet_ids: The sheets, in the order of the result's columns.
        """
        return self._search.word_shares(question, sheet_ids)

    def tokens(self, sheet_ids: Sequence[str]) -> FloatArray:
        """Tokens of sheets in the given order, (n, d) float32, rows of unit length.

        Raises:
            InputError: If a sheet is not in the index.
        """
        return self._search.tokens(sheet_ids)

    def records(self, sheet_ids: Sequence[str]) -> dict[str, SheetRecord]:
        """Records by sheet id; ids that are not in the index are absent."""
        return self._store.records(sheet_ids)

    def sheet_ids(self, workbook: str | None = None) -> list[str]:
        """Sheet ids in their order, of all sheets or of one workbook's name or path."""
        return self._store.all_sheet_ids(workbook)

    def links(self, sheet_ids: Sequence[str]) -> list[Link]:
        """Links that start or end at one of the sheets."""
        return self._store.links.of(sheet_ids)

    def links_between(
        self, some: Sequence[str], others: Sequence[str], types: Sequence[str] | None = None
    ) -> list[Link]:
        """Links with one end among some sheets and one among others, whichever way.

        Args:
            some: Sheet ids.
            others: Sheet ids.
            types: Link types; None takes all.
        """
        return self._store.links.between(some, others, types)

    def link_targets(self, sheet_id: str, limit: int) -> list[Link]:
        """Links that start at a sheet, by target and type; those of the first `limit` rows."""
        return self._store.links.targets(sheet_id, limit)

    def workbook_of(self, sheet_ids: Sequence[str]) -> dict[str, str]:
        """Path, or name without a file, of the workbook that each sheet is part of."""
        return self._store.workbook_of(sheet_ids)

    def file_of(self, sheet_id: str) -> Path:
        """The workbook file of a sheet; whether it is still there is not looked at.

        Raises:
            InputError: If the sheet is not in the index, has no file, or its file is by now a
                link to somewhere outside the folder that was indexed.
        """
        return self.bounded_file_of(sheet_id)[0]

    def bounded_file_of(self, sheet_id: str) -> tuple[Path, Path]:
        """The workbook file of a sheet, and the folder or file that it must really be or lie in.

        Raises:
            InputError: As `file_of`.
        """
        found = self._store.files([sheet_id]).get(sheet_id)
        if found is None:
            raise InputError(f"the index knows no file of {sheet_id!r}; index its workbook")
        root, below, within = found
        path = Path(root, below)
        bound = Path(within) if within else path
        if not is_within(real_path(path), bound):
            raise InputError(
                f"the file of {sheet_id!r} is outside the folder that was indexed; index it again"
            )
        return path, bound

    def all_links(self) -> Iterator[Link]:
        """Every link of the index, ordered by ends and type, read bit by bit."""
        return self._store.links.all()

    def workbooks(self) -> list[WorkbookState]:
        """Every workbook file the index knows, with what of it was skipped."""
        return self._store.workbooks()

    def status(self) -> Mapping[str, object]:
        """Counts and settings of the index, as plain values."""
        return {
            "index": str(self.path),
            "bytes": self.path.stat().st_size,
            **self._store.counts(),
            "links": self._store.links.counts(),
            "unresolved": self._store.links.unresolved(UNRESOLVED_SHOWN),
            "formulas": self._store.sheet_counts("formulas"),
            "formats": self._store.sheet_counts("format"),
            "visibility": self._store.sheet_counts("visibility"),
            "encoder": self.encoder_name,
            "fingerprint": self.fingerprint,
            "width": self.width,
            "dense_weight": self.dense_weight,
            "reranker": self.reranker_name,
            "serialization": self.serialization.to_dict(),
            "examples": self.examples,
        }

    # ---- inner workings

    def _home(self) -> dict[str, str]:
        """The folder that the file is in now, to find what moves along with it."""
        return {_HOME: str(self.path.resolve().parent)}

    def _moved(self, name: str) -> str:
        """What a name in the file is called now: a folder may have moved along with the file."""
        home = self._meta.get(_HOME)
        if home is None or not Path(name).is_relative_to(home) or Path(name).exists():
            return name
        moved = self.path.resolve().parent / Path(name).relative_to(home)
        return str(moved) if moved.exists() else name

    def _take(self, meta: Mapping[str, str]) -> None:
        """Search by the encoder that the file names."""
        self._meta = meta
        self.dense_weight = float(meta.get("dense_weight", DENSE_WEIGHT))
        searched = Searched(int(meta["width"]), meta["fingerprint"], self.dense_weight, self._times)
        self._search = SheetSearch(self._store, lambda: self.encoder, searched)

    def _rows(self, records: Sequence[SheetRecord]) -> list[SheetRow]:
        """Records with their tokens and words."""
        for record in records:
            _check(record)
        texts = [serialize(record, self.serialization) for record in records]
        tokens: Iterable[FloatArray] = self.encoder.encode_sheets(texts) if texts else ()
        return [
            SheetRow(record, token, sheet_words(record))
            for record, token in zip(records, tokens, strict=True)
        ]

    def _checked(self, encoder: Encoder) -> Encoder:
        if encoder.fingerprint != self._meta["fingerprint"]:
            raise FingerprintMismatchError(
                f"{self.path} was written with encoder {self._meta['encoder']!r} "
                f"({self._meta['fingerprint']}), not {encoder.name!r} ({encoder.fingerprint}): "
                "open it with that encoder, or index the folders anew into another file"
            )
        return encoder

    @contextmanager
    def _sole_writer(self) -> Iterator[None]:
        if not self._store.writable:
            raise IndexStorageError(f"{self.path} is read-only; copy it to a writable folder")
        lock = FileLock(f"{self.path}.lock", timeout=WRITER_WAIT_S)
        try:
            lock.acquire()
        except Timeout as error:
            raise IndexBusyError(
                f"another process is writing to {self.path}; try again when it has finished"
            ) from error
        try:
            if not self._store.is_in_place:
                raise IndexStorageError(
                    f"{self.path} was deleted or replaced meanwhile; open it again, or index anew"
                )
            check_encoder(self._store, self.fingerprint)  # or its sheets would get other tokens
            yield
        finally:
            lock.release()


def _about(encoder: Encoder, dense_weight: float | None) -> dict[str, str | None]:
    """What an index notes about the encoder of its tokens; a weight of None is not noted."""
    if dense_weight is None:
        dense_weight = encoder.dense_weight if isinstance(encoder, SheetEncoder) else None
    if dense_weight is not None:
        check_dense_weight(dense_weight)
    return {
        "encoder": encoder.name,
        "fingerprint": encoder.fingerprint,
        "width": str(encoder.width),
        "dense_weight": None if dense_weight is None else repr(float(dense_weight)),
    }


def _place(folder: str | Path | None) -> str | None:
    return None if folder is None else str(Path(folder).resolve())


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


def _parts(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    part: list[Item] = []
    for item in items:
        part.append(item)
        if len(part) == size:
            yield part
            part = []
    if part:
        yield part
