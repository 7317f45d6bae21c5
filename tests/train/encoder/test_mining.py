from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch's own, on import
    torch = pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("accelerate", reason="accelerate is not installed")

from sat_retriever.train.data.trainingdata import NO_SHEET
from sat_retriever.train.encoder import mining
from sat_retriever.train.encoder.mining import draw_negatives, draw_positives, nearest_sheets

CPU = torch.device("cpu")


def _unit(rng, count, width=8):
    tokens = rng.standard_normal((count, width)).astype(np.float32)
    return tokens / np.linalg.norm(tokens, axis=1, keepdims=True)


def _slow(questions, sheets, rows, depth):
    return [
        sorted(rows, key=lambda row: (-float(np.float32(question @ sheets[row])), row))[:depth]
        for question in questions
    ]


@pytest.mark.parametrize("block", [1, 70, 1 << 24])
def test_nearest_sheets_are_those_of_a_full_sort_whatever_the_block(monkeypatch, block):
    monkeypatch.setattr(mining, "_BLOCK", block)
    rng = np.random.default_rng(0)
    # Whole numbers: products are exact in any order of adding up, and many are equal.
    questions = rng.integers(-2, 3, (13, 8)).astype(np.float32)
    sheets = rng.integers(-2, 3, (40, 8)).astype(np.float32)
    rows = np.sort(rng.choice(40, 25, replace=False))
    found = nearest_sheets(questions, sheets, rows, 6, CPU)
    assert found.tolist() == _slow(questions, sheets, rows.tolist(), 6)


@pytest.mark.parametrize("block", [1, 70, 1 << 24])
def test_the_way_of_a_gpu_gives_the_same_sheets_in_the_same_order(monkeypatch, block):
    monkeypatch.setattr(mining, "_BLOCK", block)
    rng = np.random.default_rng(4)
    questions = rng.integers(-2, 3, (13, 8)).astype(np.float32)
    sheets = rng.integers(-2, 3, (25, 8)).astype(np.float32)
    step = max(1, block // 25)
    blocks = [questions[start : start + step] for start in range(0, 13, step)]
    found = mining._places_on_device(blocks, sheets, 6, CPU)
    assert found.tolist() == nearest_sheets(questions, sheets, np.arange(25), 6, CPU).tolist()


@pytest.mark.gpu("torch")
def test_a_gpu_finds_the_sheets_of_the_processor():
    rng = np.random.default_rng(4)
    questions = rng.integers(-2, 3, (13, 8)).astype(np.float32)  # exact in TF32 as well
    sheets = rng.integers(-2, 3, (25, 8)).astype(np.float32)
    rows = np.arange(0, 25, 2)
    found = nearest_sheets(questions, sheets, rows, 6, torch.device("cuda"))
    assert found.tolist() == nearest_sheets(questions, sheets, rows, 6, CPU).tolist()


def test_negatives_are_those_of_a_loop_over_questions():
    rng = np.random.default_rng(5)
    ranked = np.array([rng.permutation(40)[:12] for _ in range(30)])
    ranked[3, 9:] = NO_SHEET
    gold = [rng.choice(40, rng.integers(1, 30), replace=False).tolist() for _ in ranked]
    for count in (1, 4, 20):
        slow = np.full((30, count), NO_SHEET)
        for place, (near, own) in enumerate(zip(ranked, gold, strict=True)):
            wrong = [row for row in near if row not in own][:count]
            slow[place, : len(wrong)] = wrong
        assert np.array_equal(draw_negatives(ranked, gold, count, "first", (0,)), slow)


def test_equal_sheets_come_in_the_order_of_their_rows():
    sheets = np.ones((6, 2), dtype=np.float32)
    found = nearest_sheets(sheets[:1], sheets, np.array([1, 2, 4, 5]), 3, CPU)
    assert found.tolist() == [[1, 2, 4]]


def test_a_sheet_that_is_not_among_the_rows_is_never_found():
    rng = np.random.default_rng(1)
    sheets = _unit(rng, 30)
    rows = np.arange(0, 30, 3)
    assert set(nearest_sheets(sheets, sheets, rows, 10, CPU).ravel()) <= set(rows)


def test_a_depth_beyond_the_corpus_gives_all_of_it():
    sheets = _unit(np.random.default_rng(2), 3)
    assert nearest_sheets(sheets, sheets, np.arange(3), 50, CPU).shape == (3, 3)


def test_a_large_corpus_needs_no_dense_matrix_in_memory(monkeypatch):
    monkeypatch.setattr(mining, "_BLOCK", 1 << 19)
    rng = np.random.default_rng(3)
    questions, sheets = _unit(rng, 1_000, 4), _unit(rng, 10_000, 4)
    tracemalloc.start()
    try:
        nearest_sheets(questions, sheets, np.arange(10_000), 5, CPU)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3 * 4 * (1 << 19)  # the dense matrix would be 40 MB


def test_negatives_are_the_nearest_sheets_that_are_not_relevant():
    ranked = np.array([[3, 1, 2, 0], [0, 1, 2, 3]])
    found = draw_negatives(ranked, [[3, 2], [5]], 2, "first", (0,))
    assert found.tolist() == [[1, 0], [0, 1]]


def test_a_question_whose_nearest_are_all_relevant_has_no_negative():
    found = draw_negatives(np.array([[3, 1], [0, 4]]), [[1, 2, 3], [4]], 2, "first", (0,))
    assert found.tolist() == [[NO_SHEET, NO_SHEET], [0, NO_SHEET]]


def test_random_negatives_are_drawn_of_all_candidates_by_seed():
    ranked = np.tile(np.arange(20), (300, 1))
    gold = [[0, 1]] * 300
    first = draw_negatives(ranked, gold, 3, "random", (7, 1))
    assert np.array_equal(first, draw_negatives(ranked, gold, 3, "random", (7, 1)))
    assert not np.array_equal(first, draw_negatives(ranked, gold, 3, "random", (7, 2)))
    assert set(first.ravel()) == set(range(2, 20))
    assert all(len(set(row)) == 3 for row in first.tolist())


def test_a_questions_draw_does_not_depend_on_later_questions():
    ranked = np.tile(np.arange(20), (4, 1))
    all_four = draw_negatives(ranked, [[0]] * 4, 2, "random", (0,))
    assert np.array_equal(all_four[:2], draw_negatives(ranked[:2], [[0]] * 2, 2, "random", (0,)))


def test_no_negatives_may_be_wanted():
    assert draw_negatives(np.array([[3, 1]]), [[1]], 0, "first", (0,)).shape == (1, 0)


def test_positives_are_drawn_without_replacement_and_filled_up():
    gold = [[4, 7, 9], [2]] * 50
    found = draw_positives(gold, 2, (0, 1))
    assert np.array_equal(found, draw_positives(gold, 2, (0, 1)))
    assert {tuple(row) for row in found[1::2].tolist()} == {(2, NO_SHEET)}
    pairs = {tuple(row) for row in found[::2].tolist()}
    assert pairs == {(a, b) for a in (4, 7, 9) for b in (4, 7, 9) if a != b}
