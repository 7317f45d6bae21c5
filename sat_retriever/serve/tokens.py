"""Tokens of a server: one in a file for all, or a file with one for each person or program.

`sat tokens` keeps such a file. It holds the hash of a token that was made there; a token that
somebody wrote into it stays as it was written.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import stat
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sat_retriever.errors import InputError, PathNotFoundError
from sat_retriever.records.files import draft_of, writing
from sat_retriever.records.permissions import LONGEST, checked_groups
from sat_retriever.serve.identity import Identity, Way

MIN_TOKEN = 16  # characters
MAKE_ONE = "(umask 077; head -c 32 /dev/urandom | base64 > sat.token)"
_MOST_BYTES = 16 << 20
_SHOWN = 4  # last characters of a token that tell which it is
_HEX = 64  # digits of a hash
_FIELDS = {"token", "hash", "ends", "name", "groups", "owner", "expires", "made"}
_HEAD = "# Kept by `sat tokens`, which drops other comments. Only hashes of tokens made there.\n"


@dataclass(frozen=True, slots=True)
class Token:
    """A token, known by its hash, and whose it is.

    Attributes:
        ends: Its last characters.
        expires: When it ends, with a time zone; None if it does not.
        made: When it was made, if that is known.
        plain: The token itself, if the file has it.
    """

    name: str
    hash: str = field(repr=False)
    ends: str
    groups: tuple[str, ...] | None = ()
    owner: bool = False
    expires: datetime | None = None
    made: datetime | None = None
    plain: str | None = field(default=None, repr=False)

    @classmethod
    def of(cls, plain: str, name: str, groups: tuple[str, ...] | None, *, owner: bool) -> Token:
        """Return a token that is known in plain."""
        return cls(name, hash_of(plain), plain[-_SHOWN:], groups, owner, plain=plain)

    def is_over(self, now: datetime | None = None) -> bool:
        """True if it has expired."""
        return self.expires is not None and (now or datetime.now(UTC)) >= self.expires

    def identity(self) -> Identity:
        """Return who sends it."""
        return Identity(self.name, Way.TOKEN, self.groups, self.owner, self.ends)


def hash_of(token: str) -> str:
    """Return the hash of a token, which is long and random, so that a fast one is enough."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def token_among(tokens: Sequence[Token], given: str) -> Token | None:
    """Return the token that a text is; all are compared, so that time tells nothing."""
    data = hash_of(given).encode()
    found = [token for token in tokens if hmac.compare_digest(data, token.hash.encode())]
    return found[0] if found else None


def read_token(path: Path) -> str:
    """Return the token in a file.

    Raises:
        PathNotFoundError: If there is no such file.
        InputError: If the file can be read by every user of the machine, or the token is not at
            least 16 printable ASCII characters without blanks.
    """
    token = read_secret(path, f"make one: {MAKE_ONE}")
    _check_token(token, f"the token in {path}")
    return token


def read_secret(path: Path, advice: str = "check the path") -> str:
    """Return the text of a private file, without blanks around it; raises as `read_token`."""
    return _private(path, advice).decode("ascii", "replace").strip()


def _private(path: Path, advice: str) -> bytes:
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_mode & stat.S_IROTH:
                raise InputError(
                    f"every user of this machine can read {path}; run: chmod 600 {path.name}"
                )
            return file.read(_MOST_BYTES)
    except FileNotFoundError as error:
        raise PathNotFoundError(f"there is no file {path}; {advice}") from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; check its permissions") from error


def _check_token(token: str, name: str) -> None:
    """Refuse a token that is easy to guess, or that a header cannot carry."""
    if len(token) < MIN_TOKEN or not all("!" <= sign <= "~" for sign in token):
        raise InputError(
            f"{name} is too short, or has blanks or letters other than ASCII; give "
            f"{MIN_TOKEN} characters or more: {MAKE_ONE}"
        )


def read_tokens(path: Path) -> list[Token]:
    """Return the tokens in a TOML file, each with its groups, or with `owner = true`.

    Raises:
        PathNotFoundError: If there is no such file.
        InputError: If every user of the machine can read it, or it holds anything but tokens.
    """
    data = _private(path, "make one: sat tokens add NAME --groups GROUP")
    try:
        found = tomllib.loads(data.decode("utf-8"))
    except ValueError as error:
        raise InputError(f"cannot read the tokens in {path}: {error}") from error
    listed = found.get("token", [])
    if set(found) - {"token"} or not isinstance(listed, list):
        raise InputError(
            f'{path} lists no tokens; write each under [[token]], with token = "…" and '
            'groups = ["sales"], or owner = true; or let sat tokens add NAME write it'
        )
    tokens = [_token(each, n, f"token {n} in {path}") for n, each in enumerate(listed, 1)]
    if len({each.hash for each in tokens}) < len(tokens):
        raise InputError(f"{path} lists a token twice; give each its groups once")
    if len({each.name for each in tokens}) < len(tokens):
        raise InputError(f"{path} has a name twice; give each token a name of its own")
    return tokens


def _token(entry: Mapping[str, Any], number: int, place: str) -> Token:
    owner, groups, plain = entry.get("owner", False), entry.get("groups"), entry.get("token")
    name = entry.get("name", f"token {number}")
    one = isinstance(plain, str) != _is_hash(entry.get("hash"))
    if (
        set(entry) - _FIELDS
        or not one
        or not isinstance(owner, bool)
        or owner == (groups is not None)
    ):
        raise InputError(f"{place} needs a text as token, and either groups or owner = true")
    if groups is not None and not isinstance(groups, list):
        raise InputError(f'the groups of {place} are not a list; write groups = ["sales"]')
    check_name(name)
    if isinstance(plain, str):
        _check_token(plain, place)
        made = Token.of(plain, name, checked_groups(groups or ()), owner=owner)
    else:
        ends = str(entry.get("ends", ""))[-_SHOWN:]
        made = Token(name, entry["hash"], ends, checked_groups(groups or ()), owner)
    times = {key: _time(entry.get(key), f"{key} of {place}") for key in ("expires", "made")}
    return Token(
        made.name, made.hash, made.ends, made.groups, made.owner, **times, plain=made.plain
    )


def _is_hash(value: object) -> bool:
    return (
        isinstance(value, str) and len(value) == _HEX and not set(value) - set("0123456789abcdef")
    )


def _time(value: object, name: str) -> datetime | None:
    if value is not None and (not isinstance(value, datetime) or value.tzinfo is None):
        raise InputError(f"{name} is {value!r}; write a time with its zone: 2027-01-31T12:00:00Z")
    return value


def check_name(name: object) -> None:
    """Refuse what is no name of a token; raises `InputError`."""
    plain = isinstance(name, str) and name.isprintable() and name == name.strip()
    if not isinstance(name, str) or not plain or not 0 < len(name) <= LONGEST:
        raise InputError(
            f"a token is called {str(name)[:100]!r}; give printable text of at most {LONGEST} "
            "characters, without blanks at its ends"
        )


def made_token(
    name: str, groups: Sequence[str], expires: datetime | None, *, owner: bool
) -> tuple[str, Token]:
    """Return a new token in plain, and what is kept of it; raises `InputError` for a wrong name."""
    check_name(name)
    plain = f"sat_{secrets.token_urlsafe(32)}"
    found = Token.of(plain, name, checked_groups(groups), owner=owner)
    now = datetime.now(UTC).replace(microsecond=0)
    return plain, Token(name, found.hash, found.ends, found.groups, owner, expires, now)


@contextmanager
def changing(path: Path) -> Iterator[list[Token]]:
    """Yield the tokens in a file, none if there is none yet; the list as it is then is written.

    Raises:
        InputError: See `read_tokens`.
        OutputError: If the file cannot be written.
    """
    from filelock import FileLock

    with writing(path), FileLock(f"{path}.lock", mode=0o600):
        tokens = read_tokens(path) if path.exists() else []
        yield tokens
        with draft_of(path) as draft:
            file = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            with os.fdopen(file, "w", encoding="utf-8") as text:
                text.write(_HEAD + "".join(map(_written, tokens)))


def _written(token: Token) -> str:
    shown: dict[str, Any] = {"name": token.name}
    shown |= {"token": token.plain} if token.plain else {"hash": token.hash, "ends": token.ends}
    shown |= {"owner": True} if token.owner else {"groups": list(token.groups or ())}
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in shown.items()]
    for key, at in (("made", token.made), ("expires", token.expires)):
        lines += [f"{key} = {at.astimezone(UTC).isoformat().replace('+00:00', 'Z')}"] if at else []
    return "\n[[token]]\n" + "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class OneToken:
    """The one token of a server."""

    token: Token

    def tokens(self) -> list[Token]:
        """Return the token."""
        return [self.token]


class TokenFile:
    """The tokens in a file as it is now: a change counts with the next request.

    Args:
        told: Called with the reason why a changed file cannot be used; its tokens stay as they
            were.
    """

    def __init__(self, path: Path, told: Callable[[str], object]) -> None:
        self._path = path
        self._told = told
        self._state = self._now()
        self._tokens = read_tokens(path)

    def tokens(self) -> list[Token]:
        """Return the tokens."""
        state = self._now()
        if state != self._state:
            self._state = state
            try:
                self._tokens = read_tokens(self._path)
            except InputError as error:
                self._told(f"the tokens stay as they were: {error}")
        return self._tokens

    def _now(self) -> tuple[int, ...]:
        try:
            found = self._path.stat()
        except OSError:
            return ()
        return found.st_mtime_ns, found.st_size, found.st_ino, found.st_mode, found.st_ctime_ns
