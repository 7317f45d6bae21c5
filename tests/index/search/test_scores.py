"""The fused score: what it ranks by, and what times leave of it."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever import Column, Filters, LinkReranker, SheetIndex, SheetRecord, SheetRetriever
from sat_retriever.index.search.fusion import fuse, held_back
from sat_retriever.rank.graph.graph import started
from sat_retriever.rank.mixed import Passage, rerank_mixed, score_texts
from tests.rank.graph.small_model import small_spec

COSINES = st.floats(-1, 1, width=32)


class Directions:
    """Token of a text: the direction whose cosine with every question's the text names last."""

    fingerprint = name = "directions"
    width = 2

    def encode_sheets(self, texts):
        cosines = np.array([float(text.split()[-1]) for text in texts], dtype=np.float64)
        rows = np.stack([cosines, np.sqrt(1 - cosines**2)], axis=1)
        return rows.astype(np.float32)

    def encode_queries(self, texts):
        return np.tile(np.float32([1, 0]), (len(texts), 1))


def made(path, cosines, names=()):
    """An index of sheets with given cosines, in no order of their ids; even ones in one book."""
    index = SheetIndex.create(path, Directions())
    names = names or ["sheet"] * len(cosines)
    records = [
        SheetRecord(f"s{(7 * n) % 101:03}", name, workbook=f"b{n % 2}.xlsx",
                    columns=(Column(f"{cosine:.9f}"),))
        for n, (cosine, name) in enumerate(zip(cosines, names, strict=True))
    ]  # fmt: skip
    index.add_records(records, find_links=False)
    return index


def by_cosine(candidates):
    """The ids as an independent sort of the shown cosines has them."""
    dense = np.array([c.dense for c in candidates])
    ids = np.array([c.sheet_id for c in candidates])
    return ids[np.lexsort((ids, -dense))].tolist()


@given(st.lists(COSINES, min_size=1, max_size=20), st.lists(st.floats(0, 1, width=32), min_size=20))
def test_a_dense_weight_of_one_gives_the_cosines_themselves(cosines, words):
    dense = np.float32(cosines)
    assert fuse(dense, np.float32(words[: len(dense)]), 1.0).tolist() == dense.tolist()


@given(st.lists(st.tuples(COSINES, st.floats(0, 1, width=32)), min_size=1), st.floats(0, 1))
def test_of_positive_cosines_the_score_is_the_convex_combination(pairs, share):
    dense, words = np.float32(pairs).T
    dense = np.abs(dense)
    slow = [np.float32(share) * d + (1 - np.float32(share)) * w
            for d, w in zip(dense, words, strict=True)]  # fmt: skip
    assert fuse(dense, words, share).tolist() == pytest.approx(slow, abs=1e-6)


@given(st.lists(COSINES, min_size=2, max_size=20), st.sampled_from([0.5, 0.8, 1.0]))
def test_times_raise_no_score_and_keep_the_order_of_those_they_hold_back_alike(scores, time):
    before = np.float32(scores)
    after = held_back(before, np.full(len(before), time, dtype=np.float32))
    assert (after <= before).all()
    for a, b in itertools.combinations(range(len(before)), 2):
        if before[a] > before[b]:
            assert after[a] >= after[b]
    assert ((after >= -1.5) & (after <= 1)).all()


@pytest.mark.parametrize("seed", range(5))
def test_a_dense_weight_of_one_ranks_by_cosine_then_id_whatever_the_filter_and_the_cut(
    tmp_path, seed
):
    rng = np.random.default_rng(seed)
    cosines = rng.uniform(-1, 1 if seed else -0.1, 40).round(2)  # some equal; once none positive
    with made(tmp_path / "a.sat", cosines) as index:
        for filters in (None, Filters(workbook="b0.xlsx")):
            whole = index.candidates(index.question("sheet", dense_weight=1.0), 100, filters)
            assert len(whole) == (20 if filters else 40)
            order = [c.sheet_id for c in whole]
            assert order == by_cosine(whole)
            assert [c.score for c in whole] == [c.dense for c in whole]
            for top_k in (1, 2, 7, 19):
                cut = index.candidates(index.question("sheet", dense_weight=1.0), top_k, filters)
                assert [c.sheet_id for c in cut] == order[:top_k]
            some = rng.permutation(order)[:9].tolist()
            named = index.search.score_sheets(
                index.question("sheet", dense_weight=1.0), some, filters
            )
            assert [c.sheet_id for c in named] == [each for each in order if each in some]


def test_the_best_of_unlike_sheets_are_the_least_unlike(tmp_path):
    with made(tmp_path / "a.sat", [-0.9, -0.5, 0.2, -0.1]) as index:
        found = index.candidates(index.question("sheet", dense_weight=1.0), 2)
        assert [c.dense for c in found] == pytest.approx([0.2, -0.1])


def test_a_sheet_of_another_time_falls_also_below_zero(tmp_path):
    names = ["Sales 2021", "Sales 2022", "Sales"]
    with made(tmp_path / "a.sat", [-0.3, -0.3, -0.3], names) as index:
        found = index.candidates(index.question("in 2022", dense_weight=1.0), 3)
        assert [c.time for c in found] == pytest.approx([1.0, 0.8, 0.5])
        assert [c.score for c in found] == pytest.approx([-0.3, -0.36, -0.45])
        spec = small_spec(index, start="dense", dense_weight=1.0)
        again = started(index.search.candidate_set(index.question("in 2022"), found[::-1]), spec)
        assert [(c.sheet_id, c.score) for c in again] == [
            (c.sheet_id, pytest.approx(c.score)) for c in found
        ]


def test_links_and_thresholds_take_scores_below_zero(tmp_path):
    with made(tmp_path / "a.sat", [-0.2, -0.6, -0.4]) as index:
        question = index.question("x", dense_weight=1.0)
        start = index.candidates(question, 3)
        order = [c.sheet_id for c in start]
        linked = LinkReranker(dense_weight=1.0)
        assert [
            c.sheet_id for c in linked.rerank(index.search.candidate_set(question, start))
        ] == order
        retriever = SheetRetriever(index, linked)
        assert [hit.sheet_id for hit in retriever.retrieve("x", 3, min_score=-0.5)] == order[:2]
        assert retriever.retrieve_set("x") == []  # nothing that answers


def test_texts_and_sheets_below_zero_are_in_one_order(tmp_path):
    with made(tmp_path / "a.sat", [-0.2, -0.6]) as index:
        texts = ["-0.4", "-0.8", "0.1"]
        assert score_texts(index, index.question("x", dense_weight=1.0), texts) == pytest.approx(
            [-0.4, -0.8, 0.1]
        )
        sheets = [Passage("", each) for each in index.sheet_ids()]
        passages = [*sheets, *map(Passage, texts)]
        found = rerank_mixed(LinkReranker(dense_weight=1.0), index, "x", passages)
        assert [score for _, score in found] == pytest.approx([0.1, -0.2, -0.4, -0.6, -0.8])
