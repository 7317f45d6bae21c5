"""Translate LlamaIndex metadata filters to the index's own conditions."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

from llama_index.core.vector_stores import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)

from sat_retriever import Filters, InputError

_EXACT = ("workbook", "path", "format", "visibility", "role", "period")
_TIMES = {FilterOperator.GTE: "modified_after", FilterOperator.LT: "modified_before"}
# Keys of a node's metadata or of `Filters` that no condition may use.
_UNFILTERABLE = frozenset(
    "sheet_id citation sheet range table table_range table_note header_row columns rank score "
    "words cell_words headers cells dense lexical dense_rank lexical_rank contents contents_rank "
    "links via metadata modified_after modified_before".split()
)


def sheet_filters(filters: MetadataFilters | Filters | None) -> Filters | None:
    """Return the same conditions in the index's form; None if there are none.

    - `workbook`, `path`, `format`, `visibility`, `role`, `period` with `==`, as in `Filters`: a
      path is a glob, a period a time in words.
    - `path` with `text_match`: a part of the path; `*` and `?` are wildcards.
    - `modified` with `>=` and `<`, an ISO time or seconds since 1970.
    - Any other key with `==` is a metadata field of the records.

    Args:
        filters: Conditions joined by "and", grouped or not; `Filters` are returned unchanged.

    Raises:
        InputError: If they are of another type, a key, an operator or a join of conditions has
            no counterpart, a value is of the wrong type, or two conditions name the same key.
    """
    if filters is None or isinstance(filters, Filters):
        return filters
    if not isinstance(filters, MetadataFilters):
        raise InputError(f"filters are a {type(filters).__name__}; give MetadataFilters or Filters")
    fields: dict[str, Any] = {}
    metadata: dict[str, Any] = {}
    for condition in _flat(filters):
        name, value = _translated(condition)
        target = fields if name in Filters.__dataclass_fields__ else metadata
        if target.setdefault(name, value) != value:
            raise InputError(
                f"two filters on {condition.key!r} ask for {target[name]!r} and {value!r}; "
                "only one can be given"
            )
    return Filters(**fields, metadata=metadata) or None


def _flat(filters: MetadataFilters) -> Iterator[MetadataFilter]:
    """Yield the conditions of all groups, since all are joined by "and"."""
    if not filters.filters:
        return
    joined = filters.condition
    alone = joined == FilterCondition.OR and len(filters.filters) == 1
    if joined not in (None, FilterCondition.AND) and not alone:
        raise InputError(
            f"filters are joined by {str(getattr(joined, 'value', joined))!r}; sheets are "
            "filtered by conditions that all hold: join them by 'and', or ask once for each"
        )
    for each in filters.filters:
        if isinstance(each, MetadataFilters):
            yield from _flat(each)
        else:
            yield each


def _translated(condition: MetadataFilter) -> tuple[str, Any]:
    """Return a field of `Filters`, or a key of its metadata, and the required value."""
    key, operator, value = condition.key, condition.operator, condition.value
    if key in _UNFILTERABLE:
        raise InputError(
            f"there is no filter on {key!r}; filter by {', '.join(_EXACT)}, modified, or a "
            "metadata field of the records"
        )
    if key == "modified":
        if operator not in _TIMES:
            raise _unsupported(key, operator, "'>=' or '<'")
        return _TIMES[operator], _time(value)
    if key == "path" and operator == FilterOperator.TEXT_MATCH:
        return key, f"*{_text(key, value).replace('[', '[[]')}*"
    if operator != FilterOperator.EQ:
        raise _unsupported(key, operator, "'==' or 'text_match'" if key == "path" else "'=='")
    if key in _EXACT:
        return key, _text(key, value)
    if value is None or isinstance(value, list):
        raise InputError(f"the filter on {key!r} has the value {value!r}; give a text or number")
    return key, value


def _unsupported(key: str, operator: FilterOperator, known: str) -> InputError:
    name = str(getattr(operator, "value", operator))
    return InputError(f"the filter on {key!r} uses the operator {name!r}; use {known}")


def _text(key: str, value: object) -> str:
    if not isinstance(value, str):
        raise InputError(f"the filter on {key!r} has the value {value!r}; give a text")
    return value


def _time(value: object) -> dt.datetime:
    try:
        if isinstance(value, str):
            return dt.datetime.fromisoformat(value)
        if isinstance(value, (int, float)):
            return dt.datetime.fromtimestamp(value, dt.UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise InputError(f"the filter on 'modified' has the value {value!r}: {error}") from error
    raise InputError(
        f"the filter on 'modified' has the value {value!r}; give an ISO time or seconds since 1970"
    )
