"""An index of linked sheets, and questions about it."""

from __future__ import annotations

import pytest

from tests.rank.features.small_features import small_model
from tests.train import sheet_world


@pytest.fixture(scope="package")
def world(tmp_path_factory):
    """Twelve sheets in three workbooks; never changed by a test."""
    with sheet_world.index(tmp_path_factory.mktemp("index") / "i.sat") as made:
        yield made


@pytest.fixture(scope="package")
def asked():
    """Questions about them."""
    return tuple(query.text for query in sheet_world.queries())


@pytest.fixture(scope="package")
def model(world, asked):
    """A model of random weights that knows the lists of these questions."""
    return small_model(world, asked)
