"""Run what an operator runs, without a container engine, and write down how it went.

    python .ci/deploy_check.py [--out deploy/checked.json]

The steps of the Dockerfile install the package from an export of the last commit; the parts of
compose.yaml run as processes of the image's user (as root; else of this one) beside a real
PostgreSQL. They index, search over HTTP, follow a new workbook, back up, lose the index and restore
it; an index of every older format is backed up, upgraded and rolled back. The first step that
fails ends it. The result names what was not run.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deploy_parts import Parts, installed
from deploy_steps import follow, formats
from distributions import ROOT
from hatchling.metadata.core import ProjectMetadata
from hatchling.plugin.manager import PluginManager
from release import committed

NOT_RUN = (
    "docker build on the base image that the Dockerfile names",
    "docker compose up: its networks, mounts, read-only roots, limits and restarts",
    "the image of PostgreSQL that compose.yaml names",
    "systemd starting the units of deploy/systemd",
)


@dataclass
class Log:
    """The steps so far, with their seconds and what they found."""

    steps: list[dict[str, Any]] = field(default_factory=list)

    @contextmanager
    def step(self, name: str) -> Iterator[dict[str, Any]]:
        """Time a step; what the block puts into the yielded dictionary is noted with it."""
        found: dict[str, Any] = {}
        start = time.monotonic()
        sys.stdout.write(f"{name} ...")
        sys.stdout.flush()
        yield found
        seconds = round(time.monotonic() - start, 1)
        self.steps.append({"step": name, "seconds": seconds, **found})
        told = "".join(f"; {key} {value}" for key, value in found.items())
        sys.stdout.write(f" {seconds} s{told}\n")


def main() -> None:
    """Run all steps and write the result."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "deploy" / "checked.json")
    out = parser.parse_args().out
    commit, _seconds = committed(ROOT)
    version = ProjectMetadata(str(ROOT), PluginManager()).version
    log = Log()
    work = Path(tempfile.mkdtemp(prefix="sat-deploy-"))
    work.chmod(0o755)
    try:
        with log.step("install by the steps of the Dockerfile") as found:
            found["version"] = installed(work, version)
        with Parts.started(work) as parts:
            follow(parts, log.step)
            formats(parts, log.step)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    result = {
        "command": "python .ci/deploy_check.py",
        "commit": commit,
        "as": "the user of the image" if os.geteuid() == 0 else "the user of this machine",
        "steps": log.steps,
        "not_run": list(NOT_RUN),
    }
    out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write("".join(f"not run: {each}\n" for each in NOT_RUN))
    sys.stdout.write(f"{len(log.steps)} steps passed; written to {out}\n")


if __name__ == "__main__":
    main()
