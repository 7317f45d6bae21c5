"""Install each distribution from its wheel into empty environments and follow its README there.

    python .ci/release_check.py [PYTHON ...]

It takes the wheels that `make release` left in dist/. Each README is read from its wheel, and its
Python and shell blocks run in an empty folder, or in one with the demo's workbooks. What the text
names before a block, an extra or another distribution, is installed then, as a reader would. The
report goes into build/release/: check.json, check.md.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from distributions import CORE, ROOT, Distribution, distributions, metadata
from packaging.requirements import Requirement
from release import DIST, WORK, say

sys.path.insert(0, str(ROOT))  # for the pages, as the tests read them
from tests.docs.pages import Block, blocks, steady, steps_of

VERSIONS = ("3.11", "3.12", "3.13")
WORKBOOKS = WORK / "workbooks"
_LIMIT_SECONDS = 900
_SCRIPTS = "Scripts" if os.name == "nt" else "bin"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One distribution with one interpreter."""

    python: str
    distribution: str
    said: str
    blocks: int = 0
    install_seconds: float = 0.0
    readme_seconds: float = 0.0


class Environment:
    """An empty environment with one interpreter, and an empty folder to work in."""

    def __init__(self, python: str, name: str) -> None:
        self._folder = WORK / "environments" / name
        self.desk = self._folder / "desk"
        self.installing = 0.0
        shutil.rmtree(self._folder, ignore_errors=True)
        self.desk.mkdir(parents=True)
        self._run([python, "-m", "venv", str(self._folder / "venv")], os.environ)

    def program(self, name: str) -> str:
        """Path of a program in the environment."""
        return str(self._folder / "venv" / _SCRIPTS / name)

    def install(self, *requirements: str) -> None:
        """Install with pip, and let pip check what is there."""
        start = time.monotonic()
        pip = [self.program("python"), "-m", "pip", "--quiet", "--disable-pip-version-check"]
        self._run([*pip, "install", *requirements], os.environ)
        self._run([*pip, "check"], os.environ)
        self.installing += time.monotonic() - start

    def run(self, program: str, *arguments: str) -> str:
        """What a program of the environment prints, which knows of nothing outside."""
        kept = {name: os.environ[name] for name in ("SYSTEMROOT", "LANG") if name in os.environ}
        home = str(self._folder / "home")
        path = os.pathsep.join((str(Path(self.program(program)).parent), os.defpath))
        places = {"PATH": path, "HOME": home, "USERPROFILE": home}
        return self._run([self.program(program), *arguments], {**kept, **places})

    def clear(self, kind: str) -> None:
        """Leave the workbooks on the desk and, if asked for, an index of them."""
        shutil.rmtree(self.desk)
        shutil.copytree(WORKBOOKS, self.desk / "demo" / "workbooks")
        if kind == "index":
            self.run("sat", "index", "demo/workbooks", "--index", "reports.sat")

    def _run(self, line: Sequence[str], environment: dict[str, str] | os._Environ[str]) -> str:
        done = subprocess.run(
            line,
            cwd=self.desk,
            env={**environment, "PYTHONUTF8": "1"},
            capture_output=True,
            encoding="utf-8",
            timeout=_LIMIT_SECONDS,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(line)} failed: {done.stderr.strip()[-800:]}")
        return done.stdout


def main() -> None:
    """Check every distribution with every interpreter; exit with 1 if one failed."""
    start, outcomes = time.monotonic(), []
    shutil.rmtree(WORKBOOKS, ignore_errors=True)
    line = [sys.executable, str(ROOT / "examples/demo_workbooks.py"), str(WORKBOOKS)]
    subprocess.run(line, check=True)
    pythons = dict(interpreters(sys.argv[1:]))
    for version in VERSIONS:
        for each in distributions():
            if version in pythons:
                say(f"{each.name} on Python {version}")
                outcomes.append(outcome(pythons[version], version, each))
            else:
                outcomes.append(Outcome(version, each.name, "not run: no such interpreter here"))
            say(f"  {outcomes[-1].said}")
    minutes = (time.monotonic() - start) / 60
    content = {"minutes": round(minutes, 1), "outcomes": [asdict(each) for each in outcomes]}
    (WORK / "check.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    (WORK / "check.md").write_text(table(outcomes, minutes), encoding="utf-8")
    sys.stdout.write(table(outcomes, minutes))
    shutil.rmtree(WORK / "environments", ignore_errors=True)
    if wrong := refused([each.said for each in outcomes]):
        raise SystemExit(wrong)


def refused(said: Sequence[str]) -> str:
    """Why none of this may be published; empty if it may."""
    if any(text.startswith("failed") for text in said):
        return "a README does not hold for what a user installs"
    if "passed" not in said:
        return f"nothing was checked: no Python {', '.join(VERSIONS)} here; name one as argument"
    return ""


def outcome(python: str, version: str, distribution: Distribution) -> Outcome:
    """Install a distribution from its wheel alone, then follow its README."""
    start, done = time.monotonic(), 0
    environment = Environment(python, f"{version}-{distribution.name}")
    try:
        environment.install(*requirements(distribution))
        for count in follow(environment, distribution):
            done = count
        said = "passed"
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        said = f"failed in block {done + 1}: {error}"
    spent = time.monotonic() - start - environment.installing
    return Outcome(version, distribution.name, said, done, environment.installing, spent)


def requirements(distribution: Distribution, extras: Sequence[str] = ()) -> list[str]:
    """What pip installs: the wheel, and the wheels of this repository that it needs.

    No index may serve these yet, so pip is told where they are.
    """
    known = {each.name: each for each in distributions()}
    needed = [distribution.name]
    for name in needed:  # grows meanwhile
        requires = metadata(known[name].wheel(DIST)).get_all("Requires-Dist") or []
        names = dict.fromkeys(Requirement(text).name for text in requires)
        needed += [each for each in names if each in known and each not in needed]
    chosen = f"[{','.join(extras)}]" if extras else ""
    places = {name: known[name].wheel(DIST).as_uri() for name in needed}
    return [f"{name}{chosen * (not n)} @ {places[name]}" for n, name in enumerate(needed)]


def follow(environment: Environment, distribution: Distribution) -> Iterator[int]:
    """Run the blocks of a README in order; yield how many have run.

    Raises:
        RuntimeError: If a step fails or prints something else than the README shows.
    """
    readme = environment.desk.parent / "README.md"
    readme.write_text(metadata(distribution.wheel(DIST)).get_payload(), encoding="utf-8")
    lines, read, count = readme.read_text(encoding="utf-8").splitlines(), 0, 0
    for block in blocks(readme):
        for wanted in named("\n".join(lines[read : block.line]), distribution):
            environment.install(*wanted)
        read = block.line
        if "desk" in block.marks:
            environment.clear(block.marks["desk"])
        if block.runs and block.language in ("python", "console"):
            compare(environment, block)
            count += 1
            yield count


def named(text: str, distribution: Distribution) -> list[list[str]]:
    """What pip installs for the extras and the distributions that a part of a README names."""
    provided = metadata(distribution.wheel(DIST)).get_all("Provides-Extra") or []
    groups = re.findall(rf"(?:`|\b{distribution.name})\[([\w,-]+)\]`", text)
    extras = sorted({*provided} & {extra for group in groups for extra in group.split(",")})
    wanted = [requirements(distribution, extras)] if extras else []
    for other in distributions():
        mention = re.search(rf"\b{other.name}\b(?:\[([\w,-]+)\])?", text)
        if mention and other.name != distribution.name and (mention[1] or other.name != CORE):
            wanted.append(requirements(other, mention[1].split(",") if mention[1] else ()))
    return wanted


def compare(environment: Environment, block: Block) -> None:
    """Run the steps of a block, and compare what they print with what it shows."""
    for step, shown in steps_of(block):
        if "python" in step:
            (environment.desk / "block.py").write_text(step["python"], encoding="utf-8")
            printed = environment.run("python", "block.py")
        else:
            printed = environment.run("sat", *step["sat"])
        if shown is None or "output varies" in block.marks:
            continue
        if steady(printed) != steady(shown):
            raise RuntimeError(f"line {block.line} of the README prints {printed!r}")


def interpreters(named: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Interpreters that run, by version: named ones, those on the path, this one, and pyenv's."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for version in VERSIONS:
        there = [*named, f"python{version}", "python3", sys.executable]
        there += map(str, sorted(pyenv.glob(f"{version}.*/{_SCRIPTS}/python")))
        for python in filter(shutil.which, there):
            code = "import sys; print('%d.%d' % sys.version_info[:2])"
            done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
            if done.stdout.strip() == version:
                yield version, python
                break


def table(outcomes: Sequence[Outcome], minutes: float) -> str:
    """The report as Markdown."""
    lines = [
        "| Python | distribution | blocks | install, s | README, s | |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {each.python} | {each.distribution} | {each.blocks} | {each.install_seconds:.0f} | "
        f"{each.readme_seconds:.0f} | {each.said} |"
        for each in outcomes
    ]
    return "\n".join([*lines, "", f"{minutes:.1f} minutes"]) + "\n"


if __name__ == "__main__":
    main()
