"""Read lists of real workbooks: people's words, and the sheets that they were about."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.paper.statistics import read_records
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.tables import load_tables
from sat_retriever.gathering import evenly

FOLDER = "real_lists"
TAUGHT = ("pymedeas2", "smkfreediv", "genesys_mod", "smart_anc", "iea_15_240_rwt", "iotables",
          "dgen")  # fmt: skip
JUDGED = ("nz_times", "nz_contents", "aitqa")
_MOST = 150  # questions of one source: one of them has three quarters of all
_TIMES = 3  # that a question of a small source is asked


def real_list(data: Path, source: str) -> Dataset:
    """Return the sheets of one source and its questions, without pages that repeat them.

    Args:
        data: Folder of all data.
        source: Name of the source.

    Raises:
        CorpusError: If a file of tables is missing or malformed.
        OSError: If another file is missing.
    """
    folder = data / FOLDER / source
    if not (folder / "workbooks").is_dir():
        return load_tables(folder, source)
    meta, asked = (
        json.loads((folder / name).read_text(encoding="utf-8"))
        for name in ("meta.json", "query.json")
    )
    records = sorted(read_records(folder / "workbooks"), key=lambda each: each.sheet_id)
    return Dataset(
        source,
        tuple(each for each in records if each.sheet_id not in meta["excluded"]),
        tuple(
            Query(each["query"], tuple(each["relevant"]), query_type=each["query_type"])
            for each in asked
        ),
        files=(folder / "query.json",),
    )


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
