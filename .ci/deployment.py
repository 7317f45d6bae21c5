"""What the Dockerfile and the compose file say, for those who check them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import yaml
from distributions import ROOT

SERVICES = ("indexer", "page", "backup")
"""The services of compose.yaml that run this package."""


@cache
def instructions() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile in order, each with all that it says."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    plain = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    whole = plain.replace("\\\n", " ").splitlines()
    return [(each.split()[0], each.partition(" ")[2].strip()) for each in whole if each]


def said(name: str) -> list[str]:
    """What the instructions of one kind say."""
    return [text for instruction, text in instructions() if instruction == name]


def defaults() -> dict[str, str]:
    """The arguments of the build that have a default."""
    return dict(each.split("=", 1) for each in said("ARG") if "=" in each)


def compose(names: Mapping[str, str]) -> dict[str, Any]:
    """The compose file, its variables replaced by values."""
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.safe_load(re.sub(r"\$\{(\w+)[^}]*\}", lambda x: names[x[1]], text))
    return found
