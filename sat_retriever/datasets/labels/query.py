"""Define a labelled query, and read it in the form of the published `query.json`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sat_retriever.datasets.labels.jsontext import read_rows, sheet_ids
from sat_retriever.errors import CorpusError

UNANSWERABLE = "unanswerable"
"""Type of a question without an answer; the only one without relevant sheets."""
# The legacy release and the questions over the EPS workbooks have other names for the lists.
POSITIVES = ("positive_sheet_ids", "sheet_ids", "relevant")
_NEGATIVES = ("negative_sheet_ids", "sheet_ids_negative")
FIELDS = frozenset(
    (
        *POSITIVES, *_NEGATIVES, "query", "hard_negative_sheet_ids", "hard_negative_types",
        "query_type", "dependency_type", "is_dependency_heavy", "split", "workbook", "evidence",
    )
)  # fmt: skip
QUERY_TYPES = (
    "semantic_lookup", "comparison", "aggregation",
    "join_key_reasoning", "formula_tracing", "summary_source",
)  # fmt: skip
CONTENT_TYPES = ("value", "note", "label", "copy", UNANSWERABLE)
"""Types of questions about contents, copies and nothing, which only made corpora have."""
DEPENDENCY_TYPES = (
    "none", "temporal_alignment", "schema_alignment", "aggregation",
    "join_key", "formula_reference", "summary_source",
)  # fmt: skip
HARD_NEGATIVE_TYPES = (
    "same_schema_wrong_entity", "same_schema_wrong_year", "same_workbook_wrong_sheet",
    "same_key_column_unrelated", "same_formula_family", "same_summary_type",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Query:
    """One labelled question; optional texts are empty if not given.

    Attributes:
        positives: Ids of all relevant sheets; at least one, except for type "unanswerable".
        negatives: Ids of sheets known not to be relevant.
        hard_negatives: Ids of sheets that look relevant but are not.
        hard_negative_types: Reason why a hard negative looks relevant, by sheet id.
        query_type: For example "semantic_lookup".
        dependency_type: Relation between the positives.
        workbook: Workbook that the question was written for.
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


def read_queries(
    path: Path, *, known: Collection[str] | None, evidence: bool = False, typed: bool = False
) -> tuple[Query, ...]:
    """Read queries in file order, without those that have no text or no positive.

    Ids other than the known ones are refused; None accepts any. `evidence` appends the published
    hint to the text. `typed` refuses types that neither published nor made corpora have.

    Source: paper, section 4. The release leaves the same queries out.

    Raises:
        CorpusError: If the file or a row of it is malformed, or names an unknown sheet.
    """
    found = []
    for place, row in enumerate(read_rows(path)):
        where = f"{path}, query {place}"
        query = query_of(row, where, evidence=evidence)
        if known is not None:
            check_known(query, known, where)
        if typed:
            _check_types(query, where)
        if query.text and query.positives:
            found.append(query)
    return tuple(found)


def query_of(row: Mapping[str, Any], where: str, *, evidence: bool = False) -> Query:
    """Return a row as a query after checking every field; a CorpusError names what is wrong."""
    text, hint = row.get("query"), _text(row, "evidence", where)
    names = [name for name in POSITIVES if name in row]
    if not isinstance(text, str) or len(names) != 1:
        raise CorpusError(f"{where}: needs a text 'query' and one of {', '.join(POSITIVES)}")
    types = row.get("hard_negative_types") or {}
    if not isinstance(types, Mapping) or not all(isinstance(kind, str) for kind in types.values()):
        raise CorpusError(
            f"{where}: 'hard_negative_types' must give a name for each sheet, not {types!r:.80}"
        )
    query = Query(
        text=f"{text.strip()} {hint}".strip() if evidence else text.strip(),
        positives=sheet_ids(row[names[0]], where),
        negatives=sheet_ids(next((row[each] for each in _NEGATIVES if each in row), ()), where),
        hard_negatives=sheet_ids(row.get("hard_negative_sheet_ids") or (), where),
        hard_negative_types={str(sheet): kind for sheet, kind in types.items()},
        query_type=_text(row, "query_type", where),
        dependency_type=_text(row, "dependency_type", where),
        workbook=_text(row, "workbook", where),
        evidence=hint,
    )
    check_sides(query, where)
    return query


def check_sides(query: Query, where: str) -> None:
    """Refuse a query that names a sheet both as relevant and as not relevant."""
    positives = set(query.positives)
    for sheet in (*query.negatives, *query.hard_negatives):
        if sheet in positives:
            raise CorpusError(
                f"{where}: {query.text!r:.80} has sheet {sheet!r} both as relevant and as not "
                "relevant; name it once"
            )


def check_known(query: Query, known: Collection[str], where: str) -> None:
    """Refuse a query that names an unknown sheet."""
    for sheet in (
        *query.positives, *query.negatives, *query.hard_negatives, *query.hard_negative_types,
    ):  # fmt: skip
        if sheet not in known:
            raise CorpusError(
                f"{where}: there is no sheet {sheet!r}; all sheets named must be in sheets.json"
            )


def _check_types(query: Query, where: str) -> None:
    fields: Sequence[tuple[str, Sequence[str], Sequence[str]]] = (
        ("query_type", [query.query_type], (*QUERY_TYPES, *CONTENT_TYPES)),
        ("dependency_type", [query.dependency_type], DEPENDENCY_TYPES),
        ("hard_negative_types", list(query.hard_negative_types.values()), HARD_NEGATIVE_TYPES),
    )
    for name, given, wanted in fields:
        for kind in given:
            if kind and kind not in wanted:
                raise CorpusError(f"{where}: {name!r} has {kind!r:.80}, not {', '.join(wanted)}")


def _text(row: Mapping[str, Any], name: str, where: str) -> str:
    value = row.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise CorpusError(f"{where}: {name!r} must be a text, not {value!r:.80}")
    return value
