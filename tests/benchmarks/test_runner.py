"""What every suite gets from the runner."""

import json

import pytest

from benchmarks import results, runner
from benchmarks.__main__ import main
from benchmarks.pgserver import UnavailableError
from benchmarks.results import Result, read_summaries
from benchmarks.runner import hidden, option, results_folder, suite


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "FOLDER", tmp_path / "committed")
    monkeypatch.chdir(tmp_path)


@suite(
    "toy",
    "data",
    "work",
    "set",
    "quick",
    size=3,
    rows=[1, 2],
    names=option((), nargs="*"),
    plain=False,
    limit=option(type=int),
    one=hidden(type=int),
)
def toy(options):
    assert options.work.is_dir()
    told = {name: value for name, value in vars(options).items() if name not in ("data", "work")}
    yield Result("m", "d", {"told": json.dumps(told, default=str)})
    yield Result("m", "d", {}, seed=1)


def told(folder):
    return json.loads(read_summaries("toy", folder)["m.d.all"]["metrics"]["told"])


def test_options_have_the_type_of_their_default(tmp_path):
    toy(
        ["--size", "4", "--rows", "7", "8", "--names", "a", "--plain", "--set", "x=1", "--set", "y"]
    )
    found = told(None)
    assert (found["size"], found["rows"], found["names"]) == (4, [7, 8], ["a"])
    assert (found["plain"], found["set"], found["one"]) == (True, ["x=1", "y"], None)
    assert (tmp_path / ".cache" / "toy").is_dir()


def test_results_are_written_as_they_come(tmp_path):
    @suite("toy")
    def stopped(_):
        yield Result("m", "d", {"n": 1})
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped(["--out", str(tmp_path / "out")])
    assert list(read_summaries("toy", tmp_path / "out")) == ["m.d.all"]
    assert not (tmp_path / "committed").exists()


@pytest.mark.parametrize("given", ["--dry", "--quick", "--limit 3", "--dry --out out"])
def test_trials_write_nothing(given, tmp_path, capsys):
    toy(given.split())
    assert not (tmp_path / "committed").exists()
    assert not (tmp_path / "out").exists()
    assert "m.d.all: told" in capsys.readouterr().out


def test_a_trial_is_written_where_it_is_asked_for(tmp_path):
    toy(["--quick", "--out", str(tmp_path / "out")])
    assert told(tmp_path / "out")["quick"] is True


@pytest.mark.parametrize(
    ("arguments", "folder"),
    [
        ([], "committed"),
        (["--set", "x=1"], "runs/results"),
        (["--quick"], "runs/results"),
        (["--quick", "--out", "out"], "out"),
        (["--out", "out"], "out"),
    ],
)
def test_a_trial_is_committed_only_where_it_is_asked_for(arguments, folder, tmp_path):
    @suite("toy", "runs", "set", "quick")
    def tried(options):
        trial = bool(options.set) or options.quick
        options.out = results_folder(options, options.runs, trial=trial)
        yield Result("m", "d", {})

    tried(arguments)
    assert [path.parent for path in tmp_path.rglob("toy.jsonl")] == [tmp_path / folder]


@pytest.mark.parametrize("name", ["main", "adapted", "gpu", "contents", "general"])
def test_the_help_says_where_the_results_of_a_trial_are_not(name, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["x"])
    with pytest.raises(SystemExit):
        main(["run", name, "--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert "written only with --out" not in said
    assert "those of trials are never among the committed" in said


def test_results_may_belong_to_another_suite(tmp_path):
    @suite("toy")
    def other(options):
        options.suite = "other"
        yield Result("m", "d", {})

    other(["--out", str(tmp_path)])
    assert list(read_summaries("other", tmp_path)) == ["m.d.all"]


def test_a_server_that_is_not_there_is_no_failure(capsys):
    @suite("toy")
    def refused(_):
        raise UnavailableError("no server")
        yield

    refused()
    assert capsys.readouterr().out == "not run: no server\n"


def test_numbers_are_shown_and_lists_are_not(capsys):
    runner.say(
        Result("m", "d", {"n": 12_345, "s": 12_345.6, "share": 0.123456, "rows": [1], "none": None})
    )
    assert capsys.readouterr().out == "m.d.all: n 12,345, s 12,346, share 0.1235\n"
