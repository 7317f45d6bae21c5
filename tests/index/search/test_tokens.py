"""Codes of tokens in cells: which of them are compared with a question."""

import numpy as np

from sat_retriever.index.search import tokens
from sat_retriever.index.search.tokens import AskedCodes, Codes, TokenTable, cell_order


def test_the_nearest_cells_are_compared_first(monkeypatch):
    monkeypatch.setattr(tokens, "_CELL", 16)
    monkeypatch.setattr(tokens, "SCANNED", 64)
    monkeypatch.setattr(tokens, "NEAREST", 8)
    rng = np.random.default_rng(0)
    groups = np.repeat(rng.standard_normal((32, 48)), 16, axis=0)
    found = (groups + 0.1 * rng.standard_normal(groups.shape)).astype(np.float32)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    flat = TokenTable.in_one_cell(Codes.of(found))
    centres, starts, order = cell_order(flat)
    table = TokenTable.of(flat.taken(order), centres, starts, order.astype(np.int32))
    for row in range(0, len(found), 37):
        [near] = table.nearest(found[row], [None])
        assert len(set(near.tolist())) == 8
        assert set((near // 16).tolist()) == {row // 16}


def test_all_cells_hold_the_nearest_of_tokens_that_are_near_none(monkeypatch):
    for name, value in (("_CELL", 16), ("SCANNED", 64), ("NEAREST", 32)):
        monkeypatch.setattr(tokens, name, value)
    found = np.random.default_rng(1).standard_normal((1_000, 48)).astype(np.float32)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    flat = TokenTable.in_one_cell(Codes.of(found))
    centres, starts, order = cell_order(flat)
    table = TokenTable.of(flat.taken(order), centres, starts, order.astype(np.int32))
    asked = found[5] + found[600]
    best = set(np.argsort(-(found @ asked))[:24].tolist())
    [some] = table.nearest(asked, [None])
    [every] = table.nearest(asked, [None], all_cells=True)
    assert not best <= set(some.tolist())
    assert best <= set(every.tolist()) and len(every) == 32


def test_products_of_codes_are_exact_whole_numbers_at_the_ends_of_their_range_too():
    rng = np.random.default_rng(2)
    values = rng.integers(1, 256, (300, 384), dtype=np.uint8)
    values[0], values[1] = 255, 1
    codes = Codes(values, np.ones(300, dtype=np.float32))
    for asked in (rng.integers(-63, 64, 384), np.full(384, 63), np.full(384, -63)):
        column = AskedCodes(asked.astype(np.int8)[:, None], np.float32(1))
        wanted = (values.astype(np.int64) - 128) @ asked
        assert codes.cosines(column).tolist() == wanted.tolist()
        assert codes.cosines(column, np.array([7, 3])).tolist() == wanted[[7, 3]].tolist()
        assert codes[:0].cosines(column).tolist() == []


def test_cosines_of_codes_are_off_by_little():
    rng = np.random.default_rng(3)
    found = rng.standard_normal((500, 384)).astype(np.float32)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    off = TokenTable.in_one_cell(Codes.of(found)) @ found[0] - found @ found[0]
    assert np.abs(off).max() < 0.01
