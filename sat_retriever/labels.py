"""Labelled questions: which sheets answer them, from json or csv."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sat_retriever.errors import CorpusError

# The legacy release calls the two lists otherwise.
_POSITIVES = ("positive_sheet_ids", "sheet_ids", "relevant")
_NEGATIVES = ("negative_sheet_ids", "sheet_ids_negative")


@dataclass(frozen=True, slots=True)
class Query:
    """One labelled question.

    Attributes:
        text: What is asked.
        positives: Ids of every relevant sheet, at least one.
        negatives: Ids of sheets known not to be relevant.
        hard_negatives: Those of them that look relevant.
        hard_negative_types: Why a hard negative looks relevant, by sheet id.
        query_type: For example "semantic_lookup"; empty when not given.
        dependency_type: Relation between the positives; empty when not given.
        workbook: Workbook the question was written for; empty when not given.
        evidence: Hint published with the question (BIRD); not part of the text.
    """

    text: str
    positives: tuple[str, ...]
    negatives: tuple[str, ...] = ()
    hard_negatives: tuple[str, ...] = ()
    hard_negative_types: Mapping[str, str] = field(default_factory=dict)
    query_type: str = ""
    dependency_type: str = ""
    workbook: str = ""
    evidence: str = ""


def load_labels(path: str | Path) -> tuple[Query, ...]:
    """A user's own labelled questions, from json or csv.

    A json file is a list of objects with `query`, `positive_sheet_ids` and, if
    wanted, the other fields of `query.json`. A csv file has a header with `query`
    and `sheet_id`, one row a relevant sheet; rows of one question are joined. With
    a column `label`, rows whose label is 0 name sheets that are not relevant.

    Raises:
        CorpusError: If the file is missing, of another type, or malformed.
    """
    path = Path(path)
    if path.suffix.lower() == ".json":
        return read_queries(path, known=None)
    if path.suffix.lower() == ".csv":
        return _csv_queries(path)
    raise CorpusError(f"{path}: labels are read from .json or .csv, not {path.suffix or 'this'!r}")


def read_json(path: Path, expected: type = object) -> Any:
    """The parsed file, checked to be a `list` or a `dict` if one of them is expected."""
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as error:
        raise CorpusError(f"{path} is missing; the corpus folder must hold it") from error
    except OSError as error:
        raise CorpusError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:  # malformed JSON, or not UTF-8
        raise CorpusError(f"{path} is not valid JSON: {error}") from error
    if not isinstance(content, expected):
        wanted = "an object" if expected is dict else "a list"
        raise CorpusError(f"{path} must hold {wanted}, not {type(content).__name__}")
    return content


def read_rows(path: Path) -> list[Mapping[str, Any]]:
    """The objects of a json list."""
    rows = read_json(path, list)
    for place, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise CorpusError(f"{path}, entry {place}: an object is needed, not {row!r:.80}")
    return list(rows)


def read_queries(
    path: Path, *, known: set[str] | None, evidence: bool = False
) -> tuple[Query, ...]:
    """Queries in file order; kept with a text and at least one positive that exists."""
    found = []
    for place, row in enumerate(read_rows(path)):
        query = _query(row, f"{path}, query {place}", evidence=evidence)
        if query.text and (known is None or any(sheet in known for sheet in query.positives)):
            found.append(query)
    return tuple(found)


def _query(row: Mapping[str, Any], where: str, *, evidence: bool) -> Query:
    text, hint = row.get("query"), row.get("evidence") or ""
    positives = next((row[name] for name in _POSITIVES if name in row), None)
    if not isinstance(text, str) or positives is None:
        raise CorpusError(f"{where}: needs 'query' and one of {', '.join(_POSITIVES)}")
    negatives = next((row[name] for name in _NEGATIVES if name in row), ())
    types = row.get("hard_negative_types") or {}
    if not isinstance(types, Mapping):
        raise CorpusError(f"{where}: 'hard_negative_types' must be an object, not {types!r:.80}")
    return Query(
        text=f"{text.strip()} {hint}".strip() if evidence else text.strip(),
        positives=_ids(positives, where),
        negatives=_ids(negatives, where),
        hard_negatives=_ids(row.get("hard_negative_sheet_ids") or (), where),
        hard_negative_types={str(sheet): str(reason) for sheet, reason in types.items()},
        query_type=row.get("query_type") or "",
        dependency_type=row.get("dependency_type") or "",
        workbook=row.get("workbook") or "",
        evidence=hint,
    )


def _ids(values: Any, where: str) -> tuple[str, ...]:
    """Sheet ids as strings, each once."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise CorpusError(f"{where}: a list of sheet ids is needed, not {values!r:.80}")
    return tuple(dict.fromkeys(str(value) for value in values))


def _csv_queries(path: Path) -> tuple[Query, ...]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            names = set(reader.fieldnames or ())
            rows = list(reader)
    except FileNotFoundError as error:
        raise CorpusError(f"{path} is missing") from error
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CorpusError(f"{path} cannot be read as UTF-8 csv: {error}") from error
    if not {"query", "sheet_id"} <= names:
        raise CorpusError(f"{path}: the header must have 'query' and 'sheet_id', not {names}")
    labels: dict[str, tuple[list[str], list[str]]] = {}
    for row in rows:
        positives, negatives = labels.setdefault((row["query"] or "").strip(), ([], []))
        relevant = (row.get("label") or "1").strip() != "0"
        (positives if relevant else negatives).append(row["sheet_id"] or "")
    return tuple(
        Query(text, _ids(positives, str(path)), _ids(negatives, str(path)))
        for text, (positives, negatives) in labels.items()
        if text and positives
    )
