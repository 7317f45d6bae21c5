"""Write files that appear whole or not at all."""

from __future__ import annotations

import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sat_retriever.errors import OutputError


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an `OSError` inside the block into this package's error.

    Raises:
        OutputError: If an `OSError` ends the block; the message names the path and the reason.
    """
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(f"{path} cannot be written: {reason}; choose another place") from error


@contextmanager
def draft_of(path: Path) -> Iterator[Path]:
    """Yield the path of a draft beside `path` that replaces it if the block succeeds.

    Otherwise the draft is removed and the file at `path` stays as it was. A replacement keeps the
    permissions of the file that it replaces.

    Raises:
        OutputError: If the file cannot be written there.
    """
    draft = path.with_name(f".{path.name[:50]}.{secrets.token_hex(4)}.partial")
    with writing(path):
        try:
            yield draft
            if path.exists():
                draft.chmod(stat.S_IMODE(path.stat().st_mode))
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)


def make_folder(path: Path) -> None:
    """Make a folder and its parents if they do not exist.

    Raises:
        OutputError: If it cannot be made.
    """
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)
