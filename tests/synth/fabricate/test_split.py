import json
import math
import random
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever.synth.fabricate.split import PAPER, FabricateOptions, horizontal, vertical
from tests.places import needs

seeds = st.integers(0, 2**32)
overlaps = st.floats(0, 1)


@given(st.integers(0, 40), st.sets(st.integers(0, 39)), overlaps, seeds)
def test_columns_in_both_halves_are_the_share_asked_for(count, keys, overlap, seed):
    columns = [f"c{number}" for number in range(count)]
    keys = {f"c{number}" for number in keys if number < count}
    split = vertical(columns, keys, overlap, random.Random(seed))
    both = {*split.source} & {*split.target}
    asked = max(math.floor(overlap * count + 1e-9), min(2, max(1, count - 1)), len(keys))
    assert len(both) == min(asked, count)
    assert {*split.source} | {*split.target} == {*columns}
    assert keys <= both
    assert 0 <= len(split.target) - len(split.source) <= 1
    for half in (split.source, split.target):
        assert [*half] == [column for column in columns if column in half]


@given(st.integers(1, 200), overlaps, seeds)
def test_rows_in_both_halves_are_the_share_asked_for_of_the_source(count, overlap, seed):
    split = horizontal(count, overlap, random.Random(seed))
    source, target = {*split.source}, {*split.target}
    assert source | target == {*range(count)}
    assert len(source) == max(1, count // 2)
    if count > 1:
        assert len(source & target) == math.floor(overlap * len(source) + 1e-9)
    assert target
    assert [*split.source] == sorted(source)
    assert [*split.target] == sorted(target)


def test_every_row_and_column_can_go_to_either_half():
    splits = [
        (
            vertical("abcdef", {"a"}, 0.5, random.Random(seed)),
            horizontal(6, 0.5, random.Random(seed)),
        )
        for seed in range(60)
    ]
    assert {c for columns, _ in splits for c in {*"abcdef"} - {*columns.source}} == {*"bcdef"}
    assert {c for columns, _ in splits for c in {*"abcdef"} - {*columns.target}} == {*"bcdef"}
    assert {r for _, rows in splits for r in rows.source} == {*range(6)}


def released_pairs():
    """Rows and columns of each released source and target, and the columns they share."""
    release = needs("data/industrytab_1k")
    sheets = json.loads((release / "sheets.json").read_text())
    for row in json.loads((release / "train.json").read_text()):
        if row["label"]:
            source, target = (sheets[str(row[f"sheet_id_{end}"])] for end in (1, 2))
            yield source, target, len(row["matched_columns"])


def test_row_counts_of_all_released_pairs_follow_the_rule():
    pairs = [(source["num_rows"], target["num_rows"]) for source, target, _ in released_pairs()]
    assert len(pairs) == 501
    for source, target in pairs:
        possible = [horizontal(n, 0.5, random.Random(0)) for n in (2 * source, 2 * source + 1)]
        assert (source, target) in [(len(split.source), len(split.target)) for split in possible]


def test_column_counts_of_all_released_pairs_follow_the_rule():
    for source, target, both in released_pairs():
        left, right = source["num_cols"], target["num_cols"]
        columns = [str(number) for number in range(left + right - both)]
        draw = random.Random(0)
        split = vertical(columns, (), PAPER.column_overlap(len(columns), draw), draw)
        assert (len(split.source), len(split.target)) == (left, right)


def test_an_even_draw_shares_somewhat_more_columns_than_the_released_pairs():
    released, ours = [], []
    for place, (source, target, both) in enumerate(released_pairs()):
        count = source["num_cols"] + target["num_cols"] - both
        released.append(both / count)
        draw = random.Random(place)
        overlap = FabricateOptions().column_overlap(count, draw)
        split = vertical([str(n) for n in range(count)], (), overlap, draw)
        ours.append(len({*split.source} & {*split.target}) / count)
    assert 0 < fmean(ours) - fmean(released) < 0.06


def test_options_outside_of_their_range_are_refused():
    for wrong in ({"columns": (0.7, 0.5)}, {"rows": 1.5}, {"string_noise": -0.1}):
        with pytest.raises(Exception, match=next(iter(wrong))):
            FabricateOptions(**wrong)
