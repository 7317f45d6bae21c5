"""Split a user's own queries by question, by workbook, or by family of sheets."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from statistics import median_low
from typing import Literal

from sat_retriever.datasets.dataset import Split, chosen
from sat_retriever.datasets.labels import Query
from sat_retriever.errors import InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.questions.spokennames import header_words
from sat_retriever.records.grouping import connected, evenly
from sat_retriever.records.links import Link, LinkType
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.text.lexical import query_words
from sat_retriever.text.period.periods import period_of
from sat_retriever.train.data.reading import read_records

_WORD = re.compile(r"[^\W\d_]")
HoldOut = Literal["question", "workbook", "family"]
HOLD_OUT: HoldOut = "question"
SHARE = 0.1
FEWEST = 10  # questions on each side, for choosing and judging to be separate
_ENOUGH = 100  # questions of a type that are always kept
_LARGEST = 0.25  # size of a family, as a share of all that is held out
_JUDGING = 0.7  # of the held-out sheets: judging a lead of .01 takes more questions than choosing


def families_of(index: SheetIndex) -> list[list[str]]:
    """Return the families among all sheets of an index; see `families`."""
    return families(read_records(index), index.all_links())


def families(records: Iterable[SheetRecord], links: Iterable[Link] = ()) -> list[list[str]]:
    """Group sheet ids by family; each sheet is in exactly one family.

    Two sheets are of one family, directly or through others, if they have the same set of headers,
    if their names differ only by a period, or if a link says that one is the other for another
    period. Headers are compared without case, word joiners and numbers: "Sales_2023" equals
    "sales 2024". The rule does not depend on how a corpus names its sheets.

    Source: paper, appendix (grouped evaluation). Departs: there, a family follows from
    IndustryTab's names.

    Returns:
        Families ordered by their smallest sheet id, the ids of each ascending.
    """
    return sorted(sorted(group) for group in connected(_shared(records, links)))


def _shared(
    records: Iterable[SheetRecord], links: Iterable[Link]
) -> Iterator[tuple[str, Iterable[Hashable]]]:
    known = set()
    for record in records:
        known.add(record.sheet_id)
        yield record.sheet_id, _keys(record)
    for link in links:
        ends = (link.source, link.target)
        if link.type == LinkType.SIBLING_PERIOD and known.issuperset(ends):
            yield from ((end, [ends]) for end in ends)


def _keys(record: SheetRecord) -> Iterator[Hashable]:
    headers = frozenset(header_words(column.name) for column in record.columns) - {""}
    if headers:
        yield "headers", headers
    period = period_of(record)
    if period is not None and _WORD.search(period.family):  # not a name that is only a period
        yield "series", period.family


def by_question(queries: Sequence[Query], *, share: float = SHARE, seed: int = 42) -> Split:
    """Hold out a share of the questions at random; equivalent questions stay together.

    Two questions are equivalent if they have the same words, in any order and form, or the same
    relevant sheets. Otherwise a paraphrase of a training question would reward memory.

    Raises:
        InputError: If the share is not between 0 and 1, or all questions are equivalent.
    """
    _check_share(share)
    groups = _alike(queries)
    if len(groups) < 2:
        raise InputError(
            f"all {len(queries):,} questions have the same words or the same relevant sheets, so "
            "none can be held out for validation; label questions about other sheets too"
        )
    drawn = _drawn([len(group) for group in groups], share * len(queries), seed)
    held_out = {place for number in drawn for place in groups[number]}
    places = range(len(queries))
    return Split(
        train=tuple(place for place in places if place not in held_out),
        validation=tuple(place for place in places if place in held_out),
    )


def by_workbook(
    index: SheetIndex, queries: Sequence[Query], *, share: float = SHARE, seed: int = 42
) -> Split:
    """Hold out whole workbooks: training sees none of their sheets, not even as negatives.

    Validation then measures the model on workbooks that it has never seen. The share is of the
    workbooks that questions ask for; at least one is held out.

    Raises:
        InputError: If the share is not between 0 and 1, or the questions ask for sheets of only one
            workbook.
    """
    _check_share(share)
    ids = index.sheet_ids()
    home = {sheet_id: sheet_id for sheet_id in ids} | index.workbook_of(ids)
    asked = sorted({home[sheet_id] for query in queries for sheet_id in query.positives})
    if len(asked) < 2:
        raise InputError(
            "the questions ask for sheets of one workbook only, so none can be held out; hold out "
            "questions instead (--hold-out question)"
        )
    random.Random(seed).shuffle(asked)  # noqa: S311 - a repeatable choice, no secret
    held_out = frozenset(asked[: max(1, int(share * len(asked)))])
    return divided(queries, ids, {one for one in ids if home[one] in held_out})


def by_family(
    index: SheetIndex, queries: Sequence[Query], *, share: float = SHARE, seed: int = 42
) -> Split:
    """Hold out whole families of sheets: training sees none of them, not even as negatives.

    Validation then measures the model on sheets unlike all that it has seen. The share is of the
    sheets of families that questions ask for. If every family is larger, the smallest is held out.

    Raises:
        InputError: If the share is not between 0 and 1, the questions ask for sheets of only one
            family, or no question is only about held-out sheets or only about others.
    """
    _check_share(share)
    asked = {sheet_id for query in queries for sheet_id in query.positives}
    about = [family for family in families_of(index) if asked.intersection(family)]
    held_out = held_out_families(about, share=share, seed=seed)
    split = divided(queries, index.sheet_ids(), held_out)
    if not split.train or not split.validation:
        raise InputError(
            f"of {len(queries):,} questions {len(split.train):,} are about sheets for training "
            f"alone and {len(split.validation):,} about held-out families alone; hold out another "
            f"share, now {share:g}, or questions (--hold-out question)"
        )
    return split


def held_out_families(
    families: Sequence[Sequence[str]], *, share: float, seed: int
) -> frozenset[str]:
    """Draw families, of two or more, up to a share of all sheets; return their sheets' ids."""
    if len(families) < 2:
        raise InputError(
            "all these sheets are of one family (the same headers, or one series over time), so "
            "none can be held out; index other sheets too, or hold out questions instead "
            "(sat train … --hold-out question)"
        )
    sizes = [len(family) for family in families]
    drawn = _drawn(sizes, share * sum(sizes), seed)
    return frozenset(sheet_id for number in drawn for sheet_id in families[number])


def divided(queries: Sequence[Query], sheet_ids: Sequence[str], held_out: Collection[str]) -> Split:
    """Divide queries into those about held-out sheets and those about others; drop mixed ones."""
    parts: tuple[list[int], list[int]] = ([], [])
    for place, query in enumerate(queries):
        inside = {sheet_id in held_out for sheet_id in query.positives}
        if len(inside) == 1:
            parts[inside.pop()].append(place)
    return Split(
        train=tuple(parts[0]),
        validation=tuple(parts[1]),
        seen=frozenset(sheet_id for sheet_id in sheet_ids if sheet_id not in held_out),
    )


def _check_share(share: float) -> None:
    if not 0 < share < 1:
        raise InputError(f"the share for validation must lie between 0 and 1, not {share}")


def _alike(queries: Sequence[Query]) -> list[list[int]]:
    """Group the places of equivalent questions, directly or through others; in file order."""
    return connected(
        (place, [("words", *sorted(query_words(query.text))), ("sheets", *sorted(query.positives))])
        for place, query in enumerate(queries)
    )


def _drawn(sizes: Sequence[int], target: float, seed: int) -> list[int]:
    """Draw groups at random up to the target size; the smallest one if each is too large."""
    order = list(range(len(sizes)))
    random.Random(seed).shuffle(order)  # noqa: S311 - a repeatable choice, no secret
    drawn: list[int] = []
    size = 0
    for number in order:
        if size + sizes[number] <= target:
            drawn.append(number)
            size += sizes[number]
    return drawn or [min(order, key=lambda number: sizes[number])]


def kept_apart(groups: Sequence[Sequence[str]], *, share: float, seed: int) -> frozenset[str]:
    """Return the ids of the sheets of the held-out families: many small ones if possible.

    Questions about one large family are much alike, so they choose badly. A corpus's largest family
    is also the one from which an adaptation can learn most. `share` is of the sheets, in (0, 1).
    """
    wanted = share * sum(map(len, groups))
    small = [group for group in groups if len(group) <= max(1, _LARGEST * wanted)]
    there = sum(map(len, small))
    if len(small) > 1 and there >= 2 * wanted:
        return held_out_families(small, share=wanted / there, seed=seed)
    return held_out_families(groups, share=share, seed=seed)


def even(queries: Sequence[Query], enough: int = _ENOUGH) -> tuple[Query, ...]:
    """Cut frequent question types down to the size of the median type, in the given order.

    No type is cut below `enough` questions, so a rare type does not limit the others.

    >>> kinds = ["lookup"] * 6 + ["join"] * 2 + ["total"]
    >>> asked = [Query(str(n), ("a",), query_type=kind) for n, kind in enumerate(kinds)]
    >>> ["".join(query.text for query in even(asked, enough=enough)) for enough in (0, 4, 9)]
    ['03678', '0134678', '012345678']
    """
    by_type: dict[str, list[int]] = {}
    for place, query in enumerate(queries):
        by_type.setdefault(query.query_type, []).append(place)
    most = max(enough, median_low(map(len, by_type.values()))) if by_type else 0
    kept = {place for places in by_type.values() for place in evenly(places, most)}
    return tuple(query for place, query in enumerate(queries) if place in kept)


def sides(
    asked: Sequence[Query],
    groups: Sequence[Sequence[str]],
    held_out: Collection[str],
    seed: int,
) -> tuple[tuple[Query, ...], tuple[Query, ...], bool]:
    """Return the held-out questions that choose, those that judge, and if the two are separate.

    Each held-out family goes to one side; a question about families of both is left out. If one
    side has too few questions, all questions do both.
    """
    inside = [group for group in groups if group[0] in held_out]
    if len(inside) > 1:
        judged = held_out_families(inside, share=_JUDGING, seed=seed)
        parts = divided(asked, (), judged)
        if min(len(parts.train), len(parts.validation)) >= FEWEST:
            return chosen(asked, parts.train), chosen(asked, parts.validation), True
    return tuple(asked), tuple(asked), False


def circles(asked: Sequence[Query], groups: Sequence[Sequence[str]]) -> tuple[int, ...]:
    """Number the questions; those about the same families get the same number.

    Families are also joined through other questions: one about two families gets the same number
    as all questions about either.

    >>> asked = [Query("", ids) for ids in (("a",), ("c",), ("b", "d"), ("d",), ("e",))]
    >>> circles(asked, [["a", "b"], ["c"], ["d"], ["e"]])
    (0, 1, 0, 0, 2)
    """
    family = {sheet_id: number for number, group in enumerate(groups) for sheet_id in group}
    found = connected(
        (place, {family[sheet_id] for sheet_id in query.positives})
        for place, query in enumerate(asked)
    )
    circle = {place: number for number, places in enumerate(found) for place in places}
    return tuple(circle[place] for place in range(len(asked)))
