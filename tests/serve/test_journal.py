"""Several processes write to one log while it is rotated: every line is there, and whole."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sat_retriever.errors import InputError
from sat_retriever.serve.journal import Journal

PROCESSES, LINES = 3, 400
WRITER = f"""
import sys
from pathlib import Path
from sat_retriever.serve.journal import Journal
log = Journal(Path(sys.argv[1]))
print(flush=True)
sys.stdin.readline()
for number in range({LINES}):
    log.write({{"of": sys.argv[2], "number": number, "text": "é" * (number * 7 % 900)}})
    if sys.argv[2] == "0" and number in (100, 200):
        Path(sys.argv[1]).rename(f"{{sys.argv[1]}}.{{number}}")
"""


def test_lines_of_several_processes_are_whole_and_none_is_lost_when_the_file_is_renamed(tmp_path):
    file = tmp_path / "audit.jsonl"
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(file), str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for number in range(PROCESSES)
    ]
    try:
        for each in writers:
            assert each.stdout.readline()
        for each in writers:
            each.stdin.write(b"\n")
            each.stdin.flush()
    finally:
        assert [each.wait(timeout=60) for each in writers] == [0] * PROCESSES
        for each in writers:
            each.stdin.close()
            each.stdout.close()
    texts = [each.read_text(encoding="utf-8") for each in tmp_path.iterdir()]
    found = [json.loads(line) for text in texts for line in text.splitlines()]
    wanted = {(str(of), number) for of in range(PROCESSES) for number in range(LINES)}
    assert sorted((x["of"], x["number"]) for x in found) == sorted(wanted)
    assert len(texts) == 3


def test_a_new_file_that_everyone_can_read_takes_no_lines(tmp_path: Path):
    log = Journal(tmp_path / "a.jsonl")
    log.write({"line": 1})
    (tmp_path / "a.jsonl").rename(tmp_path / "a.1")
    (tmp_path / "a.jsonl").touch()
    (tmp_path / "a.jsonl").chmod(0o644)
    with pytest.raises(InputError, match=r"chmod 600 a\.jsonl"):
        log.write({"line": 2})
    (tmp_path / "a.jsonl").chmod(0o640)
    log.write({"line": 3})
    assert (tmp_path / "a.jsonl").read_text() == '{"line":3}\n'
    log.close()


HOSTILE = "a\n2026-01-01 ERROR b\r\x1b[31m\x7f\x9b31m\u202e\u2028\u200b\U000e0001é"


def test_no_text_of_a_request_is_obeyed_by_a_terminal_that_shows_a_log(tmp_path: Path):
    log = Journal(tmp_path / "a.jsonl")
    log.write({"questions": [HOSTILE]})
    log.close()
    [line] = (tmp_path / "a.jsonl").read_text().split("\n")[:-1]
    assert line.isprintable() and json.loads(line) == {"questions": [HOSTILE]} and "é" in line


def test_a_message_of_the_server_is_one_line_whatever_it_tells():
    program = (
        "import logging, sys; from sat_retriever.serve.plan import log_warnings; log_warnings(); "
        "logging.warning('failed: %s', sys.argv[1]); "
        "\ntry: raise ValueError(sys.argv[1])\nexcept ValueError: logging.exception('so')"
    )
    told = subprocess.run(
        [sys.executable, "-c", program, HOSTILE], capture_output=True, text=True, check=True
    ).stderr
    lines = told.split("\n")[:-1]
    assert all(each.isprintable() for each in lines)
    assert "ERROR b" in lines[0] and lines[1].endswith("ERROR:root:so")
