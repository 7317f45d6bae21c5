"""Choose the held-out families, and divide the questions about them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from statistics import median_low

from sat_retriever.datasets.dataset import chosen
from sat_retriever.datasets.labels import Query
from sat_retriever.records.grouping import connected, evenly
from sat_retriever.train.data.holdout import divided, held_out_families

FEWEST = 10  # questions on each side, for choosing and judging to be separate
_ENOUGH = 100  # questions of a type that are always kept
_LARGEST = 0.25  # size of a family, as a share of all that is held out
_JUDGING = 0.7  # of the held-out sheets: judging a lead of .01 takes more questions than choosing


def kept_apart(groups: Sequence[Sequence[str]], *, share: float, seed: int) -> frozenset[str]:
    """Return the ids of the sheets of the held-out families: many small ones if possible.

    Questions about one large family are much alike, so they choose badly. A corpus's largest family
    is also the one from which an adaptation can learn most. `share` is of the sheets, in (0, 1).

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
    """Divide the held-out questions into those that choose and those that judge.

    Each held-out family goes to one side; a question about families of both is left out. If one
    side has too few questions, all questions do both.

    Returns:
        The choosing questions, the judging questions, and True if the two are separate.
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
