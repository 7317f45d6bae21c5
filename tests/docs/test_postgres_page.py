"""The commands of the page on PostgreSQL run, in their order, against a real server."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from benchmarks.pgserver import UnavailableError, binaries, new_server
from tests.docs.pages import ROOT, blocks

PAGE = ROOT / "docs" / "guides" / "postgres.md"
SHIM = f"""#!/bin/sh
exec {sys.executable} -c "from sat_retriever.cli import main; main()" "$@"
"""


@pytest.mark.slow
def test_every_command_of_the_page_on_postgresql_runs(tmp_path):
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "sat").write_text(SHIM)
    (programs / "sat").chmod(0o755)
    try:
        with new_server() as server:
            service = tmp_path / "services.conf"
            service.write_text(f"[sheets]\nhost={server.folder}\ndbname=reports\nuser=postgres\n")
            environment = {
                **os.environ,
                "PATH": f"{programs}:{binaries()}:{os.environ['PATH']}",
                "PGSERVICEFILE": str(service),
                "PYTHONPATH": str(ROOT),
            }
            commands = [line for b in blocks(PAGE) if b.language == "console" for line in shell(b)]
            assert len(commands) > 14
            prepare = f"{sys.executable} {ROOT / 'examples/demo_workbooks.py'} demo/workbooks"
            made = "sat index demo/workbooks --index reports.sat"
            script = "\n".join(["set -e", prepare, made, *commands])
            run = subprocess.run(  # noqa: PLW1510 - what it printed is shown below
                ["bash", "-c", script],
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
            )
    except UnavailableError as reason:
        pytest.skip(str(reason))
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.count("Sales South 2024.xlsx") >= 2


def shell(block) -> list[str]:
    """The commands of a block."""
    return [line[2:] for line in block.text.splitlines() if line.startswith("$ ")]
