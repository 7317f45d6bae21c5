"""Sign-in at a provider of OpenID Connect: its addresses, its keys, and the tokens it signs.

The settings name an issuer. Its document of discovery names its addresses and keys; nothing is
fetched from hosts other than the issuer's, unless they are named, and no redirect is followed.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import ipaddress
import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote_plus, urlencode, urlsplit

from sat_retriever._extras import require
from sat_retriever.errors import InputError
from sat_retriever.serve.identity import Identity, SignInError, Way, WrongTokenError, plain_groups

_DISCOVERY = "/.well-known/openid-configuration"
# Signatures with a public key alone: with a shared one, whoever has the public key could sign.
_ALGORITHMS = [
    *(f"{kind}{bits}" for kind in ("RS", "PS", "ES") for bits in (256, 384, 512)),
    "Ed25519",
    "EdDSA",
]
_MOST_BYTES = 1 << 20  # of one answer of the provider
_MOST_TOKEN = 16_384  # characters
_WITHIN_S = 10.0
_KEYS_S = 3600.0  # after which keys are fetched again
_AGAIN_S = 30.0  # between two fetches, however many tokens name unknown keys
_FIRST_S = 5.0  # between two attempts to have any
_LEEWAY_S = 60  # by which two clocks may differ
_MOST_KEYS = 100
_NAMES = ("preferred_username", "email", "name", "sub")

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Oidc:
    """Settings of sign-in at a provider.

    Attributes:
        issuer: Its address, as its tokens name it.
        client_id: Name of this server at the provider.
        client_secret: None for a public client, which PKCE alone protects.
        groups_claim: Claim with the groups of a person; dots lead into objects.
        scope: What is asked for, separated by blanks.
        audiences: Whom else tokens of programs may be for, beside the client.
        hosts: Hosts at which the provider's addresses may be, beside the issuer's.
    """

    issuer: str
    client_id: str
    client_secret: str | None = field(default=None, repr=False)
    groups_claim: str = "groups"
    scope: str = "openid profile email"
    audiences: Sequence[str] = ()
    hosts: Sequence[str] = ()

    def check(self) -> None:
        """Refuse an issuer that cannot be asked safely; raises `InputError`."""
        require("joserfc", "oidc")
        require("httpx", "oidc")
        found = urlsplit(self.issuer)
        if not _is_safe(self.issuer) or found.query or found.fragment or found.username:
            raise InputError(
                f"{self.issuer!r} is no issuer; give its https address, as its tokens name it, for "
                "example https://login.example/realms/team"
            )
        if not self.client_id.strip():
            raise InputError("sign-in at an issuer needs the client's name; add --oidc-client ID")


@dataclass(frozen=True, slots=True)
class Attempt:
    """What a browser keeps between the way to the provider and back."""

    state: str
    nonce: str
    verifier: str
    target: str


class Provider:
    """A provider of OpenID Connect.

    Args:
        clock: Returns seconds that never go back.
    """

    def __init__(self, settings: Oidc, clock: Callable[[], float] = time.monotonic) -> None:
        settings.check()
        self._settings = settings
        self._clock = clock
        self._known: Mapping[str, str] = {}
        self._keys: Any = None
        self._keys_at = self._tried_at = -_KEYS_S
        self._fetching: asyncio.Lock | None = None

    @property
    def host(self) -> str:
        """The issuer's host, by which people know the provider."""
        return urlsplit(self._settings.issuer).hostname or ""

    @property
    def issuer(self) -> str:
        """The address by which its tokens name it."""
        return self._settings.issuer

    def warn_if_away(self) -> None:
        """Log why nobody could sign in now; called where no event loop runs."""
        try:
            asyncio.run(self._discovered())
        except SignInError as error:
            _logger.warning("until this is mended nobody can sign in: %s", error)

    async def address(self, attempt: Attempt, redirect_uri: str) -> str:
        """Return where a browser signs in.

        Raises:
            SignInError: If the provider cannot be reached, or its answer is not valid.
        """
        found = await self._discovered()
        digest = hashlib.sha256(attempt.verifier.encode()).digest()
        asked = {
            "response_type": "code",
            "client_id": self._settings.client_id,
            "redirect_uri": redirect_uri,
            "scope": self._settings.scope,
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": base64.urlsafe_b64encode(digest).decode().rstrip("="),
            "code_challenge_method": "S256",
        }
        start = found["authorization_endpoint"]
        return f"{start}{'&' if '?' in start else '?'}{urlencode(asked)}"

    async def signed_in(self, code: str, attempt: Attempt, redirect_uri: str) -> Identity:
        """Return who signed in, by the code that the provider sent the browser back with.

        Raises:
            SignInError: If the provider cannot be reached, or refuses the code.
            WrongTokenError: If its token is not for this attempt.
        """
        found = await self._discovered()
        sent = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": attempt.verifier,
            "client_id": self._settings.client_id,
        }
        secret, basic = self._settings.client_secret, None
        if secret and found["by_header"]:
            basic = (quote_plus(self._settings.client_id), quote_plus(secret))
        elif secret:
            sent["client_secret"] = secret
        answer = await self._fetched(found["token_endpoint"], sent, basic)
        token = answer.get("id_token")
        if not isinstance(token, str):
            raise SignInError("The provider sent no ID token; it needs the scope openid.")
        own = self._settings.client_id
        claims = await self._claims(token, (own,), nonce=attempt.nonce)
        several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if claims.get("azp", None if several else own) != own:
            raise WrongTokenError("The token was issued to another client.")
        return self._identity(claims)

    async def identity(self, token: str) -> Identity:
        """Return whom the token of a program names.

        Raises:
            SignInError: If the provider's keys cannot be fetched.
            WrongTokenError: If the token is none that the provider signed for this server.
        """
        settings = self._settings
        return self._identity(await self._claims(token, (settings.client_id, *settings.audiences)))

    async def _claims(
        self, token: str, audiences: Sequence[str], nonce: str | None = None
    ) -> dict[str, Any]:
        """Return what a token says, once everything in it is checked."""
        from joserfc import errors, jwt

        if len(token) > _MOST_TOKEN:
            raise WrongTokenError("The token is too long.")
        try:
            read = await self._verified(token)
            wanted: dict[str, Any] = {
                "iss": {"essential": True, "value": self._settings.issuer},
                "aud": {"essential": True, "values": list(audiences)},
                "exp": {"essential": True},
                "sub": {"essential": True},
            }
            if nonce is not None:
                wanted |= {"iat": {"essential": True}, "nonce": {"essential": True, "value": nonce}}
            jwt.JWTClaimsRegistry(leeway=_LEEWAY_S, **wanted).validate(read.claims)
        except errors.ExpiredTokenError as error:
            raise WrongTokenError("The token has expired; get a new one.") from error
        except errors.ClaimError as error:
            raise WrongTokenError(f"The token is not for this server: {error.claim}.") from error
        except (errors.JoseError, ValueError, TypeError) as error:
            raise WrongTokenError("The token is none that the provider signed.") from error
        return dict(read.claims)

    async def _verified(self, token: str) -> Any:
        from joserfc import errors, jwt

        keys = await self._current_keys()
        try:
            return jwt.decode(token, keys, algorithms=_ALGORITHMS)
        except errors.InvalidKeyIdError:  # the provider may have new ones
            return jwt.decode(token, await self._current_keys(anew=True), algorithms=_ALGORITHMS)

    def _identity(self, claims: Mapping[str, Any]) -> Identity:
        name = next(x for key in _NAMES if isinstance(x := claims.get(key), str) and x)
        groups: Any = claims.get(self._settings.groups_claim)
        if groups is None:
            groups = claims
            for part in self._settings.groups_claim.split("."):
                groups = groups.get(part) if isinstance(groups, Mapping) else None
        return Identity(name, Way.OIDC, plain_groups(groups), token_id=str(claims["sub"]))

    # ---- what is fetched

    async def _discovered(self) -> Mapping[str, str]:
        """Return the provider's addresses, fetched once."""
        if self._known:
            return self._known
        issuer = self._settings.issuer
        found = await self._fetched(issuer.rstrip("/") + _DISCOVERY)
        if found.get("issuer") != issuer:
            raise SignInError(f"{self.host} is another issuer: {str(found.get('issuer'))[:200]!r}.")
        names = ("authorization_endpoint", "token_endpoint", "jwks_uri")
        for name in names:
            if not isinstance(found.get(name), str) or not _is_safe(found[name]):
                raise SignInError(f"{self.host} names no https address as its {name}.")
        ways = found.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        by_header = "yes" * ("client_secret_basic" in ways)
        self._known = {**{name: found[name] for name in names}, "by_header": by_header}
        return self._known

    async def _current_keys(self, *, anew: bool = False) -> Any:
        """Return the provider's keys: those it had within the last hour, or new ones."""
        if self._fetching is None:  # can only be made where an event loop runs
            self._fetching = asyncio.Lock()
        async with self._fetching:
            now = self._clock()
            due = self._keys is None or anew or now - self._keys_at >= _KEYS_S
            if due and now - self._tried_at >= (_AGAIN_S if self._keys else _FIRST_S):
                self._tried_at = now
                try:
                    known = await self._discovered()
                    self._keys, self._keys_at = _keys(await self._fetched(known["jwks_uri"])), now
                except SignInError as error:
                    if self._keys is None:
                        raise
                    _logger.warning("keys of %s were not renewed: %s", self.host, error)
            if self._keys is None:
                raise SignInError(f"The provider {self.host} could not be reached; try again.")
            return self._keys

    async def _fetched(
        self,
        url: str,
        form: Mapping[str, str] | None = None,
        basic: tuple[str, str] | None = None,
    ) -> dict[str, Any]:
        """Return the JSON object at an address of the provider.

        Raises:
            SignInError: If it is at another host, does not answer in time, or not with an object.
        """
        import httpx

        host = urlsplit(url).hostname
        if not _is_safe(url) or host not in {self.host, *self._settings.hosts}:
            raise SignInError(
                f"The provider's address is at {host}, not at {self.host}; --oidc-host allows it."
            )
        try:
            async with (
                asyncio.timeout(_WITHIN_S),
                httpx.AsyncClient(timeout=_WITHIN_S, trust_env=False) as client,
                client.stream("POST" if form else "GET", url, data=form, auth=basic) as answer,
            ):
                body = b""
                async for part in answer.aiter_bytes():
                    body += part
                    if len(body) > _MOST_BYTES:
                        raise SignInError(f"The provider {host} sent too much.")
                found = json.loads(body)
        except (httpx.HTTPError, TimeoutError, ValueError, RecursionError) as error:
            _logger.warning("%s: %s: %.200s", url, type(error).__name__, error)
            raise SignInError(f"The provider {host} cannot be reached, or sent no JSON.") from error
        if answer.status_code != httpx.codes.OK or not isinstance(found, dict):
            reason = found.get("error") if isinstance(found, dict) else None
            _logger.warning("%s: %d %.200r", url, answer.status_code, reason)
            raise SignInError(f"The provider {host} refused: {answer.status_code}.")
        return found


def _is_safe(url: str) -> bool:
    """True for an https address, or one of this machine.

    >>> _is_safe("https://a.example/x"), _is_safe("http://127.0.0.1:9"), _is_safe("http://a.example")
    (True, True, False)
    """
    try:
        found = urlsplit(url)
        host = found.hostname or ""
        local = host == "localhost" or _is_loopback(host)
        known = bool(host) and found.port != 0  # reading a port that is none is an error
    except ValueError:
        return False
    return known and (found.scheme == "https" or (found.scheme == "http" and local))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _keys(found: Mapping[str, Any]) -> Any:
    """Return the public keys in a set; those of kinds that are not known are left out."""
    from joserfc import errors, jwk

    listed = found.get("keys")
    if not isinstance(listed, list):
        raise SignInError("The provider sent no keys.")
    keys: list[Any] = []
    for each in listed[:_MOST_KEYS]:
        try:
            if each["kty"] != "oct":
                keys.append(jwk.import_key(each))
        except (errors.JoseError, ValueError, TypeError, KeyError, AttributeError) as error:
            _logger.warning("a key of the provider is left out: %.200s", error)
    return jwk.KeySet(keys)
