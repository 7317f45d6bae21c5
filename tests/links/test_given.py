"""Links that a user gives, at the border."""

import numpy as np
import pytest

from sat_retriever import InputError, Link, SheetRecord
from sat_retriever.links.claims import MAX_EVIDENCE


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (Link("a", "b", "t", 0), "weight"),
        (Link("a", "b", "t", -0.5), "weight"),
        (Link("a", "b", "t", 1.01), "weight"),
        (Link("a", "b", "t", float("nan")), "nan"),
        (Link("a", "b", "t", float("inf")), "inf"),
        (Link("a", "b", "t", None), "weight"),
        (Link("a", "b", "t", 10**400), "weight"),
        (Link("a", "b", "t", 1, "x" * (MAX_EVIDENCE + 1)), "1,001 characters"),
        (Link("a", "b", "t", 1, None), "evidence"),
        (Link("", "b", "t"), "source"),
        (Link("a", 2, "t"), "target"),
        (Link("a", "b", ""), "type"),
        (Link("a\ud800", "b", "t"), "surrogates"),
    ],
)
def test_a_link_that_cannot_be_kept_is_refused_before_anything_is_written(index, wrong, said):
    with pytest.raises(InputError, match=said):
        index.add_records([SheetRecord("a", "a")], [Link("a", "b", "t"), wrong])
    assert len(index) == 0 and list(index.all_links()) == []


def test_links_to_itself_and_to_sheets_that_are_not_there_are_kept(index):
    given = [Link("a", "a", "t", 0.5), Link("a", "later", "t")]
    index.add_records([SheetRecord("a", "a")], given)
    assert list(index.all_links()) == given


def test_evidence_becomes_one_line_and_any_number_a_weight(index):
    index.add_records([], [Link("a", "b", "t", np.float32(0.5), " x\n\t= y\x85")])
    assert list(index.all_links()) == [Link("a", "b", "t", 0.5, "x = y")]
