"""A real S3 server in this process (moto), whose answers are counted and can be spoilt."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import pytest

ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_MAX_ATTEMPTS": "1",
    "AWS_EC2_METADATA_DISABLED": "true",
}
_NUMBERS = count()
Spoil = Callable[[str, str, str], "tuple[str, bytes] | None"]
"""Method, path and query of a request to another answer, its status and body; None lets it be."""


class S3Server:
    """Wraps moto's application: counts requests and bytes of objects, and spoils answers."""

    def __init__(self, application: Any) -> None:
        self._application = application
        self.requests: list[tuple[str, str, str]] = []
        self.object_bytes = 0
        self.spoil: Spoil = lambda *_: None
        self.url = ""

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        asked = environ["REQUEST_METHOD"], environ["PATH_INFO"], environ["QUERY_STRING"]
        self.requests.append(asked)
        spoilt = self.spoil(*asked)
        if spoilt is not None:
            status, body = spoilt
            start(status, [("Content-Type", "application/xml"), ("Content-Length", str(len(body)))])
            return [body]
        answer = self._application(environ, start)
        is_object = asked[0] == "GET" and asked[1].strip("/").count("/") >= 1
        return self._counted(answer) if is_object else answer

    def _counted(self, answer: Iterable[bytes]) -> Iterator[bytes]:
        for part in answer:
            self.object_bytes += len(part)
            yield part


class Bucket:
    """A bucket of a server, and what was downloaded since."""

    def __init__(self, server: S3Server, client: Any) -> None:
        self.server, self._client = server, client
        self.name = f"bucket-{next(_NUMBERS)}"
        self.url = f"s3://{self.name}"
        client.create_bucket(Bucket=self.name)
        server.object_bytes = 0
        server.requests.clear()

    def put(self, key: str, body: bytes) -> None:
        self._client.put_object(Bucket=self.name, Key=key, Body=body)

    def delete(self, key: str) -> None:
        self._client.delete_object(Bucket=self.name, Key=key)

    def downloaded(self) -> int:
        """Bytes of objects that were sent since the last call."""
        found, self.server.object_bytes = self.server.object_bytes, 0
        return found


@contextmanager
def running() -> Iterator[tuple[S3Server, Any]]:
    """A server and a client of it; the environment names both for as long."""
    serving = pytest.importorskip("werkzeug.serving", reason="moto's server is not installed")
    moto = pytest.importorskip("moto.server", reason="moto is not installed")
    boto3 = pytest.importorskip("boto3", reason="boto3 is not installed")
    app = S3Server(moto.DomainDispatcherApplication(moto.create_backend_app))
    try:
        made = serving.make_server("127.0.0.1", 0, app, threaded=True)
    except OSError as error:
        pytest.skip(f"no port for moto: {error}")
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    app.url = f"http://127.0.0.1:{made.server_port}"
    environment = {**ENVIRONMENT, "AWS_ENDPOINT_URL": app.url}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        client = boto3.client("s3", endpoint_url=app.url)
        yield app, client
        client.close()
    made.shutdown()
    made.server_close()
    thread.join()
    __import__("s3fs").S3FileSystem.clear_instance_cache()
