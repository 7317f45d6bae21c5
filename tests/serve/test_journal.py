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
