"""Fresh environments and what is counted in them, with a wheel made by hand."""

import sys
import zipfile
from importlib.util import find_spec

import pytest

from benchmarks.speed.environment import (
    disk_bytes,
    file_bytes,
    fresh_environment,
    median_seconds,
    run,
)

ABOUT = "Metadata-Version: 2.1\nName: tiny\nVersion: 1.5\n"
KIND = "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
COMMANDS = "[console_scripts]\nsat = tiny:main\n"
CODE = "def main():\n    print('tiny')\n"


@pytest.fixture
def wheel(tmp_path):
    """A package of one module, one command and a file of 50,000 bytes."""
    files = {
        "tiny/__init__.py": CODE,
        "tiny/weights.bin": "x" * 50_000,
        "tiny-1.5.dist-info/METADATA": ABOUT,
        "tiny-1.5.dist-info/WHEEL": KIND,
        "tiny-1.5.dist-info/entry_points.txt": COMMANDS,
    }
    record = "tiny-1.5.dist-info/RECORD"
    path = tmp_path / "tiny-1.5-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        archive.writestr(record, "".join(f"{name},,\n" for name in (*files, record)))
    return path


def test_a_fresh_environment_holds_the_wheel_and_nothing_else(tmp_path, wheel):
    if find_spec("pip") is None:
        pytest.skip("this environment has no pip")
    made = fresh_environment(tmp_path / "made", wheel, ["--no-index"])
    assert run([made.sat], tmp_path) == "tiny\n"
    (package,) = made.packages()
    assert (package.name, package.version) == ("tiny", "1.5")
    assert package.size == file_bytes(made.site)  # its command lies elsewhere and does not count
    assert 50_000 + len(CODE) + len(ABOUT) < package.size < 60_000


def test_links_and_folders_have_no_bytes_of_their_own(tmp_path):
    site = tmp_path / "site"
    (site / "sub").mkdir(parents=True)
    (site / "sub" / "a").write_bytes(b"1" * 1000)
    (site / "b").write_bytes(b"2" * 24)
    (site / "link").symlink_to(site / "b")
    assert file_bytes([site]) == 1024
    assert file_bytes([]) == 0
    assert disk_bytes([site]) % 512 == 0


def test_processes_do_not_see_this_ones_python_path(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    code = "import os; print(os.environ.get('PYTHONPATH'), os.getcwd())"
    assert run([sys.executable, "-c", code], tmp_path).split() == ["None", str(tmp_path)]


def test_a_command_that_fails_says_why(tmp_path):
    command = [sys.executable, "-c", "import sys; sys.exit('no such thing')"]
    with pytest.raises(SystemExit, match=r"failed \(1\): no such thing"):
        run(command, tmp_path)


SLEEPY = """import pathlib, sys, time
name, *seconds = sys.argv[1:]
order = pathlib.Path("order")
done = order.read_text() if order.exists() else ""
order.write_text(done + name)
time.sleep(float(seconds[done.count(name)]))
"""


def test_times_are_medians_of_rounds_that_take_turns_after_a_warm_up(tmp_path):
    commands = {
        name: [sys.executable, "-c", SLEEPY, name, *seconds.split()]
        for name, seconds in (("s", "0.3 0 0.3 0"), ("l", "0 0.3 0 0.3"))
    }
    found = median_seconds(commands, tmp_path, 3)
    assert (tmp_path / "order").read_text() == "slslslsl"
    assert list(found) == ["s", "l"]
    assert found["l"] >= 0.3
    assert 0 < found["s"] < found["l"]
