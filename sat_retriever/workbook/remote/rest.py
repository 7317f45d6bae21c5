"""JSON and files of a REST API: bounded, asked again where that may help, its token kept to it."""

from __future__ import annotations

import json
import re
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from time import sleep
from typing import Any
from urllib.parse import urljoin

import httpx

from sat_retriever.workbook.remote.access import Login, SecretUrl, Tokens, is_local, safe_url
from sat_retriever.workbook.remote.systems import ReasonError

PAUSES_S = (1.0, 4.0, 16.0)  # before each repetition of a request, unless the server asks for more
LONGEST_PAUSE_S = 120.0  # a server that asks for more is not waited for
ANSWER_BYTES = 16 << 20  # most that is read of one answer in JSON
MOST_PAGES = 10_000  # of one listing

_ANSWER_S = 120.0
_DOWNLOAD_S = 3600.0
_TIMES = httpx.Timeout(60.0, connect=10.0)
_HOPS = 3  # addresses that a download may be passed on to
_MARK = 8192  # characters of what names the next page
_PASSING = frozenset({429, 500, 502, 503, 504})
# Google answers with 403 to whoever asks too often.
_RATES = frozenset({"rateLimitExceeded", "userRateLimitExceeded"})
_CODE = re.compile(r"[\w.-]{1,80}", re.ASCII)


class Rest:
    """A REST API at one address.

    Its token is sent to that address alone, over https or on this machine.

    Args:
        base: The API's address.
        login: Called for each new token: a ready one, or a request for one.

    Raises:
        ReasonError: If the address is not one of https, or of this machine.
    """

    def __init__(self, base: str, login: Callable[[], str | Login]) -> None:
        self._base = safe_url(base.rstrip("/"))
        self._tokens = Tokens(login, self._logged_in)
        # Identity, so that a limit of bytes is one of memory, too. No proxy leads to this machine.
        self._client = httpx.Client(
            headers={"Accept-Encoding": "identity"},
            timeout=_TIMES,
            trust_env=not is_local(self._base),
        )
        weakref.finalize(self, self._client.close)

    def json(self, address: str, **params: str) -> dict[str, Any]:
        """The JSON object at an address: a path below the API's, or a link that it gave.

        Raises:
            FileNotFoundError: If there is nothing.
            ReasonError: If the link leads to another server, or the server refuses, cannot be
                reached, or does not answer with an object.
        """
        url = self._own(address)
        # A link is sent as it was given: to merge nothing into it would write it anew.
        return self._object(
            self._sent(url.copy_merge_params(params) if params else url, token=True)
        )

    def pages(
        self, ask: Callable[[str | None], Mapping[str, Any]], mark: str
    ) -> Iterator[Mapping[str, Any]]:
        """Yield the pages of a listing.

        Args:
            ask: Called with the mark of a page, None for the first one.
            mark: Field of a page with the mark of the next one.

        Raises:
            ReasonError: If the listing does not end, and as `json`.
        """
        seen: set[str] = set()
        now: str | None = None
        while True:
            page = ask(now)
            yield page
            now = page.get(mark)
            if now is None:
                return
            usable = isinstance(now, str) and len(now) <= _MARK and now not in seen
            if not usable or len(seen) >= MOST_PAGES:
                raise ReasonError(f"a listing of {self._base.host} does not end; try again later")
            seen.add(now)

    def download(
        self, address: str, target: str, callback: Any, *, own: bool, **params: str
    ) -> None:
        """Write the bytes at an address to a file.

        Args:
            address: A path below the API's if `own`, else a URL that opens the file by itself, and
                so needs no token and is shown nowhere.
            target: The file.
            callback: fsspec's, which is told of the size and of each part.
            own: If it is the API that answers.
            params: Of the query, if `own`.

        Raises:
            FileNotFoundError: If there is nothing.
            ReasonError: If the server refuses, cannot be reached, or breaks off.
        """
        url = self._own(address).copy_merge_params(params) if own else self._secret(address)
        with closing(self._sent(url, token=own)) as response, Path(target).open("wb") as file:
            size = response.headers.get("Content-Length", "")
            callback.set_size(int(size) if re.fullmatch(r"[0-9]{1,18}", size) else None)
            for part in self._parts(response, _DOWNLOAD_S):
                file.write(part)
                callback.relative_update(len(part))

    def misfit(self, error: Exception) -> ReasonError:
        """The error for an answer of another form than the API's."""
        return ReasonError(
            f"{self._base.host} does not answer as this service does ({type(error).__name__}); "
            "check its address"
        )

    def _logged_in(self, login: Login) -> dict[str, Any]:
        return self._object(self._sent(safe_url(login.url), token=False, form=login.form))

    def _own(self, address: str) -> httpx.URL:
        """An address of the API; a link to another server would take the token there."""
        if "://" not in address:
            return httpx.URL(f"{self._base}/{address}")
        try:
            url = httpx.URL(address)
        except httpx.InvalidURL as error:
            raise self.misfit(error) from None
        base = self._base
        if (url.scheme, url.host, url.port) != (base.scheme, base.host, base.port):
            raise ReasonError(
                f"{base.host} passes its listing on to another server, {url.host:.80}, which gets "
                "no token"
            )
        return url

    def _secret(self, address: str) -> SecretUrl:
        """An address that a file may be fetched from without a token."""
        try:
            url = SecretUrl(address)
        except (httpx.InvalidURL, TypeError) as error:
            raise self.misfit(error) from None
        here = is_local(self._base) and is_local(url)
        if not url.host or not (url.scheme == "https" or here):
            raise ReasonError(
                f"{self._base.host} passes the download on to an address that is not one of https"
            )
        return url

    def _sent(
        self, url: httpx.URL, *, token: bool, form: Mapping[str, str] | None = None
    ) -> httpx.Response:
        """A successful answer whose body is still to be read; its reader closes it."""
        pauses, hops, renewed = list(PAUSES_S), _HOPS, False
        while True:
            key = self._tokens.current() if token else ""
            try:
                response = self._client.send(self._request(url, key, form), stream=True)
            except httpx.TransportError as error:
                lost = not isinstance(error, (httpx.ConnectError, httpx.TimeoutException))
                if not lost or not pauses:
                    raise ReasonError(
                        f"{url.host} cannot be reached, or does not answer "
                        f"({type(error).__name__}); check the network and the address"
                    ) from None
                sleep(pauses.pop(0))
                continue
            if response.is_success:
                return response
            with closing(response):
                if response.is_redirect and isinstance(url, SecretUrl) and hops:
                    hops -= 1
                    url = self._secret(urljoin(url.whole, response.headers.get("Location", "")))
                    continue
                status, code = response.status_code, self._code(response)
            if status == 401 and token and not renewed:
                renewed = True
                self._tokens.forget(key)
                continue
            wait_s = _seconds(response.headers.get("Retry-After", ""))
            passing = status in _PASSING or code in _RATES
            if not passing or not pauses or wait_s > LONGEST_PAUSE_S:
                raise _refusal(url.host, status, code)
            sleep(max(pauses.pop(0), wait_s))

    def _request(self, url: httpx.URL, key: str, form: Mapping[str, str] | None) -> httpx.Request:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        method = "GET" if form is None else "POST"
        request = self._client.build_request(method, url, headers=headers, data=form)
        request.url = url  # httpx has made a plain one of a secret one
        return request

    def _object(self, response: httpx.Response) -> dict[str, Any]:
        body = bytearray()
        with closing(response):
            for part in self._parts(response, _ANSWER_S):
                body += part
                if len(body) > ANSWER_BYTES:
                    raise ReasonError(
                        f"{response.request.url.host} sent more than {ANSWER_BYTES >> 20} MiB as "
                        "one answer"
                    )
        try:
            found = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise self.misfit(error) from None
        if not isinstance(found, dict):
            raise self.misfit(TypeError())
        return found

    def _parts(self, response: httpx.Response, within_s: float) -> Iterator[bytes]:
        until = time.monotonic() + within_s
        try:
            for part in response.iter_raw():
                yield part
                if time.monotonic() > until:
                    raise httpx.ReadTimeout("the whole answer")
        except httpx.TransportError as error:
            raise ReasonError(
                f"{response.request.url.host} broke off its answer ({type(error).__name__}); try "
                "again later"
            ) from None

    def _code(self, response: httpx.Response) -> str:
        """The word by which an error is known, as `accessDenied`; empty if there is none."""
        try:
            error: Any = self._object(response).get("error")
            inner = error if isinstance(error, dict) else {}
            reasons = [each.get("reason") for each in inner.get("errors", ())]
            told = next((each for each in (*reasons, inner.get("code"), error) if each), "")
        except (ReasonError, AttributeError, TypeError):
            return ""
        return told if isinstance(told, str) and _CODE.fullmatch(told) else ""


def _refusal(host: str, status: int, code: str) -> Exception:
    about = f"status {status}, {code}" if code else f"status {status}"
    if status in (404, 410):
        return FileNotFoundError(about)
    if status == 429 or code in _RATES:
        return ReasonError(f"{host} asks to slow down ({about}); try again later")
    if status in (401, 403):
        hint = "check the credentials and what they allow"
        return ReasonError(f"{host} denies access ({about}); {hint}")
    if 300 <= status < 400:
        return ReasonError(f"{host} passes the request on ({about}), which is not followed")
    return ReasonError(f"{host} refuses ({about}){'; try again later' if status >= 500 else ''}")


def _seconds(text: str) -> float:
    """The seconds that a server asks to wait; 0 if it names none.

    >>> _seconds("7"), _seconds("Wed, 21 Oct 2026 07:28:00 GMT")
    (7.0, 0.0)
    """
    return float(text) if re.fullmatch(r"\s*[0-9]{1,9}\s*", text, re.ASCII) else 0.0
