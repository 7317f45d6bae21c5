"""Runs the steps of all pages in one process, so that packages and models are loaded once.

    python driver.py < steps

Each line of the input is a step in JSON: `{"sat": [arguments]}` or `{"python": "code"}`, with the
`folder` that it is run in. Each line of the output is what one step printed, in JSON. A step that
fails ends the process.
"""

from __future__ import annotations

import io
import json
import os
import runpy
import sys
from contextlib import redirect_stdout
from pathlib import Path
from unittest.mock import patch

from sat_retriever.cli import main


def printed(step: dict) -> str:
    """What a step writes to standard output."""
    os.chdir(step["folder"])  # may have been removed and made anew since the last step
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n")
    with redirect_stdout(out):
        if "sat" in step:
            sat(step["sat"])
        else:
            Path("block.py").write_text(step["python"], encoding="utf-8")
            runpy.run_path("block.py", run_name="__main__")
    out.flush()
    return out.buffer.getvalue().decode("utf-8")


def sat(arguments: list[str]) -> None:
    with patch.object(sys, "argv", ["sat", *arguments]):
        try:
            main()
        except SystemExit as end:
            if end.code:
                raise


if __name__ == "__main__":
    for line in sys.stdin:
        sys.stdout.write(json.dumps(printed(json.loads(line))) + "\n")
        sys.stdout.flush()
