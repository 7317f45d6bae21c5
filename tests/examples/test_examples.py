"""An example whose framework is not installed: one line that says what installs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.places import EXAMPLES, ROOT

LLAMA_INDEX = (
    "pip install . ./integrations/llama-index-retrievers-sat "
    "./integrations/llama-index-postprocessor-sat"
)
NEEDED = {
    "langchain_agent.py": ("langchain", "pip install . ./integrations/langchain-sat langchain"),
    "llama_index_agent.py": ("llama_index", LLAMA_INDEX),
    "llama_index_query_engine.py": ("llama_index", LLAMA_INDEX),
    "mcp_client.py": ("mcp", "pip install '.[mcp,ollama]'"),
    "sheets_to_answer.py": ("pandas", "pip install '.[sql,pandas]'"),
}


@pytest.mark.parametrize("example", NEEDED)
def test_a_missing_framework_is_said_in_one_line_with_what_installs_it(example):
    module, command = NEEDED[example]
    code = (
        "import runpy, sys\n"
        "class Without:\n"
        "    def find_spec(name, *_):\n"
        f"        if name == {module!r}: raise ModuleNotFoundError(name=name)\n"
        f"sys.meta_path.insert(0, Without); sys.path.insert(0, {str(EXAMPLES)!r})\n"
        f"sys.argv[0] = {example!r}\n"
        f"runpy.run_path({str(EXAMPLES / example)!r}, run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    said = f"{Path(example).stem}: {module} is not installed; run in the checkout: {command}\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", said)


@pytest.mark.parametrize("example", NEEDED)
def test_the_guides_and_the_example_itself_say_what_installs_it(example):
    command = NEEDED[example][1]
    guides = [file.read_text(encoding="utf-8") for file in (ROOT / "docs/guides").glob("*.md")]
    named = [line for line in "\n".join(guides).splitlines() if f"`examples/{example}`" in line]
    assert len(named) == 1
    assert command in named[0]
    docstring = (EXAMPLES / example).read_text(encoding="utf-8").split('"""')[1]
    assert f"\n{command}\n" in docstring
