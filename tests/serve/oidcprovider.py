"""A provider of OpenID Connect on this machine: oidc-provider-mock, which also checks PKCE here.

It runs in a process of its own, `python -m tests.serve.oidcprovider`, and prints its port. Tests
may have it sign any claims, take new keys, and say what it was asked.
"""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

PEOPLE: Mapping[str, Mapping[str, Any]] = {
    "ada": {"groups": ["hr"], "preferred_username": "Ada"},
    "bob": {"groups": "sales", "realm": {"roles": ["new"]}},
    "eve": {"groups": ["new", "unknown"]},
    "many": {"groups": [hashlib.sha256(str(n).encode()).hexdigest() for n in range(140)]},
}


@dataclass(frozen=True)
class Idp:
    """The provider, asked by hand."""

    issuer: str

    def sign_in(self, address: str, person: str, action: str = "") -> str:
        """Return where a person's browser is sent after signing in at an address."""
        sent = urlencode({"sub": person, "action": action}).encode()
        request = urllib.request.Request(address, sent, method="POST")
        try:
            urllib.request.build_opener(_Still).open(request)
        except urllib.error.HTTPError as answer:
            return answer.headers["location"]
        raise AssertionError("the provider did not send the browser back")

    def signed(self, claims: Mapping[str, Any], header: Mapping[str, Any] | None = None) -> str:
        """Return a token with these claims, signed by the provider."""
        return self._told("sign", {"claims": claims, "header": header or {}})["token"]

    def rotate(self) -> None:
        """Have it take a new key, and forget the one before."""
        self._told("rotate", {})

    def asked(self) -> Counter[str]:
        """Number of requests by path."""
        return Counter(self._told("asked", {}))

    def key(self) -> dict[str, Any]:
        """Return its public key."""
        with urllib.request.urlopen(f"{self.issuer}/jwks") as answer:
            return json.load(answer)["keys"][0]

    def _told(self, path: str, data: Mapping[str, Any]) -> Any:
        request = urllib.request.Request(
            f"{self.issuer}/test/{path}",
            json.dumps(data).encode(),
            {"content-type": "application/json"},
        )
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)


class _Still(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_given: object) -> None:
        return None


@contextmanager
def provider() -> Iterator[Idp]:
    """A running provider."""
    command = [sys.executable, "-m", "tests.serve.oidcprovider"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        yield Idp(f"http://localhost:{int(process.stdout.readline())}")
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def main() -> None:
    """Serve until killed."""
    import flask
    from authlib import jose
    from oidc_provider_mock import User, app
    from werkzeug.serving import make_server

    made = app(user_claims=[User(sub=name, claims=dict(of)) for name, of in PEOPLE.items()])
    challenges: dict[str, str] = {}
    asked: Counter[str] = Counter()

    def storage() -> Any:
        return flask.g.oidc_provider_mock_storage

    @made.before_request
    def count() -> Any:
        asked[flask.request.path] += 1
        if flask.request.path != "/oauth2/token":
            return None
        form = flask.request.form
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        known = challenges.pop(form.get("code", ""), None)
        if known != base64.urlsafe_b64encode(digest).decode().rstrip("="):
            return flask.jsonify({"error": "invalid_grant"}), 400
        return None

    @made.after_request
    def note(response: Any) -> Any:
        code = parse_qs(urlsplit(response.headers.get("location", "")).query).get("code")
        if code and flask.request.args.get("code_challenge_method") == "S256":
            challenges[code[0]] = flask.request.args["code_challenge"]
        return response

    @made.post("/test/sign")
    def sign() -> Any:
        given, key = flask.request.json, storage().jwk
        header = {"alg": "RS256", "kid": key.as_dict()["kid"], **given["header"]}
        token = jose.JsonWebToken(["RS256"]).encode(header, given["claims"], key)
        return {"token": token.decode()}

    @made.post("/test/rotate")
    def rotate() -> Any:
        storage().jwk = jose.RSAKey.generate_key(is_private=True)
        return {}

    @made.post("/test/asked")
    def tell() -> Any:
        return dict(asked)

    server = make_server("localhost", 0, made, threaded=True)
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main()
