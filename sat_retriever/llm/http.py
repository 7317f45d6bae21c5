"""Talk to a model's server: within limits, repeated where it may help, failures in words."""

from __future__ import annotations

import ipaddress
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from sat_retriever._extras import require
from sat_retriever.errors import (
    InputError,
    LanguageModelError,
    MissingExtraError,
    ModelContextError,
    ModelSetupError,
)
from sat_retriever.llm.served import LONGEST_PAUSE_S, check_positive

T = TypeVar("T")

PAUSES_S = (1.0, 4.0)  # before each repetition of a request
REPLY_BYTES = 16 * 2**20  # most that is read of one answer, beside vectors
KEY_OVER_HTTP = "SAT_KEY_OVER_HTTP"

_VECTOR_BYTES = 2**20  # most for the vector of one text
_CONNECT_S = 10.0  # a running server accepts a connection at once, even if busy
_PASSING = (408, 425, 429)  # a second try may succeed, as with 500 and above
_NEVER = (501,)
_TOO_LONG = re.compile(
    r"context[ _]length|context[ _]size|context window|exceeds the context|too large to process"
    r"|context the overflows|maximum (?:model|input) length|must have less than \d+ tokens",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"\bmodel\b.{0,300}\b(not found|not exist|not available|unknown)\b|model_not_found"
    r"|\b(unknown|no such|invalid) model\b",
    re.DOTALL | re.IGNORECASE,
)
_LISTED = 20  # models that an error names
_MOST_REFUSAL = 2**16  # bytes that are read for its words


@dataclass(frozen=True, slots=True)
class Address:
    """An address without name and password, which are apart; `local` if it is this machine's."""

    url: str
    auth: tuple[str, str] | None
    local: bool


def address_of(text: str, port: int | None = None) -> Address:
    """Return the parts of a server's address, at a port if neither scheme nor port is given.

    >>> address_of("http://ann:p@ss@10.0.0.7:11434/v1/")
    Address(url='http://10.0.0.7:11434/v1', auth=('ann', 'p@ss'), local=False)
    >>> address_of("[::1]", 11434).url
    'http://[::1]:11434'

    Raises:
        InputError: If it is no address of HTTP; the message does not quote it, as for its password.
    """
    scheme, _, rest = text.strip().rpartition("://")
    try:
        parts = urlsplit(f"{scheme or 'http'}://{rest}")
        name, port = parts.hostname or "127.0.0.1", parts.port or (None if scheme else port)
    except ValueError as error:
        raise InputError("the address of the model's server has no valid host or port") from error
    if parts.scheme not in ("http", "https"):
        raise InputError(
            "the address of the model's server does not begin with http:// or https://"
        )
    if parts.query or parts.fragment:
        raise InputError(
            "the address of the model's server has something behind a ? or #, which is not sent; "
            "give the address without it"
        )
    try:
        number = ipaddress.ip_address(name)
        local = number.is_loopback or number.is_unspecified
    except ValueError:
        local = name == "localhost" or name.endswith(".localhost")
    shown = f"[{name}]" if ":" in name else name
    url = f"{parts.scheme}://{shown}{f':{port}' if port else ''}{parts.path.rstrip('/')}"
    auth = (unquote(parts.username or ""), unquote(parts.password or ""))
    return Address(url, auth if any(auth) else None, local)


class RefusedError(Exception):
    """A server's refusal: status, all that it said, and the seconds that it asks to wait."""

    def __init__(self, status: int, whole: str, wait_s: float | None) -> None:
        super().__init__(status)
        self.status, self.whole, self.wait_s = status, whole, wait_s

    @property
    def passing(self) -> bool:
        """True if a second try may succeed."""
        may_pass = self.status >= 500 or self.status in _PASSING
        return may_pass and self.status not in _NEVER and not self.too_long

    @property
    def too_long(self) -> bool:
        """True if it is of a prompt or text beyond the context."""
        return bool(_TOO_LONG.search(self.whole))

    @property
    def no_model(self) -> bool:
        """True if it names a missing model; a page of any web server does not."""
        page = self.whole.lstrip().startswith("<")
        return self.status in (400, 404) and not page and bool(_NO_MODEL.search(self.whole))


class HttpModel:
    """A model behind HTTP; subclasses know what the server reads and writes.

    A subclass makes its client with the settings of HTTP that are here, so that an answer is
    bounded, and a refusal is a `RefusedError`, whichever client it is. It makes each request by
    `_tried`, and uses the answer within `_told`.

    Args:
        model: Its name on the server.
        address: Where the server is.
        timeout_s: Longest wait for one answer, in seconds, including the loading of the model.
        pauses_s: Seconds to wait before each repetition of a request; None takes 1 and 4.

    Raises:
        MissingExtraError: If the client's package is not installed.
    """

    kind: str
    server: str  # in messages
    start: str  # how one is started, as the end of a sentence
    longer: str  # how it gets a longer context, too
    key_variable: str

    def __init__(
        self,
        model: str,
        address: Address,
        *,
        timeout_s: float = 600.0,
        pauses_s: Sequence[float] | None = None,
    ) -> None:
        check_positive(timeout_s=timeout_s)
        self.model = model
        self.host = address.url
        self._timeout_s = timeout_s
        self._pauses_s = PAUSES_S if pauses_s is None else tuple(pauses_s)
        self._key = os.environ.get(self.key_variable, "").strip()
        if not (self._key.isascii() and self._key.isprintable()):
            raise InputError(f"the key in {self.key_variable} has a character that no key has")
        plain = address.url.startswith("http:")
        unsafe = plain and not address.local and os.environ.get(KEY_OVER_HTTP) != "1"
        self._held_back = bool(self._key) and unsafe
        headers = {"Accept-Encoding": "identity"}  # so that a limit is one of memory, too
        if self._key and not self._held_back:
            headers["Authorization"] = f"Bearer {self._key}"
        httpx = require("httpx", self.kind)
        self._settings = {
            "auth": address.auth,
            "headers": headers,
            "timeout": httpx.Timeout(timeout_s, connect=min(timeout_s, _CONNECT_S)),
            "trust_env": not (plain and address.local),  # no proxy leads to this machine
            "event_hooks": {"request": [self._sent], "response": [self._received]},
        }

    def _sent(self, request: Any) -> None:
        """Note the limits of the answer to a request."""
        texts = json.loads(request.content).get("input", ()) if request.content else ()
        request.extensions["until"] = time.monotonic() + self._timeout_s
        request.extensions["most"] = REPLY_BYTES + len(texts) * _VECTOR_BYTES

    def _received(self, response: Any) -> None:
        """Bound an answer whose head has come; raise it if it is a refusal."""
        response.headers.pop("Content-Encoding", None)  # none was asked for
        response.stream = self._bounded(response.stream, **response.request.extensions)
        if response.is_success:
            return
        text = response.read()[:_MOST_REFUSAL].decode("utf-8", "replace")
        if response.is_redirect:
            text = f"it leads to {response.headers.get('Location', '')}: name that address"
        wait_s = _wait_of(response.headers.get("Retry-After", ""))
        raise RefusedError(response.status_code, text, wait_s)

    def _bounded(self, stream: Any, *, most: int, until: float, **_: Any) -> Any:
        """Return a stream that ends with an error beyond so many bytes, or after a time."""
        httpx = require("httpx", self.kind)

        def chunks() -> Iterator[bytes]:
            size = 0
            for chunk in stream:
                size += len(chunk)
                if size > most:
                    raise LanguageModelError(
                        f"{self.host} sent more than {most // 2**20} MiB as one answer; it was not "
                        "read"
                    )
                if time.monotonic() > until:
                    raise httpx.ReadTimeout("the whole answer")
                yield chunk

        class Bounded(httpx.SyncByteStream):  # type: ignore[misc, name-defined]
            def __iter__(self) -> Iterator[bytes]:
                return chunks()

            def close(self) -> None:
                stream.close()

        return Bounded()

    def _tried(self, request: Callable[[], T]) -> T:
        """Return the answer to a request, repeated while that may help."""
        httpx = require("httpx", self.kind)
        for pause_s in self._pauses_s:
            wait_s = pause_s
            try:
                return request()
            except RefusedError as refused:
                wait_s = max(pause_s, refused.wait_s or 0.0)
                if not refused.passing or wait_s > LONGEST_PAUSE_S:
                    raise
            except (httpx.ConnectError, httpx.TimeoutException):
                raise
            except httpx.TransportError:  # the connection was lost
                pass
            time.sleep(wait_s)
        return request()

    @contextmanager
    def _making(self) -> Iterator[None]:
        """Turn errors of a client that is made into ones that say where they come from."""
        try:
            yield
        except MissingExtraError:
            raise
        except (ImportError, ValueError, OSError, require("httpx", self.kind).InvalidURL) as error:
            raise InputError(
                f"no client can be made for {self.host}: {error!s:.160}; correct the address, or "
                "what the environment says of proxies (ALL_PROXY, HTTP_PROXY, HTTPS_PROXY, "
                "NO_PROXY), certificates (SSL_CERT_FILE) and addresses (OLLAMA_HOST)"
            ) from error

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn errors of HTTP, and of answers of another form, into this package's own."""
        httpx = require("httpx", self.kind)
        try:
            yield
        except RefusedError as refused:
            raise self._refusal(refused) from None
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            if "CERTIFICATE" in str(error) or "SSL" in str(error):
                raise ModelSetupError(
                    f"{self.host} cannot be reached safely: {error!s:.160}"
                ) from error
            raise ModelSetupError(
                f"no {self.server} answers at {self.host}; {self.start}"
            ) from error
        except httpx.TimeoutException as error:
            raise LanguageModelError(
                f"{self.model} gave no answer within {self._timeout_s:g} s; raise timeout_s "
                "or take a smaller model"
            ) from error
        except httpx.TransportError as error:
            raise self._broken_off(str(error)) from error
        except (
            ValueError, TypeError, LookupError, AttributeError, RecursionError, httpx.HTTPError,
            httpx.InvalidURL,
        ) as error:  # fmt: skip
            raise LanguageModelError(
                f"{self.host} does not answer as an {self.server} does: "
                f"{self._shown(str(error)):.120}"
            ) from error

    def _broken_off(self, why: str) -> LanguageModelError:
        return LanguageModelError(
            f"{self.host} broke off before {self.model} had answered ({self._shown(why)}); look "
            f"into the server's log, or {self.start}"
        )

    def _refusal(self, refused: RefusedError) -> LanguageModelError:
        """Return the error that tells a refusal."""
        status, said = refused.status, self._shown(refused.whole)
        if status in (401, 403):
            return ModelSetupError(f"{self._about_key()} (status {status}: {said})")
        if refused.too_long:
            return ModelContextError(
                f"the prompt does not fit {self.model}'s context; {self.longer}, or give it less "
                f"to read ({self.host} said: {said})"
            )
        error = LanguageModelError if refused.passing else ModelSetupError
        told = error(f"{self.host} refused with status {status}: {said}")
        told.wait_s = (refused.wait_s or PAUSES_S[0]) if refused.passing else None
        return told

    def _about_key(self) -> str:
        if self._settings["auth"]:
            return f"{self.host} refused the name and password of its address"
        if self._held_back:
            return (
                f"{self.host} asks for a key, and the one in {self.key_variable} is not sent over "
                f"plain HTTP to another machine; take https, or set {KEY_OVER_HTTP}=1"
            )
        if self._key:
            return f"{self.host} refused the key in {self.key_variable}"
        return f"{self.host} asks for a key; set {self.key_variable}"

    def _shown(self, text: str) -> str:
        """Return the beginning of what a server said, on one line and without the key."""
        said = _message(text)
        if self._key:
            said = said.replace(self._key, "…")
        return " ".join("".join(c if c.isprintable() else " " for c in said).split())[:200]


def _wait_of(text: str) -> float | None:
    """Return the seconds of a Retry-After header, which may be a moment; None without any.

    >>> _wait_of("1.5"), _wait_of("99999999"), _wait_of("soon")
    (1.5, 99999999.0, None)
    """
    if re.fullmatch(r"\d{1,15}(\.\d{1,15})?", text.strip()):
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError, OSError):
        return None


def listed(names: Sequence[str]) -> str:
    """Return the models that are there, as the middle of a sentence.

    >>> listed(["a", "b"]), listed([])
    (', which has a, b', '')
    """
    more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
    return f", which has {', '.join(names[:_LISTED])}{more}" if names else ""


def count_of(value: Any) -> int | None:
    """Return a server's count; None if it is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _message(text: str) -> str:
    """Return the words of an error in JSON, or the text if it has none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    for name in ("error", "message", "detail"):
        if isinstance(found, dict) and found.get(name):
            found = found[name]
    return found if isinstance(found, str) else text
