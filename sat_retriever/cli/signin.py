"""Options that say how people and programs sign in to a server."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from sat_retriever.cli.options import asking
from sat_retriever.errors import InputError
from sat_retriever.records.permissions import Owner, Principals
from sat_retriever.serve.oidc import Oidc
from sat_retriever.serve.plan import Plan
from sat_retriever.serve.tokens import read_secret, read_token, read_tokens
from sat_retriever.serve.trusted import TrustedHeader

CLAIM, SCOPE = "groups", "openid profile email"
_SECRET = "SAT_OIDC_SECRET"

TokenFileOption = Annotated[
    Path | None,
    typer.Option(
        help="File with the one token that HTTP clients need.", metavar="FILE", dir_okay=False
    ),
]
TokensOption = Annotated[
    Path | None,
    typer.Option(
        "--tokens",
        help="File of tokens, each with its groups, as sat tokens writes it.",
        metavar="FILE",
        dir_okay=False,
    ),
]
IssuerOption = Annotated[
    str | None,
    typer.Option(
        help="Have people sign in at this provider of OpenID Connect; needs the extra oidc.",
        metavar="URL",
    ),
]
ClientOption = Annotated[
    str | None, typer.Option(help="Name of this server at the provider.", metavar="ID")
]
SecretOption = Annotated[
    Path | None,
    typer.Option(
        help=f"File with the client's secret; else {_SECRET}, else none (a public client).",
        metavar="FILE",
        dir_okay=False,
    ),
]
ClaimOption = Annotated[
    str, typer.Option(help="Claim of the provider's tokens with a person's groups.", metavar="NAME")
]
ScopeOption = Annotated[
    str, typer.Option(help="Scopes that the provider is asked for.", metavar="WORDS")
]
AudienceOption = Annotated[
    list[str] | None,
    typer.Option(
        help="Whom else tokens of programs may be for, beside the client.", metavar="NAME"
    ),
]
ProviderHostOption = Annotated[
    list[str] | None,
    typer.Option(help="Another host that the provider's addresses are at.", metavar="NAME"),
]
HeaderOption = Annotated[
    str | None,
    typer.Option(
        help="Header in which a proxy names the person, such as X-Forwarded-User.", metavar="NAME"
    ),
]
HeaderGroupsOption = Annotated[
    str | None,
    typer.Option(help="Header with the person's groups, separated by commas.", metavar="NAME"),
]
TrustedFromOption = Annotated[
    list[str] | None,
    typer.Option(
        help="Address of a proxy whose --trusted-header counts; from others it does not.",
        metavar="ADDRESS",
    ),
]


@dataclass(frozen=True, slots=True)
class OidcOptions:
    """Options of a provider, as they were typed."""

    issuer: str | None
    client: str | None
    secret_file: Path | None
    claim: str
    scope: str
    audiences: Sequence[str]
    hosts: Sequence[str]

    def read(self) -> Oidc | None:
        """Return the settings, with the secret; None if no provider is named."""
        if self.issuer is None:
            given = (self.client, self.secret_file, *self.audiences, *self.hosts)
            if any(given) or self.claim != CLAIM or self.scope != SCOPE:
                raise InputError("options --oidc-… need the provider; add --oidc-issuer URL")
            return None
        secret = read_secret(self.secret_file) if self.secret_file else os.environ.get(_SECRET)
        found = Oidc(
            self.issuer, self.client or "", secret or None, self.claim, self.scope,
            self.audiences, self.hosts,
        )  # fmt: skip
        found.check()
        return found


@dataclass(frozen=True, slots=True)
class HeaderOptions:
    """Options of a proxy that signs people in, as they were typed."""

    user: str | None
    groups: str | None
    sources: Sequence[str]

    def read(self) -> TrustedHeader | None:
        """Return the settings; None if no header is named."""
        if self.user is None:
            if self.groups or self.sources:
                raise InputError("--trusted-groups and --trusted-from need --trusted-header NAME")
            return None
        found = TrustedHeader(self.user, self.sources, self.groups)
        found.check()
        return found


@dataclass(frozen=True, slots=True)
class SignIn:
    """How people and programs sign in, as it was typed.

    Attributes:
        principals: The groups of `--as`, or the owner; None for none.
    """

    principals: Principals | None
    token_file: Path | None
    tokens: Path | None
    oidc: OidcOptions
    header: HeaderOptions

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> SignIn:
        """Read it from the parameters of a command, which all commands call the same.

        Raises:
            InputError: If `--as` and `--as-owner` are both given.
        """
        return cls(
            asking(given["as_groups"], as_owner=given["as_owner"]),
            given["token_file"],
            given["tokens"],
            OidcOptions(
                given["oidc_issuer"],
                given["oidc_client"],
                given["oidc_secret_file"],
                given["oidc_groups_claim"],
                given["oidc_scope"],
                given["oidc_audience"] or (),
                given["oidc_host"] or (),
            ),
            HeaderOptions(
                given["trusted_header"], given["trusted_groups"], given["trusted_from"] or ()
            ),
        )

    def within(self, plan: Plan) -> Plan:
        """Return a plan with it; secrets are read from their files, or the environment."""
        oidc, header = self.oidc.read(), self.header.read()
        if self.tokens and (self.token_file or self.principals is not None):
            raise InputError("--tokens excludes --token-file, --as and --as-owner; leave them out")
        if self.principals is not None and (oidc or header) and not self.token_file:
            raise InputError(
                "--as and --as-owner are for all who reach a server; leave them out where people "
                "sign in, or add --token-file for the token that has these groups"
            )
        token = read_token(self.token_file) if self.token_file else None
        known = [each.plain for each in read_tokens(self.tokens)] if self.tokens else []
        plain = (token, oidc.client_secret if oidc else None, *known)
        # A session then outlives a restart, and counts on other machines with the same secrets.
        secret = "\n".join(filter(None, plain)) or plan.secret
        owner = isinstance(self.principals, Owner)
        groups = None if isinstance(self.principals, Owner) else self.principals
        return replace(
            plan,
            token=token,
            tokens=str(self.tokens) if self.tokens else None,
            oidc=oidc,
            header=header,
            groups=None if groups is None else list(groups),
            owner=owner,
            secret=secret,
        )
