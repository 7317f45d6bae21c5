"""Record the provenance of a result: code, software, hardware, command, time.

Run folders of trainings and result files of benchmarks use the same fields.
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from sat_retriever._version import __version__
from sat_retriever.index.store.connection import SQLITE_VERSION
from sat_retriever.system import usable_cores

_PACKAGE = Path(__file__).resolve().parents[2]
LIBRARIES = ("torch", "transformers", "accelerate")


def provenance(
    *,
    code: Path = _PACKAGE,
    outputs: Sequence[str] = (),
    libraries: Iterable[str] = LIBRARIES,
) -> dict[str, Any]:
    """Return the provenance of this process, ready for JSON; without paths of this machine.

    Changes below `code` since the commit make it "dirty", except those of `outputs`, paths in that
    folder. Only installed libraries have a version.
    """
    commit, dirty = _commit(code, outputs)
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    return {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command_line(sys.argv, None if spec is None else str(spec.name)),
        "commit": commit,
        "dirty": dirty,
        "versions": _versions(libraries),
        "hardware": {
            "processor": _processor(),
            "cores": usable_cores(),
            "memory_gib": _memory_gib(),
            "gpu": _gpu(),
            "processes": int(os.environ.get("WORLD_SIZE", "1")),
            "system": f"{platform.system()} {platform.machine()}",
        },
    }


def command_line(words: Sequence[str], module: str | None = None) -> str:
    """Return a command as it can be typed again, without the folders of this machine.

    An absolute path is cut to its last part. `module` is what Python runs with `-m`, if anything.

    >>> command_line(["/home/me/bin/sat", "train", "--folder=/data/run", "a b"])
    "sat train --folder=run 'a b'"
    >>> command_line(["x", "run", "main"], "benchmarks.__main__")
    'python -m benchmarks run main'
    """
    program = words[:1]
    if module is not None:
        program = ["python", "-m", module.removesuffix(".__main__")]
    return shlex.join(map(_without_folders, (*program, *words[1:])))


def _without_folders(word: str) -> str:
    option, equals, value = word.partition("=") if word.startswith("-") else ("", "", word)
    return option + equals + (Path(value).name if Path(value).is_absolute() else value)


def _commit(code: Path, outputs: Sequence[str]) -> tuple[str | None, bool | None]:
    if _git(_PACKAGE, "ls-files", "--error-unmatch", "__init__.py") is None:
        return None, None  # installed: a surrounding repository would be another project's
    counted = (".", *(f":!{path}" for path in outputs))
    status = _git(code, "status", "--porcelain", "--", *counted)
    return _git(code, "rev-parse", "HEAD"), None if status is None else bool(status)


def _git(folder: Path, *arguments: str) -> str | None:
    return output_of("git", "-C", str(folder), *arguments)


def output_of(tool: str, *arguments: str) -> str | None:
    """Return what a tool prints; None if it is missing or fails."""
    found = shutil.which(tool)
    if found is None:
        return None
    command = [found, *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _versions(libraries: Iterable[str]) -> dict[str, str | None]:
    found: dict[str, str | None] = {
        "python": platform.python_version(),
        "sqlite": SQLITE_VERSION,
        "sat-retriever": __version__,
    }
    for name in libraries:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _memory_gib() -> int | None:
    if sys.platform == "win32":
        return None
    try:
        return round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30)
    except (ValueError, OSError):
        return None


def _gpu() -> str | None:
    torch = sys.modules.get("torch")  # not imported here: that takes seconds
    return str(torch.cuda.get_device_name()) if torch and torch.cuda.is_available() else None
