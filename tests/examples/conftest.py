"""The encoder that the examples are run with."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.places import EXAMPLES
from tests.saved_encoder import save_bag_of_words


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An encoder that knows the words of the demo's workbooks."""
    source = (EXAMPLES / "demo_workbooks.py").read_text(encoding="utf-8")
    return save_bag_of_words(tmp_path_factory.mktemp("words") / "bag", re.findall(r"\w+", source))
