"""The conditions of a search: those that no sheet meets, and what there is instead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import fields
from fnmatch import fnmatchcase
from typing import cast

from sat_retriever.index.index import SheetIndex
from sat_retriever.index.search.question import Question
from sat_retriever.records.contents import Role
from sat_retriever.records.filters import Filters
from sat_retriever.records.sheets import Visibility

_NAMED = 3  # values that a note names
_COMPARED = 20_000  # sheets; the paths of a larger index are not read for a note


def failed_filters(
    index: SheetIndex, question: Question, sheet_id: str, filters: Filters | None
) -> tuple[str, ...]:
    """Names of the filters that a sheet does not meet."""
    return tuple(
        name
        for name, one in _single(filters).items()
        if not index.search.score_sheets(question, [sheet_id], one)
    )


def unmet_conditions(index: SheetIndex, filters: Filters | None) -> str:
    """Why no sheet meets the filters, in words for the reader."""
    single = _single(filters)
    if not len(index):
        return "The index is empty."
    unmet = [name for name, one in single.items() if not index.search.count(one)]
    if not unmet:
        return f"No sheet meets all of these together: {_listed(single)}." if single else ""
    said = []
    for name in unmet:
        there = _instead(index, name, single[name])
        said.append(f"No sheet meets {_listed({name: single[name]})}{there and f'; {there}'}.")
    return " ".join(said)


def _single(filters: Filters | None) -> dict[str, Filters]:
    """Each condition alone, by its name."""
    if not filters:
        return {}
    names = [each.name for each in fields(filters) if each.name != "metadata"]
    single = {name: Filters(**{name: getattr(filters, name)}) for name in names}
    single |= {key: Filters(metadata={key: value}) for key, value in filters.metadata.items()}
    return {name: one for name, one in single.items() if one}


def _listed(single: dict[str, Filters]) -> str:
    values = {name: one.metadata.get(name, getattr(one, name, "")) for name, one in single.items()}
    return ", ".join(f"{name} {str(value)!r}" for name, value in values.items())


def _instead(index: SheetIndex, name: str, one: Filters) -> str:
    """Values near a condition, or all that there are; "" where none can be named."""
    if name in ("path", "workbook"):
        if len(index) > _COMPARED:
            return ""
        paths = index.paths()
        return _near_paths(paths, one.path) if one.path else _near_names(paths, one.workbook or "")
    if name == "format":
        return _there_are(sorted(cast("dict[str, int]", index.status()["formats"])))
    for kind in (Visibility, Role):
        if name == kind.__name__.lower():
            return _there_are(x for x in kind if index.search.count(Filters.of({name: x})))
    return ""


def _near_paths(paths: Sequence[str], pattern: str) -> str:
    """Paths that end as a pattern says, in any case; else the folders of most workbooks."""
    ending = f"*{pattern}".casefold()
    near = sorted(path for path in paths if fnmatchcase(path.casefold(), ending))
    if near:
        return f"near it are {_some(near)} (* also crosses folders, and case matters)"
    folders = Counter(path.partition("/")[0] + "/" for path in paths if "/" in path)
    return f"paths begin with {_some([x for x, _ in folders.most_common()])}" if folders else ""


def _near_names(paths: Sequence[str], name: str) -> str:
    from difflib import get_close_matches  # like the one of the retriever, for the few who need it

    names = {path.rpartition("/")[2].casefold(): path.rpartition("/")[2] for path in paths}
    near = get_close_matches(name.rpartition("/")[2].casefold(), names, n=_NAMED)
    return f"near it are {_some([names[each] for each in near])}" if near else ""


def _there_are(values: Iterable[str]) -> str:
    return f"there are {', '.join(values)}"


def _some(values: Sequence[str]) -> str:
    more = f" and {len(values) - _NAMED:,} more" if len(values) > _NAMED else ""
    return ", ".join(map(repr, values[:_NAMED])) + more
