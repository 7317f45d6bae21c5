"""The distributions of this repository, and what their built files say of themselves."""

from __future__ import annotations

import re
import tomllib
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from email.parser import HeaderParser
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CORE = "sat-retriever"


@dataclass(frozen=True, slots=True)
class Distribution:
    """One folder with a `pyproject.toml`."""

    name: str
    folder: Path
    settings: Mapping[str, Any]

    def wheel(self, built: Path) -> Path:
        """The one wheel of this distribution in a folder of built files."""
        return self._only(built, "-*.whl")

    def sdist(self, built: Path) -> Path:
        """The one source distribution in a folder of built files."""
        return self._only(built, "-*.tar.gz")

    def _only(self, built: Path, ending: str) -> Path:
        found = list(built.glob(re.sub(r"[-_.]+", "_", self.name).lower() + ending))
        if len(found) != 1:
            raise SystemExit(f"{built} has {len(found)} files of {self.name}{ending}; build anew")
        return found[0]


def distributions(root: Path = ROOT) -> list[Distribution]:
    """The distribution of the root first, then those in `integrations/`."""
    files = [root / "pyproject.toml", *sorted(root.glob("integrations/*/pyproject.toml"))]
    found = []
    for file in files:
        settings = tomllib.loads(file.read_text(encoding="utf-8"))
        found.append(Distribution(settings["project"]["name"], file.parent, settings))
    return found


def metadata(wheel: Path) -> Message:
    """The metadata of a wheel; the payload is its README."""
    with zipfile.ZipFile(wheel) as files:
        (name,) = (each for each in files.namelist() if each.endswith(".dist-info/METADATA"))
        return HeaderParser().parsestr(files.read(name).decode("utf-8"))
