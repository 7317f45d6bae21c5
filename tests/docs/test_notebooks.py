"""The notebooks of the distributions run, and print what is stored in them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.places import DISTRIBUTIONS, ROOT

NOTEBOOKS = [file for each in DISTRIBUTIONS for file in sorted(each.glob("examples/*.ipynb"))]
RUN = """
import contextlib, io, json, sys
names = {"__name__": "__main__"}
printed = []
for source in json.load(sys.stdin):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(source, names)
    printed.append(out.getvalue())
json.dump(printed, sys.stdout)
"""


def cells(notebook: Path) -> list[dict]:
    return json.loads(notebook.read_text(encoding="utf-8"))["cells"]


def source(cell: dict) -> str:
    return "".join(cell["source"])


def test_every_distribution_has_a_notebook():
    assert {file.parents[1] for file in NOTEBOOKS} == set(DISTRIBUTIONS)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda file: str(file.relative_to(ROOT)))
def test_the_cells_of_a_notebook_print_what_is_stored(notebook, tmp_path):
    install, *code = [cell for cell in cells(notebook) if cell["cell_type"] == "code"]
    assert source(install).startswith(f"%pip install --quiet {notebook.parents[1].name}")
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        input=json.dumps([source(cell) for cell in code]),
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    stored = ["".join(part for out in cell["outputs"] for part in out["text"]) for cell in code]
    assert any(stored)
    assert json.loads(done.stdout) == stored


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda file: str(file.relative_to(ROOT)))
def test_a_notebook_has_the_form_that_the_hubs_read(notebook):
    book = json.loads(notebook.read_text(encoding="utf-8"))
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    first, *_ = book["cells"]
    assert first["cell_type"] == "markdown" and source(first).startswith("# ")
    names = [cell["id"] for cell in book["cells"]]
    assert len(set(names)) == len(names)
    for cell in book["cells"]:
        needed = {"cell_type", "id", "metadata", "source"}
        code = {"execution_count", "outputs"} if cell["cell_type"] == "code" else set()
        assert set(cell) == needed | code
