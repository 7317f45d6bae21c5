"""What `make` installs before it runs something, with a Python that only notes what it is asked."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PYTHON = """#!/bin/sh
echo "$*" >> asked
if [ "$2" = venv ]; then mkdir -p .venv/bin && cp "$0" .venv/bin/python; fi
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    if shutil.which("make") is None:
        pytest.skip("there is no make")
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    python = tmp_path / "python"
    python.write_text(PYTHON, encoding="utf-8")
    python.chmod(0o755)
    return tmp_path


def make(checkout: Path, target: str) -> list[str]:
    """What Python is asked for: a new environment, extras, and at last what is run."""
    (checkout / "asked").unlink(missing_ok=True)
    outer = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "FOLDER", "ASK")
    subprocess.run(
        ["make", target, "PYTHON=./python"],
        cwd=checkout,
        env={key: value for key, value in os.environ.items() if key not in outer},
        check=True,
        stdout=subprocess.DEVNULL,
        timeout=60,
    )
    return [line.split()[-1] for line in (checkout / "asked").read_text().splitlines()]


DEMO, TEST = "examples/demo.py", "--no-loadscope-reorder"


def test_the_demo_installs_no_more_than_it_needs_and_the_tests_the_rest(checkout):
    assert make(checkout, "demo") == [".venv", ".[synth]", DEMO]
    assert make(checkout, "demo") == [DEMO]
    assert make(checkout, "test") == [".[test]", TEST]
    assert make(checkout, "test") == [TEST]
    assert make(checkout, "demo") == [DEMO]


def test_the_demo_takes_what_the_tests_have_set_up(checkout):
    assert make(checkout, "test") == [".venv", ".[test]", TEST]
    assert make(checkout, "demo") == [DEMO]


def test_the_docs_install_no_more_than_they_need(checkout):
    assert make(checkout, "docs") == [".venv", ".[docs]", "--quiet"]
    assert make(checkout, "docs") == ["--quiet"]
    assert make(checkout, "test") == [".[test]", TEST]


def test_other_dependencies_are_installed_again(checkout):
    make(checkout, "test")
    later = (checkout / ".venv/.ready").stat().st_mtime + 5
    os.utime(checkout / "pyproject.toml", (later, later))
    assert make(checkout, "demo")[0] == ".[synth]"
    assert make(checkout, "test")[0] == ".[test]"
