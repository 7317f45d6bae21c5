"""Clients on the page of JSON over HTTP get what it shows, from the server of its first block."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys

import pytest

from tests.docs.pages import DOCS, ROOT, blocks
from tests.serve.conftest import serving

SHOWN = list(blocks(DOCS / "guides" / "api.md"))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("desk")
    made = [sys.executable, ROOT / "examples/demo_workbooks.py", "demo/workbooks"]
    subprocess.run(made, cwd=folder, check=True, capture_output=True)
    indexed = "index demo/workbooks --index reports.sat".split()
    run = [sys.executable, "-m", "sat_retriever", *indexed]
    subprocess.run(run, cwd=folder, check=True, capture_output=True)
    with serving(folder / "reports.sat") as started:
        yield started


def test_the_python_client_prints_what_is_shown(server):
    (client,) = (block for block in SHOWN if block.language == "python")
    code = client.text.replace("http://127.0.0.1:8765", server.url)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == (client.output, "")


def test_the_commands_of_the_shell_are_answered(server):
    if not shutil.which("curl"):
        pytest.skip("curl is not installed")
    lines = [line for block in SHOWN for line in block.text.splitlines() if "$ curl" in line]
    assert len(lines) == 4
    for line in lines:
        command = line.removeprefix("$ ").replace("http://127.0.0.1:8765", server.url)
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
        assert "February" in done.stdout or "revenue" in done.stdout, line
        assert json.loads(done.stdout).keys().isdisjoint({"detail"}), done.stdout


def test_the_error_shown_is_that_of_the_server(server):
    (shown,) = (json.loads(block.text) for block in SHOWN if block.language == "json")
    name = re.search(r"sheet '(.+?)'", shown["detail"])[1]
    assert json.loads(server.ask(f"/api/sheets/{name}").text) == shown


def test_the_addresses_of_the_page_are_those_of_the_server():
    from sat_retriever.serve.api import ENDPOINTS

    text = (DOCS / "guides" / "api.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| `(GET|POST) ([^`?]+)[^`]*` \| `(\w+)` \|", text, re.MULTILINE)
    assert told == [(each.method, each.path, each.tool) for each in ENDPOINTS]
