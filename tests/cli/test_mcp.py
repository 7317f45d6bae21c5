"""`sat mcp`: what keeps it from starting; that it serves is shown in `tests/tools/mcp`."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest

from sat_retriever._extras import install_command


def test_help_has_examples_and_fits_80_columns(sat, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    run = sat("mcp", "--help")
    assert run.code == 0
    assert "$ sat mcp --index reports.sat" in run.out
    assert max(len(line.rstrip()) for line in run.out.splitlines()) <= 80


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_missing_index_is_named_and_nothing_is_on_stdout(transport, tmp_path, sat):
    run = sat("mcp", "--index", tmp_path / "none.sat", "--transport", transport)
    assert (run.code, run.out) == (1, "")
    assert "none.sat" in run.err
    assert "Traceback" not in run.err


def test_a_reranker_that_is_not_there_is_named(index_file, tmp_path, sat):
    run = sat("mcp", "--index", index_file, "--reranker", tmp_path / "none")
    assert (run.code, run.out) == (2, "")
    assert f"there is no folder {tmp_path / 'none'}" in run.err.replace("\n", "")


def test_a_port_that_is_taken_is_named(index_file, sat):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        run = sat("mcp", "--index", index_file, "--transport", "http", "--port", port)
    assert (run.code, run.out) == (2, "")
    assert f"cannot serve on 127.0.0.1 port {port}: Address already in use" in run.err


@pytest.mark.parametrize("host", ["203.0.113.1", "a" * 64, ""])
def test_a_host_that_is_not_this_machine_is_refused(host, index_file, sat):
    run = sat("mcp", "--index", index_file, "--transport", "http", "--host", host, "--port", 0)
    assert (run.code, run.out) == (2, "")
    assert f"cannot serve on {host} port 0" in run.err


def test_without_the_extra_its_install_command_is_shown(index_file):
    code = "import sys; sys.modules['mcp'] = None; from sat_retriever.cli import main; main()"
    line = [sys.executable, "-c", code, "mcp", "--index", str(index_file)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert install_command("mcp") in done.stderr
    assert "Traceback" not in done.stderr
