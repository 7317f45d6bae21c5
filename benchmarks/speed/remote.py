"""An index of workbooks on S3, brought up to date, beside the same of local files.

    python -m benchmarks run remote [--data ../shared/data] [--workbooks N]

EPS's workbooks are put on an S3 server of this machine (moto, in a process of its own) and into a
folder. Both are indexed, then synced again: unchanged, with one workbook changed, and with one
removed. Bytes are those of objects that the server sent.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.results import Result
from benchmarks.runner import Options, option, suite
from sat_retriever import SheetIndex
from sat_retriever.records.formats import EXTENSIONS
from sat_retriever.records.jsonform import to_json

DATASET = "eps"
BUCKET = "workbooks"


class Server:
    """An S3 server that counts the bytes of the objects it sends."""

    def __init__(self, application: Any) -> None:
        self._application = application
        self.sent = 0

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        """Answer a request."""
        is_object = "/" in environ["PATH_INFO"].strip("/") and environ["REQUEST_METHOD"] == "GET"
        for part in self._application(environ, start):
            self.sent += len(part) * is_object
            yield part


@contextmanager
def served() -> Iterator[tuple[Server, Any]]:
    """A server, named by the environment, and a client of it."""
    import boto3
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import WSGIRequestHandler, make_server

    class Quiet(WSGIRequestHandler):
        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            """Log nothing."""

    make: Any = DomainDispatcherApplication  # moto has no types
    server = Server(make(create_backend_app))
    running = make_server("127.0.0.1", 0, server, threaded=True, request_handler=Quiet)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{running.server_port}"
    keys = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
    os.environ.update({**dict.fromkeys(keys, "made-up"), "AWS_ENDPOINT_URL": url})
    os.environ["AWS_DEFAULT_REGION"] = "us-east-1"
    yield server, boto3.client("s3", endpoint_url=url)
    running.shutdown()
    running.server_close()


def steps(
    index: SheetIndex, place: str | Path, change: Callable[[], None], remove: Callable[[], None],
    sent: Callable[[], int],
) -> dict[str, float | int]:  # fmt: skip
    """Seconds, and bytes that were sent, of an index and of three syncs of it."""
    measured: dict[str, float | int] = {}
    wanted: tuple[tuple[str, Callable[[], object], str, int | None], ...] = (
        ("index", lambda: None, "added", None),
        ("unchanged", lambda: None, "changed", 0),
        ("one_changed", change, "changed", 1),
        ("one_removed", remove, "removed", 1),
    )
    for name, before, count, expected in wanted:
        before()
        bytes_before, start = sent(), time.perf_counter()
        report = index.sync(place)
        measured[f"{name}_s"] = round(time.perf_counter() - start, 3)
        measured[f"{name}_bytes"] = sent() - bytes_before
        if expected is not None and getattr(report, count) != expected:
            raise SystemExit(f"{name}: expected {expected} {count}, got {report}")
        measured.setdefault("workbooks", report.added)
        measured.setdefault("sheets", report.sheets)
    return measured


def records_of(index: SheetIndex) -> dict[str, Any]:
    """All records of an index as plain values, without their URLs."""
    found = index.records(index.sheet_ids(), contents=True)
    return {each: {**to_json(record), "url": ""} for each, record in found.items()}


@suite("remote", "data", workbooks=option(None, "only the first so many", type=int))
def main(options: Options) -> Iterator[Result]:
    """Measure."""
    eps = options.data / DATASET
    files = [path for path in sorted(eps.rglob("*")) if path.suffix[1:].lower() in EXTENSIONS]
    files = files[: options.workbooks]
    with tempfile.TemporaryDirectory() as work, served() as (server, client):
        folder, past = Path(work, "eps"), time.time() - 3600
        client.create_bucket(Bucket=BUCKET)
        for path in files:
            key = path.relative_to(eps).as_posix()
            (folder / key).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, folder / key)
            os.utime(folder / key, (past, past))
            client.upload_file(str(path), BUCKET, key)
        first, last = (files[place].relative_to(eps).as_posix() for place in (0, -1))
        there = SheetIndex.create(Path(work, "s3.sat"))
        here = SheetIndex.create(Path(work, "here.sat"), there.encoder)
        on_s3 = steps(
            there,
            f"s3://{BUCKET}",
            lambda: client.upload_file(str(files[-1]), BUCKET, first),
            lambda: client.delete_object(Bucket=BUCKET, Key=last),
            lambda: server.sent,
        )
        local = steps(
            here,
            folder,
            lambda: shutil.copyfile(files[-1], folder / first) and None,
            (folder / last).unlink,
            lambda: 0,
        )
        equal = records_of(there) == records_of(here) and [*there.all_links()] == [
            *here.all_links()
        ]
        there.close()
        here.close()
    yield Result("s3", DATASET, {**on_s3, "equal_to_local": equal})
    yield Result("local", DATASET, local)
