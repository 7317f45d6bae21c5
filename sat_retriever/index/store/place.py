"""Where an index is: a file, or a schema of a PostgreSQL database that a URL names."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from sat_retriever.errors import InputError

DEFAULT_SCHEMA = "sat"
_SCHEMES = ("postgresql", "postgres")
_OWN = ("schema", "collection")
_SECRET = re.compile(r"passw|pwd|secret|scram|token", re.IGNORECASE)  # in a parameter's name
_HOST = re.compile(r"(\[[^][/@]*\]|[^][:/@]*)(:[0-9]*)?")
_UNREADABLE = (
    "the URL of the index cannot be read; write one such as "
    "postgresql://user@host/database?schema=sheets, and signs such as @, / and # in names and "
    "passwords as %40, %2F and %23"
)
_LONGEST = 63  # bytes of a name in PostgreSQL
_NAME = re.compile(r"[a-z_][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class IndexUrl:
    """The URL of an index in PostgreSQL; its text tells no password.

    >>> url = IndexUrl.parse("postgresql://me:pw@db/sales?schema=sheets&collection=eu")
    >>> str(url), url.namespace, url.name
    ('postgresql://me@db/sales?schema=sheets&collection=eu', 'sheets$eu', 'eu')

    Attributes:
        shown: The URL without passwords.
        namespace: The schema that holds its tables.
        name: The collection; the schema without one.
        conninfo: The URL for PostgreSQL's client library, with passwords.
        whole: The URL with passwords, which opens the same index in another process.
    """

    shown: str
    namespace: str
    name: str
    conninfo: str = field(repr=False, compare=False)
    whole: str = field(repr=False, compare=False)

    @classmethod
    def parse(cls, text: str) -> IndexUrl:
        """Read `postgresql://user@host/database?schema=sheets&collection=finance`, or the like.

        Other parameters are for PostgreSQL's client library. Any other text raises `InputError`, as
        does a name that is not plain.
        """
        try:
            parts = urlsplit(text)
            pairs = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        except ValueError:
            raise InputError(_UNREADABLE) from None
        hosts = parts.netloc.rpartition("@")[2].split(",")
        misread = parts.netloc.count("@") > 1 or "@" in parts.path or parts.fragment
        if misread or not all(map(_HOST.fullmatch, hosts)):  # it could be part of a password
            raise InputError(_UNREADABLE)
        own = {key: value for key, value in pairs if key in _OWN}
        others = [(key, value) for key, value in pairs if key not in _OWN]
        schema = _checked("schema", own.get("schema", DEFAULT_SCHEMA))
        collection = _checked("collection", own["collection"]) if "collection" in own else None
        namespace = schema if collection is None else f"{schema}${collection}"
        if len(namespace) > _LONGEST:
            raise InputError(
                f"schema and collection are {namespace!r}, {len(namespace)} characters; give at "
                f"most {_LONGEST} together"
            )
        named = [("schema", schema), *([("collection", collection)] if collection else [])]
        plain = [(key, value) for key, value in others if not _SECRET.search(key)]
        return cls(
            shown=_url(_without_password(parts.netloc), parts.path, [*plain, *named]),
            namespace=namespace,
            name=collection or schema,
            conninfo=_url(parts.netloc, parts.path, others),
            whole=_url(parts.netloc, parts.path, [*others, *named]),
        )

    @property
    def stem(self) -> str:
        """The name, as of a file without its ending."""
        return self.name

    def __str__(self) -> str:
        return self.shown


Place: TypeAlias = Path | IndexUrl


def place_of(named: str | Path | IndexUrl) -> Place:
    """The place that a path or a URL names; a path stays, and a wrong URL raises `InputError`.

    >>> place_of("reports.sat").name
    'reports.sat'
    """
    if isinstance(named, IndexUrl):
        return named
    if isinstance(named, Path) and str(named).partition(":")[0] in _SCHEMES:
        raise InputError("the index is a Path made of a URL, which loses a slash; give it as text")
    return IndexUrl.parse(str(named)) if is_index_url(named) else Path(named)


def absolute(named: str | Path | IndexUrl) -> Place:
    """The place with an absolute path, links not followed."""
    place = place_of(named)
    return place.absolute() if isinstance(place, Path) else place


def resolved(named: str | Path | IndexUrl) -> Place:
    """The place with the path of the file itself, links followed."""
    place = place_of(named)
    return place.resolve() if isinstance(place, Path) else place


def opens(place: Place) -> str:
    """The text that opens a place in another process, passwords and all."""
    return str(place) if isinstance(place, Path) else place.whole


def is_index_url(named: object) -> bool:
    """True for the text of a URL of PostgreSQL."""
    return isinstance(named, str) and named.partition("://")[0].lower() in _SCHEMES


def _checked(name: str, value: str) -> str:
    if not _NAME.fullmatch(value) or value.startswith("pg_") or value == "information_schema":
        raise InputError(
            f"{name} is {value[:100]!r}; give small letters of English, digits and _, no digit "
            "first, and not a name of PostgreSQL's own"
        )
    return value


def _without_password(netloc: str) -> str:
    user, at, host = netloc.rpartition("@")
    return f"{user.partition(':')[0]}{at}{host}"


def _url(netloc: str, path: str, pairs: list[tuple[str, str]]) -> str:
    query = urlencode(pairs, quote_via=quote, safe="/")
    text = urlunsplit(("postgresql", netloc, path or "/", query, ""))
    # Without a host the standard library leaves out the slashes, which the client library needs.
    return text if text.startswith("postgresql://") else f"postgresql://{text.partition(':')[2]}"
