"""The files of other programs in the guide for teams, checked by these programs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, blocks

SHOWN = list(blocks(DOCS / "guides" / "team.md"))


def texts(language: str) -> list[str]:
    return [block.text for block in SHOWN if block.language == language]


def program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def test_the_units_are_valid(tmp_path: Path):
    analyze = program("systemd-analyze")
    sat = tmp_path / "sat"
    sat.write_text("#!/bin/sh\n")
    sat.chmod(0o755)
    names = ["sat.service", "sat-index.service", "sat-index.timer"]
    for name, text in zip(names, texts("ini"), strict=True):
        placed = text.replace("/srv/sheets/venv/bin/sat", str(sat)).replace("User=sheets\n", "")
        (tmp_path / name).write_text(placed)
    line = [analyze, "verify", *(str(tmp_path / name) for name in names)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    told = [each for each in done.stderr.splitlines() if str(tmp_path) in each or "sat" in each]
    assert (done.returncode, told) == (0, [])
    (tmp_path / names[0]).write_text("[Service]\nExecStart=none\nRestart=sometimes\n")
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode or "Restart" in done.stderr


@pytest.mark.parametrize("option", ["--workers", "--token-file", "--proxy", "--allow-host"])
def test_the_unit_starts_what_the_guide_explains(option):
    assert option in texts("ini")[0]
    (told,) = [block.text for block in SHOWN if "serving 23 sheets" in block.text]
    assert option in told


def test_proxies_set_who_asks_and_hide_the_probes():
    (nginx,), (caddy,) = texts("nginx"), texts("caddyfile")
    assert "proxy_set_header X-Forwarded-For $remote_addr;" in nginx
    assert "location /health/" in nginx
    assert "respond /health/* 404" in caddy
