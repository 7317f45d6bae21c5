"""Folders that tests read: the checkout, and the shared data beside it.

No other test file works a path out from its own place, so a file can move without skipping.
"""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
DISTRIBUTIONS = sorted(file.parent for file in ROOT.glob("integrations/*/pyproject.toml"))
SHARED = ROOT.parent / "shared"


def needs(name: str, shared: Path = SHARED) -> Path:
    """A file or folder of the shared data; the test skips where there is no such data at all.

    Args:
        name: Path below `shared`, such as "data/eps".
        shared: Folder of the shared data.

    Raises:
        AssertionError: If the folder that `name` starts with exists and `name` does not: a skip
            would hide the wrong name for ever.
    """
    folder = shared / Path(name).parts[0]
    if not folder.is_dir():
        pytest.skip(f"{folder} does not exist on this machine")
    path = shared / name
    assert path.exists(), f"{folder} exists, but {path} does not; correct the name in the test"
    return path
