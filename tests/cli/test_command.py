"""The command as a whole: help, version, start-up."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import typer

from sat_retriever import __version__
from sat_retriever.cli import _COMMANDS, app
from tests.cli.conftest import run_sat

COMMANDS = [name for each in _COMMANDS.values() for name in each]


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_has_examples_and_fits_80_columns(name, sat, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    run = sat(*filter(None, [name]), "--help")
    assert run.code == 0
    assert "Examples" in run.out
    assert f"$ sat {name}" in run.out
    assert max(len(line.rstrip()) for line in run.out.splitlines()) <= 80
    assert sat(*filter(None, [name]), "-h").out == run.out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_example_in_the_help_can_be_parsed(name, sat, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")

    def lines(*words: str) -> list[str]:
        return sat(*words, "--help").out.splitlines()

    examples = [line.split("|")[0].split()[2:] for line in lines(name) if "$ sat" in line]
    assert examples
    for words in examples:
        # `sat train encoder` is a command
        called = words[:2] if name in ("train", "tokens") else words[:1]
        boxes = [line.replace(",", " ").split() for line in lines(*called) if line.startswith("│")]
        known = {word for box in boxes for word in box}
        assert {word for word in words if word.startswith("-")} <= known


def test_the_version_is_the_packages(sat):
    run = sat("--version")
    assert (run.code, run.out) == (0, f"sat {__version__}\n")


def test_without_arguments_the_help_is_shown_and_it_is_wrong_usage(sat):
    run = sat()
    assert run.code == 2
    assert "Usage: sat" in run.out + run.err


def test_help_loads_no_training_code_and_no_network_code():
    code = (
        "import sys, typer; from sat_retriever.cli import app; group = typer.main.get_group(app); "
        "loaded = [group.get_command(None, name) for name in group.list_commands(None)]; "
        "print([m for m in ('torch', 'transformers', 'huggingface_hub', 'pandas', 'onnxruntime', "
        "'networkx') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_list_of_commands_fits_a_screen_and_names_each_once(sat):
    lines = sat("--help").out.splitlines()
    assert len(lines) < 40
    assert max(map(len, lines)) <= 80
    listed = [line.split()[0] for line in lines[2:] if line.startswith("  ") and "$" not in line]
    group = typer.main.get_group(app)
    assert listed == group.list_commands(typer.Context(group))


def test_the_shell_completes_commands_and_options_and_loads_no_other_command(monkeypatch):
    code = (
        "import sys; from sat_retriever.cli import main; sys.argv = ['sat']\n"
        "try:\n    main()\nfinally:\n"
        "    print([m for m in sys.modules if m.startswith('sat_retriever.cli.')])"
    )

    def completed(*words: str) -> list[str]:
        monkeypatch.setenv("COMP_WORDS", " ".join(("sat", *words)))
        monkeypatch.setenv("COMP_CWORD", str(len(words)))
        monkeypatch.setenv("_SAT_COMPLETE", "complete_bash")
        return subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.splitlines()

    assert completed("se") == ["search", "serve", "[]"]
    assert completed("show", "--in")[0] == "--index"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_installed_for_a_shell(shell, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "sat_retriever", "--install-completion", shell],
        env={
            **os.environ, "HOME": str(tmp_path), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"
        },
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert f"{shell} completion installed in {tmp_path}" in done.stdout
    files = [file.read_text() for file in tmp_path.rglob("*") if file.is_file()]
    assert any("_SAT_COMPLETE" in text for text in files)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_listed_command_is_there_with_its_line_and_a_help(name):
    group = typer.main.get_group(app)
    found = group.get_command(typer.Context(group), name)
    assert (found.name, bool(found.short_help), bool(found.help)) == (name, True, True)


def test_a_first_answer_takes_seconds_not_minutes(index_file):
    before = processor_s_of_children()
    assert run_sat("search", "rate", "--index", index_file, "--json").code == 0
    assert processor_s_of_children() - before < 10  # measured at 0.7 s


def processor_s_of_children() -> float:
    """Seconds of processor time, which other processes on the machine do not change."""
    used = os.times()
    return used.children_user + used.children_system
