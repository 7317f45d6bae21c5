"""What `make` installs and runs, with programs that only note what they are asked."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.places import DISTRIBUTIONS, ROOT

PYTHON = """#!/bin/sh
echo "$*" >> asked
if [ "$2" = venv ]; then mkdir -p "$3/bin" && cp "$0" "$3/bin/python"; fi
"""
CHECKER = """#!/bin/sh
echo "${0##*/} $*" >> asked
test "${0##*/} $1" != "$BROKEN"
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    if shutil.which("make") is None:
        pytest.skip("there is no make")
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci")
    for folder in DISTRIBUTIONS:
        (tmp_path / folder.relative_to(ROOT)).mkdir(parents=True)
        shutil.copy(folder / "pyproject.toml", tmp_path / folder.relative_to(ROOT))
    program(tmp_path / "python", PYTHON)
    for name in ("ruff", "mypy", "lint-imports"):
        program(tmp_path / ".venv/bin" / name, CHECKER)
    program(tmp_path / "bin/chromium", CHECKER)  # none is to be installed
    return tmp_path


def program(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    file.chmod(0o755)


def run(checkout: Path, *command: str, broken: str = "") -> tuple[int, str, list[str]]:
    """Exit status and outputs of a command, and what its programs were asked, in order."""
    (checkout / "asked").unlink(missing_ok=True)
    outer = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "FOLDER", "ASK")
    kept = {key: value for key, value in os.environ.items() if key not in outer}
    path = os.pathsep.join((str(checkout / "bin"), os.environ["PATH"]))
    done = subprocess.run(
        command,
        cwd=checkout,
        env={**kept, "PATH": path, "PYTHON": "./python", "BROKEN": broken},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stdout + done.stderr, (checkout / "asked").read_text().splitlines()


def make(checkout: Path, target: str) -> list[str]:
    """What Python is asked for: a new environment, what is installed, and at last what is run."""
    status, _, asked = run(checkout, "make", target)
    assert status == 0
    return [line.partition(" --editable ")[2] or line.split()[-1] for line in asked]


DEMO, TEST = "examples/demo.py", "--ignore=tests/synth"
INSTALLED = " --editable ".join(
    [".[test]", *(f"./integrations/{each.name}" for each in DISTRIBUTIONS)]
)


def test_the_demo_installs_no_more_than_it_needs_and_the_tests_the_rest(checkout):
    assert make(checkout, "demo") == [".venv", ".[synth]", DEMO]
    assert make(checkout, "demo") == [DEMO]
    assert make(checkout, "test") == [INSTALLED, TEST]
    assert make(checkout, "test") == [TEST]
    assert make(checkout, "demo") == [DEMO]


def test_the_demo_takes_what_the_tests_have_set_up(checkout):
    assert make(checkout, "test") == [".venv", INSTALLED, TEST]
    assert make(checkout, "demo") == [DEMO]


def test_the_docs_install_no_more_than_they_need(checkout):
    assert make(checkout, "docs") == [".venv", ".[docs]", "--quiet"]
    assert make(checkout, "docs") == ["--quiet"]
    assert make(checkout, "test") == [INSTALLED, TEST]


def test_other_dependencies_are_installed_again(checkout):
    make(checkout, "test")
    later = (checkout / ".venv/.ready").stat().st_mtime + 5
    os.utime(checkout / "pyproject.toml", (later, later))
    assert make(checkout, "demo")[0] == ".[synth]"
    assert make(checkout, "test")[0] == INSTALLED


def test_other_dependencies_of_an_integration_are_installed_again_for_the_tests(checkout):
    make(checkout, "test")
    later = (checkout / ".venv/.ready").stat().st_mtime + 5
    os.utime(checkout / "integrations/langchain-sat/pyproject.toml", (later, later))
    assert make(checkout, "demo") == [DEMO]
    assert make(checkout, "test") == [INSTALLED, TEST]


def test_the_oldest_frameworks_are_tested_with_every_distribution_and_files_that_exist(checkout):
    status, _, asked = run(checkout, "make", "compat")
    assert status == 0
    assert asked[-2].endswith(f" --editable {INSTALLED}")
    paths = [word for word in asked[-1].split() if word.startswith(("tests/", "integrations/"))]
    assert paths
    assert all(any(ROOT.glob(path)) for path in paths)


PARTS = [
    "ruff", "ruff", "lint-imports", ".ci/house.py", "mypy", "mypy", "mypy", ".ci/settings_table.py",
    ".ci/command_reference.py", ".ci/skip_codes.py", ".ci/metrics_table.py", "-m", "-m", "-m", "-m",
]  # fmt: skip


@pytest.mark.parametrize("command", [("make", "check"), (".ci/run",)])
def test_every_check_is_made_and_the_tests_come_last_with_the_slow_ones(command, checkout):
    make(checkout, "test")  # what is installed is there
    status, said, asked = run(checkout, *command)
    assert status == 0
    assert [line.split()[0] for line in asked] == PARTS
    assert "-m mkdocs build --strict --quiet" in asked
    assert "-m benchmarks tables --check" in asked
    of_package, measuring = asked[-2:]
    assert of_package.startswith("-m pytest") and measuring.startswith("-m pytest")
    assert of_package.endswith(" -m  --ignore=tests/benchmarks --ignore=tests/synth")
    assert measuring.endswith(" -m  tests/benchmarks tests/synth")
    assert said.count(": passed after ") == len(PARTS)


def test_a_lint_error_ends_the_check_before_the_tests(checkout):
    make(checkout, "test")
    status, said, asked = run(checkout, "make", "check", broken="ruff check")
    assert status != 0
    assert "== lint: failed with exit status 1" in said
    assert [line.split()[0] for line in asked] == PARTS[:2]


FOLLOWED = [".ci/publish.py 0.2.0", ".ci/release.py", ".ci/release_check.py"]
PUSHED = "git push --atomic origin HEAD v0.2.0"


@pytest.mark.parametrize(
    ("broken", "asked"),
    [("", [*FOLLOWED, PUSHED]), ("git push", [*FOLLOWED, PUSHED]), (FOLLOWED[1], FOLLOWED[:2])],
)
def test_a_release_is_pushed_after_its_checks_or_says_how_to_undo_it(checkout, broken, asked):
    make(checkout, "test")
    program(checkout / "bin/git", CHECKER)
    python = PYTHON.replace("if ", 'test "$*" != "$BROKEN" || exit 1\nif ')
    program(checkout / ".venv/bin/python", python)
    status, said, done = run(checkout, "make", "publish", "VERSION=0.2.0", broken=broken)
    assert done == asked
    assert bool(status) is bool(broken)
    assert ("git tag --delete v0.2.0 && git reset --hard HEAD~1" in said) is bool(broken)
