"""Files that appear whole or not at all."""

from __future__ import annotations

import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sat_retriever.errors import InputError


@contextmanager
def draft_of(path: Path) -> Iterator[Path]:
    """The path of a draft beside `path`, which takes its place when the block ends well.

    Otherwise the draft is removed, and what was at `path` stays as it was. Permissions of a
    file that is replaced are kept.

    Raises:
        InputError: If the file cannot be written there; names the path and the reason.
    """
    draft = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}.partial")
    try:
        yield draft
        if path.exists():
            draft.chmod(stat.S_IMODE(path.stat().st_mode))
        draft.replace(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"{path} cannot be written: {reason}; choose another place") from error
    finally:
        draft.unlink(missing_ok=True)
