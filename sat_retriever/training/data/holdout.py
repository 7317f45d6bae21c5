"""Splits of a user's own queries: by question, by workbook, or by family of sheets."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from typing import Literal

from sat_retriever.datasets.dataset import Split
from sat_retriever.datasets.labels import Query
from sat_retriever.errors import InputError
from sat_retriever.gathering import connected
from sat_retriever.index.index import SheetIndex
from sat_retriever.text.lexical import query_words
from sat_retriever.training.data.families import families_of

HoldOut = Literal["question", "workbook", "family"]
HOLD_OUT: HoldOut = "question"
SHARE = 0.1


def by_question(queries: Sequence[Query], *, share: float = SHARE, seed: int = 42) -> Split:
    """Questions held out at random, those that ask the same kept together.

    Two questions ask the same if they have the same words, in any order and form, or the
    same relevant sheets: a paraphrase of a training question would measure memory.

    Args:
        queries: Labelled questions.
        share: Part of them for validation, in (0, 1).
        seed: Another seed, other questions.

    Raises:
        InputError: If the share is not between 0 and 1, or all questions ask the same.
    """
    _check_share(share)
    groups = _alike(queries)
    if len(groups) < 2:
        raise InputError(
            f"all {len(queries):,} questions have the same words or the same relevant sheets, so "
            "none can be held out for validation; label questions about other sheets too"
        )
    chosen = _drawn([len(group) for group in groups], share * len(queries), seed)
    held_out = {place for number in chosen for place in groups[number]}
    places = range(len(queries))
    return Split(
        train=tuple(place for place in places if place not in held_out),
        validation=tuple(place for place in places if place in held_out),
    )


def by_workbook(
    index: SheetIndex, queries: Sequence[Query], *, share: float = SHARE, seed: int = 42
) -> Split:
    """Whole workbooks held out: training sees none of their sheets, not even as negatives.

    Validation then measures what the model does for workbooks it has never seen.

    Args:
        index: Knows which sheet is in which workbook.
        queries: Labelled questions; all their sheets are in the index.
        share: Part of the workbooks that are asked for, in (0, 1); at least one.
        seed: Another seed, other workbooks.

    Raises:
        InputError: If the share is not between 0 and 1, or the questions ask for sheets of
            one workbook only.
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
    """Whole families of sheets held out: training sees none of them, not even as negatives.

    Validation then measures what the model does for sheets unlike all that it has seen. What
    a family is, `families_of` tells.

    Args:
        index: The sheets and their links.
        queries: Labelled questions; all their sheets are in the index.
        share: Part of the sheets, of families that are asked for, in (0, 1); where every family
            is larger than that, the smallest one.
        seed: Another seed, other families.

    Raises:
        InputError: If the share is not between 0 and 1, the questions ask for sheets of one
            family only, or none is about held-out or none about other sheets alone.
    """
    _check_share(share)
    asked = {sheet_id for query in queries for sheet_id in query.positives}
    families = [family for family in families_of(index) if asked.intersection(family)]
    held_out = held_out_families(families, share=share, seed=seed)
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
    """Ids of the sheets of some families, drawn up to a share of all of them.

    Raises:
        InputError: If there are fewer than two families.
    """
    if len(families) < 2:
        raise InputError(
            "all these sheets are of one family (the same headers, or one series over time), so "
            "none can be held out; index other sheets too, or hold out questions instead "
            "(sat train … --hold-out question)"
        )
    sizes = [len(family) for family in families]
    chosen = _drawn(sizes, share * sum(sizes), seed)
    return frozenset(sheet_id for number in chosen for sheet_id in families[number])


def divided(queries: Sequence[Query], sheet_ids: Sequence[str], held_out: Collection[str]) -> Split:
    """The queries by whether their sheets are held out; those with some of both are for nothing.

    Args:
        queries: Labelled questions.
        sheet_ids: All sheets.
        held_out: Those that training may not see.
    """
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
    """Places of questions that ask the same, directly or through others; in file order."""
    return connected(
        (place, [("words", *sorted(query_words(query.text))), ("sheets", *sorted(query.positives))])
        for place, query in enumerate(queries)
    )


def _drawn(sizes: Sequence[int], target: float, seed: int) -> list[int]:
    """Groups drawn at random up to the target; the smallest one if each is too large."""
    order = list(range(len(sizes)))
    random.Random(seed).shuffle(order)  # noqa: S311 - a repeatable choice, no secret
    chosen: list[int] = []
    size = 0
    for number in order:
        if size + sizes[number] <= target:
            chosen.append(number)
            size += sizes[number]
    return chosen or [min(order, key=lambda number: sizes[number])]
