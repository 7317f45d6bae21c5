"""How blank rows and columns cut a sheet into blocks."""

from dataclasses import replace

import numpy as np

from sat_retriever.records.area import Area
from sat_retriever.workbook.tables.regions import MAX_BLOCKS, Rules, find_blocks, trim


def never(*blocks):
    return False


CUT_ALL = Rules(below=never, beside=never, lone=never, whole=never)


def kinds_of(picture):
    return np.array([[int(mark == "x") for mark in line] for line in picture], dtype=np.uint8)


def test_blank_rows_and_columns_separate_blocks_in_reading_order():
    kinds = kinds_of(["xx.xx", "xx.xx", ".....", "xxx..", "xxx.."])
    assert find_blocks(kinds, CUT_ALL) == [Area(0, 0, 1, 1), Area(0, 3, 1, 4), Area(3, 0, 4, 2)]


def test_joined_blocks_cover_what_lies_between_them():
    kinds = kinds_of(["xx", "xx", "..", "x.", "..", "xx"])

    def below(above, block):
        return block.right == above.right

    blocks = find_blocks(kinds, replace(CUT_ALL, below=below, lone=lambda b: b.left == b.right))
    assert blocks == [Area(0, 0, 5, 1)]


def test_wide_gaps_are_never_joined():
    kinds = kinds_of(["xx", *[".."] * 6, "xx"])
    assert len(find_blocks(kinds, replace(CUT_ALL, below=lambda *_: True))) == 2


def test_the_number_of_blocks_is_bounded():
    kinds = np.zeros((4000, 8), dtype=np.uint8)
    kinds[::2] = 1
    assert 0 < len(find_blocks(kinds, CUT_ALL)) <= MAX_BLOCKS


def test_trim_drops_the_blank_border():
    kinds = kinds_of(["....", ".xx.", "...."])
    assert trim(kinds, Area(0, 0, 2, 3)) == Area(1, 1, 1, 2)
    assert trim(kinds, Area(0, 0, 0, 3)) is None


def test_a_block_that_is_a_whole_is_cut_no_further():
    kinds = kinds_of(["xx.xx", "...xx", "xx.xx"])
    assert len(find_blocks(kinds, CUT_ALL)) == 3
    whole = find_blocks(kinds, replace(CUT_ALL, whole=lambda block: True))
    assert whole == [Area(0, 0, 2, 1), Area(0, 3, 2, 4)]


def test_bridges_hold_the_columns_of_a_band_together_and_no_others():
    kinds = kinds_of(["x..x.x", "x..x.x", "......", "x..x.."])
    assert find_blocks(kinds, CUT_ALL, [Area(1, 0, 1, 2)]) == [
        Area(0, 0, 1, 3),
        Area(0, 5, 1, 5),
        Area(3, 0, 3, 0),
        Area(3, 3, 3, 3),
    ]
