"""What a list of candidates shows, as numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever.rank.features.features import FEATURES, LINKED, RELATIONS, list_inputs
from tests.rank.features.small_features import list_of

NAMES = list(FEATURES)


def of(known, name):
    """One feature of all candidates, by sheet."""
    values = list_inputs(known).features[:, NAMES.index(name)]
    ids = [candidate.sheet_id for candidate in known.candidates]
    return dict(zip(ids, values.tolist(), strict=True))


@pytest.fixture(scope="module")
def known(world):
    return list_of(world, "which sky is red")


def test_each_candidate_has_each_feature_and_none_is_missing(known):
    found = list_inputs(known).features
    assert found.shape == (len(known.candidates), len(FEATURES))
    assert found.dtype == np.float32
    assert np.isfinite(found).all()


def test_workbooks_are_told_by_the_candidates_of_the_list(known):
    beside = of(known, "beside first")
    assert known.candidates[0].sheet_id == "red#sky"
    others = {"red#apple", "red#car", "red#stone"}
    assert {sheet for sheet, value in beside.items() if value} == others
    assert list(of(known, "workbook size").values()) == pytest.approx([np.log1p(4) / 4] * 12)
    best = of(known, "best sibling")
    assert best["red#stone"] == 1  # its sibling is the first
    assert best["red#sky"] == of(known, "share")["red#stone"]


def test_a_link_counts_at_its_own_end_only(known):
    """Each sky is computed from the same colour's stone; the first ranked sheet is the red sky."""
    kind = LINKED[0].value
    source, target = of(known, f"{kind} source"), of(known, f"{kind} target")
    assert source["red#stone"] == 1  # the weight of the link, told by the first
    assert target["red#sky"] == pytest.approx(of(known, "share")["red#stone"] ** 2)
    assert target["red#stone"] == source["red#sky"] == 0
    joined = of(known, "linked to first")
    assert {sheet for sheet, value in joined.items() if value} == {"red#stone"}


def test_relations_tell_which_of_the_best_a_sheet_is_linked_to(known):
    found = list_inputs(known).relations
    ids = [candidate.sheet_id for candidate in known.candidates]
    stone, sky = ids.index("red#stone"), ids.index("red#sky")
    assert found.shape == (12, 10, len(RELATIONS))
    told = dict(zip(RELATIONS, found[stone, sky].tolist(), strict=True))
    kind = LINKED[0].value
    assert {name for name, weight in told.items() if weight} == {f"{kind} source", "same workbook"}
    if stone < 10:
        told = dict(zip(RELATIONS, found[sky, stone].tolist(), strict=True))
        assert told[f"{kind} target"] == 1
    assert not found[np.arange(10), np.arange(10)].any()


def test_words_of_names_are_told_apart_within_a_workbook(known):
    covered, only = of(known, "covered"), of(known, "only here")
    assert covered["red#sky"] == max(covered.values())
    assert only["red#sky"] > 0
    assert only["red#car"] == 0  # all of its words are in its siblings too
    assert of(known, "added to first")["red#sky"] == 0


def test_a_list_of_one_has_no_gaps(known):
    one = list(known.candidates[:1])
    alone = replace(
        known, candidates=tuple(one), before=known.before[:1], added=known.added[:1],
        homes=known.homes[:1], roles=known.roles[:1], sizes=known.sizes[:1],
        shares=known.shares[:, :1], links=known.links[:, :, :1, :1],
    )  # fmt: skip
    found = of(alone, "margin") | of(alone, "gap within workbook")
    assert set(found.values()) == {0}
    assert np.isfinite(list_inputs(alone).features).all()
    assert list_inputs(alone).relations.shape == (1, 1, len(RELATIONS))
    assert not list_inputs(alone).relations.any()


@given(st.data())
def test_any_scores_give_bounded_numbers(known, data):
    """Scores that are equal, zero, or unknown to one side divide nothing by zero."""
    some = st.floats(0, 1, width=32)
    changed = [
        replace(
            candidate, score=data.draw(some), lexical=data.draw(some), dense=data.draw(some),
            contents=data.draw(some),
        )
        for candidate in known.candidates
    ]  # fmt: skip
    changed.sort(key=lambda candidate: -candidate.score)
    found = list_inputs(replace(known, candidates=tuple(changed))).features
    assert np.isfinite(found).all()
    assert np.abs(found).max() < 10
