"""A fresh virtual environment with this checkout's wheel in it, and the size of its packages."""

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
        name: Name of the distribution.
        version: Version.
        size: Bytes of its files in site-packages, compiled modules too.
    """

    name: str
    version: str
    size: int


@dataclass(frozen=True, slots=True)
class Environment:
    """A virtual environment that holds one wheel and what it requires, not even pip.

    Attributes:
        python: Path of the interpreter.
        sat: Path of the `sat` command.
        site: Folders of site-packages; two folders on a few systems.
    """

    python: Path
    sat: Path
    site: tuple[Path, ...]

    def packages(self) -> list[Package]:
        """Return all distributions, the largest first."""
        found = [_package(item, self.site) for item in distributions(path=[*map(str, self.site)])]
        return sorted(found, key=lambda package: (-package.size, package.name))


def built_wheel(folder: Path) -> Path:
    """Build the wheel of this checkout into a folder and return its path.

    Raises:
        SystemExit: If it cannot be built.
    """
    run([*_pip(), "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ROOT], folder)
    return next(folder.glob("*.whl"))


def fresh_environment(folder: Path, wheel: Path, options: Sequence[str] = ()) -> Environment:
    """Return a new environment with a wheel and the newest releases of its requirements.

    Args:
        folder: Folder of the environment.
        wheel: Wheel to install, without extras.
        options: More options for `pip install`.

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
    """Return the bytes of all files below the folders; links do not count."""
    return sum(file.stat().st_size for file in _files(folders))


def disk_bytes(folders: Iterable[Path]) -> int:
    """Return the files' size on disk, in whole blocks; their bytes if blocks are unknown."""
    stats = (file.stat() for file in _files(folders))
    return sum(getattr(found, "st_blocks", -(-found.st_size // 512)) * 512 for found in stats)


def _files(folders: Iterable[Path]) -> Iterable[Path]:
    for folder in folders:
        yield from (p for p in folder.rglob("*") if p.is_file() and not p.is_symlink())


def run(command: Command, folder: Path) -> str:
    """Return the standard output of a command, run in a folder without Python's variables.

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
    """Return wall times of whole processes by key, as medians over rounds.

    The commands take turns, so that noise of the machine affects all of them; an additional
    first round warms the disk cache.

    Args:
        commands: Commands to run, by key.
        folder: Working folder.
        rounds: Number of counted rounds, at least one.
    """
    times: dict[Key, list[float]] = {name: [] for name in commands}
    for _ in range(rounds + 1):
        for key, command in commands.items():
            start = time.perf_counter()
            run(command, folder)
            times[key].append(time.perf_counter() - start)
    return {key: round(statistics.median(found[1:]), 3) for key, found in times.items()}
