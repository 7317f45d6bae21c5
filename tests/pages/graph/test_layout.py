"""Places of sheets and workbooks on the graph page."""

from __future__ import annotations

import time

import numpy as np
import pytest

from sat_retriever import Link, SheetRecord
from sat_retriever.pages.graph.layout import place_sheets


def corpus(size: int, a_workbook: int, count: int) -> tuple[list[SheetRecord], list[Link]]:
    chance = np.random.default_rng(7)
    paths = [f"w{row // a_workbook}.xlsx" for row in range(size)]
    records = [
        SheetRecord(f"{path}#Sheet {row}", f"Sheet {row}", path, path)
        for row, path in enumerate(paths)
    ]
    ends = chance.integers(0, size, (count, 2))
    links = [Link(records[a].sheet_id, records[b].sheet_id, "formula_reference") for a, b in ends]
    return records, links


LAYOUTS = [(1, 1, 0), (2, 1, 1), (2, 2, 1), (40, 1, 0), (60, 6, 40), (300, 4, 200), (400, 1, 1500)]


@pytest.mark.parametrize(("size", "a_workbook", "count"), LAYOUTS)
def test_no_two_cards_overlap_and_every_sheet_is_in_its_own(size, a_workbook, count):
    records, links = corpus(size, a_workbook, count)
    layout = place_sheets(records, links)
    boxes = np.array([(c.left, c.top, c.left + c.width, c.top + c.height) for c in layout.cards])
    for row, (left, top, right, bottom) in enumerate(boxes):
        others = np.delete(boxes, row, axis=0)
        apart = (others[:, 0] >= right) | (others[:, 2] <= left)
        apart |= (others[:, 1] >= bottom) | (others[:, 3] <= top)
        assert apart.all()
    placed = sorted(one for card in layout.cards for one in card.sheets)
    assert placed == list(range(size))
    for card in layout.cards:
        assert {records[one].path for one in card.sheets} == {card.title}
        x, y = layout.points[list(card.sheets)].T
        assert ((card.left < x) & (x < card.left + card.width)).all()
        assert ((card.top < y) & (y < card.top + card.height)).all()
        assert len({(a, b) for a, b in zip(x, y, strict=True)}) == len(card.sheets)


def test_the_same_sheets_are_placed_the_same_way():
    records, links = corpus(120, 5, 150)
    first, second = place_sheets(records, links), place_sheets(records, links)
    assert first.cards == second.cards
    assert (first.points == second.points).all()


def test_linked_workbooks_are_nearer_than_others():
    records, _ = corpus(120, 4, 0)
    links = [  # a ring of 30 workbooks
        Link(records[row].sheet_id, records[(row + 4) % 120].sheet_id, "join_key")
        for row in range(0, 120, 4)
    ]
    cards = place_sheets(records, links).cards
    middle = {c.title: np.array([c.left + c.width / 2, c.top + c.height / 2]) for c in cards}
    ring = np.array([middle[f"w{number}.xlsx"] for number in range(30)])
    beside = np.linalg.norm(ring - np.roll(ring, 1, axis=0), axis=1).mean()
    across = np.linalg.norm(ring - np.roll(ring, 15, axis=0), axis=1).mean()
    assert beside < across / 2


def test_sheets_without_a_workbook_share_a_card_with_those_they_are_linked_to():
    records = [SheetRecord(str(number), f"Sheet {number}") for number in range(9)]
    links = [Link("0", "1", "join_key"), Link("2", "3", "join_key"), Link("3", "4", "join_key")]
    groups = [card.sheets for card in place_sheets(records, links).cards]
    assert groups == [(2, 3, 4), (0, 1), (5, 6, 7, 8)]


def test_two_thousand_sheets_are_placed_in_seconds():
    records, links = corpus(2000, 1, 8000)  # measured at 1.3 s
    start = time.process_time()
    place_sheets(records, links)
    assert time.process_time() - start < 20
