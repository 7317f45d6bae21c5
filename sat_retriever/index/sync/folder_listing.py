"""Read the workbooks of folders without an index, one after the other."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sat_retriever.index.sync.local_plan import make_local_plan, scopes
from sat_retriever.records.sheets import Skipped
from sat_retriever.system import usable_cores
from sat_retriever.workbook.limits import Limits
from sat_retriever.workbook.read import LocalFile, ReadOptions, Workbook, read_files
from sat_retriever.workbook.remote.file import RemoteFile

File = LocalFile | RemoteFile


@dataclass(frozen=True, slots=True)
class FolderListing:
    """The workbooks that a sync of some paths would read."""

    files: tuple[File, ...]  # the workbooks, in the order of their paths
    skipped: tuple[Skipped, ...]  # files and folders that are not read, and why
    ignored: int  # number of files that are no spreadsheets and not named like one

    @classmethod
    def of(
        cls, paths: Sequence[Path], *, roots: Iterable[str] = (), follow_links: bool = False
    ) -> FolderListing:
        """List folders and files.

        Sheet ids of paths inside of `roots` are relative to these; any other folder is its own
        root. Links in a folder to files outside all of `paths` are read only with `follow_links`. A
        path that does not exist raises `PathNotFoundError`.
        """
        plan = make_local_plan(scopes(paths, roots), (), follow_links=follow_links)
        refused = [skip for job in plan.refused for skip in job.state.skipped]
        files = tuple(job.file for job in plan.read)
        return cls(files, (*plan.unlisted, *refused), plan.ignored)

    def workbooks(
        self, options: ReadOptions, limits: Limits, workers: int | None = None
    ) -> Generator[tuple[File, Workbook]]:
        """Yield each file with its workbook, in the order of the files; see `read_files`."""
        early: dict[File, Workbook] = {}
        most = min(workers or usable_cores(), len(self.files))
        with closing(read_files(self.files, options, limits=limits, workers=most)) as finished:
            for file in self.files:
                while file not in early:
                    done, workbook = next(finished)
                    early[done] = workbook
                yield file, early.pop(file)
