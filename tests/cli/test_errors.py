"""Commands that cannot do what they are told: which code ends them, and what they say."""

from __future__ import annotations

import shlex
import socket
import subprocess
import sys

import pytest

from sat_retriever import SheetEncoder, SheetIndex
from sat_retriever._extras import install_command
from tests.tables import table

LINES = table("cli/wrong_usage.tsv", 3)


@pytest.fixture(scope="module")
def empty(tmp_path_factory, encoder):
    """An index that holds no sheets."""
    file = tmp_path_factory.mktemp("empty") / "empty.sat"
    SheetIndex.create(file, SheetEncoder.load(encoder)).close()
    return file


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with a few files of one's own."""
    (tmp_path / "letter.sat").write_text("Dear Ada,\n" * 500)
    (tmp_path / "triples.csv").write_text("query,sheet_id,relevance\nname,staff.csv#staff,1\n")
    (tmp_path / "short.token").write_text("short")
    (tmp_path / "short.token").chmod(0o600)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def letters(text):
    """A text without the blanks and the box in which a terminal breaks it."""
    return "".join(text.replace("│", "").split())


@pytest.mark.parametrize(("line", "code", "said"), LINES, ids=[line for line, *_ in LINES])
def test_what_is_wrong_is_said_on_standard_error_and_nothing_is_written(
    line, code, said, folder, index_file, empty, encoder, sat
):
    def files():
        return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    before = files()
    places = {"folder": folder, "index": index_file, "empty": empty, "encoder": encoder}
    run = sat(*(word.format(**places) for word in shlex.split(line)))
    assert (run.code, run.out) == (int(code), "")
    assert letters(said.format(**places)) in letters(run.err)
    assert "Traceback" not in run.err
    assert files() == before


@pytest.mark.parametrize("words", [("serve",), ("mcp", "--transport", "http")], ids=" ".join)
def test_a_port_that_is_taken_is_named(words, index_file, sat):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        run = sat(*words, "--index", index_file, "--port", port)
    assert (run.code, run.out) == (2, "")
    assert f"cannot serve on 127.0.0.1 port {port}: Address already in use" in run.err


@pytest.mark.parametrize(
    ("name", "missing"),
    [("mcp", "mcp"), ("serve", "jinja2"), ("serve", "starlette"), ("serve", "mcp")],
)
def test_without_its_extra_a_server_names_the_install_command(name, missing, index_file):
    code = (
        f"import sys; sys.modules[{missing!r}] = None; from sat_retriever.cli import main; main()"
    )
    line = [sys.executable, "-c", code, name, "--index", str(index_file)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert install_command(name) in done.stderr
    assert "Traceback" not in done.stderr
