"""Signing in at a provider, or by a proxy's word: who is let in, and what each then sees."""

from __future__ import annotations

import asyncio
import base64
import hmac
import json
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from joserfc import jwk, jwt

from sat_retriever import InputError, Rule, Rules, SheetIndex
from sat_retriever.serve.identity import Identity, SignInError, Way, WrongTokenError
from sat_retriever.serve.oidc import Attempt, Oidc, Provider
from sat_retriever.serve.tokens import read_tokens
from tests.serve.conftest import Answer, Server, serving
from tests.serve.oidcprovider import Idp, provider

CLIENT = "sheets"
BACK = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
RULES = (Rule("staff.csv", ("hr",)), Rule("*", ("sales",)))


@pytest.fixture(scope="module")
def idp() -> Iterator[Idp]:
    with provider() as running:
        yield running


@pytest.fixture(scope="module")
def ruled(index_file, tmp_path_factory):
    file = tmp_path_factory.mktemp("ruled") / "ruled.sat"
    shutil.copy(index_file, file)
    with SheetIndex.open(file) as index:
        index.permit(Rules(RULES))
    return file


@pytest.fixture(scope="module")
def server(ruled, idp, tmp_path_factory) -> Iterator[Server]:
    """A server with a provider, each request of which may come from an address of its own."""
    secret = tmp_path_factory.mktemp("secret") / "oidc"
    secret.write_text("a secret of the client\n")
    secret.chmod(0o600)
    oidc = ("--oidc-issuer", idp.issuer, "--oidc-client", CLIENT, "--oidc-secret-file", secret)
    with serving(
        ruled, *oidc, "--oidc-audience", "api://sheets", "--rate", 0, "--proxy", "127.0.0.1"
    ) as started:
        yield started
        started.process.terminate()
        assert b"a secret" not in started.process.stderr.read()


def cookie_of(answer: Answer, name: str) -> str:
    """A cookie that an answer sets; there may be several."""
    values = [each for each in answer.headers["set-cookie"].split(", ") if each.startswith(name)]
    return values[0].partition(";")[0]


def begun(server: Server, target: str = "/") -> tuple[str, str]:
    """The provider's address, and the cookie with which a browser comes back."""
    answer = server.get("/sign-in/provider", next=target)
    assert answer.status == 303, answer.text
    assert "HttpOnly; SameSite=Lax; Max-Age=600" in answer.headers["set-cookie"]
    return answer.headers["location"], cookie_of(answer, "sat_attempt")


def came_back(server: Server, address: str, cookie: str = "") -> Answer:
    found = urlsplit(address)
    assert (found.netloc, found.path) == (f"127.0.0.1:{server.port}", "/sign-in/callback")
    return server.ask(f"{found.path}?{found.query}", Cookie=cookie, Accept="text/html", **BACK)


def signed_in(server: Server, idp: Idp, person: str) -> str:
    """The cookie of a person's session."""
    address, cookie = begun(server)
    answer = came_back(server, idp.sign_in(address, person), cookie)
    assert answer.status == 200, answer.text
    return cookie_of(answer, "sat_session")


def seen(server: Server, **headers: str) -> tuple[bool, bool]:
    """True for the staff's sheet, and for the sales'."""
    found = server.ask("/api/search?question=name+salary+revenue+region+staff", **headers)
    assert found.status == 200, found.text
    return "staff.csv" in found.text, "Sales 2024" in found.text


# ---- a browser


def test_a_person_signs_in_at_the_provider_and_sees_what_their_groups_may(server, idp):
    page = server.ask("/?q=salary", Accept="text/html")
    assert page.status == 401 and "Sign in with localhost" in page.text
    assert 'href="/sign-in/provider?next=%2F%3Fq%3Dsalary"' in page.text
    assert "<form" not in page.text  # there are no tokens to give
    address, cookie = begun(server, "/?q=salary")
    asked = {name: value for name, [value] in parse_qs(urlsplit(address).query).items()}
    assert (asked["code_challenge_method"], asked["response_type"]) == ("S256", "code")
    assert len({asked["state"], asked["nonce"], asked["code_challenge"]}) == 3
    back = idp.sign_in(address, "ada")
    answer = came_back(server, back, cookie)
    assert answer.status == 200
    assert '<meta http-equiv="refresh" content="0; url=/?q=salary">' in answer.text
    assert "HttpOnly; SameSite=Strict" in answer.headers["set-cookie"]
    session = cookie_of(answer, "sat_session")
    assert "staff.csv" in server.ask("/?q=salary", Cookie=session).text
    assert seen(server, Cookie=session) == (True, False)
    assert seen(server, Cookie=signed_in(server, idp, "bob")) == (False, True)
    again = came_back(server, back, cookie)  # a code is good for one time
    assert (again.status, "set-cookie" in again.headers) == (401, True)
    assert "sat_session" not in again.headers["set-cookie"]
    left = server.ask("/sign-out", "POST", Cookie=session, Origin=server.url)
    assert "Max-Age=0" in left.headers["set-cookie"]
    for other in ("", session.replace("=1", "=2", 1), cookie.replace("attempt", "session")):
        assert server.ask("/?q=salary", Cookie=other).status == 401


def test_what_comes_back_wrong_signs_nobody_in(server, idp):
    address, cookie = begun(server)
    back = idp.sign_in(address, "ada")
    query = {name: value for name, [value] in parse_qs(urlsplit(back).query).items()}

    def changed(**more: str | None) -> str:
        kept = {name: value for name, value in {**query, **more}.items() if value is not None}
        return f"{back.partition('?')[0]}?{urlencode(kept)}"

    _, of_another = begun(server)
    session = signed_in(server, idp, "bob")
    swapped = session.replace("session", "attempt")
    for wrong, sent, said in (
        (back, "", "was not begun here"),
        (back, of_another, "was not begun here"),
        (back, swapped, "was not begun here"),
        (changed(state="x"), cookie, "was not begun here"),
        (changed(state="ä"), cookie, "was not begun here"),
        (f"{back}&state={query['state']}", cookie, "was not begun here"),  # twice
        (changed(code=None, error="access_denied"), cookie, "access_denied"),
        (changed(iss="https://evil.example"), cookie, "did not sign you in"),
        (changed(code="guessed"), cookie, "refused: 400"),
    ):
        answer = came_back(server, wrong, sent)
        assert (answer.status, said in answer.text) == (401, True), (wrong, answer.text)
        assert "sat_session" not in answer.headers["set-cookie"]
    assert came_back(server, back, cookie).status == 200


def test_a_token_for_another_attempt_is_refused(server, idp):
    for name, said in (("nonce", "nonce"), ("code_challenge", "refused: 400")):
        address, cookie = begun(server)
        asked = {key: value for key, [value] in parse_qs(urlsplit(address).query).items()}
        asked[name] = "another-one"
        other = f"{address.partition('?')[0]}?{urlencode(asked)}"
        answer = came_back(server, idp.sign_in(other, "ada"), cookie)
        assert (answer.status, said in answer.text) == (401, True), answer.text


def test_more_groups_than_a_cookie_holds_are_told(server, idp):
    address, cookie = begun(server)
    answer = came_back(server, idp.sign_in(address, "many"), cookie)
    assert answer.status == 401 and "more characters than a cookie holds" in answer.text


def test_another_site_can_come_back_from_signing_in_and_begin_nothing(server):
    assert server.ask("/sign-in/provider", **BACK).status == 403
    assert server.ask("/sign-in/callback", **BACK).status == 401
    framed = {**BACK, "Sec_Fetch_Dest": "iframe"}
    assert server.ask("/sign-in/callback", **framed).status == 403


def test_a_group_that_a_rule_names_later_counts_without_a_restart(server, idp, ruled):
    eve = signed_in(server, idp, "eve")
    token = idp.signed(claims(idp, groups=["new"]))
    assert seen(server, Cookie=eve) == seen(server, Authorization=f"Bearer {token}")
    assert seen(server, Cookie=eve) == (False, False)
    with SheetIndex.open(ruled) as index:
        try:
            index.permit(Rules((Rule("staff.csv", ("hr", "new")), *RULES)))
            assert seen(server, Cookie=eve) == (True, False)
            assert seen(server, Authorization=f"Bearer {token}") == (True, False)
        finally:
            index.permit(Rules(RULES))
    assert seen(server, Cookie=eve) == (False, False)


# ---- programs


def claims(idp: Idp, **more: object) -> dict[str, object]:
    now = int(time.time())
    known = {"iss": idp.issuer, "aud": CLIENT, "sub": "ada", "iat": now, "exp": now + 600}
    return {name: each for name, each in {**known, **more}.items() if each is not None}


def part(data: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(data).encode()).decode().rstrip("=")


def test_a_program_sends_a_token_of_the_provider(server, idp):
    for number, more in enumerate(({}, {"aud": ["x", "api://sheets"]}, {"aud": "api://sheets"})):
        token = idp.signed(claims(idp, groups=["hr"], **more))
        named = {"Authorization": f"Bearer {token}", "X_Forwarded_For": f"10.1.0.{number}"}
        assert seen(server, **named) == (True, False)


def test_no_other_token_is_taken(server, idp):
    good = claims(idp, groups=["hr"])
    public, own = jwk.RSAKey.import_key(idp.key()), jwk.RSAKey.generate_key(2048)
    kid = idp.key()["kid"]
    header, body, signature = idp.signed(good).split(".")
    said = f"{part({'alg': 'HS256', 'kid': kid})}.{part(good)}"
    keyed = hmac.digest(public.as_pem(private=False), said.encode(), "sha256")
    with provider() as other:
        elsewhere = other.signed(good)
    soon, past = int(time.time()) + 3_600, int(time.time()) - 3_600
    wrong = {
        "expired": idp.signed({**good, "exp": past}),
        "not yet": idp.signed({**good, "nbf": soon}),
        "without an end": idp.signed(claims(idp, exp=None)),
        "for another": idp.signed({**good, "aud": "another"}),
        "for nobody": idp.signed(claims(idp, aud=None)),
        "of nobody": idp.signed(claims(idp, sub=None)),
        "of another issuer": idp.signed({**good, "iss": "http://localhost:1"}),
        "signed elsewhere": elsewhere,
        "with a key of its own": jwt.encode({"alg": "RS256", "kid": kid}, good, own),
        "with the public key": f"{said}.{base64.urlsafe_b64encode(keyed).decode().rstrip('=')}",
        "not signed": f"{part({'alg': 'none', 'kid': kid})}.{part(good)}.",
        "with another body": f"{header}.{part({**good, 'groups': ['sales']})}.{signature}",
        "without signature": f"{header}.{body}.",
        "no token": "a.b.c",
        "too long": idp.signed({**good, "x": "y" * 20_000}),
        "with its own key": jwt.encode(
            {"alg": "RS256", "kid": kid, "jwk": own.as_dict(private=False)}, good, own
        ),
    }
    for number, (name, token) in enumerate(wrong.items()):
        named = {"Authorization": f"Bearer {token}", "X_Forwarded_For": f"10.2.0.{number}"}
        for path in ("/api/status", "/mcp"):
            answer = server.ask(path, **named)
            assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer"), name
        assert ("expired" in answer.text) == (name == "expired")


@pytest.fixture
def rotating() -> Iterator[Idp]:
    """A provider of its own: a server takes up new keys only after a while."""
    with provider() as running:
        yield running


def test_a_new_key_is_fetched_once_and_a_lost_one_no_longer_counts(rotating):
    now, idp = [1_000.0], rotating
    own = Provider(Oidc(idp.issuer, CLIENT, groups_claim="realm.roles"), clock=lambda: now[0])

    async def use() -> None:
        before = idp.signed(claims(idp, realm={"roles": ["new", 7, " "]}, email="ada@a.example"))
        known = Identity("ada@a.example", Way.OIDC, ("new",), token_id="ada")
        fetched = idp.asked()["/jwks"]
        assert await own.identity(before) == await own.identity(before) == known
        assert idp.asked()["/jwks"] == fetched + 1
        idp.rotate()
        after = idp.signed(claims(idp))
        for _ in range(3):  # unknown keys cause no more fetches than this
            with pytest.raises(WrongTokenError):
                await own.identity(after)
        assert idp.asked()["/jwks"] == fetched + 1
        now[0] += 31
        assert (await own.identity(after)).groups == ()
        with pytest.raises(WrongTokenError):
            await own.identity(before)
        assert idp.asked()["/jwks"] == fetched + 2
        now[0] += 3_601
        await own.identity(after)
        assert idp.asked()["/jwks"] == fetched + 3

    asyncio.run(use())


# ---- providers that cannot be used


class Odd(BaseHTTPRequestHandler):
    """Answers with what is set below."""

    answers: ClassVar[dict[str, object]] = {}

    def do_GET(self) -> None:
        found = self.answers.get(self.path)
        body = found if isinstance(found, bytes) else json.dumps(found).encode()
        self.send_response(302 if found is None else 200)
        if found is None:
            self.send_header("location", "/.well-known/openid-configuration")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: object) -> None:
        return


@pytest.fixture
def odd() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Odd) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


def test_a_provider_that_answers_oddly_signs_nobody_in_and_nothing_else_is_asked(odd):
    urls = ("authorization_endpoint", "token_endpoint", "jwks_uri")
    plain = {"issuer": odd, **{name: f"{odd}/{name}" for name in urls}}
    attempt = Attempt("state", "nonce", "verifier", "/")
    for document, said in (
        (b"x" * 2_000_000, "sent too much"),
        (b"<html>", "sent no JSON"),
        (b"[" * 100_000, "sent no JSON"),
        ([], "refused"),
        (None, "refused: 302|sent no JSON"),
        ({**plain, "issuer": "https://evil.example"}, "another issuer"),
        ({**plain, "issuer": f"{odd}/"}, "another issuer"),
        ({**plain, "jwks_uri": "http://evil.example/keys"}, "no https address"),
        ({**plain, "token_endpoint": None}, "no https address"),
        ({**plain, "token_endpoint": "https://evil.example/token"}, "evil.example, not at"),
        ({**plain, "jwks_uri": f"{odd}/none"}, "refused: 302|sent no JSON"),
        ({**plain, "jwks_uri": f"{odd}/keys"}, "sent no keys"),
    ):
        Odd.answers = {"/.well-known/openid-configuration": document, "/keys": {"keys": 1}}
        own = Provider(Oidc(odd, CLIENT))
        with pytest.raises(SignInError, match=said):
            if "evil.example, not" in said:
                asyncio.run(own.signed_in("code", attempt, "http://127.0.0.1/sign-in/callback"))
            asyncio.run(own.identity("a.b.c"))


def test_a_server_says_at_its_start_and_to_people_that_the_provider_is_away(ruled, odd):
    Odd.answers = {"/.well-known/openid-configuration": {"issuer": "http://localhost:9"}}
    command = [sys.executable, "-m", "sat_retriever", "serve", "--index", str(ruled), "--port", "0"]
    with subprocess.Popen(
        [*command, "--oidc-issuer", odd, "--oidc-client", CLIENT], stderr=subprocess.PIPE
    ) as process:
        try:
            said = process.stderr.readline().decode()
            assert "until this is mended nobody can sign in" in said and "another issuer" in said
            port = int(process.stderr.readline().decode().split("127.0.0.1:")[1].partition("/")[0])
            started = Server(port, process)
            answer = started.ask("/sign-in/provider", Accept="text/html")
            assert answer.status == 401 and "another issuer" in answer.text
            token = {"Authorization": "Bearer a.b.c"}
            assert started.ask("/api/status", **token).status == 503
        finally:
            process.kill()


@pytest.mark.parametrize(
    "issuer", ["http://login.example", "login.example", "https://", "https://a.example?x=1",
               "https://u@a.example", "https://a.example:x", "ftp://localhost"],
)  # fmt: skip
def test_an_issuer_is_asked_over_https_or_on_this_machine(issuer):
    with pytest.raises(InputError, match="is no issuer"):
        Provider(Oidc(issuer, CLIENT))


# ---- a proxy


HEADERS = ("--trusted-header", "X-Forwarded-User", "--trusted-groups", "X-Forwarded-Groups")


def test_a_named_proxy_says_who_asks(ruled):
    with serving(ruled, *HEADERS, "--trusted-from", "127.0.0.0/8", "--rate", 0) as server:
        ada = {"X_Forwarded_User": "Zoë Müller".encode().decode("latin-1")}
        assert seen(server, **ada, X_Forwarded_Groups="hr, other") == (True, False)
        assert seen(server, **ada, X_Forwarded_Groups="hr,sales") == (True, True)
        assert seen(server, **ada) == (False, False)
        for wrong in (
            {},
            {"X_Forwarded_Groups": "hr"},
            {"X_Forwarded_User": ""},
            {"X_Forwarded_User": "a", "x_forwarded_user": "b", "X_Forwarded_Groups": "hr"},
            {"X_Forwarded_User": "a", "X_Forwarded_Groups": "x", "x_forwarded_groups": "hr"},
        ):
            assert server.ask("/api/status", **wrong).status == 401, wrong
        page = server.ask("/", Accept="text/html")
        assert page.status == 401 and "Another server signs you in" in page.text
        # What comes through the proxy is of somebody elsewhere, whatever else the proxy tells.
        assert server.ask("/metrics", **ada, X_Forwarded_Groups="hr").status == 404
        assert server.ask("/metrics").status == 200
        assert (
            server.ask("/workbook?id=staff.csv%23staff", **ada, X_Forwarded_Groups="hr").status
            == 403
        )


def test_a_header_of_any_other_address_is_left_out_and_logged(ruled):
    # By a proxy's word on its client nobody comes to be that client's proxy.
    with serving(
        ruled, *HEADERS, "--trusted-from", "10.9.8.7/32", "--proxy", "127.0.0.1", "--rate", 0
    ) as server:
        forged = {"X_Forwarded_User": "ada", "X_Forwarded_Groups": "hr"}
        for more in ({}, {"X_Forwarded_For": "10.9.8.7"}):
            assert server.ask("/api/status", **forged, **more).status == 401
        server.process.terminate()
        said = server.process.stderr.read().decode()
        assert said.count("was left out") == 1 and "127.0.0.1" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--trusted-header", "X-User"], "add --trusted-from ADDRESS"),
        (["--trusted-from", "10.0.0.5"], "need --trusted-header"),
        (["--trusted-header", "X-User", "--trusted-from", "0.0.0.0/0"], "is everybody"),
        (["--trusted-header", "X-User", "--trusted-from", "proxy"], "is not the address"),
        (["--trusted-header", "X User", "--trusted-from", "10.0.0.5"], "is no name of a header"),
        (["--trusted-header", "X-User", "--trusted-from", "10.0.0.5", "--as", "hr"], "are for all"),
        (["--oidc-client", "x"], "add --oidc-issuer URL"),
        (["--oidc-issuer", "https://login.example"], "add --oidc-client ID"),
        (["--oidc-issuer", "http://login.example", "--oidc-client", "x"], "is no issuer"),
    ],
    ids=str,
)
def test_settings_by_which_nobody_or_anybody_could_sign_in_are_refused(ruled, options, said):
    line = [sys.executable, "-m", "sat_retriever", "serve", "--index", str(ruled), "--port", "0"]
    done = subprocess.run([*line, *options], capture_output=True, text=True, check=False)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert "Traceback" not in done.stderr


# ---- tokens by person


def tokens(file, *words: str) -> str:
    line = [sys.executable, "-m", "sat_retriever", "tokens", *words, "--tokens", str(file)]
    return subprocess.run(line, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.slow
def test_tokens_are_made_and_revoked_while_workers_run(ruled, tmp_path):
    file = tmp_path / "tokens.toml"
    ada = tokens(file, "add", "ada", "--groups", "hr", "--expires", "12h")
    with serving(ruled, "--tokens", file, "--workers", 2, "--rate", 0) as server:
        assert seen(server, Authorization=f"Bearer {ada}") == (True, False)
        bob = tokens(file, "add", "bob", "--groups", "sales", "--groups", "hr")
        form = {"Content-Type": "application/x-www-form-urlencoded", "Origin": server.url}
        right = server.ask("/sign-in", "POST", f"token={ada}".encode(), **form)
        session = right.headers["set-cookie"].partition(";")[0]
        for _ in range(4):  # whichever worker answers
            assert seen(server, Authorization=f"Bearer {bob}") == (True, True)
            assert seen(server, Cookie=session) == (True, False)
        [known, _] = read_tokens(file)
        written = file.read_text()
        assert ada not in written and bob not in written and known.ends == ada[-4:]
        tokens(file, "revoke", "ada")
        for _ in range(4):
            assert server.ask("/api/status", Authorization=f"Bearer {ada}").status in (401, 429)
            assert server.ask("/api/status", Cookie=session).status == 401
        made = known.made.isoformat().replace("+00:00", "Z")
        file.write_text(written.replace(known.expires.isoformat().replace("+00:00", "Z"), made))
        over = server.ask("/api/status", Authorization=f"Bearer {ada}")
        assert (over.status, "has expired" in over.text) == (401, True)
        assert server.ask("/api/status", Cookie=session).status == 401
        file.write_text("[[token]]\ntoken = 3\n")  # a slip changes nothing
        assert seen(server, Authorization=f"Bearer {bob}") == (True, True)


def test_wrong_tokens_are_slowed_for_whoever_sends_them(ruled, tmp_path):
    file = tmp_path / "tokens.toml"
    right = {"Authorization": f"Bearer {tokens(file, 'add', 'ada', '--owner')}"}
    with serving(ruled, "--tokens", file, "--proxy", "127.0.0.1", "--rate", 0) as server:
        guesses = [
            server.ask("/api/status", Authorization=f"Bearer guess-{n}", X_Forwarded_For="10.0.0.1")
            for n in range(200)
        ]
        statuses = [each.status for each in guesses]
        assert statuses[:10] == [401] * 10 and set(statuses[10:]) <= {401, 429}
        assert statuses.count(429) > 150
        assert all(1 <= int(x.headers["retry-after"]) <= 10 for x in guesses if x.status == 429)
        assert server.ask("/api/status", **right, X_Forwarded_For="10.0.0.2").status == 200


# ---- last, since a browser keeps the thread's event loop


def test_a_browser_signs_in_and_out(server, idp, window):
    page = window()
    page.route(re.compile("^https:"), lambda route: route.fulfill(body=""))  # the provider's style
    page.goto(f"{server.url}/?q=salary")
    page.get_by_role("link", name="Sign in with localhost").click()
    page.get_by_role("button", name="ada").click()
    leave = page.get_by_role("button", name="Sign out")
    leave.wait_for()
    assert page.url == f"{server.url}/?q=salary" and "staff.csv" in page.content()
    leave.click()
    page.get_by_role("heading", name="Sign in").wait_for()
