"""Shares of questions about contents."""

import pytest

from sat_retriever.errors import InputError
from sat_retriever.synth.labels import asks


def test_one_share_is_for_all_kinds_and_nothing_is_for_none():
    assert asks(".5") == dict.fromkeys(("value", "note", "label", "copy", "unanswerable"), 0.1)
    assert asks("") == asks("0") == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("guess=.2", "'guess=.2' is no share of a kind"),
        ("value=2", "a share is a number from 0 to 1, not '2'"),
        ("value=much", "a share is a number from 0 to 1, not 'much'"),
        ("value=.6,note=.6", "add up to more than 1"),
        (".2,note=.6", "'.2' is no share of a kind"),
    ],
)
def test_shares_that_cannot_be_are_refused(text, message):
    with pytest.raises(InputError, match=message):
        asks(text)
