"""Units made side by side come in the plan's order, and not all at once."""

from __future__ import annotations

import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

import pytest

from sat_retriever.errors import OutputError
from sat_retriever.synth.plan.plan import Plan
from sat_retriever.synth.plan.scales import scale
from sat_retriever.synth.unit import made_units, unit_books
from sat_retriever.synth.words.vocabulary import Vocabulary

WORDS = Vocabulary.load()


def plan(size: str) -> Plan:
    return Plan(scale(size), (2024, 2025), 3, 0, WORDS)


def written(folder: Path) -> int:
    return sum(file.is_file() for file in folder.rglob("*.xlsx"))


def test_several_processes_give_the_same_units_in_the_same_order(tmp_path):
    alone = list(made_units(plan("40"), tmp_path / "one", workers=1))
    beside = list(made_units(plan("40"), tmp_path / "two", workers=2))
    assert alone == beside
    assert written(tmp_path / "one") == written(tmp_path / "two") > len(alone)


def test_one_process_makes_a_unit_when_it_is_asked_for(tmp_path):
    units = made_units(plan("40"), tmp_path, workers=1)
    first = next(units)
    assert written(tmp_path) == first.workbooks
    second = next(units)
    assert written(tmp_path) == first.workbooks + second.workbooks


def test_processes_do_not_run_far_ahead_of_what_is_taken(tmp_path):
    planned = list(plan("400").units())
    assert len(planned) > 20
    most = sum(len(unit_books(unit)) for unit in planned[:12])
    many = made_units(plan("400"), tmp_path, workers=2)
    taken = sum(unit.workbooks for unit in islice(many, 2))
    before = -1
    while before < written(tmp_path) <= most:  # until the processes have nothing to do
        before = written(tmp_path)
        time.sleep(1)
    assert taken <= written(tmp_path) <= most
    many.close()


@pytest.mark.parametrize("workers", [1, 2])
def test_what_goes_wrong_in_a_worker_arrives_here(workers, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="file"):
        list(made_units(plan("40"), tmp_path / "file", workers=workers))


def test_a_script_that_each_process_would_run_again_is_told_so(tmp_path):
    script = tmp_path / "make.py"
    script.write_text(
        "import sys\n"
        "from sat_retriever.synth.corpus import synthesize\n"
        "from sat_retriever.synth.options import SynthOptions\n"
        "synthesize(sys.argv[1], SynthOptions('60', queries=0), workers=2)\n"
    )
    done = subprocess.run(
        [sys.executable, script, tmp_path / "corpus"],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 1
    assert "InputError: a worker process ended early" in done.stderr
    assert "try one worker" in done.stderr  # a tracker of resources may warn after it
