import sys

import pytest

from benchmarks import results
from benchmarks.__main__ import main
from benchmarks.registry import TABLES


@pytest.mark.parametrize("name", TABLES)
def test_every_table_tells_its_options(name, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["-m benchmarks", "run", name, "--help"])
    with pytest.raises(SystemExit) as ended:
        main(["run", name, "--help"])
    assert ended.value.code == 0
    assert f"python -m benchmarks run {name}" in capsys.readouterr().out


def test_the_tables_are_listed_with_what_they_measure(capsys):
    assert main(["list"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in TABLES)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [([], "python -m benchmarks list"), (["run", "nonsense"], "there is no table 'nonsense'")],
)
def test_wrong_usage_says_what_there_is(arguments, message, capsys):
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


def test_what_cannot_be_run_is_said_without_a_traceback(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["x"])
    missing = ["run", "cascade", "--data", str(tmp_path), "--runs", str(tmp_path)]
    assert main(missing) == 1
    assert capsys.readouterr().err.startswith(f"error: {tmp_path}")


def test_the_command_of_a_result_can_be_typed_again(monkeypatch, tmp_path):
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    monkeypatch.setattr(
        sys, "argv", ["python -m benchmarks run main", "run", "main", "--seeds", "4"]
    )
    monkeypatch.setattr(
        sys.modules["__main__"], "__spec__", type("Spec", (), {"name": "b.__main__"})
    )
    results.write_result("x", results.Result("m", "d", {}))
    [found] = results.read_results("x")
    assert found["provenance"]["command"] == "python -m b run main --seeds 4"
