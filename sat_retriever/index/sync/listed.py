"""Read the workbooks of folders without an index, one after the other."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sat_retriever.index.sync.plan import make_plan
from sat_retriever.index.sync.scopes import scopes
from sat_retriever.records.sheets import Skipped
from sat_retriever.system import usable_cores
from sat_retriever.workbook.limits import Limits
from sat_retriever.workbook.read import LocalFile, ReadOptions, Workbook, read_files
from sat_retriever.workbook.remote.file import RemoteFile

File = LocalFile | RemoteFile


@dataclass(frozen=True, slots=True)
class Listed:
    """The workbooks that a sync of some paths would read.

    Attributes:
        files: The workbooks, in the order of their paths.
        skipped: Files and folders that are not read, and why.
        ignored: Number of files that are no spreadsheets and not named like one.
    """

    files: tuple[File, ...]
    skipped: tuple[Skipped, ...]
    ignored: int

    @classmethod
    def of(
        cls, paths: Sequence[Path], *, roots: Iterable[str] = (), follow_links: bool = False
    ) -> Listed:
        """List some paths.

        Args:
            paths: Folders and files.
            roots: Folders that sheet ids are relative to, for paths inside of them; any other
                folder is its own root.
            follow_links: Read a link in a folder even if its file lies outside all of `paths`.

        Raises:
            PathNotFoundError: If a path does not exist.
        """
        plan = make_plan(scopes(paths, roots), (), follow_links=follow_links)
        refused = [skip for job in plan.refused for skip in job.state.skipped]
        files = tuple(job.file for job in plan.read)
        return cls(files, (*plan.unlisted, *refused), plan.ignored)

    def workbooks(
        self, options: ReadOptions, limits: Limits, workers: int | None = None
    ) -> Generator[tuple[File, Workbook]]:
        """Yield each file with its workbook, read in parallel, in the order of the files.

        Args:
            options: What is read of them.
            limits: Bounds on size, memory and time of one file.
            workers: Reading processes; None takes all cores.

        Raises:
            MissingExtraError: If a password is given without the extra installed.
        """
        early: dict[File, Workbook] = {}
        most = min(workers or usable_cores(), len(self.files))
        with closing(read_files(self.files, options, limits=limits, workers=most)) as finished:
            for file in self.files:
                while file not in early:
                    done, workbook = next(finished)
                    early[done] = workbook
                yield file, early.pop(file)
