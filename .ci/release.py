"""Build all distributions twice, check them, and report what each check said.

    python .ci/release.py

What is to be published goes into dist/, the report into build/release/: report.json, report.md.
The second build starts from a clone in another folder, so that equal hashes show that nothing came
from this machine or from uncommitted files.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from distributions import ROOT, Distribution, distributions, metadata
from licences import Licences, licences

DIST = ROOT / "dist"
WORK = ROOT / "build" / "release"  # not hidden: programs leave out hidden folders
TOOLS = ("build", "check-wheel-contents", "hatchling", "hatch-vcs", "twine")
_HOURS_AWAY = "Etc/GMT+11"


@dataclass(frozen=True, slots=True)
class Built:
    """One built file, and what the checks of files said."""

    name: str
    bytes: int
    sha256: str
    sha256_again: str
    checks: Mapping[str, str]

    @property
    def passed(self) -> bool:
        """True if both builds are equal and every check passed."""
        return self.sha256 == self.sha256_again and set(self.checks.values()) == {"passed"}


@dataclass(frozen=True, slots=True)
class Released:
    """One distribution: its files, requirements and licences."""

    name: str
    version: str
    requires: list[str]
    files: list[Built]
    licences: Licences

    @property
    def passed(self) -> bool:
        """True if all files passed and no licence is refused."""
        return all(file.passed for file in self.files) and not self.licences.refused


def main() -> None:
    """Build, check and report; exit with 1 if a check failed."""
    commit, seconds = committed(ROOT)
    say(f"commit {commit[:12]}, SOURCE_DATE_EPOCH={seconds}")
    for folder in (DIST, WORK / "clone", WORK / "again"):
        shutil.rmtree(folder, ignore_errors=True)
    git(ROOT, "clone", "--quiet", "--no-hardlinks", str(ROOT), str(WORK / "clone"))
    git(WORK / "clone", "checkout", "--quiet", "--detach", commit)
    build(ROOT, DIST, {"SOURCE_DATE_EPOCH": seconds})
    again = {"SOURCE_DATE_EPOCH": seconds, "TZ": _HOURS_AWAY, "PYTHONHASHSEED": "7"}
    build(WORK / "clone", WORK / "again", again, umask=0o077)
    released = [check(each) for each in distributions()]
    tools = {name: version(name) for name in TOOLS}
    about = {"commit": commit, "source_date_epoch": int(seconds), "tools": tools}
    content = {**about, "distributions": [asdict(each) for each in released]}
    (WORK / "report.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    (WORK / "report.md").write_text(table(released), encoding="utf-8")
    sys.stdout.write(table(released))
    if not all(each.passed for each in released):
        raise SystemExit("a check failed: nothing of this may be published")


def committed(root: Path) -> tuple[str, str]:
    """The commit that is checked out, and its time in seconds."""
    if changed := git(root, "status", "--porcelain"):
        raise SystemExit(f"commit or remove these first, a release has none of them:\n{changed}")
    commit, seconds = git(root, "log", "-1", "--format=%H %ct").split()
    return commit, seconds


def build(root: Path, target: Path, settings: Mapping[str, str], umask: int = 0o022) -> None:
    """Build each source distribution, and its wheel from that alone."""
    for each in distributions(root):
        start = time.monotonic()
        subprocess.run(
            [sys.executable, "-m", "build", "--no-isolation", "--outdir", target, each.folder],
            env={**os.environ, **settings},
            umask=umask,
            stdout=subprocess.DEVNULL,
            check=True,
        )
        say(f"built {each.name} in {target.name}/, {time.monotonic() - start:.0f} s")


def check(distribution: Distribution) -> Released:
    """Compare the two builds of a distribution and let each tool judge it."""
    say(f"checking {distribution.name}")
    about = metadata(distribution.wheel(DIST))
    requires = about.get_all("Requires-Dist") or []
    own = {each.name for each in distributions()}
    files = []
    for path in (distribution.wheel(DIST), distribution.sdist(DIST)):
        checks = {"twine": tool("twine", "check", "--strict", path)}
        if path.suffix == ".whl":
            config = distribution.folder / "pyproject.toml"
            checks["check-wheel-contents"] = tool("check_wheel_contents", "--config", config, path)
        hashes = (sha256(path), sha256(WORK / "again" / path.name))
        files.append(Built(path.name, path.stat().st_size, *hashes, checks))
    found = licences(requires, about.get_all("Provides-Extra") or [], own)
    return Released(distribution.name, str(about["Version"]), requires, files, found)


def tool(module: str, *arguments: object) -> str:
    """Let a tool check a file; "passed", or all that it said in one line."""
    line = [sys.executable, "-m", module, *map(str, arguments)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    said = " ".join((done.stdout + done.stderr).split()).replace(f"{DIST}{os.sep}", "")
    return "passed" if done.returncode == 0 else said


def sha256(path: Path) -> str:
    """Hash of a file; empty if it was not built."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""


def table(released: list[Released]) -> str:
    """The report as Markdown."""
    lines = [
        "| file | KB | SHA-256, first build | second build | twine | wheel contents |",
        "|---|---|---|---|---|---|",
    ]
    for file in (file for each in released for file in each.files):
        contents = file.checks.get("check-wheel-contents", "no wheel")
        lines.append(
            f"| `{file.name}` | {file.bytes / 1000:,.0f} | `{file.sha256}` | "
            f"{'equal' if file.sha256 == file.sha256_again else f'`{file.sha256_again}`'} | "
            f"{file.checks['twine']} | {contents} |"
        )
    for each in released:
        base = [text for text in each.requires if "extra ==" not in text]
        lines += ["", f"`{each.name}` {each.version} needs {', '.join(base) or 'nothing'}.", ""]
        for licence, packages in each.licences.packages.items():
            lines.append(f"- {licence}: {', '.join(packages)}")
        lines += [f"- not read: {text}" for text in each.licences.not_read]
        lines += [f"- **refused**: {text}" for text in each.licences.refused]
    return "\n".join(lines) + "\n"


def git(folder: Path, *arguments: str) -> str:
    """What git prints."""
    line = ["git", "-C", str(folder), *arguments]
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout.strip()


def say(text: str) -> None:
    """Tell what is going on."""
    sys.stderr.write(f"{text}\n")


if __name__ == "__main__":
    main()
