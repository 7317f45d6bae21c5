"""What a program imports is on record, since each module that comes new delays every start.

python -m tests.test_imports    write the record anew: tests/imports.txt
"""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

RECORD = Path(__file__).with_name("imports.txt")
PROGRAMS = ("import sat_retriever", "sat --help", "sat search")
SAT = (
    "from sat_retriever.cli import main\n"
    "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end.code"
)


def imported(program: str, folder: Path) -> list[str]:
    """Modules of this package, and packages of others, that a fresh process imports."""
    words = []
    if program == "sat --help":
        words = ["--help"]
    elif program == "sat search":
        (folder / "sales.csv").write_text("Region,Revenue\nNorth,41\nSouth,57\n", encoding="utf-8")
        words = ["search", "revenue by region", "--index", str(folder / "a.sat")]
        run(SAT, "index", str(folder / "sales.csv"), *words[2:])
    code = SAT if words else program
    found = run(f"{code}\nimport sys\nprint(*sys.modules)", *words).splitlines()[-1].split()
    others = packages_distributions().keys() & {name.partition(".")[0] for name in found}
    others -= {*run("import sys; print(*sys.modules)").split(), "sat_retriever"}
    return [*(name for name in sorted(found) if name.startswith("sat_retriever")), *sorted(others)]


def run(code: str, *words: str) -> str:
    command = [sys.executable, "-c", code, *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.skipif(sys.platform != "linux", reason="packages import others on other systems")
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_imports_what_is_on_record_and_no_more(program, tmp_path):
    recorded = RECORD.read_text(encoding="utf-8").split("\n\n")
    known = next(set(each.split("\n")[1:]) for each in recorded if each.startswith(program)) - {""}
    now = set(imported(program, tmp_path))
    assert now == known, (
        f"`{program}` newly imports {sorted(now - known)} and no longer {sorted(known - now)}; "
        "import a module where it is used, or renew the record: python -m tests.test_imports"
    )


if __name__ == "__main__":
    with TemporaryDirectory() as made:
        found = ("\n".join((each, *imported(each, Path(made)), "")) for each in PROGRAMS)
        RECORD.write_text("\n".join(found), encoding="utf-8")
