"""The code of other readers, as the page on coming from them shows it, prints what it shows."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest

from tests.docs.pages import DOCS, ROOT, blocks

PAGE = DOCS / "guides" / "coming-from.md"
NEEDED = {
    "llama_index.readers.file": ["llama_index.readers.file"],
    "langchain_community": ["langchain_community", "unstructured"],
    "markitdown": ["markitdown"],
}
BLOCKS = [each for each in blocks(PAGE) if "another library" in each.marks.get("not run", "")]


def test_the_page_shows_code_of_each_library():
    texts = [each.text for each in BLOCKS]
    assert len(texts) == len(NEEDED)
    assert all(any(f"from {name}" in text for text in texts) for name in NEEDED)


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_the_code_of_another_library_prints_what_the_page_shows(block, tmp_path):
    name = next(name for name in NEEDED if f"from {name}" in block.text)
    for module in NEEDED[name]:
        try:
            found = find_spec(module)
        except ModuleNotFoundError:
            found = None
        if found is None:
            pytest.skip(f"{module} is not installed; put a folder with it on PYTHONPATH")
    desk = [sys.executable, ROOT / "examples/demo_workbooks.py", "demo/workbooks"]
    subprocess.run(desk, cwd=tmp_path, check=True, capture_output=True)
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", block.text],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == block.output.strip()
