"""What the rest of the package needs of a store; a file and a database both have it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from sat_retriever.index.store.copies import StoredCopies
from sat_retriever.index.store.damage import Damage
from sat_retriever.index.store.place import Place
from sat_retriever.index.store.rows import IdArray, NewWorkbook, RowToken, SheetRow, WorkbookState
from sat_retriever.index.store.stored_links import StoredLinks
from sat_retriever.links.claims import NO_CLAIMS, Claims, Discovery
from sat_retriever.records.contents import SheetContents
from sat_retriever.records.filters import Filters
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import SheetRecord, Skipped
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.period.relation import Times


class StoreReading(Protocol):
    """Readings of a store; safe to share between threads."""

    @property
    def path(self) -> Place:
        """Where it is."""

    @property
    def principals(self) -> tuple[str, ...] | None:
        """Groups for whom alone it is open; None if all sheets can be read."""

    @property
    def beside(self) -> Path | None:
        """The folder in which readers find a large index as mapped files; None without one."""

    @property
    def kept_by_readers(self) -> bool:
        """True if each host's readers write that folder for themselves; else writers do."""

    @property
    def links(self) -> StoredLinks:
        """A reader of its links."""

    @property
    def copies(self) -> StoredCopies:
        """A reader of its groups of copies."""

    def reading(self) -> AbstractContextManager[None]:
        """Give everything read in the block one consistent view of the store."""

    def answering(self) -> AbstractContextManager[None]:
        """Read what one answer needs with as few trips to the store as there can be."""

    def meta(self) -> dict[str, str]:
        """Return all notes about the index as a whole."""

    def generation(self) -> int:
        """Return a number that grows with every write."""

    def is_restricted(self) -> bool:
        """Return True if its sheets are for their groups alone."""

    def groups_of(self, sheet_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Groups that may see each sheet, in order; sheets that nobody may see are absent."""

    def holds_back(self) -> bool:
        """Return True if the server itself holds back sheets from the role; a file has none."""

    def group_counts(self) -> dict[str, int]:
        """Number of sheets that each group may see, by its name, in order."""

    def groups_among(self, names: Sequence[str]) -> list[str]:
        """Return those of some groups that may see a sheet, in order."""

    def workbooks(self) -> list[WorkbookState]:
        """Return every workbook that the index knows, by root and path."""

    def counts(self) -> dict[str, int]:
        """Return the number of workbooks and sheets."""

    def has_contents(self) -> bool:
        """Return True if texts of cells are stored of a sheet."""

    def sheet_counts(self, fact: str) -> dict[str, int]:
        """Return the number of sheets for each "format", "visibility" or "formulas"."""

    def ids_by_sheet_id(self) -> IdArray:
        """Return the row ids of all sheets in the order of their sheet ids."""

    def tokens_after(
        self, row_id: int, until: int, count: int, width: int
    ) -> tuple[FloatArray, FloatArray, Times]:
        """Return tokens (n, d), word counts (n, 2) and times (n, 5) of a stretch of sheets.

        All are in the order of row ids. Words are counted in names and in contents.

        Args:
            row_id: The row id before the first.
            until: The last row id.
            count: Number of sheets that there must be.
            width: Token width d.
        """

    def tokens_of(self, ids: Sequence[int], width: int) -> FloatArray:
        """Tokens of the sheets of some row ids, (n, d), in their order.

        Raises:
            IndexDamagedError: If one is missing or damaged.
        """

    def count_after(self, row_id: int) -> int:
        """Number of sheets after a row id."""

    def checksums(self, ids: Sequence[int]) -> dict[str, int]:
        """Checksum of the record of each row id that exists, by the row id as text."""

    def common_words(self, least: int) -> dict[str, int]:
        """Words that names of so many sheets or more have, in order, and their number."""

    def postings(self, word: str, after: int = -1) -> tuple[IdArray, ...]:
        """Row ids of the sheets after one that have a word, ascending, one array per field."""

    def all_postings(self, words: Sequence[str]) -> Iterator[tuple[IdArray, ...]]:
        """The postings of many words, in their order."""

    def content_postings(self, groups: Sequence[Sequence[str]], most: int) -> IdArray:
        """Row ids of the first sheets whose contents have a word of each group, ascending.

        Sheets that were deleted may be among them.

        Args:
            groups: Words; of each group one is enough.
            most: Most row ids.
        """

    def spelled_near(self, word: str) -> list[str]:
        """Known words that a misspelt one may mean, in order; see `text.spelling`."""

    def documentation(self, after: int = -1) -> IdArray:
        """Row ids of the sheets after one that only explain others, ascending."""

    def main_sheets(self, after: int = -1) -> IdArray:
        """Row ids of the sheets after one whose names abbreviate their workbooks', ascending."""

    def workbook_numbers(self) -> tuple[IdArray, IdArray]:
        """Row ids of all sheets that have a workbook file, and its number, each (n,)."""

    def sheet_ids(self, ids: Sequence[int]) -> dict[int, str]:
        """Return the sheet id of each row id."""

    def row_ids(self, sheet_ids: Sequence[str]) -> dict[str, int]:
        """Return the row id of each sheet id; unknown ids are absent."""

    def contents(
        self, sheet_ids: Sequence[str], phrases: Sequence[str] = ()
    ) -> dict[str, SheetContents]:
        """Contents by sheet id; sheets of which none are kept are absent.

        Args:
            sheet_ids: The sheets.
            phrases: Phrases; contents that have none of them are absent as well.
        """

    def records(self, sheet_ids: Sequence[str]) -> dict[str, SheetRecord]:
        """Return records by sheet id, without contents; unknown ids are absent."""

    def records_called(self, workbook: str) -> list[SheetRecord]:
        """Return records without a file that name a workbook, in the order of insertion."""

    def all_sheet_ids(self, workbook: str | None = None) -> list[str]:
        """Return sheet ids in their order, of all sheets or of one workbook name or path."""

    def paths(self) -> list[str]:
        """Return the paths of all workbooks that have sheets, in their order."""

    def workbook_of(self, sheet_ids: Sequence[str]) -> dict[str, str]:
        """Return the path of each sheet's workbook, or its name if it has no file."""

    def files(self, sheet_ids: Sequence[str]) -> dict[str, tuple[str, str, str]]:
        """Return root, path below it, and `within` of each sheet's file; others are absent."""

    def matching(self, filters: Filters) -> IdArray:
        """Return row ids of the sheets that meet all conditions but the period, ascending.

        The search knows the times of all sheets already, and need not read them.
        """

    def has_field(self, name: str) -> bool:
        """True if a record has a metadata field of this name."""

    def fields(self) -> list[str]:
        """Return names of the metadata fields of all records, in order."""


class StoreWriting(Protocol):
    """Changes of a store; every method that writes is one transaction."""

    def replace_workbooks(self, books: Sequence[NewWorkbook]) -> list[tuple[Skipped, ...]]:
        """Replace workbooks, with their sheets and links, by new states.

        Args:
            books: The workbooks; no two have a path or the id of a sheet in common.

        Returns:
            The sheets of each that are left out because another workbook already has their id.
        """

    def touch_workbooks(self, states: Sequence[WorkbookState]) -> None:
        """Record new size, time and check time of workbooks with unchanged content."""

    def remove_workbooks(self, keys: Iterable[tuple[str, str]]) -> None:
        """Remove workbooks, given as (root, path), with all their sheets and found links."""

    def put_sheets(self, rows: Sequence[SheetRow], claims: Claims = NO_CLAIMS) -> None:
        """Add sheets without a file; each replaces a sheet of the same id."""

    def remove_sheets(self, sheet_ids: Sequence[str]) -> int:
        """Remove sheets with the links found for them, and return how many existed."""

    def put_links(self, links: Iterable[Link]) -> None:
        """Add links that a user gives; each replaces one with the same ends and type."""

    def relink_sheets(self, found: Iterable[tuple[Sequence[str], Discovery]]) -> None:
        """Replace the links and claims of workbooks without a file.

        Args:
            found: Sheet ids of each workbook, and its links and claims.
        """

    def replace_tokens(self, tokens: Iterable[RowToken], meta: Mapping[str, str | None]) -> None:
        """Replace all tokens, and the notes about them, or nothing.

        Args:
            tokens: Row id and token of every sheet.
            meta: New values by key; None removes a key.

        Raises:
            IndexStorageError: If the file cannot be written, or there is not one token per sheet.
        """

    def note(self, meta: Mapping[str, str | None]) -> None:
        """Write notes about the index as a whole; None removes a key.

        Raises:
            IndexStorageError: If the file cannot be written.
        """

    def repair(self, width: int) -> Damage:
        """Delete every damaged row; reading its workbook again replaces it.

        Args:
            width: Token width d.

        Returns:
            The damage.

        Raises:
            IndexFormatError: If the file itself is broken.
        """

    def forget_words(self) -> None:
        """Take the words of deleted sheets out of the file, which only marks them as deleted."""

    def unrepaired(self, damage: Damage) -> list[tuple[str, str]]:
        """Return root and path of the damaged workbooks that were not read again since."""

    def permit(
        self, groups: Iterable[tuple[str, Sequence[str]]], meta: Mapping[str, str | None]
    ) -> None:
        """Replace the groups of some sheets, and the notes about permissions.

        Args:
            groups: Sheet ids, and the groups that may see each.
            meta: New values by key; None removes a key.

        Raises:
            IndexStorageError: If the store cannot be written, or the role may not protect it.
        """

    def settle(self) -> None:
        """Find the links and groups of copies of all that changes touched, page by page.

        Until then, links between workbooks and groups of copies are partly missing.
        """


class SheetStore(StoreReading, StoreWriting, Protocol):
    """A store, open."""

    @property
    def own_files(self) -> frozenset[Path]:
        """Files of the store, which are no workbooks whatever they are called."""

    def bytes(self) -> int:
        """Return the size of the store in bytes."""

    def writing_beside_others(self) -> AbstractContextManager[None]:
        """Write in the block, beside other writers of other workbooks if the store allows them.

        Raises:
            IndexStorageError: If the store is read-only, or no longer at its place.
            IndexBusyError: If another process needs it alone.
        """

    def sole_writer(self) -> AbstractContextManager[None]:
        """Keep other processes from writing until the block ends.

        Raises:
            IndexStorageError: If the store is read-only, or no longer at its place.
            IndexBusyError: If another process is writing to it.
        """

    def copy_to(self, path: Path) -> None:
        """Write the last complete state to a file.

        Raises:
            OutputError: If it cannot be written.
            InputError: If the store cannot be copied to a file.
        """

    def close(self) -> None:
        """Release the store."""

    def delete(self) -> None:
        """Release the store and delete it.

        Raises:
            IndexStorageError: If it cannot be deleted.
        """
