"""Where a result comes from, in a run folder and in a result file alike."""

import shutil
import subprocess

import pytest

from sat_retriever.train.loop.provenance import command_line, provenance


def test_code_outside_of_a_checkout_has_no_commit(tmp_path, monkeypatch):
    monkeypatch.setattr("sat_retriever.train.loop.provenance._PACKAGE", tmp_path)
    assert (provenance()["commit"], provenance()["dirty"]) == (None, None)


def test_a_command_names_no_folder_of_the_machine():
    words = ["/home/me/venv/bin/sat", "train", "--folder=/data/x/run", "/data/y", "rel/z", "-v"]
    assert command_line(words) == "sat train --folder=run y rel/z -v"


def test_a_module_is_named_as_it_can_be_run_again():
    words = ["python -m benchmarks run main", "run", "main", "--data", "/data/x"]
    said = command_line(words, "benchmarks.__main__")
    assert said == "python -m benchmarks run main --data x"


def test_changes_of_outputs_do_not_make_the_code_dirty(tmp_path):
    if shutil.which("git") is None or provenance()["commit"] is None:
        pytest.skip("this is no checkout, or git is not installed")

    def git(*arguments):
        who = ("-c", "user.name=a", "-c", "user.email=a@b.example")
        subprocess.run(["git", *who, *arguments], cwd=tmp_path, check=True, capture_output=True)

    (tmp_path / "results").mkdir()
    code, result = tmp_path / "code.py", tmp_path / "results" / "one.json"
    for file in (code, result):
        file.write_text("1", encoding="utf-8")
    git("init")
    git("add", ".")
    git("commit", "-m", "first")
    result.write_text("2", encoding="utf-8")
    assert provenance(code=tmp_path)["dirty"] is True
    assert provenance(code=tmp_path, outputs=("results",))["dirty"] is False
    code.write_text("2", encoding="utf-8")
    assert provenance(code=tmp_path, outputs=("results",))["dirty"] is True


def test_a_library_that_is_not_installed_has_no_version():
    versions = provenance(libraries=("numpy", "no-such-library"))["versions"]
    assert versions["numpy"][0].isdigit()
    assert versions["no-such-library"] is None
