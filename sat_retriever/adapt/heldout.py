"""Which families are held out, and which questions about them choose and judge."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from statistics import median_low

from sat_retriever.datasets.dataset import chosen
from sat_retriever.datasets.labels import Query
from sat_retriever.gathering import connected, evenly
from sat_retriever.training.data.holdout import divided, held_out_families

FEWEST = 10  # questions that judge apart from those that choose
_ENOUGH = 100  # questions of a type that are never too many
_LARGEST = 0.25  # family, as a part of all that is held out
_JUDGING = 0.7  # of the held-out sheets: choosing takes fewer questions than telling .01 from none


def kept_apart(groups: Sequence[Sequence[str]], *, share: float, seed: int) -> frozenset[str]:
    """Ids of the sheets of the families that are held out: many small ones if possible.

    Questions about one large family are all alike, so they choose badly; and what a corpus has
    most of is what an adaptation has most to learn from.

    Args:
        groups: All families.
        share: Part of the sheets to hold out, in (0, 1).
        seed: Another seed, other families.

    Raises:
        InputError: If there are fewer than two families.
    """
    wanted = share * sum(map(len, groups))
    small = [group for group in groups if len(group) <= max(1, _LARGEST * wanted)]
    there = sum(map(len, small))
    if len(small) > 1 and there >= 2 * wanted:
        return held_out_families(small, share=wanted / there, seed=seed)
    return held_out_families(groups, share=share, seed=seed)


def even(queries: Sequence[Query], enough: int = _ENOUGH) -> tuple[Query, ...]:
    """The questions without what frequent types have beyond the median one, in their order.

    A type of few questions is not what holds the others down: some are never too many.

    Args:
        queries: The questions.
        enough: Questions of a type that are never too many.

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
    """The held-out questions that choose, those that judge, and whether these are apart.

    Held-out families go to one side or the other; a question about both is left out. With too
    few questions on a side all of them do both.
    """
    inside = [group for group in groups if group[0] in held_out]
    if len(inside) > 1:
        judged = held_out_families(inside, share=_JUDGING, seed=seed)
        parts = divided(asked, (), judged)
        if min(len(parts.train), len(parts.validation)) >= FEWEST:
            return chosen(asked, parts.train), chosen(asked, parts.validation), True
    return tuple(asked), tuple(asked), False


def circles(asked: Sequence[Query], groups: Sequence[Sequence[str]]) -> tuple[int, ...]:
    """A number for each question, equal for those about the same families.

    Also where they are so through others: one about two families is of one circle with all
    questions about either.

    Args:
        asked: The questions.
        groups: All families.

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
