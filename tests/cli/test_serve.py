"""`sat serve`: what keeps it from starting; that it serves is shown in `tests/serve`."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest

from sat_retriever._extras import install_command


def test_help_has_examples_and_fits_80_columns(sat, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    run = sat("serve", "--help")
    assert run.code == 0
    assert "$ sat serve --index reports.sat --open" in run.out
    assert max(len(line.rstrip()) for line in run.out.splitlines()) <= 80


def test_a_missing_index_is_named(tmp_path, sat):
    run = sat("serve", "--index", tmp_path / "none.sat")
    assert (run.code, run.out) == (1, "")
    assert "none.sat" in run.err


def test_a_port_that_is_taken_is_named(index_file, sat):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        run = sat("serve", "--index", index_file, "--port", port)
    assert (run.code, run.out) == (2, "")
    assert f"cannot serve on 127.0.0.1 port {port}: Address already in use" in run.err


def test_a_token_or_a_host_name_that_is_not_good_is_refused(index_file, tmp_path, sat):
    file = tmp_path / "sat.token"
    file.write_text("short")
    file.chmod(0o600)
    for more, says in (
        (["--token-file", file], "16 characters or more"),
        (["--token-file", tmp_path / "none"], "make one"),
        (["--allow-host", "a b"], "is not a host name"),
        (["--rate", "-1"], "--rate"),
    ):
        run = sat("serve", "--index", index_file, "--port", 0, *more)
        assert (run.code, run.out) == (2, "")
        assert says in run.err


@pytest.mark.parametrize("missing", ["jinja2", "starlette", "mcp"])
def test_without_the_extra_its_install_command_is_shown(missing, index_file):
    code = (
        f"import sys; sys.modules[{missing!r}] = None; from sat_retriever.cli import main; main()"
    )
    line = [sys.executable, "-c", code, "serve", "--index", str(index_file)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert install_command("serve") in done.stderr
    assert "Traceback" not in done.stderr
