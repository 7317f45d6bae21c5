"""The example, as a user runs it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from tests.places import EXAMPLES

EXAMPLE = EXAMPLES / "llama_index_query_engine.py"
AGENT = EXAMPLE.with_name("llama_index_agent.py")


def run(*arguments: object, program: Path = EXAMPLE) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, program, *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        timeout=3000,
        check=False,
    )


def test_it_answers_from_the_right_folder_with_a_citation_and_without_network(encoder):
    done = run("--encoder", encoder)
    assert done.returncode == 0, done.stderr
    price, bought = done.stdout.strip().split("\n\n")
    assert "Ball valve | 41.5" in price
    assert "[citation: warehouse/Suppliers.xlsx#Price list!C5:G9]" in price
    assert "Seal kit" in bought and re.search(r"\[citation: sales/.+#March!A4:F\d+\]", bought)


def test_the_agent_reads_the_cells_that_it_answers_from(encoder):
    done = run("--encoder", encoder, program=AGENT)
    assert done.returncode == 0, done.stderr
    assert re.findall(r"^-> (\w+)", done.stdout, re.M) == ["sheets", "read_range"]
    answer = done.stdout.splitlines()[-1]
    assert answer == "Seal kit from Ferrum AG, 5 days [warehouse/Suppliers.xlsx#Price list!C5:G9]"


def test_it_says_what_to_install_for_a_model_of_ollama(encoder):
    with suppress(PackageNotFoundError):
        pytest.skip(f"llama-index-llms-ollama {version('llama-index-llms-ollama')} is installed")
    done = run("--encoder", encoder, "--ollama", "any")
    assert done.returncode == 2
    assert "pip install llama-index-llms-ollama" in done.stderr


def test_it_is_short_enough_to_be_read_at_a_glance():
    assert len(EXAMPLE.read_text(encoding="utf-8").splitlines()) < 64
