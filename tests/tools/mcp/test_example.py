"""`examples/mcp_client.py` as its reader runs it."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from tests.places import EXAMPLES
from tests.saved_encoder import save_bag_of_words
from tests.tools.mcp.conftest import ENVIRONMENT, TOOLS


def test_the_example_lists_the_tools_and_answers_with_a_citation(tmp_path):
    source = (EXAMPLES / "demo_workbooks.py").read_text(encoding="utf-8")
    encoder = save_bag_of_words(tmp_path / "bag", re.findall(r"[^\W\d_]+", source))
    done = subprocess.run(
        [sys.executable, EXAMPLES / "mcp_client.py", "--encoder", encoder],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, **ENVIRONMENT},
        timeout=300,
        check=True,
    )
    assert done.stderr == ""
    listed = [line.partition(":")[0] for line in done.stdout.splitlines()[: len(TOOLS)]]
    assert listed == TOOLS
    assert done.stdout.endswith(
        "| 6 | Ferrum AG | Ball valve | 41.5 | 20 | 12 |\n"
        "[warehouse/Suppliers.xlsx#Price list!C5:G9]\n"
    )
