"""Check the packages that an example needs; a missing one gives one line, not a traceback."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def installed_by(command: str) -> Iterator[None]:
    """End the program at a missing import, with the command that installs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        program = Path(sys.argv[0]).stem
        sys.exit(f"{program}: {error.name} is not installed; run in the checkout: {command}")
