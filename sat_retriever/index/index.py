"""The index of a corpus: sheets in, candidates out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from types import TracebackType

from sat_retriever.encoder import SheetEncoder
from sat_retriever.errors import InputError
from sat_retriever.index.folding import CopyFolding
from sat_retriever.index.question import Question
from sat_retriever.index.search import SheetSearch
from sat_retriever.index.settings import IndexSettings, new_notes
from sat_retriever.index.state import IndexState
from sat_retriever.index.store.opening import Store, create_store, open_store
from sat_retriever.index.store.rows import WorkbookState
from sat_retriever.index.sync import SyncOptions, SyncReport
from sat_retriever.index.writer import IndexWriter
from sat_retriever.period.asked import UNDATED, AskedTimes
from sat_retriever.period.spans import Span
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.copies import Copies
from sat_retriever.records.counts import check_counts
from sat_retriever.records.filters import Filters
from sat_retriever.records.links import Link
from sat_retriever.records.progress import PathProgress, Progress
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.records.tokens import Encoder, FloatArray
from sat_retriever.text.lexical import WordShares
from sat_retriever.text.serialize import Serialization
from sat_retriever.workbook.limits import Limits
from sat_retriever.workbook.opening.regular import is_within, real_path

UNRESOLVED_SHOWN = 20  # workbook files that status names


class SheetIndex:
    """Records, tokens and words of a corpus in one file.

    Safe to share between threads. Many processes may read while one writes.

    Args:
        store: An open store.
        encoder: Encoder of the tokens in it; None loads the one the index names, at
            the first query.
        times: True ranks sheets lower whose time is not the one that a query names; False
            scores as the paper does. Not part of the file.
    """

    def __init__(self, store: Store, encoder: Encoder | None = None, *, times: bool = True) -> None:
        settings = IndexSettings.from_meta(store.meta(), store.path)
        self._store = store
        self._state = IndexState(settings, store.path, encoder)
        self._writer = IndexWriter(store, self._state)
        self._search = SheetSearch(store, self._state, times=times)
        self._folding = CopyFolding(store, self._search)

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
        notes = new_notes(
            encoder, dense_weight, serialization or Serialization(), path, examples=examples
        )
        return cls(create_store(path, notes), encoder)

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
        store = open_store(Path(path).resolve())
        try:
            return cls(store, encoder, times=times)
        except BaseException:
            store.close()
            raise

    def copied(self, path: str | Path) -> SheetIndex:
        """A copy of the index as it is now, open; later changes to either leave the other alone.

        Args:
            path: The file of the copy; a file that is there is replaced.

        Raises:
            OutputError: If it cannot be written.
        """
        self._store.copy_to(Path(path).absolute())
        return SheetIndex.open(path, self._state.loaded, times=self.times)

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
            FingerprintMismatchError: If its name loads another encoder today.
        """
        return self._state.encoder

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the encoder its tokens were made with; loads nothing."""
        return self._state.settings.fingerprint

    @property
    def encoder_name(self) -> str:
        """Name or folder that loads the encoder of its tokens.

        A folder that was moved along with the index is found beside it.
        """
        return self._state.encoder_name

    @property
    def reranker_name(self) -> str | None:
        """Folder of the trained reranker that searches take where none is named."""
        settings = self._state.settings
        return settings.reranker and settings.located(settings.reranker, self.path)

    @property
    def width(self) -> int:
        """Token width d."""
        return self._state.settings.width

    @property
    def times(self) -> bool:
        """True if sheets rank lower whose time is not the one that a query names."""
        return self._search.times

    @property
    def dense_weight(self) -> float:
        """Share of the cosine in scores, in [0, 1], unless a query gives another."""
        return self._state.settings.dense_weight

    @property
    def serialization(self) -> Serialization:
        """How its records became texts."""
        return self._state.settings.serialization

    @property
    def examples(self) -> bool:
        """False if no cell values are kept."""
        return self._state.settings.examples

    # ---- writing

    def delete_if_empty(self) -> bool:
        """Close the index and delete its file if it is empty; True if it was.

        Raises:
            IndexBusyError: If another process is writing to it.
            IndexStorageError: If the file cannot be deleted.
        """
        return self._writer.delete_if_empty()

    def sync(
        self,
        paths: Sequence[str | Path] | str | Path,
        *,
        verify: bool = False,
        follow_links: bool = False,
        password: str | None = None,
        workers: int | None = None,
        limits: Limits | None = None,
        progress: PathProgress | None = None,
    ) -> SyncReport:
        """Bring the index in line with the workbooks under some paths.

        New and changed workbooks are read, encoded and replaced, each in one
        transaction; those that are gone from under the paths are removed. An
        interruption leaves every workbook in its old or its new state.

        Workbooks of a folder that was renamed or moved are indexed anew under its new name. A
        workbook of the missing folder is removed when one with the same path below its folder,
        and with one of the same sheets, is indexed. All others stay, since the folder may be
        on a disk that is not mounted.

        Args:
            paths: Folders and files. Sheet ids are relative to the folder; a path
                inside a folder that was indexed before keeps that folder.
            verify: Hash every file instead of trusting size and modification time, and check
                every row of the index. Workbooks with damaged rows are read anew, even outside
                the paths.
            follow_links: Read a link in a folder even if its file lies outside every folder
                and file that was ever named; otherwise such a link is skipped. Links to
                folders are never followed. A path in `paths` is read wherever it leads.
            password: Opens encrypted workbooks.
            workers: Reading processes; all cores by default.
            limits: Bounds on what one file may cost, in place of the usual ones; workbooks
                that were cut at a limit are read again.
            progress: Called with workbooks done, workbooks in all, and the path.

        Raises:
            PathNotFoundError: If a path does not exist; then nothing is changed.
            IndexBusyError: If another process is writing to the index.
            IndexStorageError: If the file cannot be written.
            IndexDamagedError: If it meets damaged rows and `verify` is not given.
            IndexFormatError: If the file itself is broken.
        """
        options = SyncOptions(
            verify=verify,
            follow_links=follow_links,
            password=password,
            workers=workers,
            limits=limits,
        )
        return self._writer.sync(paths, options, progress)

    def add_records(
        self,
        records: Iterable[SheetRecord],
        links: Iterable[Link] = (),
        *,
        find_links: bool = True,
    ) -> int:
        """Add sheets without files, each in place of a sheet of the same id.

        Records are written a thousand at a time. If the iterable fails later, those that were
        written stay, with the links that were found between them.

        Args:
            records: The sheets; those of one `workbook` belong together.
            links: Known links, for example foreign keys. Their sheets may be added later. All
                links are checked before anything is written.
            find_links: Also find links by names and headers.

        Returns:
            Number of records added.

        Raises:
            InputError: If a link or a record has a value that cannot be kept.
            IndexBusyError: If another process is writing to the index.
        """
        return self._writer.add_records(records, links, find_links=find_links)

    def reencode(
        self,
        encoder: Encoder,
        *,
        dense_weight: float | None = None,
        reranker: str | Path | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Give every sheet a token by another encoder, in one transaction.

        The index stays as it was until the end, for readers too, and also if this fails or is
        killed. Other processes that have it open must open it again afterwards. It needs
        little memory, and disk space beside the file for two copies of the tokens.

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
        self._writer.reencode(
            encoder, dense_weight=dense_weight, reranker=reranker, progress=progress
        )
        self._search = SheetSearch(self._store, self._state, times=self.times)
        self._folding = CopyFolding(self._store, self._search)

    def name_reranker(self, folder: str | Path | None) -> None:
        """Note the trained reranker that searches of this index take where none is named.

        Other processes that have the index open must open it again to see it.

        Args:
            folder: A trained reranker, or the run folder of its training; None forgets it.

        Raises:
            PathNotFoundError: If there is no such folder.
            IndexBusyError: If another process is writing to the index.
            IndexStorageError: If the file cannot be written.
        """
        self._writer.name_reranker(folder)

    def remove(self, sheet_ids: Sequence[str]) -> int:
        """Drop sheets; the number that was there.

        A sheet of a workbook file comes back when the file changes and is synced.

        Raises:
            IndexBusyError: If another process is writing to the index.
        """
        return self._writer.remove(sheet_ids)

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

    def recent_token(self, query: str) -> FloatArray | None:
        """The token (d,) of one of the last 64 queries that `question` encoded; else None.

        A framework hands its reranker the text of a query, not what the retriever made of it.
        With this token the reranker need not encode the query again.

        Raises:
            EmptyInputError: If the query has no character.
        """
        return self._search.recent_token(query)

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

    def distinct_candidates(
        self, question: Question, top_k: int = 50, filters: Filters | None = None
    ) -> Sequence[Candidate]:
        """The best sheets for a question, best first, one of each group of copies.

        Args:
            question: What `question` made of a query.
            top_k: Most candidates.
            filters: Conditions every candidate meets.

        Raises:
            InputError: If `top_k` is no whole number above 0.
        """
        check_counts(top_k=top_k)
        return self._folding.candidates(question, top_k, filters)

    def without_copies(
        self, question: Question, ranked: Sequence[Candidate], filters: Filters | None = None
    ) -> Sequence[Candidate]:
        """A ranking with one sheet of each group of copies, in the place of its best.

        That is the newest one, unless the question names a version or a time.

        Args:
            question: What the ranking is for.
            ranked: The ranking, best first.
            filters: Conditions that the sheet in the place of others meets.
        """
        return self._folding.folded(question, ranked, filters)

    def copies(
        self, sheet_ids: Sequence[str], filters: Filters | None = None
    ) -> Mapping[str, Copies]:
        """The copies and versions of sheets; those without any are absent.

        Args:
            sheet_ids: The sheets.
            filters: Conditions that the copies meet, and the sheets.
        """
        return self._folding.copies(sheet_ids, filters)

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
