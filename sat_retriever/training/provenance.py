"""Where a training comes from: code, software, hardware, command, time."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from sat_retriever._version import __version__

_PACKAGE = Path(__file__).resolve().parents[1]
_LIBRARIES = ("torch", "transformers", "accelerate")


def provenance() -> dict[str, Any]:
    """What this start of a training runs with, ready for JSON; no path of this machine."""
    commit, dirty = _commit()
    return {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command_line(sys.argv),
        "commit": commit,
        "dirty": dirty,
        "versions": {
            "python": platform.python_version(),
            "sat-retriever": __version__,
            **{name: _version(name) for name in _LIBRARIES},
        },
        "hardware": {
            "processor": _processor(),
            "cores": len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count(),
            "gpu": _gpu(),
            "processes": int(os.environ.get("WORLD_SIZE", "1")),
        },
    }


def command_line(words: list[str]) -> str:
    """A command without the folders of this machine: an absolute path keeps its last part.

    >>> command_line(["/home/me/bin/sat", "train", "--folder=/data/run", "a b"])
    "sat train --folder=run 'a b'"
    """
    import shlex

    return shlex.join(_without_folders(word) for word in words)


def _without_folders(word: str) -> str:
    """A word of a command, with an absolute path cut to its last part."""
    option, equals, value = word.partition("=") if word.startswith("-") else ("", "", word)
    return option + equals + (Path(value).name if Path(value).is_absolute() else value)


def _commit() -> tuple[str | None, bool | None]:
    """Commit that this package's code is of, and whether it was changed since; else None."""
    if _git("ls-files", "--error-unmatch", "__init__.py") is None:
        return None, None  # installed: a repository around it would be another's
    status = _git("status", "--porcelain", "--", ".")
    return _git("rev-parse", "HEAD"), None if status is None else bool(status)


def _git(*arguments: str) -> str | None:
    """What git prints in the package's folder; None if there is no git or it fails."""
    git = shutil.which("git")
    if git is None:
        return None
    command = [git, "-C", str(_PACKAGE), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _version(name: str) -> str | None:
    """Version of an installed library; None if it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    """Name of the processor, as far as the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _gpu() -> str | None:
    """Name of the CUDA device in use; None without one."""
    try:
        import torch
    except ImportError:
        return None
    return str(torch.cuda.get_device_name()) if torch.cuda.is_available() else None
