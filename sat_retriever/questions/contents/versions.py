"""Make questions for one version of a sheet that is kept in several."""

from __future__ import annotations

import heapq
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from sat_retriever.datasets.labels.query import Query
from sat_retriever.links.copies.versions import PLAIN, Version, version_of
from sat_retriever.questions.contents.draw import COPY
from sat_retriever.questions.generate import Made
from sat_retriever.records.hits import Copies
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.text.period.timewords import MONTHS

CopiesOf = Callable[[Sequence[str]], Mapping[str, Copies]]
"""A function that returns the copies of those of some sheets that have any."""

_FORMS = ("{version} of {name}", "the {version} of the {name}", "{name}, {version}")
_PATIENCE = 4  # sheets drawn for each requested question
_MONTHS = {number: name for name, number in reversed(MONTHS.items()) if name.isascii()}

_Key = tuple[str, str, Version]


def version_queries(
    records: Iterable[SheetRecord],
    copies: CopiesOf,
    number: int,
    seed: int,
    *,
    most: int,
    about: frozenset[str] | None = None,
) -> list[Made]:
    """Make at most `number` questions that name a version of a sheet with copies.

    The name is that of the file and the tab without what tells versions apart. All sheets of
    that name and version are positives.
    """
    drawn = _drawn(records, _PATIENCE * number, seed)
    having = copies(list(drawn))
    wanted = {key: sheet for sheet, key in drawn.items() if sheet in having}
    sheets: dict[_Key, list[str]] = defaultdict(list)
    for record in records:
        key = _key(record)
        if key in wanted and len(sheets[key]) <= most:
            sheets[key].append(record.sheet_id)
    chance = random.Random(f"versions {seed}")  # noqa: S311 - repeatable, no secret
    made = []
    for key in wanted:
        positives = tuple(sorted(sheets[key]))
        if len(positives) <= most and (about is None or about.issuperset(positives)):
            name, version = _name(key), said_version(key[2])
            text = chance.choice(_FORMS).format(version=version, name=name)
            made.append(Made(Query(text, positives, query_type=COPY), (version, name)))
    return made[:number]


def said_version(version: Version) -> str:
    """Return a version in words; "" if it says nothing that people would name.

    >>> said_version(Version(number=(3,))), said_version(Version(stage=1, stage_number=2))
    ('version 3', 'final version 2')
    >>> said_version(Version(date=202403110930)), said_version(Version(copy=2))
    ('version of 11 March 2024', '')
    """
    stage = {1: "final ", -1: "draft "}.get(version.stage, "")
    number = ".".join(map(str, version.number)) or str(version.stage_number or "")
    day = version.date // 10_000
    if day:
        month, year = day // 100 % 100, day // 10_000
        if not month or not year:
            return ""
        return f"version of {day % 100} {_MONTHS[month].capitalize()} {year}"
    if stage or number:
        return f"{stage}version{number and ' '}{number}"
    return {1: "latest version", -1: "old version"}.get(version.age, "")


def _drawn(records: Iterable[SheetRecord], most: int, seed: int) -> dict[str, _Key]:
    """Return sheets whose file names a version, in random order, each with its key."""
    kept: list[tuple[float, str, _Key]] = []
    for record in records:
        key = _key(record)
        if key is None or not said_version(key[2]):
            continue
        draw = random.Random(f"versions {seed} {record.sheet_id}").random()  # noqa: S311
        item = (-draw, record.sheet_id, key)
        if len(kept) < most:
            heapq.heappush(kept, item)
        elif item[:2] > kept[0][:2]:
            heapq.heapreplace(kept, item)
    return {sheet: key for _, sheet, key in sorted(kept, key=lambda item: (-item[0], item[1]))}


def _key(record: SheetRecord) -> _Key | None:
    """The name, the tab and the version of a sheet; None if the file says no version."""
    name, version = version_of(PurePosixPath(record.path or record.workbook).stem)
    if version == PLAIN or not name:
        return None
    return name, version_of(record.sheet)[0], replace(version, copy=0)


def _name(key: _Key) -> str:
    name, tab, _ = key
    return name if not tab or tab in name else f"{name} {tab}"
