"""Read lists of real workbooks: people's words, and the sheets that they were about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.paper.statistics import read_records
from benchmarks.real.sources import LISTS, names, read
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.datasets.tables import tables_files
from sat_retriever.records.grouping import evenly

_MOST = 150  # questions of one source: one of them has three quarters of all
_TIMES = 3  # that a question of a small source is asked


def real_lists(data: Path, role: str) -> list[Dataset]:
    """Return the sources of a role with their sheets, without pages that repeat the questions.

    EPS, and a source without workbooks, are left out.

    Args:
        data: Folder of all data.
        role: "train" or "validation".

    Raises:
        CorpusError: If a file is malformed.
        OSError: If a source does not state its role.
    """
    found = []
    for name in names(data):
        folder = data / LISTS / name
        if not (folder / "workbooks").is_dir() and not tables_files(folder, name)[0].is_file():
            continue
        source = read(data, name)
        if source.role == role:
            dataset = source.dataset
            sheets = dataset.records or read_records(dataset.root)
            kept = [each for each in sheets if each.sheet_id not in source.excluded]
            records = tuple(sorted(kept, key=lambda each: each.sheet_id))
            found.append(replace(dataset, records=records, root=None))
    return found


def joined(sources: Sequence[Dataset], name: str) -> Dataset:
    """Return several sources as one corpus, so that sheets of one are wrong for another.

    A large source is cut to an even selection of its questions; those of a small one are repeated.
    """
    records, queries = [], []
    for each in sources:
        records += [
            replace(record, sheet_id=f"{each.name}/{record.sheet_id}") for record in each.records
        ]
        times = max(1, min(_TIMES, _MOST // len(each.queries)))
        for query in evenly(each.queries, _MOST) * times:
            positives = tuple(f"{each.name}/{sheet_id}" for sheet_id in query.positives)
            queries.append(replace(query, positives=positives))
    files = tuple(file for each in sources for file in each.files)
    return Dataset(name, tuple(records), tuple(queries), files=files)
