"""The counter of rooms and lines, on a small checkout."""

from __future__ import annotations

import subprocess

import house
import pytest

FILES = {
    "sat_retriever/__init__.py": "from sat_retriever.top.front import asked\n",
    "sat_retriever/ground.py": '"""Ground."""\n\nONE = 1  # why\n',
    "sat_retriever/middle/__init__.py": "",
    "sat_retriever/middle/work.py": "from sat_retriever import ground\n",
    "sat_retriever/top/front.py": (
        "import sat_retriever.ground\n\n\ndef asked():\n    '''Two\n    lines.'''\n"
        "    from sat_retriever.middle.work import ground\n    return ground\n"
    ),
    "benchmarks/run.py": "X = '''not\na docstring'''\n",
    "benchmarks/results/a.json": "{}\n",
    "tests/test_it.py": "",
}


@pytest.fixture
def checkout(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    return tmp_path


def test_rooms_are_what_lies_right_below_the_package(checkout):
    plan = house.house(checkout)
    assert (plan.rooms, plan.arrows, plan.floors, plan.circles) == (3, 3, 3, [])


def test_rooms_that_import_each_other_are_a_circle(checkout):
    (checkout / "sat_retriever/ground.py").write_text("import sat_retriever.middle.work\n")
    plan = house.house(checkout)
    assert plan.circles == [["ground", "middle"]]
    assert plan.floors == 2


def test_docstrings_and_comments_are_counted_apart_from_code(checkout):
    library = house.lines(checkout, ["sat_retriever"])
    assert (library.files, library.code, library.docstrings, library.comments) == (5, 7, 3, 1)
    assert house.lines(checkout, ["benchmarks"]).code == 2


def test_the_report_names_each_part(checkout):
    said = house.report(checkout)
    assert said.startswith("rooms 3, arrows 3, floors 3, result files 1\n")
    assert [line.split()[0] for line in said.splitlines()[2:]] == ["library", "benchmarks", "tests"]
