"""Filters as plain values."""

import datetime as dt
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever import Filters, InputError, Visibility
from sat_retriever.records.contents import Role

TEXT = st.none() | st.text(max_size=9)
TIMES = st.none() | st.datetimes(timezones=st.none() | st.just(dt.UTC))
FILTERS = st.builds(
    Filters,
    workbook=TEXT,
    path=TEXT,
    visibility=st.none() | st.sampled_from(Visibility),
    format=st.sampled_from([None, "xlsx", "csv"]),
    role=st.none() | st.sampled_from(Role),
    period=TEXT,
    modified_after=TIMES,
    modified_before=TIMES,
    metadata=st.dictionaries(st.text(max_size=3), st.booleans() | st.integers() | st.text()),
)


@given(FILTERS)
def test_filters_come_back_from_their_json(filters):
    assert Filters.of(json.loads(json.dumps(filters.to_dict()))) == filters


def test_filters_are_returned_as_they_are_and_anything_else_is_refused():
    assert Filters.of(Filters(path="a")) == Filters(path="a")
    for wrong, words in ((["path"], "are a list"), ({"p": 1}, "no filter p"),
                         ({"modified_after": "soon"}, "modified_after is 'soon'")):  # fmt: skip
        with pytest.raises(InputError, match=words):
            Filters.of(wrong)
