"""Indexes of data sets, made once and kept in a folder."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from filelock import FileLock

from sat_retriever.datasets.dataset import Dataset
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.tokens import Encoder

Links = Literal["given", "found", "none"]
"""The links of an index: those that a data set publishes, those that the index finds, or none."""


def fill(index: SheetIndex, dataset: Dataset, links: Links = "found") -> None:
    """Put a data set's sheets into a new index; workbooks are read, and their links found."""
    if dataset.root is not None:
        index.sync([dataset.root])
        return
    given = dataset.links if links == "given" else ()
    index.add_records(dataset.records, given, find_links=links == "found")


def made_once(
    path: Path, encoder: Encoder, make: Callable[[SheetIndex], object], **kept: Any
) -> Path:
    """Return the path of an index; make it if it is not there.

    A stopped run leaves no index behind, and another run that needs it waits.

    Args:
        path: Its path.
        encoder: Its encoder.
        make: Fills the new index.
        kept: What `SheetIndex.create` takes beside.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{path}.building"):
        if not path.exists():
            with tempfile.TemporaryDirectory(dir=path.parent) as folder:
                draft = Path(folder) / path.name
                with SheetIndex.create(draft, encoder, **kept) as index:
                    make(index)
                draft.rename(path)
    return path
