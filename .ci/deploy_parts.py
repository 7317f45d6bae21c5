"""The parts of compose.yaml as processes: their programs, users, secrets and places."""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import psycopg
from deployment import compose, defaults, said
from distributions import ROOT
from release import git

sys.path.insert(0, str(ROOT))
from benchmarks.pgserver import DURABLE, new_server

WITHIN_S = 300.0
POLL_S = "2"  # seconds in place of those of compose.yaml, so that the check is short
_PLACES = ("/opt/sat", "/workbooks", "/backups", "/run/secrets", "/var/lib/sat", "/var/cache/sat")


def installed(work: Path, version: str) -> str:
    """Follow the first stage of the Dockerfile below a folder; return the version installed."""
    tree = work / "src"
    tree.mkdir()
    copied = [x for each in said("COPY") if not each.startswith("--") for x in each.split()[:-1]]
    git(ROOT, "archive", "--output", str(work / "src.tar"), "HEAD", "--", *copied)
    subprocess.run(["tar", "-xf", work / "src.tar", "-C", tree], check=True)  # noqa: S607
    build = said("RUN")[0].replace("/opt/sat", str(work / "opt/sat")).replace("/src", str(tree))
    build = build.replace("python -m venv", f"{interpreter()} -m venv", 1)
    settings = {**defaults(), "VERSION": version}
    done = subprocess.run(
        ["bash", "-c", build],  # noqa: S607
        env={**os.environ, **settings}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"the steps of the Dockerfile fail:\n{done.stdout}{done.stderr}")
    told = subprocess.run(
        [work / "opt/sat/bin/sat", "--version"], capture_output=True, text=True, check=True
    )
    if told.stdout.split() != ["sat", version]:
        raise SystemExit(f"{version} was built and {told.stdout.strip()!r} was installed")
    return version


@dataclass
class Parts:
    """Running parts, in a folder that stands for the places of the containers.

    Attributes:
        work: The folder.
        services: The services of compose.yaml.
        environment: That of every part.
        port: Port of the page.
        server: What connects to the database as its administrator.
        running: Processes by service.
    """

    work: Path
    services: dict[str, Any]
    environment: dict[str, str]
    port: int
    server: str
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @classmethod
    @contextmanager
    def started(cls, work: Path) -> Iterator[Parts]:
        """Start the database, with a password that is in files alone; end all parts after that."""
        names = {"SAT_VERSION": "0", "SAT_WORKBOOKS": "/workbooks", "SAT_HOST": "sheets.example"}
        whole = compose(names)
        user, uid = whole["services"]["db"]["environment"], 10001
        password = secrets.token_hex(16)
        login = f"{user['POSTGRES_DB']}:{user['POSTGRES_USER']}:{password}"
        kept = {"sat_token": secrets.token_hex(16), "pgpass": f"*:*:{login}"}
        for place in (*_PLACES[1:], "/home"):
            folder = work / place[1:]
            folder.mkdir(parents=True, mode=0o755)
            _own(folder, uid)
        for name, text in kept.items():
            file = work / "run/secrets" / name
            file.write_text(f"{text}\n")
            file.chmod(0o400)
            _own(file, uid)
        with new_server(DURABLE) as server:
            _prepare(server.folder, server.conninfo, user, password)
            index = whole["x-sat"]["environment"]["SAT_INDEX"]
            index = index.replace("@db:5432/", "@/") + f"&host={server.folder}"
            parts = cls(work, whole["services"], {}, _free_port(), server.conninfo)
            parts.environment = {
                "PATH": f"{work}/opt/sat/bin:/usr/bin:/bin",
                "HOME": str(work / "home"),
                "XDG_CACHE_HOME": str(work / "var/cache/sat"),
                "SAT_INDEX": index,
                "PGPASSFILE": parts.here(whole["x-sat"]["environment"]["PGPASSFILE"]),
            }
            try:
                yield parts
            finally:
                for each in parts.running.values():
                    each.kill()
                    each.wait()

    def here(self, text: str) -> str:
        """A text of a container with its places in the folder."""
        for place in _PLACES:
            text = text.replace(place, f"{self.work}{place}")
        return text

    def sat(self, *line: str, code: int = 0) -> str:
        """What a command of the image prints; SystemExit unless it ends with a code."""
        done = subprocess.run(
            ["sat", *map(self.here, line)],  # noqa: S607 - the one in PATH of the environment
            env=self.environment, cwd=self.work / "var/lib/sat",
            capture_output=True, text=True, check=False, **_user(),
        )  # fmt: skip
        if done.returncode != code:
            raise SystemExit(f"sat {' '.join(line)} ends with {done.returncode}: {done.stderr}")
        return done.stdout if code == 0 else done.stderr

    def start(self, name: str, *more: str) -> None:
        """Start a service by its command; options of the check replace those of the file."""
        line = ["sat", *map(self.here, self.services[name]["command"]), *more]
        log = (self.work / f"{name}.log").open("wb")
        self.running[name] = subprocess.Popen(
            line, env=self.environment, cwd=self.work / "var/lib/sat", stdout=log, stderr=log,
            **_user(),
        )  # fmt: skip

    def stop(self, name: str) -> int:
        """Stop a service by its signal; return the exit code."""
        running = self.running.pop(name)
        running.send_signal(getattr(signal, self.services[name].get("stop_signal", "SIGTERM")))
        return running.wait(60)

    def wait(self, name: str, done: Callable[[], bool]) -> None:
        """Wait for an event; SystemExit if the service ends, or it never comes."""
        end = time.monotonic() + WITHIN_S
        while not done():
            if self.running[name].poll() is not None or time.monotonic() > end:
                raise SystemExit((self.work / f"{name}.log").read_text(errors="replace"))
            time.sleep(0.3)

    def healthy(self, check: Sequence[str]) -> bool:
        """True if the command of a health check succeeds."""
        line = [self.here(x).replace(":8765", f":{self.port}") for x in check]
        done = subprocess.run(
            line, env=self.environment, cwd=self.work / "var/lib/sat", capture_output=True,
            check=False, **_user(),
        )  # fmt: skip
        return done.returncode == 0

    def page_is_ready(self) -> bool:
        """True if the check of the image succeeds."""
        [check] = said("HEALTHCHECK")
        return self.healthy(json.loads(check.partition(" CMD ")[2]))

    def search(self, question: str) -> list[dict[str, Any]]:
        """The best sheets by the page's JSON, as a program with the token asks."""
        token = (self.work / "run/secrets/sat_token").read_text().strip()
        address = f"http://127.0.0.1:{self.port}/api/search?{urlencode({'question': question})}"
        request = urllib.request.Request(address, headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            found: list[dict[str, Any]] = json.load(answer)["sheets"]
        return found

    def database(self, statement: str) -> None:
        """Run a statement as the database's administrator, in the database of the index."""
        name = self.services["db"]["environment"]["POSTGRES_DB"]
        info = psycopg.conninfo.make_conninfo(self.server, dbname=name)
        with psycopg.connect(info, autocommit=True) as admin:
            admin.execute(statement)  # type: ignore[arg-type, unused-ignore]


def _prepare(folder: Path, conninfo: str, names: dict[str, str], password: str) -> None:
    """Do what the image of PostgreSQL does: a role with a password, and its database."""
    role, name = names["POSTGRES_USER"], names["POSTGRES_DB"]
    with psycopg.connect(conninfo, autocommit=True) as admin:
        admin.execute(f"CREATE ROLE {role} LOGIN SUPERUSER PASSWORD '{password}'")  # type: ignore
        admin.execute(f"CREATE DATABASE {name} OWNER {role}")  # type: ignore
        rules = f"local {name} {role} scram-sha-256\nlocal all postgres trust\n"
        (folder / "data/pg_hba.conf").write_text(rules)
        admin.execute("SELECT pg_reload_conf()")


def _own(path: Path, uid: int) -> None:
    if os.geteuid() == 0:
        os.chown(path, uid, uid)


def interpreter() -> str:
    """An interpreter that the image's user may run: not one in the folder of root."""
    private = os.geteuid() == 0 and Path(sys.executable).resolve().is_relative_to("/root")
    return "/usr/bin/python3" if private else sys.executable


def _user() -> dict[str, Any]:
    uid = 10001
    return {"user": uid, "group": uid, "extra_groups": []} if os.geteuid() == 0 else {}


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
