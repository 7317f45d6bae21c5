"""Licences of what a wheel installs, read from the metadata of the installed packages."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

# SPDX names, and the spellings of packages that give none.
ALLOWED = frozenset(
    name.lower()
    for name in (
        "0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause",
        "BSL-1.0", "CC0-1.0", "CNRI-Python", "ISC", "MIT", "MIT-0", "MIT-CMU", "MPL-2.0",
        "PSF-2.0", "Zlib",
        "Academic Free License (AFL)", "Apache 2.0", "Apache 2.0 License",
        "Apache Software License", "BSD License", "3-Clause BSD License", "ISC License (ISCL)",
        "MIT License", "Mozilla Public License 2.0 (MPL 2.0)",
        "Python Software Foundation License",
    )
)  # fmt: skip
# Accepted by name, with the reason.
LGPL = "LGPL-3.0-only: an extra alone needs it, and uses it unchanged"
ACCEPTED = {"psycopg": LGPL, "psycopg-binary": LGPL, "psycopg-pool": LGPL}
# Installed on few machines, so their metadata is not at hand.
NOT_HERE = {"onnxruntime-gpu": "MIT; brings libraries of NVIDIA under NVIDIA's own licence"}
_DEVELOPMENT = {"bench", "docs", "release", "test"}  # extras that users have no need of


@dataclass(frozen=True, slots=True)
class Licences:
    """Packages by licence, and one sentence for each that is refused."""

    packages: dict[str, list[str]]
    not_read: list[str]
    refused: list[str]


def licences(requires: Iterable[str], extras: Iterable[str], own: Iterable[str] = ()) -> Licences:
    """Licences of all that a distribution and its extras for users install, however indirectly.

    Args:
        requires: The distribution's `Requires-Dist`.
        extras: Its extras.
        own: Names of this repository's distributions, which are left out.
    """
    packages, not_read, refused = defaultdict(list), [], []
    for name in sorted(_closure(requires, frozenset(extras) - _DEVELOPMENT) - set(own)):
        try:
            found = licences_of(name)
        except PackageNotFoundError:
            if name in NOT_HERE:
                not_read.append(f"{name} ({NOT_HERE[name]})")
            else:
                refused.append(f"{name} is not installed here, so its licence is unknown")
            continue
        packages[", ".join(found)].append(name)
        strange = [each for each in found if each.lower() not in ALLOWED]
        if strange and name not in ACCEPTED:
            refused.append(
                f"{name} is under {', '.join(strange)}, which is not allowed: do without it, or "
                "name it in .ci/licences.py with the reason"
            )
    return Licences(dict(sorted(packages.items())), not_read, refused)


def licences_of(name: str) -> tuple[str, ...]:
    """Licences that an installed package names, alternatives included."""
    about = distribution(name).metadata
    if expression := about.get("License-Expression"):
        return names_in(str(expression))
    classifiers = about.get_all("Classifier") or []
    named = [each.rpartition(" :: ")[2] for each in classifiers if each.startswith("License ::")]
    text = str(about.get("License") or "").strip()
    return tuple(named) or names_in(text.partition("\n")[0]) or ("no licence",)


def names_in(expression: str) -> tuple[str, ...]:
    """Licences of an SPDX expression, in its order.

    >>> names_in("MPL-2.0 AND (Apache-2.0 WITH LLVM-exception OR MIT)")
    ('MPL-2.0', 'Apache-2.0 WITH LLVM-exception', 'MIT')
    """
    parts = re.split(r"\s+(?:AND|OR)\s+", expression)
    return tuple(part.strip(" ()") for part in parts if part.strip(" ()"))


def _closure(requires: Iterable[str], extras: frozenset[str]) -> set[str]:
    """Names of all packages that requirements lead to on this machine."""
    found: set[tuple[str, frozenset[str]]] = set()
    waiting = [(text, extras) for text in requires]
    while waiting:
        text, chosen = waiting.pop()
        requirement = Requirement(text)
        marker = requirement.marker
        if marker and not any(marker.evaluate({"extra": each}) for each in {*chosen, ""}):
            continue
        package = canonicalize_name(requirement.name), frozenset(requirement.extras)
        if package not in found:
            found.add(package)
            try:
                further = distribution(package[0]).requires or []
            except PackageNotFoundError:
                continue
            waiting += [(each, package[1]) for each in further]
    return {name for name, _ in found}
