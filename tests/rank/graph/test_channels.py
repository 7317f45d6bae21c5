"""Each relation against a slow loop written from its formula."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sat_retriever import Column, InputError, Link, LinkType, SheetRecord
from sat_retriever.rank.graph.channels import CHANNELS, LEARNT, facts, link_types, relations
from sat_retriever.records.candidates import Candidate

TYPES = ("formula_reference", "summary_source", "join_key", "sibling_period", "foreign_key")
ALL = (*CHANNELS, "link:foreign_key")

headers = st.lists(
    st.sampled_from(["Id", "id ", " ID", "Price", "", "  ", "年份", "Ä"]), max_size=5
)
sizes = st.none() | st.integers(0, 40)
homes = st.sampled_from(["", "a.xlsx", "b.xlsx"])
sheets = st.lists(
    st.tuples(headers, sizes, sizes, homes, homes, st.floats(0, 1, width=32)),
    min_size=1,
    max_size=7,
)
links = st.lists(
    st.tuples(
        st.integers(0, 8), st.integers(0, 8), st.sampled_from(TYPES), st.floats(0.125, 1, width=32)
    ),
    max_size=12,
)


def world(sheets, links=()):
    """Candidates, records and links of drawn values; some links leave the candidates."""
    records, candidates = {}, []
    for i, (names, rows, cols, path, workbook, lexical) in enumerate(sheets):
        columns = tuple(map(Column, names))
        records[str(i)] = SheetRecord(
            str(i), str(i), workbook, path, columns, num_rows=rows, num_cols=cols
        )
        candidates.append(Candidate(str(i), i + 1, 0.5, 0.5, lexical, 1, 1))
    found = [Link(str(a), str(b), kind, weight) for a, b, kind, weight in links]
    return candidates, records, found


def made(channels, sheets, links=()):
    return relations(channels, facts(*world(sheets, links)))


def slow(channel, sheets, links, i, j):
    (names_i, rows_i, cols_i, path_i, book_i, lexical_i) = sheets[i]
    (names_j, rows_j, cols_j, path_j, book_j, lexical_j) = sheets[j]
    if channel in LEARNT:
        return 0.0
    if channel == "schema":
        own = {h.strip().lower() for h in [h for h in names_i if h.strip()][:12]}
        other = {h.strip().lower() for h in [h for h in names_j if h.strip()][:12]}
        return len(own & other) / len(own | other) if own | other else 0.0
    if channel == "shape":
        return 0.5 * sum(
            1 / (1 + abs(a - b))
            for a, b in ((rows_i, rows_j), (cols_i, cols_j))
            if a is not None and b is not None
        )
    if channel == "lexical":
        return lexical_i * lexical_j
    if channel == "same_workbook":
        return float((path_i or book_i) == (path_j or book_j) != "")
    kind = "join_key" if channel == "join_confidence" else channel.removeprefix("link:")
    between = [w for a, b, t, w in links if t == kind and {a, b} == {i, j} and a != b]
    if channel == "join_confidence":
        return max(between, default=0.0)
    return float(bool(between))


@settings(max_examples=80)
@given(sheets, links)
def test_every_relation_equals_its_formula_and_is_symmetric_within_0_and_1(sheets, links):
    found = made(ALL, sheets, links)
    k = len(sheets)
    assert found.shape == (len(ALL), k, k)
    assert found.dtype == np.float32
    wanted = [
        [[slow(channel, sheets, links, i, j) for j in range(k)] for i in range(k)]
        for channel in ALL
    ]
    assert np.allclose(found, wanted, atol=1e-6)
    assert np.array_equal(found, found.transpose(0, 2, 1))
    assert found.min() >= 0
    assert found.max() <= 1


def test_only_the_first_twelve_headers_that_are_not_empty_count():
    long = ["", *(f"h{i}" for i in range(13))]
    sheets = [(long, 1, 1, "", "", 0.0), (["H11"], 1, 1, "", "", 0.0), (["h12"], 1, 1, "", "", 0.0)]
    assert made(["schema"], sheets)[0, 0] == pytest.approx([1, 1 / 12, 0])


def test_one_candidate_is_a_graph_too():
    assert made(ALL, [(["id"], 2, 3, "a.xlsx", "", 0.5)], [(0, 0, "join_key", 1.0)]).shape == (
        len(ALL),
        1,
        1,
    )


def test_no_channel_gives_no_relation():
    assert made([], [([], 1, 1, "", "", 0.0)] * 3).shape == (0, 3, 3)


def test_an_unknown_channel_is_refused_with_those_there_are():
    with pytest.raises(InputError, match=r"'formulas'.*semantic.*formula_reference.*'link:TYPE'"):
        made(["formulas"], [([], 1, 1, "", "", 0.0)])
    with pytest.raises(InputError, match="'link:'"):
        made(["link:"], [([], 1, 1, "", "", 0.0)])
    with pytest.raises(InputError, match="twice"):
        made(["schema", "shape", "schema"], [([], 1, 1, "", "", 0.0)])


def test_every_link_type_this_package_finds_is_a_channel():
    assert {kind.value for kind in LinkType} <= set(CHANNELS)
    assert link_types(("same_workbook", "semantic", *TYPES[:4])) == TYPES[:4]


def test_two_hundred_candidates_need_no_loop_over_pairs():
    """1 ms of computing on one core; a loop over their pairs takes about a second."""
    rng = np.random.default_rng(0)
    sheets = [
        ([f"header {n}" for n in rng.integers(0, 500, 12)], int(r), int(c), f"{b}.xlsx", "", 0.5)
        for r, c, b in rng.integers(1, 60, (200, 3))
    ]
    ends = rng.integers(0, 200, (1000, 2)).tolist()
    known = facts(*world(sheets, [(a, b, TYPES[a % 4], 0.5) for a, b in ends]))
    taken = []
    for _ in range(5):
        start = time.thread_time()  # a busy machine counts little
        relations(ALL, known)
        taken.append(time.thread_time() - start)
    assert min(taken) < 0.05
