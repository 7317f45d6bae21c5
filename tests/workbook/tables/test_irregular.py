"""Scattered cells are one page; many small tables are tables."""

import random

import pytest

from sat_retriever.workbook.tables.records import find_tables
from sat_retriever.workbook.values.grid import Grid

NAMES = "Anna Berta Carl Dora Emil Franz Greta Hans Ida Josef Karl Lina".split()


def family_tree(seed, generations=5):
    """People as boxes of names and years, one generation right of the other."""
    rng = random.Random(seed)
    cells = {}
    for generation in range(generations):
        step = 2 ** (generations - generation)
        for place in range(2**generation):
            row, col = 2 * step * place + step, 4 * generation
            cells[row, col] = f"{rng.choice(NAMES)} Gruber"
            cells[row + 1, col] = f"* {rng.randint(1800, 1990)}"
            if rng.random() < 0.5:
                cells[row + 1, col + 1] = f"+ {rng.randint(1850, 2010)}"
            elif rng.random() < 0.5:
                cells[row, col + 1] = rng.randint(1850, 1990)
    last = max(cells)[0], max(col for _row, col in cells)
    rows = [[cells.get((row, col)) for col in range(last[1] + 1)] for row in range(last[0] + 1)]
    return Grid(rows)


@pytest.mark.parametrize("seed", range(6))
def test_a_family_tree_is_one_page_without_header(seed):
    (table,) = find_tables(family_tree(seed))
    assert (table.header_row, table.transposed) == (None, False)


def test_many_small_tables_with_headers_stay_tables():
    table = [["Item", "Stock"], ["bolt", 12.0], ["nut", 8.0], ["screw", 30.0]]
    row = [[cell for _ in range(4) for cell in (*line, None, None, None)] for line in table]
    gap = [[None] * len(row[0])] * 3
    assert len(find_tables(Grid([*row, *gap, *row, *gap, *row]))) == 12
