import json
import subprocess
import sys

import pytest

from sat_retriever.errors import InputError, OutputError, TrainingError
from sat_retriever.train.loop.runfolder import RunFolder

CONFIG = {"kind": "tiny", "learning_rate": 2e-4, "blend": (0.0, 10.0), "deep": {"layers": 4}}


def opened(folder, **changed) -> RunFolder:
    return RunFolder.open(folder, {**CONFIG, **changed}, data_hash="abcd", data_name="tiny")


def test_a_new_run_says_what_it_runs_with(tmp_path):
    config = opened(tmp_path / "new" / "run").config()
    assert config["settings"] == {**CONFIG, "blend": [0.0, 10.0]}
    assert config["data"] == {"name": "tiny", "hash": "abcd"}
    (start,) = config["starts"]
    assert start["versions"].keys() == {
        "python", "sqlite", "sat-retriever", "torch", "transformers", "accelerate"
    }  # fmt: skip
    assert start["hardware"]["cores"] >= 1
    assert start["hardware"]["processes"] == 1
    assert start["started"].endswith("+00:00")
    assert isinstance(start["dirty"], bool) == isinstance(start["commit"], str)


def test_the_same_run_is_gone_on_with_and_each_start_is_noted(tmp_path):
    opened(tmp_path / "run").log({"step": 1})
    again = opened(tmp_path / "run")
    assert again.metrics() == [{"step": 1}]
    assert len(again.config()["starts"]) == 2


@pytest.mark.parametrize(
    ("changed", "message"),
    [({"learning_rate": 1e-3}, r"learning_rate is 0\.0002, here it is 0\.001"),
     ({"deep": {"layers": 3}}, r"deep\.layers is 4, here it is 3"),
     ({"blend": (0.0,)}, r"blend is \[0\.0, 10\.0\], here it is \[0\.0\]"),
     ({"extra": True}, r"extra is not set, here it is true")],
)  # fmt: skip
def test_another_run_is_refused_with_the_setting_that_differs(tmp_path, changed, message):
    before = opened(tmp_path / "run").config()
    with pytest.raises(TrainingError, match=message) as raised:
        opened(tmp_path / "run", **changed)
    assert "name a new folder" in str(raised.value)
    assert opened(tmp_path / "run").config()["starts"][:-1] == before["starts"]


def test_another_data_set_is_refused(tmp_path):
    opened(tmp_path / "run")
    with pytest.raises(TrainingError, match='data hash is "abcd", here it is "ef"'):
        RunFolder.open(tmp_path / "run", CONFIG, data_hash="ef")


def test_a_folder_with_foreign_files_is_refused_and_left_alone(tmp_path):
    (tmp_path / "thesis.docx").write_text("years of work")
    with pytest.raises(TrainingError, match=r"thesis\.docx"):
        opened(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.docx"]


def test_a_file_is_no_run_folder(tmp_path):
    (tmp_path / "run").write_text("x")
    with pytest.raises(TrainingError, match="is a file"):
        opened(tmp_path / "run")


def test_hidden_files_do_not_make_a_folder_foreign(tmp_path):
    (tmp_path / ".DS_Store").write_text("")
    opened(tmp_path)
    assert (tmp_path / "config.json").exists()


@pytest.mark.parametrize(
    "content",
    ["{", "[]", '{"format": "other"}', '{"format": "sat-training", "format_number": 2}',
     '{"format": "sat-training", "format_number": 1}'],
)  # fmt: skip
def test_a_damaged_or_foreign_config_is_refused(tmp_path, content):
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(TrainingError, match=r"config\.json"):
        opened(tmp_path)
    assert (tmp_path / "config.json").read_text() == content


@pytest.mark.parametrize("value", [{1, 2}, float("nan"), object()])
def test_settings_that_are_no_json_are_refused(tmp_path, value):
    with pytest.raises(InputError, match="JSON"):
        opened(tmp_path / "run", odd=value)
    assert not (tmp_path / "run").exists()


def test_a_line_torn_by_a_kill_is_dropped_and_the_next_one_is_whole(tmp_path):
    run = opened(tmp_path)
    run.log({"step": 1})
    with (tmp_path / "metrics.jsonl").open("a") as stream:
        stream.write('{"step": 2, "lo')
    assert run.metrics() == [{"step": 1}]
    again = opened(tmp_path)
    again.log({"step": 2})
    assert again.metrics() == [{"step": 1}, {"step": 2}]


def test_cutting_keeps_the_first_lines(tmp_path):
    run = opened(tmp_path)
    for step in range(5):
        run.log({"step": step})
    run.cut(3)
    assert run.metrics() == [{"step": 0}, {"step": 1}, {"step": 2}]
    run.cut(9)
    assert len(run.metrics()) == 3


def test_a_process_that_is_not_the_main_one_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("RANK", "1")
    other = opened(tmp_path / "run")
    other.log({"step": 1})
    other.finish({"best_epoch": 1})
    assert not (tmp_path / "run").exists()
    monkeypatch.setenv("RANK", "0")
    opened(tmp_path / "run").log({"step": 1})
    before = (tmp_path / "run" / "config.json").read_bytes()
    monkeypatch.setenv("RANK", "1")
    other = opened(tmp_path / "run")
    other.cut(0)
    assert other.metrics() == [{"step": 1}]
    assert (tmp_path / "run" / "config.json").read_bytes() == before
    with pytest.raises(TrainingError, match="learning_rate"):
        opened(tmp_path / "run", learning_rate=1.0)


def test_a_finished_run_holds_the_model_and_its_result(tmp_path):
    run = opened(tmp_path)
    saved = run.phase("graph") / "best-2" / "model"
    (saved / "reranker").mkdir(parents=True)
    (saved / "reranker" / "config.json").write_text("{}")
    assert not run.finished
    with pytest.raises(TrainingError, match="not finished"):
        run.result()
    run.finish({"best_epoch": 2}, saved)
    again = opened(tmp_path)
    assert again.finished
    assert again.result() == {"best_epoch": 2}
    assert len(again.config()["starts"]) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "config.json", "reranker", "result.json"
    ]  # fmt: skip


def test_finishing_goes_on_after_a_kill_half_way(tmp_path):
    run = opened(tmp_path)
    saved = run.phase("") / "best-1" / "model"
    for name in ("encoder", "sentence-transformers"):
        (saved / name).mkdir(parents=True)
        (saved / name / "file").write_text(name)
    (saved / "encoder").rename(tmp_path / "encoder")  # what the killed attempt had moved
    run.finish({"best_epoch": 1}, saved)
    for name in ("encoder", "sentence-transformers"):
        assert (tmp_path / name / "file").read_text() == name


@pytest.mark.parametrize("name", ["config.json", "training", "metrics.jsonl"])
def test_a_model_never_replaces_a_file_of_the_run(tmp_path, name):
    run = opened(tmp_path)
    saved = run.phase("") / "best-1" / "model"
    saved.mkdir(parents=True)
    (saved / name).write_text("model")
    before = (tmp_path / "config.json").read_bytes()
    with pytest.raises(TrainingError, match=name):
        run.finish({}, saved)
    assert (tmp_path / "config.json").read_bytes() == before
    assert not run.finished


FULL_DISK = """
import resource, sys
sys.modules["torch"] = None  # slow to import, and not needed to fill a disk
from sat_retriever.errors import OutputError
from sat_retriever.train.loop.runfolder import RunFolder
run = RunFolder.open(sys.argv[1], {"a": 1}, data_hash="h")
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
errors = []
for step in range(9):
    try:
        run.log({"step": step, "text": "x" * 20})
    except OutputError as error:
        errors.append(str(error))
try:
    run.finish({"text": "x" * 200})
except OutputError as error:
    errors.append(str(error))
print(len(errors), errors[0])
"""


def test_a_full_disk_is_our_error_and_loses_nothing_that_was_there(tmp_path):
    pytest.importorskip("resource")
    command = [sys.executable, "-c", FULL_DISK, str(tmp_path / "run")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout.split()[0]) >= 2
    assert "metrics.jsonl cannot be written: File too large" in done.stdout
    again = RunFolder.open(tmp_path / "run", {"a": 1}, data_hash="h")
    assert [row["step"] for row in again.metrics()] == list(range(len(again.metrics())))
    assert len(again.metrics()) >= 2
    assert not again.finished


def test_a_folder_that_cannot_be_made_is_our_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        opened(tmp_path / "file" / "run")


def test_a_row_is_one_line_of_json(tmp_path):
    run = opened(tmp_path)
    run.log({"text": "two\nlines \u2028 and more"})
    (line,) = (tmp_path / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(line) == {"text": "two\nlines \u2028 and more"}


# Two commands in one folder


def test_a_second_command_in_the_same_folder_is_refused_and_changes_nothing(tmp_path):
    run = opened(tmp_path / "run")
    with run.held():
        before = (tmp_path / "run" / "config.json").read_bytes()
        with pytest.raises(TrainingError, match="another process trains in"):
            opened(tmp_path / "run")
        with pytest.raises(TrainingError, match="wait until it has ended"), run.held():
            pass
        assert (tmp_path / "run" / "config.json").read_bytes() == before
        other = RunFolder(run.path, main=False)
        with other.held():  # the other processes of the same training
            pass
    with opened(tmp_path / "run").held():
        pass
    assert len(run.config()["starts"]) == 2


def test_a_folder_is_free_again_when_its_training_was_killed(tmp_path):
    opened(tmp_path / "run")
    code = (
        "import os, sys\nfrom pathlib import Path\n"
        "from sat_retriever.train.loop.runfolder import RunFolder\n"
        "with RunFolder(Path(sys.argv[1]), main=True).held():\n    os.kill(os.getpid(), 9)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "run")]
    assert subprocess.run(command, check=False).returncode == -9
    with opened(tmp_path / "run").held():
        pass


# Memory


def test_peak_memory_is_this_process_own_not_that_of_the_one_that_started_it():
    if not sys.platform.startswith("linux"):
        pytest.skip("only Linux says what a process was started with")
    pytest.importorskip("torch", reason="torch is not installed")
    code = (
        "import importlib.util, sys, types\n"
        "sys.modules['torch'] = types.ModuleType('torch')\n"
        "sys.modules['torch'].device = object\n"
        "spec = importlib.util.spec_from_file_location('memory', sys.argv[1])\n"
        "memory = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(memory)\n"
        "print(memory.largest_memory_mib())"
    )
    large = bytearray(300 << 20)
    large[:: 1 << 12] = b"x" * len(large[:: 1 << 12])
    from sat_retriever.train.loop import memory

    assert memory.largest_memory_mib() > 300
    found = subprocess.run(
        [sys.executable, "-c", code, memory.__file__], capture_output=True, text=True, check=True
    )
    assert 2 < float(found.stdout) < 150
