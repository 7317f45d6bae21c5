"""Who asks: the person or program behind a request, and the groups whose sheets they see."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sat_retriever.errors import SatError
from sat_retriever.records.permissions import LONGEST, MOST, OWNER, Principals
from sat_retriever.serve.asgi import Message

_KEY = "sat.identity"
_KNOWN = "sat.identities"  # also seen by those who have another copy of the scope


class Way(StrEnum):
    """How somebody signed in."""

    TOKEN = "token"
    OIDC = "oidc"
    HEADER = "header"


@dataclass(frozen=True, slots=True)
class Identity:
    """One who asks.

    Attributes:
        name: Name of the person, or of the token; for people to read.
        way: How they signed in.
        groups: Their groups; None is all who reach a server of an index without permissions.
        owner: True if they see all sheets, whatever their groups.
        token_id: Last characters of a token, or the provider's own name of a person (`sub`).
    """

    name: str
    way: Way
    groups: tuple[str, ...] | None = ()
    owner: bool = False
    token_id: str = ""

    @property
    def principals(self) -> Principals | None:
        """For whom an index is read; see `SheetIndex.seen_by`."""
        return OWNER if self.owner else self.groups


class WrongTokenError(SatError):
    """Somebody sent a token that is not accepted; the message says why, and may be shown."""


class SignInError(SatError):
    """Nobody can sign in this way now; the message says why, and may be shown."""


def identity_of(scope: Message) -> Identity | None:
    """Return who sent a request; None on a server where nobody signs in."""
    found: Identity | None = scope.get(_KEY)
    return found


def known_as(scope: Message, identity: Identity) -> Message:
    """Return the scope of a request whose sender is known."""
    scope.get(_KNOWN, []).append(identity)
    return {**scope, _KEY: identity}


def begin(scope: Message) -> None:
    """Let an outer layer learn who is found, later and on other copies of the scope."""
    scope[_KNOWN] = []


def found_in(scope: Message) -> Identity | None:
    """Return who was found to have sent a request that `begin` has seen; None for nobody."""
    known: list[Identity] = scope.get(_KNOWN, [])
    return known[-1] if known else None


def plain_groups(given: object) -> tuple[str, ...]:
    """Groups among what another program says they are; what is no name of a group is left out.

    >>> plain_groups(["hr", "sales", "", 7, "hr"]), plain_groups("hr"), plain_groups(None)
    (('hr', 'sales'), ('hr',), ())

    Raises:
        SignInError: If there are more than an index takes.
    """
    listed = [given] if isinstance(given, str) else given if isinstance(given, list) else []
    names = {each.strip() for each in listed if isinstance(each, str)}
    plain = sorted(each for each in names if each.isprintable() and 0 < len(each) <= LONGEST)
    if len(plain) > MOST:
        raise SignInError(f"You are in {len(plain):,} groups; {MOST:,} are the most that count.")
    return tuple(plain)
