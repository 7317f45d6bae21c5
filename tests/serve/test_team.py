"""Several processes on one port, probes, and the end: real processes, real HTTP."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import shutil
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import httpx2
import psutil
import pytest
from mcp import Client

from sat_retriever import index_paths
from sat_retriever.serve import serving as http_server
from sat_retriever.serve import supervisor
from sat_retriever.serve.asgi import refuse
from sat_retriever.serve.service import Service
from sat_retriever.serve.serving import Serving, listen
from tests.modelserver import Reaction, ollama
from tests.serve.conftest import TOKEN, Server, serving

FORM = {"Content_Type": "application/x-www-form-urlencoded", "Accept": "text/html"}
CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "find_sheets", "arguments": {"question": "rent"}},
}
JSON = {"Content_Type": "application/json", "Accept": "application/json, text/event-stream"}


def eventually(true: Callable[[], object]) -> None:
    """Wait for what has to become true; how long it takes is not judged."""
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.02)


def workers(server: Server) -> list[int]:
    """Process ids of the workers that run."""
    children = psutil.Process(server.process.pid).children()
    return [each.pid for each in children if each.status() != psutil.STATUS_ZOMBIE]


def connected(server: Server) -> set[int]:
    """The workers that hold a connection of the server's port."""
    return {
        pid
        for pid in workers(server)
        for each in psutil.Process(pid).net_connections("tcp")
        if (each.laddr.port, each.status) == (server.port, psutil.CONN_ESTABLISHED)
    }


def stopped(server: Server, sign: signal.Signals = signal.SIGTERM) -> int:
    server.process.send_signal(sign)
    return server.process.wait(timeout=60)


@pytest.fixture(scope="module")
def team(index_file, token_file) -> Iterator[Server]:
    """Two workers with a token; nothing goes wrong in them, and SIGTERM ends all of them."""
    with serving(index_file, "--workers", 2, "--token-file", token_file, "--rate", 0) as started:
        yield started
        pids = workers(started)
        assert len(pids) == 2
        assert stopped(started) == 0
        assert not any(map(psutil.pid_exists, pids))
        assert started.process.stderr.read() == b""


# ---- several workers


def test_a_session_holds_in_every_worker_and_so_do_token_and_tools(team):
    right = team.ask("/sign-in", "POST", f"token={TOKEN}".encode(), **FORM)
    cookie = right.headers["set-cookie"].partition(";")[0]
    kept = []
    try:
        while len(served := connected(team)) < 2:  # until each worker has one of them at least
            assert len(kept) < 200, served
            kept.append(http.client.HTTPConnection("127.0.0.1", team.port, timeout=60))
            kept[-1].request("GET", "/?q=rent", headers={"Cookie": cookie})
            answer = kept[-1].getresponse()
            assert (answer.status, b"rent" in answer.read()) == (200, True)
    finally:
        for each in kept:
            each.close()
    assert team.ask("/mcp", "POST", json.dumps(CALL).encode(), **JSON).status == 401
    known = {"Authorization": f"Bearer {TOKEN}"}
    found = team.ask("/mcp", "POST", json.dumps(CALL).encode(), **JSON, **known)
    assert '"isError":false' in found.text.replace(" ", "")


def test_the_official_client_works_over_workers(team):
    from mcp.client.streamable_http import streamable_http_client

    async def use():
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}) as http:
            transport = streamable_http_client(f"{team.url}/mcp", http_client=http)
            async with Client(transport) as client:
                calls = (client.call_tool("index_status", {}) for _ in range(20))
                return await asyncio.gather(*calls)

    found = asyncio.run(use())
    assert not any(each.is_error for each in found)
    assert len({json.dumps(each.structured_content) for each in found}) == 1


def test_a_worker_that_is_killed_is_started_again_and_others_answer_meanwhile(index_file):
    with serving(index_file, "--workers", 2, "--rate", 0) as server:
        before = workers(server)
        os.kill(before[0], signal.SIGKILL)
        for _ in range(20):
            assert server.ask("/health/ready").status == 200
        eventually(lambda: len(set(workers(server)) - set(before)) == 1)
        assert server.get("/", q="rent").status == 200
        assert stopped(server) == 0
        said = server.process.stderr.read().decode()
        assert f"worker {before[0]} was killed by signal 9; another one starts" in said
        assert "Traceback" not in said


def test_a_worker_that_dies_again_and_again_ends_the_server(index_file, tmp_path):
    copy = tmp_path / "copy.sat"
    shutil.copy(index_file, copy)
    shutil.copytree(index_file.parent / "encoder", tmp_path / "encoder")
    with serving(copy, "--workers", 2) as server:
        copy.unlink()
        os.kill(workers(server)[0], signal.SIGKILL)
        assert server.process.wait(timeout=120) == 1
        said = server.process.stderr.read().decode()
    assert f"no index at {copy}" in said
    assert f"a worker died {supervisor.DEATHS + 1} times within 60 s, so the server stopped" in said
    assert "Traceback" not in said


def test_a_worker_that_stands_still_is_killed_and_another_one_starts(index_file, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "from sat_retriever.serve import supervisor\nsupervisor.LOOKS, supervisor.LOOK_S = 3, 0.5\n"
    )
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    with serving(index_file, "--workers", 2, "--rate", 0, PYTHONPATH=path) as server:
        before = workers(server)
        os.kill(before[0], signal.SIGSTOP)
        eventually(lambda: before[0] not in workers(server) and len(workers(server)) == 2)
        assert before[1] in workers(server)
        assert server.get("/", q="rent").status == 200
        assert stopped(server) == 0
        said = server.process.stderr.read().decode()
        assert f"worker {before[0]} answers no more and is killed" in said
        assert f"worker {before[1]}" not in said


def test_without_their_parent_the_workers_end(index_file):
    with serving(index_file, "--workers", 2) as server:
        pids = workers(server)
        server.process.kill()
        server.process.wait()
        eventually(lambda: not any(map(psutil.pid_exists, pids)))


def test_hangup_replaces_every_worker_and_loses_no_request(index_file, tmp_path):
    token = tmp_path / "sat.token"
    token.write_text(TOKEN)
    token.chmod(0o600)
    with serving(index_file, "--workers", 2, "--rate", 0, "--token-file", token) as server:
        before, newer = set(workers(server)), f"{TOKEN}-of-today"
        token.write_text(newer)
        server.process.send_signal(signal.SIGHUP)
        statuses = set()

        def replaced():  # until then some requests are answered by workers of the earlier token
            statuses.add(server.ask("/", Authorization=f"Bearer {TOKEN}").status)
            return not before & set(workers(server))

        eventually(replaced)
        assert statuses <= {200, 401, 429}  # wrong tokens are slowed
        assert server.ask("/", Authorization=f"Bearer {TOKEN}").status in (401, 429)
        assert server.ask("/", Authorization=f"Bearer {newer}").status == 200
        token.write_text("short")  # cannot be used: all stays as it is
        after = set(workers(server))
        server.process.send_signal(signal.SIGHUP)
        logged = [server.process.stderr.readline().decode() for _ in range(4)]
        for line in logged:  # each with its time
            assert datetime.now(UTC) - datetime.fromisoformat(line.split()[0]) < timedelta(hours=1)
        first, done, second, refused = logged
        assert all("SIGHUP: 2 workers are replaced" in each for each in (first, second))
        assert "every worker was replaced" in done
        assert "not every worker was replaced" in refused and "16 characters or more" in refused
        assert set(workers(server)) == after
        assert server.ask("/", Authorization=f"Bearer {newer}").status == 200
        assert stopped(server) == 0


def test_a_stop_while_workers_are_replaced_leaves_none(index_file):
    with serving(index_file, "--workers", 2, "--rate", 0) as server:
        server.process.send_signal(signal.SIGHUP)
        eventually(lambda: len(workers(server)) == 3)
        pids = workers(server)
        assert stopped(server) == 0
        assert not any(map(psutil.pid_exists, pids))


def test_the_rate_counts_in_all_workers_together(index_file):
    with serving(index_file, "--workers", 2, "--rate", 2) as server:
        with ThreadPoolExecutor(8) as pool:
            asked = [pool.submit(server.ask, "/static/icon.svg") for _ in range(60)]
            statuses = [each.result().status for each in asked]
        # 8 at once, 2 more a second; a count may be lost where two workers count at once.
        assert statuses.count(200) + statuses.count(429) == 60
        assert 8 <= statuses.count(200) < 16


def test_behind_a_proxy_that_is_named_each_client_counts_for_itself(index_file):
    with serving(index_file, "--rate", 1, "--proxy", "127.0.0.1") as server:
        for client in range(20):
            named = {"X_Forwarded_For": f"10.0.0.{client}"}
            assert server.ask("/static/icon.svg", **named).status == 200
        many = [server.ask("/static/icon.svg", X_Forwarded_For="10.0.1.1") for _ in range(12)]
        assert 429 in {each.status for each in many}
    with serving(index_file, "--rate", 1) as server:  # by no other client's own word
        many = [
            server.ask("/static/icon.svg", X_Forwarded_For=f"10.0.1.{client}")
            for client in range(12)
        ]
        assert 429 in {each.status for each in many}


def test_what_is_indexed_shows_in_every_worker(reports, index_file, tmp_path):
    books, copy = tmp_path / "books", tmp_path / "copy.sat"
    books.mkdir()
    shutil.copy(reports / "staff.csv", books)
    index_paths([books], copy, encoder=index_file.parent / "encoder").close()
    with serving(copy, "--workers", 2, "--rate", 0) as server:
        assert "pumps.csv" not in server.get("/", q="reading").text
        (books / "pumps.csv").write_text("Pump,Reading\nA,1\n")
        index_paths([books], copy).close()
        for _ in range(40):
            assert "pumps.csv" in server.get("/", q="reading").text
        assert server.ask("/health/ready").text == "ok\n"


# ---- probes, and the end


@pytest.fixture(scope="module")
def held(reports, tmp_path_factory):
    """Starts servers whose searches wait for an encoder that is let go by hand."""
    folder = tmp_path_factory.mktemp("held")
    going = threading.Event()
    waiting: list[str] = []

    def behave(request, _number):
        texts = request["input"]
        if any("hold" in text for text in texts):
            waiting.extend(texts)
            going.wait(60)
        return Reaction()

    @contextmanager
    def start(*more) -> Iterator[Server]:
        going.clear()
        waiting.clear()
        with serving(file, "--rate", 0, *more) as server:
            try:
                yield server
            finally:
                going.set()

    with ollama(behave, models=("small:latest",)) as encoder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OLLAMA_HOST", encoder.host)
        file = folder / "held.sat"
        index_paths([reports], file, encoder="ollama:small").close()
        start.going, start.waiting, start.file = going, waiting, file
        yield start


@pytest.mark.parametrize(
    ("sign", "code", "more"), [("SIGTERM", 0, ("--workers", 2)), ("SIGINT", 130, ())], ids=str
)
def test_a_running_search_ends_and_new_ones_are_told_to_come_again(held, sign, code, more):
    with held("--stop-seconds", 60, *more) as server, ThreadPoolExecutor() as pool:
        running = [pool.submit(server.get, "/", q=f"hold {number}") for number in range(8)]
        eventually(lambda: held.waiting)
        # A request that is half there when the server stops is a new one.
        opened = [socket.create_connection(("127.0.0.1", server.port), 60) for _ in range(8)]
        for each in opened:
            each.sendall(b"GET /health/ready HTTP/1.1\r\nHost: localhost\r\n")
        assert server.ask("/health/ready").status == 200
        server.process.send_signal(signal.Signals[sign])
        eventually(lambda: server.ask("/health/ready").text == "stopping\n")
        late = server.get("/", q="rent")
        assert (late.status, late.headers["retry-after"]) == (503, "1")
        assert server.ask("/health/live").status == 200
        held.going.set()
        answers = {each.result().status for each in running}
        assert 200 in answers
        assert answers <= {200, 503}
        assert server.process.wait(timeout=60) == code
        for each in opened:
            each.close()
        assert b"Traceback" not in server.process.stderr.read()


def test_what_takes_longer_is_cut_off(held):
    with held("--stop-seconds", 0.2, "--workers", 2) as server, ThreadPoolExecutor() as pool:
        running = pool.submit(server.get, "/", q="hold")
        eventually(lambda: held.waiting)
        assert stopped(server) == 0
        with pytest.raises(OSError):
            running.result()
        said = server.process.stderr.read().decode()
        assert "requests that were cut off: 1" in said
        assert "Traceback" not in said


@pytest.mark.parametrize("more", [(), ("--workers", 2)], ids=str)
def test_a_second_signal_stops_at_once(held, more):
    with held("--stop-seconds", 600, *more) as server, ThreadPoolExecutor() as pool:
        pids = [server.process.pid, *(workers(server) if more else [])]
        running = pool.submit(server.get, "/", q="hold")
        eventually(lambda: held.waiting)
        server.process.send_signal(signal.SIGTERM)
        eventually(lambda: server.ask("/health/ready").text == "stopping\n")
        assert stopped(server) == 128 + signal.SIGTERM
        eventually(lambda: not any(map(psutil.pid_exists, pids)))
        with pytest.raises(OSError):
            running.result()
        assert b"Traceback" not in server.process.stderr.read()


def test_probes_are_answered_while_every_search_waits(held):
    with held() as server, ThreadPoolExecutor(30) as pool:
        running = [pool.submit(server.get, "/", q=f"hold {number}") for number in range(20)]
        eventually(lambda: len(held.waiting) >= 2)
        for _ in range(5):
            assert server.ask("/health/ready").text == "ok\n"
            assert server.ask("/health/live").text == "ok\n"
        assert not any(each.done() for each in running)
        held.going.set()
        assert {each.result().status for each in running} == {200}


def test_one_client_cannot_take_the_whole_queue(held):
    with held("--proxy", "127.0.0.1") as server, ThreadPoolExecutor(100) as pool:
        running = [pool.submit(server.get, "/", q=f"hold {number}") for number in range(90)]
        eventually(lambda: any(each.done() for each in running))
        refused = [each.result() for each in running if each.done()]
        assert {each.status for each in refused} == {429}
        assert "Too many of your requests wait" in refused[0].text
        other = pool.submit(server.ask, "/?q=rent", X_Forwarded_For="10.0.0.7")
        held.going.set()
        assert other.result().status == 200
        assert {each.result().status for each in running} == {200, 429}
        held.going.clear()
        body = json.dumps(CALL).replace("rent", "hold").encode()
        running = [pool.submit(server.ask, "/mcp", "POST", body, **JSON) for _ in range(90)]
        eventually(lambda: any(each.done() for each in running))
        refused = [each.result() for each in running if each.done()]
        assert all("too many of your calls wait already" in each.text for each in refused)
        held.going.set()
        assert sum('"isError":false' in each.result().text for each in running) >= 64


def test_a_probe_needs_no_token_and_no_known_host_and_learns_nothing(index_file, token_file):
    with serving(index_file, "--rate", 0.1, "--token-file", token_file) as server:
        for host in ("10.0.0.9:8765", "lb.example", "localhost"):
            for path in ("/health/live", "/health/ready"):
                answer = server.ask(path, Host=host)
                assert (answer.status, answer.text) == (200, "ok\n")
                assert answer.headers["cache-control"] == "no-store"
        assert server.ask("/health/ready", "HEAD").status == 200
        assert server.ask("/health/ready", "POST", b"x").status == 405
        assert server.ask("/health/other").status != 200


def test_an_index_that_was_encoded_anew_is_not_ready_until_the_workers_are_new(
    index_file, tmp_path
):
    from sat_retriever.index.index import SheetIndex

    copy = tmp_path / "copy.sat"
    shutil.copy(index_file, copy)
    shutil.copytree(index_file.parent / "encoder", tmp_path / "encoder")
    with serving(copy, "--workers", 1) as server:
        with SheetIndex.open(copy) as index:
            index.reencode("general")
        eventually(lambda: server.ask("/health/ready").text == "index unreadable\n")
        assert server.ask("/health/live").status == 200
        answer = server.get("/", q="rent")
        assert (answer.status, "has to be restarted" in answer.text) == (503, True)


def test_an_encoder_that_is_down_is_said_to_be_so(reports, tmp_path, monkeypatch):
    down = tmp_path / "down.sat"
    with ollama(lambda *_: Reaction(), models=("small:latest",)) as encoder:
        monkeypatch.setenv("OLLAMA_HOST", encoder.host)
        index_paths([reports], down, encoder="ollama:small").close()
        with serving(down) as server:
            assert server.get("/", q="rent").status == 200
            encoder.down()
            answer = server.get("/", q="another question")
            assert answer.status == 502
            assert "The encoder of this index cannot be reached" in answer.text
            assert encoder.host not in answer.text
            called = server.ask("/mcp", "POST", json.dumps(CALL).encode(), **JSON)
            assert "the encoder of this index cannot be reached" in called.text
            assert server.ask("/health/ready").text == "ok\n"  # other pages are answered


# ---- slow clients


def test_a_request_whose_head_does_not_come_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(http_server, "HEAD_WITHIN_S", 0.5)
    started = threading.Event()

    async def slow(scope, receive, send):
        assert scope["type"] == "http"  # there is no lifespan
        await asyncio.sleep(1.5)  # an answer has its time
        await refuse(scope, send, 200, "answered")

    with listen("127.0.0.1", 0) as listening, ThreadPoolExecutor(1) as pool:
        address = listening.getsockname()
        service = Service(slow, lambda: None)
        server = Serving(service, (), 10, started.set, hurry=False)
        running = pool.submit(server.serve_until_stopped, listening)
        try:
            assert started.wait(60)
            _check_slow_clients(address)
        finally:
            server.handle_exit(signal.SIGTERM, None)
        assert running.result(60) == 0


def test_a_server_that_retires_loses_no_connection_of_that_moment():
    async def answering(scope, receive, send):
        await refuse(scope, send, 200, "answered")

    def made(started: threading.Event) -> Serving:
        return Serving(Service(answering, lambda: None), (), 10, started.set, hurry=False)

    with listen("127.0.0.1", 0) as listening, ThreadPoolExecutor(1) as pool:
        started, later = threading.Event(), threading.Event()
        older, newer, clients = made(started), made(later), []
        running = pool.submit(older.serve_until_stopped, listening)
        assert started.wait(60)
        loop = older._accepting.get_loop()

        def connect():  # in the next turn of the loop it is seen, in the one after it the server
            clients.append(socket.create_connection(listening.getsockname(), 60))  # retires
            loop.call_soon(loop.call_soon, retire)

        def retire():
            older.retire()
            with pytest.raises(StopIteration):
                older.on_tick(1).send(None)

        loop.call_soon_threadsafe(connect)
        assert running.result(60) == 0
        running = pool.submit(newer.serve_until_stopped, listening)
        try:
            assert later.wait(60)
            clients[0].sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert clients[0].recv(1_000).startswith(b"HTTP/1.1 200")
        finally:
            newer.handle_exit(signal.SIGTERM, None)
            clients[0].close()
        assert running.result(60) == 0


def _check_slow_clients(address):
    silent, slow_head, second, patient = (socket.create_connection(address, 60) for _ in range(4))
    patient.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    second.sendall(b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HTTP/1.1\r\n")
    slow_head.sendall(b"GET / HTTP/1.1\r\n")
    slow_head.settimeout(0.1)
    for _ in range(600):  # ever another header, in vain
        try:
            slow_head.sendall(b"X: y\r\n")
            if not slow_head.recv(1):
                break
        except TimeoutError:
            continue
        except OSError:
            break
    else:
        pytest.fail("the connection is still open")
    assert silent.recv(1) == b""
    assert second.makefile("rb").read().endswith(b"ok\n")  # and then the end
    assert patient.recv(1_000).startswith(b"HTTP/1.1 200")
    for each in (silent, slow_head, second, patient):
        each.close()
