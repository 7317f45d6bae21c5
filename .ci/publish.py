"""Make the commit and the tag of a release; `make publish` then checks and pushes both.

    python .ci/publish.py 0.2.0

What is unreleased in the CHANGELOG becomes the section of the version. The adapters are tied to
its minor version. The workflow that the tag starts uploads the files.
"""

from __future__ import annotations

import datetime as dt
import re
import sys
from pathlib import Path

from distributions import ROOT, distributions
from packaging.version import InvalidVersion, Version
from release import committed, git

_UNRELEASED = "## [Unreleased]\n"


def main() -> None:
    """Write, commit and tag a release."""
    if len(sys.argv) != 2:
        raise SystemExit("name the version: make publish VERSION=0.2.0")
    release(ROOT, sys.argv[1], dt.date.today())


def release(root: Path, text: str, day: dt.date) -> None:
    """Commit and tag one release, from a clean checkout.

    Raises:
        SystemExit: If the version, the CHANGELOG or the checkout does not allow one.
    """
    committed(root)
    version = checked(text, git(root, "tag", "--list", "v*").split())
    log = root / "CHANGELOG.md"
    log.write_text(with_section(log.read_text(encoding="utf-8"), version, day), encoding="utf-8")
    names = [each.name for each in distributions(root)]
    for each in distributions(root):
        file = each.folder / "pyproject.toml"
        text = tied(file.read_text(encoding="utf-8"), version, names)
        file.write_text(text, encoding="utf-8")
    git(root, "commit", "--all", "--quiet", "--message", f"Release {version}")
    git(root, "tag", "--annotate", f"v{version}", "--message", f"Release {version}")


def checked(text: str, tags: list[str]) -> Version:
    """The version, which is final and above those of all tags."""
    try:
        version = Version(text)
    except InvalidVersion:
        raise SystemExit(f"{text!r} is no version; name one such as 0.2.0") from None
    if str(version) != text or len(version.release) != 3 or version.local or version.is_devrelease:
        raise SystemExit(f"{text!r} is not of the form 0.2.0 or 0.2.0rc1")
    latest = max((Version(tag[1:]) for tag in tags), default=None)
    if latest is not None and version <= latest:
        raise SystemExit(f"{version} is not above {latest}, which is tagged")
    return version


def with_section(log: str, version: Version, day: dt.date) -> str:
    """The CHANGELOG with a section for the version, and nothing unreleased."""
    before, mark, after = log.partition(_UNRELEASED)
    if not mark or not after.partition("\n## ")[0].strip():
        raise SystemExit("CHANGELOG.md has nothing below [Unreleased] that could be released")
    return f"{before}{mark}\n## [{version}] - {day.isoformat()}\n{after}"


def tied(settings: str, version: Version, names: list[str]) -> str:
    """A `pyproject.toml` whose base is this version, tied to others of its minor version alone."""
    settings = re.sub(r'(?m)^(fallback-version = )"[^"]*"', rf'\1"{following(version)}"', settings)
    own = "|".join(map(re.escape, names))
    return re.sub(rf'"((?:{own})(?:\[[^\]]*\])?)[<>=~!][^";]*', rf'"\1{bounds(version)}', settings)


def following(version: Version) -> str:
    """The version of a tree after a release of which nothing else is known, as one without git.

    No commit has it: with git it is followed by their number.
    """
    if version.pre:
        letters, number = version.pre
        return f"{version.base_version}{letters}{number + 1}.dev0"
    return f"{version.major}.{version.minor}.{version.micro + 1}.dev0"


def bounds(version: Version) -> str:
    """The minor version of a release; from itself on if it is a pre-release, which is below."""
    low = version if version.is_prerelease else f"{version.major}.{version.minor}"
    return f">={low},<{version.major}.{version.minor + 1}"


if __name__ == "__main__":
    main()
