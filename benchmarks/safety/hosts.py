"""Two hosts with a Ray node each: namespaces of this machine, and a bridge between them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

HEAD, OTHER = "10.99.0.1", "10.99.0.2"  # each pair of hosts has a network of its own
ADDRESS = f"{HEAD}:6379"
_START_S = 120.0
# Ray looks among all processes for a node to connect to, and in a folder for its sockets. A host
# must not find those of the other there.
_ALONE = ("unshare", "--net", "--pid", "--mount", "--fork", "--mount-proc", "--kill-child")
_FIRST = """
mount --bind "$1" "$2" || exit
echo ready
sleep infinity &
while :; do wait; done  # ends what nobody else waits for
"""


def lacking() -> str | None:
    """Why this machine cannot make such hosts; None if it can."""
    if os.geteuid():
        return "network namespaces need root"
    for command in ("ip", "unshare", "nsenter"):
        if shutil.which(command) is None:
            return f"network namespaces need the command {command}"
    tried = subprocess.run([*_ALONE, "true"], capture_output=True, text=True, check=False)
    return f"no network namespaces: {tried.stderr.strip()}" if tried.returncode else None


class Namespace:
    """Processes that see no others, and a network and a folder of their own.

    All of them, and the network, are gone with `end`.
    """

    def __init__(self, own: Path, seen: Path) -> None:
        own.mkdir()
        command = [*_ALONE, "sh", "-c", _FIRST, "sh", str(own), str(seen)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        if self._process.stdout is None or self._process.stdout.readline() != "ready\n":
            raise SystemExit("a namespace does not start")
        number = self._process.pid
        self.number = Path(f"/proc/{number}/task/{number}/children").read_text().split()[0]

    def command(self, *arguments: str | Path) -> list[str]:
        """A command that runs in it."""
        enter = ("nsenter", f"--target={self.number}", "--net", "--pid", "--mount", "--wd", "--")
        return [*enter, *map(str, arguments)]

    def ip(self, *arguments: str) -> None:
        """Change its network."""
        # Not in its list of processes, which has no number for another namespace.
        command = ["nsenter", f"--target={self.number}", "--net", "--", "ip", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"ip {' '.join(arguments)}: {done.stderr.strip()}")

    def end(self) -> None:
        """End all processes."""
        self._process.kill()
        self._process.communicate()


class Hosts:
    """The host of Ray's head and another one, each a Ray node of one core."""

    def __init__(self, folder: Path, bridge: Namespace, hosts: Mapping[str, Namespace]) -> None:
        self._folder, self._bridge, self._hosts = folder, bridge, hosts
        self._environment: dict[str, str] = {}

    def popen(self, host: str, *arguments: str | Path, **options: Any) -> subprocess.Popen[Any]:
        """A Python process of a host."""
        command = self._hosts[host].command(sys.executable, *arguments)
        return subprocess.Popen(command, env=self._environment, **options)

    def connect(self, *, plugged: bool) -> None:
        """Plug the other host's cable in, or pull it."""
        self._bridge.ip("link", "set", "dev", "port2", "up" if plugged else "down")

    def start(self, settings: Mapping[str, str]) -> None:
        """Join the networks, and start Ray with variables of the environment."""
        self._environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", **settings}
        self._bridge.ip("link", "add", "name", "bridge", "type", "bridge")
        self._bridge.ip("link", "set", "dev", "bridge", "up")
        for address, host in self._hosts.items():
            port = f"port{address[-1]}"
            end = ("type", "veth", "peer", "name", "eth0", "netns", host.number)
            self._bridge.ip("link", "add", "name", port, *end)
            self._bridge.ip("link", "set", "dev", port, "master", "bridge", "up")
            host.ip("addr", "add", f"{address}/24", "dev", "eth0")
            for device in ("lo", "eth0"):
                host.ip("link", "set", "dev", device, "up")
        head = ("--head", "--port=6379", "--include-dashboard=false")
        self._start_ray(HEAD, *head, f"--temp-dir={self._folder / 'ray'}")
        self.join()

    def join(self) -> None:
        """Start Ray on the host without the head."""
        self._start_ray(OTHER, f"--address={ADDRESS}")

    def end(self) -> None:
        """End all processes of both hosts."""
        for host in self._hosts.values():
            host.end()

    def _start_ray(self, host: str, *options: str) -> None:
        log = self._folder / f"start {host}.log"
        common = (f"--node-ip-address={host}", "--num-cpus=1", f"--object-store-memory={100 << 20}")
        with log.open("w") as out:  # a pipe would be kept open by what it starts
            process = self.popen(
                host, "-m", "ray.scripts.scripts", "start", *common, *options,
                stdout=out, stderr=out,
            )  # fmt: skip
            if process.wait(_START_S):
                raise SystemExit(f"Ray does not start: {log.read_text()}")


@contextmanager
def two_hosts(settings: Mapping[str, str] | None = None) -> Iterator[Hosts]:
    """Two hosts with variables of the environment for all their processes, until the block ends."""
    with ExitStack() as stack:
        # Ray's sockets lie in the folder, and the path of a socket has at most 107 bytes.
        made = tempfile.TemporaryDirectory(prefix="sat-", dir="/tmp", ignore_cleanup_errors=True)
        folder = Path(stack.enter_context(made))
        (folder / "ray").mkdir()
        namespaces = []
        for name in ("bridge", HEAD, OTHER):
            namespaces.append(Namespace(folder / name, folder / "ray"))
            stack.callback(namespaces[-1].end)
        bridge, head, other = namespaces
        hosts = Hosts(folder, bridge, {HEAD: head, OTHER: other})
        hosts.start(settings or {})
        yield hosts
