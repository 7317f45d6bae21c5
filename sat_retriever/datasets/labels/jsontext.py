"""Read JSON files as plain values; every error names the file."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sat_retriever.errors import CorpusError

_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def read_json(path: Path, expected: type = object) -> Any:
    """Return the parsed file, a `list` or `dict` if `expected` names one; else a CorpusError."""
    content = parsed(read_text(path), str(path))
    if not isinstance(content, expected):
        wanted = "an object" if expected is dict else "a list"
        raise CorpusError(f"{path} must hold {wanted}, not {type(content).__name__}")
    return content


def read_rows(path: Path) -> list[Mapping[str, Any]]:
    """Return the objects of a JSON list; a CorpusError if it is anything else."""
    rows = read_json(path, list)
    for place, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise CorpusError(f"{path}, entry {place}: an object is needed, not {row!r:.80}")
    return list(rows)


def read_text(path: Path) -> str:
    """Return the text of a UTF-8 file, without a byte order mark; a CorpusError without one."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise CorpusError(f"{path} is missing") from error
    except OSError as error:
        raise CorpusError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise CorpusError(f"{path} is not UTF-8 text ({error}); save it as UTF-8") from error


def parsed(text: str, where: str) -> Any:
    """Return the value of a JSON text.

    Raises:
        CorpusError: If it is not JSON, nested too deep, names a field of an object twice, or
            holds NaN, an infinity or half a character.
    """
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse)
        if _HALF.search(text):  # an escape that may be half a character, which no file can hold
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise CorpusError(f"{where} is not valid JSON: {error}") from error
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object; raise ValueError if one field would hide another."""
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        raise ValueError(f"the field {counts.most_common(1)[0][0]!r:.80} is there twice")
    return found


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no number that JSON has")


def sheet_ids(values: Any, where: str) -> tuple[str, ...]:
    """Return the sheet ids of a JSON list as texts, each once; a CorpusError if it is none."""
    if not isinstance(values, (list, tuple)):
        raise CorpusError(f"{where}: a list of sheet ids is needed, not {values!r:.80}")
    return tuple(dict.fromkeys(sheet_id(value, where) for value in values))


def sheet_id(value: Any, where: str) -> str:
    """Return a sheet id, text or whole number, as text; a CorpusError for any other or a blank."""
    if isinstance(value, bool) or not isinstance(value, (str, int)) or not str(value).strip():
        raise CorpusError(f"{where}: a sheet id is a text or a whole number, not {value!r:.80}")
    return str(value)
