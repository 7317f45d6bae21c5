"""What the README and the docs show is so: their code blocks run and print what is shown."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import typer

from sat_retriever.cli import app
from tests.docs.pages import PAGES, ROOT, Block, blocks, steady, steps_of

ALL = [block for page in PAGES for block in blocks(page)]
RUN = [
    page
    for page in PAGES
    if any(b.runs and b.language in ("python", "console") for b in blocks(page))
]
DRIVER = ROOT / "tests" / "docs" / "driver.py"
LANGUAGES = {"python", "console", "json", "ini", "bibtex", "toml"}
# See `test_team.py` and `test_watching.py`.
OF_OTHER_PROGRAMS = {
    "team.md": {"nginx", "caddyfile", "dockerfile"},
    "watching.md": {"yaml", "logrotate"},
}
OF_OTHERS = {"--ollama", "--cpu", "--num-cpus"}  # options of the examples, accelerate, ray
LABELS = """query,sheet_id,relevance
prices of parts by supplier,warehouse/Suppliers.xlsx#Price list,1
who to call at a supplier,warehouse/Suppliers.xlsx#Contacts,1
South sales in March,sales/Sales South 2024.xlsx#March,1
planned against actual costs,finance/Budget 2024.xlsx#Budget vs actual,1
days of leave left,hr/Urlaubskonto 2024.csv#Urlaubskonto 2024,1
"""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Clears a reader's desk: the demo's workbooks lie on it, and an index of them if asked."""
    folder = tmp_path_factory.mktemp("desk")
    place, kinds = folder / "desk", {kind: folder / kind for kind in ("workbooks", "index")}
    place.mkdir()
    run(place, sys.executable, ROOT / "examples/demo_workbooks.py", "demo/workbooks")
    shutil.copytree(place, kinds["workbooks"])
    sat(place, "index", "demo/workbooks", "--index", "reports.sat")
    (place / "labels.csv").write_text(LABELS, encoding="utf-8")
    shutil.copytree(place, kinds["index"])

    def clear(kind: str) -> Path:
        shutil.rmtree(place)  # always the same folder, since an index knows where its files are
        shutil.copytree(kinds[kind], place)
        return place

    return clear


class Driver:
    """Runs steps in one process, and in another after a step that failed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._said = folder.parent / "stderr"
        self._process: subprocess.Popen[str] | None = None

    def printed(self, step: dict) -> str:
        """Standard output of a step that has to succeed."""
        if self._process is None:
            with self._said.open("w") as said:
                self._process = subprocess.Popen(
                    [sys.executable, DRIVER],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=said,
                    env=environment(self._folder),
                    encoding="utf-8",
                )
        self._process.stdin.write(json.dumps({**step, "folder": str(self._folder)}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            self.close()
            pytest.fail(self._said.read_text(encoding="utf-8"))
        return json.loads(line)

    def close(self) -> None:
        if self._process is not None:
            self._process.communicate(timeout=60)
            self._process = None


@pytest.fixture(scope="module")
def driver(desk) -> Iterator[Driver]:
    started = Driver(desk("workbooks"))
    yield started
    started.close()


def environment(folder: Path) -> dict[str, str]:
    caches = {"HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache")}
    return {**os.environ, **caches, "OMP_NUM_THREADS": "1"}


def run(folder: Path, *line: object) -> str:
    """Standard output of a command that has to succeed."""
    done = subprocess.run(
        [str(part) for part in line],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def sat(folder: Path, *arguments: object) -> str:
    return run(folder, sys.executable, "-m", "sat_retriever", *arguments)


@pytest.mark.parametrize("page", RUN, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_blocks_of_a_page_print_what_it_shows(page, desk, driver):
    parts: list[tuple[str, list[Block]]] = []  # a part begins with a fresh desk
    for block in blocks(page):
        if "desk" in block.marks or not parts:
            parts.append((block.marks.get("desk", "index"), []))
        if block.runs and block.language in ("python", "console"):
            parts[-1][1].append(block)
    for kind, shown in parts:
        if shown:
            desk(kind)
            check(driver, shown)


def check(driver: Driver, shown: list[Block]) -> None:
    """Run blocks one after the other, and compare what they print."""
    for block in shown:
        for step, expected in steps_of(block):
            output = driver.printed(step)
            if expected is not None and "output varies" not in block.marks:
                assert steady(output) == steady(expected), block


@pytest.mark.parametrize("block", ALL, ids=str)
def test_a_block_is_of_a_language_that_is_checked(block):
    if block.language in OF_OTHER_PROGRAMS.get(block.page.name, ()):
        return
    assert block.language in LANGUAGES, f"{block}: text stands only below Python that prints it"
    if block.language == "json":
        json.loads(block.text)
    if block.language == "toml":
        tomllib.loads(block.text)
    if block.language == "console":
        assert block.text.startswith("$ "), block


@pytest.mark.parametrize("block", [b for b in ALL if b.language == "console"], ids=str)
def test_every_command_shown_exists_with_its_options(block):
    for line, _ in block.commands():
        if "sat" in line[:1]:
            check_options(line[1:], block)


def check_options(arguments: list[str], block: Block) -> None:
    """Subcommands are followed as far as they go; then every option must be one of theirs."""
    command = typer.main.get_command(app)
    if "|" in arguments:  # what reads a pipe has options of its own
        arguments = arguments[: arguments.index("|")]
    while arguments and arguments[0] in getattr(command, "commands", {}):
        command = command.commands[arguments.pop(0)]
    known = {name for param in command.params for name in (*param.opts, *param.secondary_opts)}
    given = {part.partition("=")[0] for part in arguments if re.match(r"--?[a-z]", part)}
    assert given <= known | {"--help"}, block


def test_options_named_in_the_text_of_the_guides_exist():
    command = typer.main.get_command(app)
    known = {"--help", *OF_OTHERS}
    waiting = [command]
    while waiting:
        each = waiting.pop()
        known |= {name for param in each.params for name in (*param.opts, *param.secondary_opts)}
        waiting += getattr(each, "commands", {}).values()
    for page in PAGES:
        text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
        if "results" in page.parts:
            continue
        for span in re.findall(r"`(?:sat [a-z -]*)?(--[a-z][a-z0-9-]*[a-z0-9])[^`]*`", text):
            assert span in known, f"{page}: {span}"
