"""Search and change the index of a corpus: sheets in, candidates out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import finalize

from sat_retriever.encoder import DEFAULT
from sat_retriever.encoder.embedder import Cost
from sat_retriever.encoder.load import EncoderLike, as_encoder
from sat_retriever.encoder.onnx.device import Device
from sat_retriever.errors import EncoderError, InputError, PermissionsError
from sat_retriever.index.settings import IndexSettings, IndexState, new_notes
from sat_retriever.index.store.opening import (
    check_free,
    create_store,
    open_store,
    restricted_store,
    unrestricted_store,
)
from sat_retriever.index.store.place import IndexUrl, Place, absolute, resolved
from sat_retriever.index.store.rows import WorkbookState
from sat_retriever.index.store.store import Store
from sat_retriever.index.views import Following, Views
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.contents import ContentsPolicy
from sat_retriever.records.filters import Filters, check_counts
from sat_retriever.records.hits import Copies
from sat_retriever.records.links import Link
from sat_retriever.records.permissions import Owner, Principals, checked_groups
from sat_retriever.records.privacy import Privacy
from sat_retriever.records.progress import PartProgress, PathProgress, Progress
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.records.tokens import Encoder, FloatArray
from sat_retriever.records.typedtable import TypedTable
from sat_retriever.stages import Told, tell
from sat_retriever.text.period.spans import UNDATED
from sat_retriever.text.serialize import Serialization
from sat_retriever.workbook.opening.regular import is_within, real_path
from sat_retriever.workbook.remote.url import is_url, joined

if TYPE_CHECKING:
    from sat_retriever.index.permissions import Change, Given
    from sat_retriever.index.search.question import Question
    from sat_retriever.index.search.search import SheetSearch
    from sat_retriever.index.sync.executor import Executor
    from sat_retriever.index.sync.sync import SyncReport
    from sat_retriever.index.sync.writer import IndexWriter
    from sat_retriever.workbook.limits import Limits

BoundedFile: TypeAlias = tuple[Path, Path]
"""A workbook's file, and the folder or file that must really hold it."""
UNRESOLVED_SHOWN = 20  # workbook files that the status names


class SheetIndex:
    """Records, tokens and words of a corpus in one file.

    It opens an index, changes it and reads what it holds; `search` finds and ranks sheets in it.
    Threads may share it. Many processes may read while one writes. Pickled, it holds its place and
    those who see it, and opens itself anew.

    Args:
        store: An open store.
        encoder: Encoder of its tokens; None loads the one that the index names, at the first query.
        times: True lowers the rank of sheets outside the periods that a query names; False scores
            as the paper does. The file does not store it.
        device: Where its encoder and rerankers run: "cuda", "cpu", or "auto" for CUDA where it can
            be used. An encoder of a server runs there. The file does not store it either.
    """

    def __init__(
        self,
        store: Store,
        encoder: Encoder | None = None,
        *,
        times: bool = True,
        device: Device = "auto",
    ) -> None:
        settings = IndexSettings.from_meta(store.meta(), store.path)
        state = IndexState(settings, store.path, encoder, device)
        self._own = (store, unrestricted_store(store))
        self._seen_by: tuple[str, ...] | Owner | None = None
        self._follows: Following[SheetIndex] | None = None
        self._state = state
        self.times = times
        """True if sheets outside the periods that a query names rank lower."""
        self._search: SheetSearch | None = None
        self._making = Lock()
        self._views: Views[SheetIndex] = Views(self._opened_for)

    @property
    def _store(self) -> Store:
        """What is written, or refuses it."""
        return self._own[0] if self._follows is None else self._follows.now()._own[0]

    @property
    def _seen(self) -> Store:
        """What is read."""
        return self._own[1] if self._follows is None else self._follows.now()._own[1]

    @property
    def search(self) -> SheetSearch:
        """What finds and ranks sheets in it."""
        if self._follows is not None:
            return self._follows.now().search
        with self._making:
            if self._search is None:
                self._search = self._search_in(self._seen, times=self.times)
            return self._search

    def _search_in(self, store: Store, *, times: bool) -> SheetSearch:
        # The encoder is loaded beside these modules: see `warming_up`.
        from sat_retriever.index.search.search import SheetSearch

        return SheetSearch(store, self._state, times=times)

    @classmethod
    def create(
        cls,
        path: str | Path | IndexUrl,
        encoder: EncoderLike | None = None,
        *,
        serialization: Serialization | None = None,
        contents: ContentsPolicy | str = ContentsPolicy.ALL,
        skip_columns: str | None = None,
        dense_weight: float | None = None,
        device: Device = "auto",
    ) -> SheetIndex:
        """Create a new, empty index file.

        Args:
            path: The new file.
            encoder: Encoder of its tokens: its name or folder, an encoder, or an embedding model
                of LlamaIndex or LangChain; None takes this package's general one.
            serialization: The form of a record's text; None takes the paper's form.
            contents: What the file keeps of the cells: "all" texts that identify, "examples" one
                cell of each column, "names" nothing (metadata only).
            skip_columns: A regular expression; of columns whose header it matches, in any case,
                only the header is kept.
            dense_weight: Share of the cosine in its scores, unless a query gives another; None
                takes the encoder's own (a fine-tuned one may have one), or the default.
            device: See `SheetIndex`; a given encoder stays where it was loaded.

        Raises:
            InputError: If there is already a file at `path`, or `contents`, `skip_columns` or
                `dense_weight` is out of its range.
            EncoderError: If the encoder cannot be loaded, or fails.
            IndexStorageError: If the file cannot be written.
        """
        privacy = Privacy.of(contents, skip_columns)
        place = absolute(path)
        check_free(place)
        made = as_encoder(DEFAULT if encoder is None else encoder, device=device)
        notes = new_notes(made, dense_weight, serialization or Serialization(), place, privacy)
        return cls(create_store(place, notes), made, device=device)

    @classmethod
    def open(
        cls,
        path: str | Path | IndexUrl,
        encoder: EncoderLike | None = None,
        *,
        times: bool = True,
        device: Device = "auto",
    ) -> SheetIndex:
        """Open an existing index.

        Args:
            path: The index file.
            encoder: Replaces the encoder that the index names; must have the same fingerprint. An
                index made with an object of LlamaIndex or LangChain needs that object to encode
                questions and new sheets, and for nothing else.
            times: See `SheetIndex`.
            device: See `SheetIndex`; a given encoder stays where it was loaded.

        Raises:
            IndexNotFoundError: If there is no such file.
            IndexFormatError: If it is not an index, or was written by a newer version.
            FingerprintMismatchError: If `encoder` is not the one that the index was written with.
        """
        store = open_store(resolved(path))
        try:
            made = None if encoder is None else as_encoder(encoder, device=device)
            return cls(store, made, times=times, device=device)
        except BaseException:
            store.close()
            raise

    def copied(self, path: str | Path) -> SheetIndex:
        """Return an open copy of the index in a file, which it replaces; both change independently.

        Raises:
            OutputError: If it cannot be written.
        """
        self._store.copy_to(Path(path).absolute())
        return SheetIndex.open(path, self._state.loaded, times=self.times, device=self.device)

    def seen_by(self, principals: Principals) -> SheetIndex:
        """Return the index as some groups see it: every other sheet is as if it were not there.

        Hits, scores, links, counts and suggestions are those of an index of only the sheets that
        one of the groups, or everyone, may see, by the rules in force whenever it is read. It can
        only be read. An index without permissions shows everything to everyone. What was asked for
        lately stays open, and is closed with this index.

        Args:
            principals: The groups of the one who asks; none sees what everyone may. `OWNER` sees
                all sheets, and may change the index.

        Raises:
            InputError: If a group is no plain name.
            PermissionsError: If this is what some groups see already, or the store cannot hold
                back the rest.
        """
        if self._seen_by is not None:
            raise PermissionsError(
                f"this is {self.path} as somebody sees it; ask the whole index for somebody else"
            )
        if isinstance(principals, Owner):
            if self._store.is_restricted() and self._store.holds_back():
                raise PermissionsError(
                    f"the role of {self.path} does not see all sheets; open it as its owner"
                )
            return self._views.get(principals)
        names = checked_groups(principals)
        if not self._store.is_restricted():
            return self._view(self._seen, names, self.search)
        view = self._view(self._seen, names)
        view._follows = Following(partial(self._in_force, names))
        view._follows.now()
        return view

    def _in_force(self, names: tuple[str, ...]) -> tuple[SheetIndex, int]:
        """The view that all share who see the same sheets by now, and the state it is of."""
        generation = self.generation
        groups = self.groups_in_force(names)
        if groups is None:
            return self._view(self._seen, names, self.search), generation
        return self._views.get(groups), generation

    def groups_in_force(self, groups: Iterable[str]) -> tuple[str, ...] | None:
        """Those of some groups that may see a sheet by now; None if there are no permissions.

        People with the same groups in force see the same sheets.

        Raises:
            InputError: If a group is no plain name.
        """
        names = checked_groups(groups)
        return tuple(self._store.groups_among(names)) if self._store.is_restricted() else None

    def _opened_for(self, seen_by: tuple[str, ...] | Owner) -> SheetIndex:
        if isinstance(seen_by, Owner):
            return self._view(self._store, seen_by)
        store = restricted_store(self._store, seen_by)
        view = self._view(store, seen_by)
        finalize(view, store.close)
        return view

    def _view(
        self,
        store: Store,
        seen_by: tuple[str, ...] | Owner,
        search: SheetSearch | None = None,
    ) -> SheetIndex:
        """The same index by way of another store, which says what is read and written."""
        view = object.__new__(type(self))
        view._own = (store, store)
        view._seen_by = seen_by
        view._follows = None
        view._state = self._state
        view.times = self.times
        view._search = search
        view._making = Lock()
        view._views = self._views
        return view

    @property
    def _writer(self) -> IndexWriter:
        # What reads and writes workbooks is two fifths of the modules; a search needs none of it.
        from sat_retriever.index.sync.writer import IndexWriter

        return IndexWriter(self._store, self._state)

    def close(self) -> None:
        """Release the file with all that `seen_by` returned, which ignores `close`."""
        if self._seen_by is not None:
            return
        self._views.clear()
        self._store.close()

    def __enter__(self) -> SheetIndex:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle its place, without the password of a URL, and those who see it.

        Raises `EncoderError` if its encoder is an object that only this program has.
        """
        if not self.is_reopenable:
            raise EncoderError(
                f"the encoder {self.encoder_name!r} of {self.path} is an object of this program, "
                "so that the index cannot be opened elsewhere by its place alone; send the place, "
                "and open it there with SheetIndex.open(PLACE, encoder=OBJECT)"
            )
        return type(self)._reopened, (str(self.path), self._seen_by, self.times, self.device)

    @classmethod
    def _reopened(
        cls, place: str, seen_by: tuple[str, ...] | Owner | None, times: bool, device: Device
    ) -> SheetIndex:
        index = cls.open(place, times=times, device=device)
        return index if seen_by is None else index.seen_by(seen_by)

    def __len__(self) -> int:
        return self._seen.counts()["sheets"]

    @property
    def path(self) -> Place:
        """The index file, or the URL of the index in PostgreSQL, without its password."""
        return self._store.path

    @property
    def principals(self) -> tuple[str, ...] | Owner | None:
        """Those who see it, after `seen_by`: `OWNER`, or the groups that were named."""
        return self._seen_by

    @property
    def is_reopenable(self) -> bool:
        """True if its place alone opens it; False if its encoder is an object of this program."""
        return self._state.is_named

    @property
    def generation(self) -> int:
        """A number that grows with every write."""
        return self._store.generation()

    @property
    def encoder(self) -> Encoder:
        """The encoder of its tokens, loaded on first use.

        Raises:
            EncoderError: If it cannot be loaded.
            FingerprintMismatchError: If its name now loads another encoder.
        """
        return self._state.encoder

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the encoder that made its tokens; loads nothing."""
        return self._state.settings.fingerprint

    @property
    def encoder_name(self) -> str:
        """Name or folder of the encoder; a folder that moved with the index is found beside it."""
        return self._state.encoder_name

    @property
    def has_contents(self) -> bool:
        """True if the index holds contents of a sheet, beside names."""
        return self._seen.has_contents()

    @property
    def reranker_name(self) -> str | None:
        """Folder of the trained reranker that searches use if none is named."""
        settings = self._state.settings
        return settings.reranker and settings.located(settings.reranker, self.path)

    @property
    def is_restricted(self) -> bool:
        """True if its sheets are for their groups alone, so that it is read for somebody."""
        return self._store.is_restricted()

    def groups(self) -> dict[str, int]:
        """Number of sheets that each group may see, by its name, in order; for the owner."""
        return self._seen.group_counts()

    @property
    def width(self) -> int:
        """Token width d."""
        return self._state.settings.width

    @property
    def device(self) -> Device:
        """Device that its encoder and rerankers are loaded on."""
        return self._state.device

    @property
    def dense_weight(self) -> float:
        """Share of the cosine in scores, in [0, 1], unless a query gives another.

        Where all sheets have contents it is 0.5 at most; 1 stays 1.
        """
        return self._state.settings.dense_weight

    @property
    def serialization(self) -> Serialization:
        """The form of its records' texts."""
        return self._state.settings.serialization

    @property
    def privacy(self) -> Privacy:
        """What the index keeps of the cells."""
        return self._state.settings.privacy

    # ---- writing

    def delete_if_empty(self) -> bool:
        """Close the index and delete its file if it is empty; True if it was.

        Raises:
            IndexBusyError: If another process is writing to it.
            IndexStorageError: If the file cannot be deleted.
        """
        return self._writer.delete_if_empty()

    def sync(  # noqa: PLR0913 - what is read, how, and who is told
        self,
        paths: Sequence[str | Path] | str | Path,
        *,
        verify: bool = False,
        follow_links: bool = False,
        password: str | None = None,
        encoding: str | None = None,
        workers: int | None = None,
        limits: Limits | None = None,
        executor: Executor | None = None,
        progress: PathProgress | None = None,
        spent: Callable[[Cost], None] | None = None,
        listed: Callable[[str, int], None] | None = None,
        parts: PartProgress | None = None,
    ) -> SyncReport:
        """Bring the index in line with the workbooks under some paths.

        New and changed workbooks are read, encoded and replaced, each in one transaction; those
        that no longer exist under the paths are removed. An interruption leaves every workbook in
        its old or its new state.

        Workbooks of a renamed or moved folder are indexed anew under its new name. A workbook of
        the missing folder is removed when another with the same path below its folder, and with one
        of the same sheets, is indexed. All others stay, since the folder may be on a disk that is
        not mounted.

        Args:
            paths: Folders and files, also at a URL such as s3://bucket/folder, given as text
                (extra `[remote]`). Sheet ids are relative to the folder; a path inside a folder
                that was indexed before keeps that folder.
            verify: Hash every file instead of trusting size and modification time, and check
                every row of the index. Workbooks with damaged rows are read anew, even outside
                the paths. A file at a URL with an ETag is not downloaded for that.
            follow_links: Read a link in a folder even if its file lies outside every folder and
                file that was ever named; otherwise such a link is skipped. Links to folders are
                never followed. A path in `paths` is read wherever it leads.
            password: Password of encrypted workbooks.
            encoding: Encoding of delimited files, such as "cp1252", in place of the one found in
                each; those under the paths are read again. It is for this call: of a file that
                changes later, the encoding is found again.
            workers: Reading processes; None takes all cores.
            limits: Bounds on the cost of one file, in place of the default ones; workbooks that
                were cut at a limit are read again.
            executor: Reads and encodes the workbooks, such as a `ray_cluster`; None takes this
                machine.
            progress: Called with the number of workbooks done, of all, and the path; first with 0.
            spent: Called after each request to the encoder with its work so far, if it is an
                `EmbeddingEncoder`.
            listed: Called with a folder or URL while it is listed, and the number of files so far.
            parts: Called with the path of a workbook while it is read, and the share of it that was
                read, as far as the executor tells it (a `ray_cluster` does not).

        Raises:
            PathNotFoundError: If a path does not exist; then nothing is changed.
            InputError: If there is no such encoding.
            RemoteError: If a URL cannot be listed; then nothing is changed either.
            MissingExtraError: If a URL is named without the extra or package that it needs.
            EncoderError: If the encoder cannot be loaded, or fails; what was indexed so far stays.
            ClusterError: If a Ray cluster fails, or its nodes do not see the files; likewise.
            IndexBusyError: If another process is writing to the index.
            IndexStorageError: If the file cannot be written.
            IndexDamagedError: If it meets damaged rows and `verify` is false.
            IndexFormatError: If the file itself is broken.
        """
        from sat_retriever.index.sync.executor import ThisMachine
        from sat_retriever.index.sync.sync import SyncOptions
        from sat_retriever.workbook.opening.encoding import encoding_name

        options = SyncOptions(
            verify=verify,
            follow_links=follow_links,
            password=password,
            encoding=encoding_name(encoding),
            workers=workers,
            limits=limits,
            executor=executor or ThisMachine(),
            parts=parts,
        )
        return self._writer.sync(paths, options, progress, spent, listed)

    def add_records(
        self,
        records: Iterable[SheetRecord],
        links: Iterable[Link] = (),
        *,
        find_links: bool = True,
    ) -> int:
        """Add sheets without files, and return their number; each replaces a sheet of the same id.

        Records are written a thousand at a time. If the iterable fails later, the records written
        so far stay, with the links found between them.

        Args:
            records: The sheets; those of one `workbook` belong together.
            links: Known links, for example foreign keys. Their sheets may be added later. All
                links are checked before anything is written.
            find_links: Also find links by names and headers.

        Raises:
            InputError: If a link or a record has a value that cannot be stored.
            IndexBusyError: If another process is writing to the index.
        """
        return self._writer.add_records(records, links, find_links=find_links)

    def reencode(
        self,
        encoder: EncoderLike,
        *,
        dense_weight: float | None = None,
        reranker: str | Path | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Give every sheet a token of another encoder, in one transaction.

        Until the end the index stays as it was, for readers too, and also if this fails or is
        killed. Other processes that have it open must open it again afterwards. It needs little
        memory, and disk space beside the file for two copies of the tokens.

        Args:
            encoder: Encoder of the new tokens, as `create` takes it; the texts stay those of the
                index.
            dense_weight: Share of the cosine in its scores from now on; None takes the encoder's
                own, or the default.
            reranker: Folder of the trained reranker for these tokens; see `name_reranker`.
            progress: Called with the number of sheets encoded, and of all.

        Raises:
            InputError: If `dense_weight` is out of its range.
            IndexBusyError: If another process is writing to the index.
            IndexStorageError: If there is no space, or the file cannot be written.
        """
        self._writer.reencode(
            as_encoder(encoder, device=self.device),
            dense_weight=dense_weight,
            reranker=reranker,
            progress=progress,
        )
        self._views.clear()
        self._search = None

    def permit(self, permissions: Given | None) -> list[Change]:
        """Say who may see which sheet, in one transaction; no workbook is read.

        From then on the index is read for somebody: see `seen_by`. It notes rules, and that rights
        of files count, for later syncs. A function is only known to this object: sheets that
        others add, or change, are nobody's.

        Args:
            permissions: A function that takes a record, without contents, and returns its groups;
                a file of rules (TOML); or "files" for the rights of the workbook files. None shows
                every sheet to everyone again.

        Returns:
            The sheets that have other groups than before.

        Raises:
            PathNotFoundError: If there is no such file of rules.
            InputError: If the rules are wrong, or a group is no plain name.
            IndexBusyError: If another process is writing to the index.
            IndexStorageError: If the index cannot be written.
        """
        changes = self._writer.permit(permissions)
        self._views.clear()
        return changes

    def permitting(self, permissions: Given) -> list[Change]:
        """The sheets that `permit` would give other groups; raises the same, writes nothing."""
        return self._writer.permitting(permissions)

    def idle_rules(self, permissions: Given | None = None) -> list[str]:
        """A warning for each rule that decides for no sheet: of the index's, or of others."""
        return self._writer.idle_rules(permissions)

    def name_reranker(self, folder: str | Path | None) -> None:
        """Record the trained reranker that searches of this index use if none is named.

        Other processes that have the index open must open it again to see it.

        Args:
            folder: A trained reranker, or the run folder of its training; None removes the record.

        Raises:
            PathNotFoundError: If there is no such folder.
            IndexBusyError: If another process is writing to the index.
            IndexStorageError: If the file cannot be written.
        """
        self._writer.name_reranker(folder)

    def remove(self, sheet_ids: Sequence[str]) -> int:
        """Remove sheets, and return how many existed.

        A sheet of a workbook file comes back when the file changes and is synced.

        Raises:
            IndexBusyError: If another process is writing to the index.
        """
        return self._writer.remove(sheet_ids)

    # ---- reading

    def warm_up(self) -> None:
        """Load encoder and tokens in parallel, for a fast first query; raises as `encoder`."""
        with self.warming_up():
            pass

    @contextmanager
    def warming_up(self) -> Iterator[None]:
        """Do the same beside what the block does."""
        with ThreadPoolExecutor(1) as beside:
            loading = beside.submit(lambda: self.encoder)
            self.search.warm_up()
            yield
            loading.result()

    def encode_ahead(self, queries: Sequence[str]) -> None:
        """Encode together some queries that will be asked in a moment, for a server of many.

        Each is used once. Their tokens differ by 1e-7 at most from those of queries encoded alone.
        An encoder that runs elsewhere is not asked.

        Raises:
            EncoderError: If the encoder cannot be loaded, or fails.
        """
        from sat_retriever.index.search.question import query_text

        self._state.encode_ahead([query_text(each) for each in queries if each.strip()])

    def question(
        self,
        query: str,
        *,
        dense_weight: float | None = None,
        token: FloatArray | None = None,
        today: date = UNDATED,
        times: bool | None = None,
    ) -> Question:
        """Encode and score a query once; all further steps take the resulting question.

        Args:
            query: Words of any language.
            dense_weight: Share of the cosine in its scores, in [0, 1]; None takes the index's,
                or less with contents.
            token: The query's token (d,) by the index's encoder, if the caller has it already; it
                is scaled to unit length.
            today: The day from which "last year" and the like count; with `UNDATED` such words are
                ignored.
            times: Hold back sheets outside the periods that the query names; None takes the index's
                choice.

        Raises:
            EmptyInputError: If the query is empty.
            InputError: If `dense_weight` is out of its range, or `token` has no direction or
                another width than the index.
            EncoderError: If the encoder cannot be loaded.
            FingerprintMismatchError: If another encoder has made the tokens meanwhile.
        """
        return self.search.question(
            query, today, dense_weight=dense_weight, token=token, times=times
        )

    def candidates(
        self, question: Question | str, top_k: int = 50, filters: Filters | None = None
    ) -> list[Candidate]:
        """Return the best sheets of the whole corpus for a question, best first.

        Source: paper, section 3.3 (cosine over all tokens). Departs: the score is `dense_weight ·
        cosine + (1 - dense_weight) · BM25 / its possible maximum`; both are over names, and with
        contents over these as well, the more the less of the question names cover. A dense weight
        of 1 gives the paper's order, 0 gives BM25's.

        Args:
            question: A result of `question`; a text is turned into one without options.
            top_k: Most candidates.
            filters: Conditions that every candidate meets.

        Raises:
            EmptyInputError: If the query is empty.
            InputError: If `top_k` is not a whole number above 0.
        """
        check_counts(top_k=top_k)
        asked = self.question(question) if isinstance(question, str) else question
        return self.search.candidates(asked, top_k, filters)

    def copies(
        self, sheet_ids: Sequence[str], filters: Filters | None = None
    ) -> Mapping[str, Copies]:
        """Copies and versions of sheets, within the filters; sheets without any are absent."""
        stored = self._seen.copies
        from sat_retriever.index.search.candidates import copies_of

        return copies_of(stored.families(sheet_ids), stored, filters)

    def records(
        self, sheet_ids: Sequence[str], *, contents: bool = False
    ) -> dict[str, SheetRecord]:
        """Return records by sheet id; ids that are not in the index are absent.

        Args:
            sheet_ids: The sheets.
            contents: Also read the texts of their cells, which are stored apart from the records.

        Raises:
            IndexDamagedError: If a row is not as it was written.
        """
        found = self._seen.records(sheet_ids)
        if not contents:
            return found
        with_texts = self._seen.contents(sheet_ids)
        if not with_texts:
            return found
        return {
            each: replace(record, contents=with_texts.get(each)) for each, record in found.items()
        }

    def sheet_ids(self, workbook: str | None = None) -> list[str]:
        """Return sheet ids in their order, of all sheets or of one workbook's name or path."""
        return self._seen.all_sheet_ids(workbook)

    def tabs(self, path: str) -> list[str]:
        """Return the sheet ids of the workbook at a path, in the order of its tabs."""
        return self._seen.tabs(path)

    def paths(self) -> list[str]:
        """Return the paths of all workbooks that have sheets, relative to their roots, in order."""
        return self._seen.paths()

    def links(self, sheet_ids: Sequence[str]) -> list[Link]:
        """Return links that start or end at one of the sheets."""
        return self._seen.links.of(sheet_ids)

    def workbook_of(self, sheet_ids: Sequence[str]) -> dict[str, str]:
        """Return the path of each sheet's workbook, or its name if it has no file."""
        return self._seen.workbook_of(sheet_ids)

    def table(self, sheet_id: str, table: int | str = 0, *, totals: bool = False) -> TypedTable:
        """Return the data of a sheet's table with typed columns, read anew from its file.

        Args:
            sheet_id: The sheet.
            table: Place of the table in the record's `tables`, the main one first, or a range that
                begins in it.
            totals: True to keep totals and subtotals among the records.

        Raises:
            PathNotFoundError: If the file is gone.
            InputError: If the sheet is not in the index, has no file or no such table, or its file
                cannot be read.
        """
        from sat_retriever.workbook.typed import load_table

        record = self.records([sheet_id]).get(sheet_id)
        file, within = self.bounded_file_of(sheet_id)
        if record is None:
            raise InputError(f"the index has no sheet {sheet_id!r}; index its workbook")
        return load_table(file, record, table, within=within, totals=totals)

    def file_of(self, sheet_id: str) -> Path:
        """Return the workbook file of a sheet; it may no longer exist.

        Of a workbook at a URL this is a private copy of what is there now: it is downloaded unless
        that version is kept already.

        Raises:
            InputError: If the sheet is not in the index, has no file, or its file is now a link to
                somewhere outside the indexed folder.
            PathNotFoundError: If nothing is at its URL any more.
            RemoteError: If it cannot be downloaded.
        """
        return self.bounded_file_of(sheet_id)[0]

    def bounded_file_of(self, sheet_id: str) -> BoundedFile:
        """The file of a sheet as `file_of`, and the folder or file that must really hold it."""
        found = self.file_finders([sheet_id]).get(sheet_id)
        if found is None:
            raise InputError(f"the index knows no file of {sheet_id!r}; index its workbook")
        return found()

    def places(self, sheet_ids: Sequence[str]) -> dict[str, str]:
        """Path or URL of the workbook of each sheet; sheets without a file are absent."""
        found = self._seen.files(sheet_ids)
        return {each: joined(root, below) for each, (root, below, _within) in found.items()}

    def without_file(self, sheet_ids: Sequence[str]) -> set[str]:
        """Return those of some sheets whose workbook is gone; nobody looks for one at a URL."""
        places = self._seen.files(sheet_ids).items()
        return {
            sheet_id
            for sheet_id, (root, below, _within) in places
            if not is_url(root) and _is_gone(Path(root, below))
        }

    def file_finders(self, sheet_ids: Sequence[str]) -> dict[str, Callable[[], BoundedFile]]:
        """Functions that do the same as `bounded_file_of`, by sheet, even once this is closed.

        Sheets without a file are absent.
        """
        # An index that keeps no contents of cells must not leave them in a cache either.
        keep = self.privacy.contents is ContentsPolicy.ALL
        return {
            sheet_id: partial(_bounded_file, sheet_id, *place, keep=keep)
            for sheet_id, place in self._seen.files(sheet_ids).items()
        }

    def all_links(self) -> Iterator[Link]:
        """Yield every link of the index, ordered by ends and type, read in parts."""
        return self._seen.links.all()

    def workbooks(self) -> list[WorkbookState]:
        """Return every workbook file that the index knows, with its skipped parts."""
        return self._seen.workbooks()

    def status(self) -> Mapping[str, object]:
        """Return counts and settings of the index, as plain values."""
        return {
            "index": str(self.path),
            "bytes": self._seen.bytes(),
            **self._seen.counts(),
            "links": self._seen.links.counts(),
            "unresolved": self._seen.links.unresolved(UNRESOLVED_SHOWN),
            "formulas": self._seen.sheet_counts("formulas"),
            "formats": self._seen.sheet_counts("format"),
            "visibility": self._seen.sheet_counts("visibility"),
            "encoder": self.encoder_name,
            "fingerprint": self.fingerprint,
            "width": self.width,
            "dense_weight": self.dense_weight,
            "reranker": self.reranker_name,
            "serialization": self.serialization.to_dict(),
            "contents": self.privacy.contents.value,
            "skip_columns": self.privacy.skip_columns or None,
        }


def _is_gone(path: Path) -> bool:
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:  # it cannot be seen from here, which tells nothing
        return False
    return False


def _bounded_file(sheet_id: str, root: str, below: str, within: str, *, keep: bool) -> BoundedFile:
    tell(Told.READ, sheet_id)
    if is_url(root):
        from sat_retriever.workbook.remote.cache import local_copy

        copy = local_copy(root, below, keep=keep)
        return copy, copy
    path = Path(root, below)
    bound = Path(within) if within else path
    if not is_within(real_path(path), bound):
        raise InputError(
            f"the file of {sheet_id!r} is outside the folder that was indexed; index it again"
        )
    return path, bound
