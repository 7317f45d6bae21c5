"""The examples run offline as a reader runs them, and answer with a citation."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from openpyxl import load_workbook

from tests.places import EXAMPLES

CITED = "sales/Sales North 2024.xlsx#February!A4:F17"


@pytest.fixture(scope="module")
def february(tmp_path_factory: pytest.TempPathFactory) -> list[tuple]:
    """Rows of the sheet that both examples should find: date, customer, product … revenue."""
    folder = tmp_path_factory.mktemp("demo")
    subprocess.run(
        [sys.executable, EXAMPLES / "demo_workbooks.py", folder], check=True, timeout=3000
    )
    sheet = load_workbook(folder / "sales" / "Sales North 2024.xlsx")["February"]
    return [tuple(cell.value for cell in row) for row in sheet["A5:F16"]]


def output(script: str, encoder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    assert len((EXAMPLES / script).read_text(encoding="utf-8").splitlines()) < 64
    return subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / script, "--encoder", encoder, *more],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        timeout=3000,
        check=False,
    )


def test_the_agent_names_the_largest_revenue_and_cites_it(encoder, february):
    done = output("langchain_agent.py", encoder)
    assert done.returncode == 0, done.stderr
    _, customer, product, _, _, revenue = max(february, key=lambda row: row[5])
    assert done.stdout.rstrip().endswith(f"{product} to {customer}, {revenue} [{CITED}]")


def test_the_agent_says_what_a_local_model_needs(encoder):
    try:
        import langchain_ollama  # noqa: F401
    except ImportError:
        done = output("langchain_agent.py", encoder, "--ollama", "any")
        assert done.returncode == 1
        assert "pip install langchain-ollama" in done.stderr
    else:
        pytest.skip("langchain-ollama is installed")


def test_sheets_lead_to_an_answer_with_its_citation(encoder, february):
    done = output("sheets_to_answer.py", encoder)
    assert done.returncode == 0, done.stderr
    sums: dict[str, int] = {}
    for _, _, product, _, _, revenue in february:
        sums[product] = sums.get(product, 0) + revenue
    best = max(sums, key=sums.__getitem__)
    assert f"| {best} | {sums[best]} |" in done.stdout
    assert f"From {CITED}" in done.stdout
    place, (_, customer, product, *_, revenue) = max(
        enumerate(february, start=5), key=lambda sale: sale[1][-1]
    )
    assert done.stdout.endswith(
        f"Largest sale: {product} to {customer}, {revenue:,} EUR\n"
        f"[{CITED.partition('!')[0]}!A{place}:F{place}]\n"
    )
