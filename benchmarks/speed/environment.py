"""A fresh virtual environment with this checkout's wheel in it, and what lies there."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
import venv
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import TypeVar

from benchmarks.results import ROOT

Command = Sequence[str | Path]
Key = TypeVar("Key", bound=Hashable)
_PLACES = (
    "import json, sysconfig; "
    "print(json.dumps([sysconfig.get_path(n) for n in ('scripts', 'purelib', 'platlib')]))"
)


@dataclass(frozen=True, slots=True)
class Package:
    """One installed distribution.

    Attributes:
        name: As it calls itself.
        version: Its version.
        size: Bytes of its files in site-packages, compiled modules too.
    """

    name: str
    version: str
    size: int


@dataclass(frozen=True, slots=True)
class Environment:
    """A virtual environment that holds one wheel and what it requires, not even pip.

    Attributes:
        python: Its interpreter.
        sat: Its `sat` command.
        site: Its site-packages; two folders on a few systems.
    """

    python: Path
    sat: Path
    site: tuple[Path, ...]

    def packages(self) -> list[Package]:
        """All distributions, the largest first."""
        found = [_package(item, self.site) for item in distributions(path=[*map(str, self.site)])]
        return sorted(found, key=lambda package: (-package.size, package.name))


def built_wheel(folder: Path) -> Path:
    """The wheel of this checkout, built into a folder.

    Raises:
        SystemExit: If it cannot be built.
    """
    run([*_pip(), "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ROOT], folder)
    return next(folder.glob("*.whl"))


def fresh_environment(folder: Path, wheel: Path, options: Sequence[str] = ()) -> Environment:
    """A new environment with a wheel and the newest releases of what that requires.

    Args:
        folder: Where it is made.
        wheel: What is installed, without any extra.
        options: Further ones for `pip install`.

    Raises:
        SystemExit: If it cannot be made or filled.
    """
    venv.EnvBuilder(symlinks=os.name != "nt").create(folder)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    run([*_pip(), "--python", python, "install", "--quiet", *options, wheel], folder)
    scripts, *site = json.loads(run([python, "-c", _PLACES], folder))
    sat = Path(scripts) / ("sat.exe" if os.name == "nt" else "sat")
    return Environment(python, sat, tuple(Path(place) for place in dict.fromkeys(site)))


def _pip() -> list[str]:
    return [sys.executable, "-m", "pip", "--disable-pip-version-check"]


def _package(item: Distribution, site: Iterable[Path]) -> Package:
    places = [place.resolve() for place in site]
    paths = {Path(str(file.locate())).resolve() for file in item.files or ()}
    inside = (path for path in paths if any(path.is_relative_to(place) for place in places))
    size = sum(path.stat().st_size for path in inside if path.is_file())
    return Package(item.metadata["Name"], item.version, size)


def file_bytes(folders: Iterable[Path]) -> int:
    """Bytes of all files below the folders; links do not count."""
    return sum(file.stat().st_size for file in _files(folders))


def disk_bytes(folders: Iterable[Path]) -> int:
    """What those files take on this disk, in whole blocks; their bytes where it does not say."""
    stats = (file.stat() for file in _files(folders))
    return sum(getattr(found, "st_blocks", -(-found.st_size // 512)) * 512 for found in stats)


def _files(folders: Iterable[Path]) -> Iterable[Path]:
    for folder in folders:
        yield from (p for p in folder.rglob("*") if p.is_file() and not p.is_symlink())


def run(command: Command, folder: Path) -> str:
    """Standard output of a command, run in a folder without Python's variables.

    Raises:
        SystemExit: If it fails, with what it said last.
    """
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    words = [str(word) for word in command]
    done = subprocess.run(
        words, cwd=folder, env=clean, capture_output=True, text=True, encoding="utf-8", check=False
    )
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()[-3:]
        sys.exit(f"{' '.join(words)} failed ({done.returncode}): {' '.join(said)}")
    return done.stdout


def median_seconds(commands: Mapping[Key, Command], folder: Path, rounds: int) -> dict[Key, float]:
    """Wall time of whole processes by key, medians of rounds.

    They run turn by turn, so that noise of the machine falls on all of them; one more round
    goes before, which warms the disk cache.

    Args:
        commands: What to run, by key.
        folder: Where they run.
        rounds: How many count, at least one.
    """
    times: dict[Key, list[float]] = {name: [] for name in commands}
    for _ in range(rounds + 1):
        for key, command in commands.items():
            start = time.perf_counter()
            run(command, folder)
            times[key].append(time.perf_counter() - start)
    return {key: round(statistics.median(found[1:]), 3) for key, found in times.items()}
