"""Published corpora as one kind of Dataset: sheets, labelled questions, links.

IndustryTab, Spider and BIRD come as records, so they need no workbooks. The EPS
queries name sheets of real workbooks: their Dataset has no records but a `root`,
the folder to index (`SheetIndex.sync([dataset.root])` gives the same sheet ids).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sat_retriever.errors import CorpusError
from sat_retriever.labels import Query, load_labels, read_json, read_queries
from sat_retriever.types import Column, Link, SheetRecord

__all__ = [
    "Dataset",
    "Query",
    "load_bird",
    "load_eps",
    "load_industrytab",
    "load_labels",
    "load_links",
    "load_spider",
]

SPIDER_FILES = {
    "dev": "query_dev.json",
    "train": "query_train.json",
    "train_synonym": "query_train_synonym.json",
}
_INDUSTRYTAB_NAMES = {1002: "industrytab_1k", 614: "industrytab_614"}


@dataclass(frozen=True, slots=True)
class Dataset:
    """A corpus to search and the questions to ask it.

    Attributes:
        name: Stable name, for example "industrytab_1k" or "spider_dev".
        records: Sheets in numeric order of their ids; empty when `root` is given.
        queries: Questions in file order.
        links: Published sheet-to-sheet links.
        files: The files it was read from, for provenance.
        root: Folder of workbooks that hold the sheets; None when records are given.
    """

    name: str
    records: tuple[SheetRecord, ...]
    queries: tuple[Query, ...]
    links: tuple[Link, ...] = ()
    files: tuple[Path, ...] = ()
    root: Path | None = None


def load_industrytab(folder: str | Path) -> Dataset:
    """IndustryTab-1K, IndustryTab-614, or any corpus in the same layout.

    Takes `query.json`; without one, the 134 legacy queries of IndustryTab-614. Links
    hold one entry a pair and type (`edge_all_types`), directed where the release is.

    Source: paper, section 4 (data sets). Departs: the release's `split` field is
    ignored, because the reported splits are others; see `sat_retriever.splits`.

    Raises:
        CorpusError: If a file is missing or does not have the documented form.
    """
    folder = Path(folder)
    sheets, edges = folder / "sheets.json", folder / "dependency_edges.json"
    queries = _first_file(folder, ("query.json", "query_legacy_134.json"))
    records = _records(sheets)
    return Dataset(
        name=_INDUSTRYTAB_NAMES.get(len(records), folder.name),
        records=records,
        queries=read_queries(queries, known={record.sheet_id for record in records}),
        links=load_links(edges) if edges.is_file() else (),
        files=tuple(path for path in (sheets, queries, edges) if path.is_file()),
    )


def load_spider(
    folder: str | Path, split: Literal["dev", "train", "train_synonym"] = "dev"
) -> Dataset:
    """Spider's databases read as workbooks: 876 sheets, with one split's questions.

    All splits search the same sheets; no database has questions in both training
    and dev. Links are the declared foreign keys (`join_key`).

    Args:
        folder: Folder with sheets.json, links.json and the query files.
        split: "train_synonym" is the training part with column and table names
            replaced by synonyms (Spider-Syn).

    Raises:
        CorpusError: If a file is missing or malformed, or the split is unknown.
    """
    if split not in SPIDER_FILES:
        raise CorpusError(f"Spider has no split {split!r}; choose from {', '.join(SPIDER_FILES)}")
    folder = Path(folder)
    sheets, queries, links = (
        folder / name for name in ("sheets.json", SPIDER_FILES[split], "links.json")
    )
    records = _records(sheets)
    return Dataset(
        name=f"spider_{split}",
        records=records,
        queries=read_queries(queries, known={record.sheet_id for record in records}),
        links=load_links(links),
        files=(sheets, queries, links),
    )


def load_bird(folder: str | Path, *, evidence: bool = False) -> Dataset:
    """BIRD's development part: 75 sheets, 1,534 questions, no links.

    Args:
        folder: Folder with sheets.json and query_dev.json.
        evidence: Append the published hint to the question. Off by default, since
            a hint names the columns to use and no user writes one; the data set is
            then called "bird_dev", otherwise "bird_dev_evidence".

    Raises:
        CorpusError: If a file is missing or does not have the documented form.
    """
    folder = Path(folder)
    sheets, path = folder / "sheets.json", folder / "query_dev.json"
    records = _records(sheets)
    queries = read_queries(path, known={record.sheet_id for record in records}, evidence=evidence)
    name = "bird_dev_evidence" if evidence else "bird_dev"
    return Dataset(name=name, records=records, queries=queries, files=(sheets, path))


def load_eps(folder: str | Path) -> Dataset:
    """The questions over the Energy Policy Simulator's workbooks; no records.

    Sheet ids are `<path below folder>#<sheet>`, as indexing `root` makes them.

    Raises:
        CorpusError: If query.json is missing or does not have the documented form.
    """
    folder = Path(folder)
    path = folder / "query.json"
    return Dataset(
        name="eps", records=(), queries=read_queries(path, known=None), files=(path,), root=folder
    )


def load_links(path: str | Path) -> tuple[Link, ...]:
    """Links of a graph file, published or written by `sat graph --format json`.

    Three forms are understood: IndustryTab's `dependency_edges.json` (an object with
    `edge_all_types`), an object with a list `links`, and such a list alone, as Spider's
    `links.json` is. A link needs `source`, `target` and `type`; `weight` is 1 and
    `evidence` empty when absent, or made of `source_column` and `target_column`.

    Raises:
        CorpusError: If the file is missing or has none of the three forms.
    """
    path = Path(path)
    content = read_json(path)
    if isinstance(content, dict) and "edge_all_types" in content:
        return _typed_edges(content, path)
    rows = content.get("links") if isinstance(content, dict) else content
    if not isinstance(rows, list):
        raise CorpusError(
            f"{path} holds no links: an object with 'links' or 'edge_all_types', or a list "
            "of links is needed"
        )
    return tuple(_link(row, f"{path}, link {place}") for place, row in enumerate(rows))


def _first_file(folder: Path, names: Sequence[str]) -> Path:
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise CorpusError(f"{folder} holds none of {', '.join(names)}; is it the corpus folder?")


def _records(path: Path) -> tuple[SheetRecord, ...]:
    """Records of a sheets.json, ids in numeric order."""
    sheets = read_json(path, dict)
    try:
        ids = sorted(sheets, key=int)
    except ValueError as error:
        raise CorpusError(f"{path}: every key must be a sheet number ({error})") from error
    return tuple(_record(sheet_id, sheets[sheet_id], path) for sheet_id in ids)


def _record(sheet_id: str, row: Any, path: Path) -> SheetRecord:
    try:
        return SheetRecord(
            sheet_id=sheet_id,
            sheet=row["sheet"] if "sheet" in row else row["name"],
            workbook=row.get("workbook", ""),
            columns=tuple(
                Column(column["name"], example=column.get("example")) for column in row["columns"]
            ),
            num_rows=row.get("num_rows"),
            num_cols=row.get("num_cols"),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise CorpusError(f"{path}, sheet {sheet_id}: malformed entry ({error!r})") from error


def _typed_edges(edges: Mapping[str, Any], path: Path) -> tuple[Link, ...]:
    """One link a pair and type; a pair without a published direction keeps file order."""
    directions = edges.get("edge_directions") or {}
    links = []
    try:
        for pair, types in edges["edge_all_types"].items():
            first, second = pair.split(",")
            if not isinstance(types, list) or not all(isinstance(kind, str) for kind in types):
                raise TypeError(f"{pair!r} has {types!r:.80}, not a list of types")
            for kind in types:
                way = directions.get(pair, {}).get(kind, {"source": first, "target": second})
                links.append(Link(str(way["source"]), str(way["target"]), kind))
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise CorpusError(f"{path}: malformed 'edge_all_types' ({error!r})") from error
    return tuple(links)


def _link(row: Any, where: str) -> Link:
    """One link, every field checked."""
    if not isinstance(row, Mapping):
        raise CorpusError(f"{where}: an object is needed, not {row!r:.80}")
    ends = []
    for name in ("source", "target"):
        end = row.get(name)
        if isinstance(end, bool) or not isinstance(end, (str, int)):
            raise CorpusError(f"{where}: {name!r} must be a sheet id, not {end!r:.80}")
        ends.append(str(end))
    kind, weight, evidence = row.get("type"), row.get("weight", 1.0), row.get("evidence")
    if not isinstance(kind, str) or not kind:
        raise CorpusError(f"{where}: 'type' must be a name, not {kind!r:.80}")
    if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0 < weight <= 1:
        raise CorpusError(f"{where}: 'weight' must be above 0 and at most 1, not {weight!r:.80}")
    if evidence is None and {"source_column", "target_column"} <= row.keys():
        evidence = f"{row['source_column']} = {row['target_column']}"
    if not isinstance(evidence, (str, type(None))):
        raise CorpusError(f"{where}: 'evidence' must be a text, not {evidence!r:.80}")
    return Link(ends[0], ends[1], kind, float(weight), evidence or "")
