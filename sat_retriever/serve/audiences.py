"""Tokens and the groups of those who have them, from a file."""

from __future__ import annotations

import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sat_retriever.errors import InputError, PathNotFoundError
from sat_retriever.records.permissions import checked_groups
from sat_retriever.serve.access import check_token
from sat_retriever.serve.plan import Audience


def read_audiences(path: Path) -> list[Audience]:
    """Return the tokens in a TOML file, each with its groups, or with `owner = true`.

    Raises:
        PathNotFoundError: If there is no such file.
        InputError: If every user of the machine can read it, or it holds anything but tokens.
    """
    try:
        if path.stat().st_mode & stat.S_IROTH:
            raise InputError(
                f"every user of this machine can read {path}; run: chmod 600 {path.name}"
            )
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise PathNotFoundError(f"there is no file {path}; check the path") from error
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read the tokens in {path}: {error}") from error
    listed = found.get("token")
    if set(found) != {"token"} or not isinstance(listed, list) or not listed:
        raise InputError(
            f'{path} lists no tokens; write each under [[token]], with token = "…" and '
            'groups = ["sales"], or owner = true'
        )
    audiences = [_audience(each, f"token {n} in {path}") for n, each in enumerate(listed, 1)]
    if len({token for token, *_ in audiences}) < len(audiences):
        raise InputError(f"{path} lists a token twice; give each its groups once")
    return audiences


def _audience(entry: Mapping[str, Any], name: str) -> Audience:
    owner, groups = entry.get("owner", False), entry.get("groups")
    known = set(entry) <= {"token", "groups", "owner"} and isinstance(entry.get("token"), str)
    if not known or not isinstance(owner, bool) or owner == (groups is not None):
        raise InputError(f"{name} needs a text as token, and either groups or owner = true")
    check_token(entry["token"], name)
    if owner:
        return entry["token"], None, True
    if not isinstance(groups, list):
        raise InputError(f'the groups of {name} are no list; write groups = ["sales"]')
    return entry["token"], checked_groups(groups), False
