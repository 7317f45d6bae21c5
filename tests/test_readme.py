"""What the README says is so: its snippets run, its tables match the code."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from sat_retriever import Limits
from sat_retriever.evaluation.maintable import COLUMNS
from sat_retriever.index.scores import DENSE_WEIGHT
from sat_retriever.records.sheets import SkipReason
from tests.places import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
SHELL = README.partition("## In the shell")[2].partition("\n## ")[0]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the demo's workbooks, where a reader would try the snippets."""
    folder = tmp_path_factory.mktemp("desk")
    run(folder, sys.executable, ROOT / "examples/demo_workbooks.py", ".demo/workbooks")
    return folder


def run(folder: Path, *line: object) -> str:
    """Standard output of a command."""
    caches = {"HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache")}
    done = subprocess.run(
        [str(part) for part in line],
        cwd=folder,
        env={**os.environ, **caches},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_python_snippet_prints_what_the_readme_shows(desk):
    code, output = re.search(r"```python\n(.+?)```\n\n```text\n(.+?)```", README, re.S).groups()
    assert len(code.splitlines()) <= 9
    assert run(desk, sys.executable, "-c", code) == output


def test_the_shell_snippets_print_what_the_readme_shows(desk):
    (desk / "reports.sat").unlink(missing_ok=True)  # the Python snippet's
    (block,) = re.findall(r"```console\n(.+?)```", SHELL, re.S)
    steps = [step.partition("\n") for step in block.removeprefix("$ ").split("\n$ ")]
    assert len(steps) == 3
    for command, _, shown in steps:
        program, *arguments = shlex.split(command)
        assert program == "sat"
        output = run(desk, sys.executable, "-m", "sat_retriever", *arguments)
        assert _steady(output) == _steady(shown), command


@pytest.mark.parametrize("number", [0, 1], ids=["LlamaIndex", "LangChain"])
def test_the_frameworks_snippets_print_what_the_readme_shows(desk, number):
    section = README.partition("## In agents and query engines")[2].partition("\n## ")[0]
    snippets = re.findall(r"```python\n(.+?)```\n\n```text\n(.+?)```", section, re.S)
    assert len(snippets) == 2
    if not (desk / "reports.sat").exists():
        sat = (sys.executable, "-m", "sat_retriever", "index")
        run(desk, *sat, ".demo/workbooks", "--index", "reports.sat")
    code, output = snippets[number]
    assert run(desk, sys.executable, "-c", code) == output


def test_the_corpus_snippet_prints_what_the_readme_shows(tmp_path):
    section = README.partition("## Corpora made from templates")[2]
    code, output = re.search(r"```python\n(.+?)```\n\n```text\n(.+?)```", section, re.S).groups()
    (tmp_path / "make.py").write_text(code, encoding="utf-8")
    assert run(tmp_path, sys.executable, "make.py") == output


def test_the_bench_command_takes_the_options_and_prints_the_columns_that_the_readme_names():
    section = README.partition("## Measure it on your own questions")[2].partition("\n## ")[0]
    shown = run(ROOT, sys.executable, "-m", "sat_retriever", "bench", "--help")
    named = set(re.findall(r"--[a-z]+", section))
    assert {"--queries", "--out", "--reranker", "--llm"} <= named
    assert {option for option in named if option not in shown} == set()
    columns = [column.title for column in COLUMNS]
    assert all(column in section for column in columns)


def test_the_corpus_commands_take_the_options_that_the_readme_names():
    section = README.partition("## Corpora made from templates")[2].partition("\n## ")[0]
    for name in ("synth", "queries"):
        named = set(
            re.findall(r"--[a-z]+", " ".join(re.findall(rf"sat {name} ([^\n#]*)", section)))
        )
        shown = run(ROOT, sys.executable, "-m", "sat_retriever", name, "--help")
        assert named
        assert {option for option in named if option not in shown} == set()


def _steady(text: str) -> list[str]:
    """Lines without times and without the blanks that fill a table up."""
    lines = [line.rstrip() for line in text.strip().splitlines()]
    return [re.sub(r"in [\d.]+ s, \d+ workbooks/s", "in … s", line) for line in lines]


def test_every_reason_for_skipping_is_explained_and_no_other():
    table = README.partition("### What is skipped")[2].partition("\n## ")[0]
    codes = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    assert sorted(codes) == sorted(reason.value for reason in SkipReason)


def test_the_caps_are_the_ones_of_the_code():
    limits = Limits()
    assert f"processor time, {limits.seconds:.0f} s" in README
    assert f"the clock ({limits.wall_seconds / 60:.0f} minutes)" in README
    assert f"memory cap, {limits.memory_mb // 1024} GiB" in README


def test_the_scores_are_added_as_the_code_does():
    rule = f"score = {DENSE_WEIGHT} · cosine + {1 - DENSE_WEIGHT} · BM25"
    assert rule in README


def test_every_dependency_is_named_with_its_reason():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    base = {_name(requirement) for requirement in project["dependencies"]}
    described = README.partition("| dependency | why |")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `([\w-]+)` \|", described, re.MULTILINE)) == base
    extras = README.partition("| extra | for | brings |")[2].partition("\n\n")[0]
    for extra, requirements in project["optional-dependencies"].items():
        assert f"| `[{extra}]` |" in extras
        for requirement in requirements:
            assert f"`{_name(requirement)}`" in extras or requirement.startswith("sat-retriever[")


def _name(requirement: str) -> str:
    return re.match(r"[\w-]+", requirement)[0]


def test_the_list_of_files_is_the_tree():
    run(ROOT, sys.executable, ROOT / ".ci" / "file_map.py", "--check")


def test_the_table_of_training_settings_is_the_code():
    run(ROOT, sys.executable, ROOT / ".ci" / "settings_table.py", "--check")


def test_the_training_commands_take_the_options_that_the_readme_names():
    section = README.partition("## Train your own")[2].partition("### Settings")[0]
    lines = re.findall(r"^\$ sat (train [a-z-]+|index|search) ([^#\n]+)", section, re.MULTILINE)
    assert {name for name, _ in lines} == {
        "train encoder", "train reranker", "train status", "index", "search",
    }  # fmt: skip
    for name, rest in lines:
        shown = run(ROOT, sys.executable, "-m", "sat_retriever", *name.split(), "--help")
        named = set(re.findall(r"--[a-z-]+", rest))
        assert {option for option in named if option not in shown} == set(), name


def test_links_to_files_lead_somewhere():
    targets = re.findall(r"\]\(([^)#:]+)\)", README)
    assert targets
    for target in targets:
        assert (ROOT / target).is_file(), target


def test_the_make_targets_it_names_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"make ([a-z]+)", README)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
