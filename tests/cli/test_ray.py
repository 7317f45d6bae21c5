"""`sat index --ray` as a user runs it, and its errors."""

import json
import socket
import sys

import pytest

from sat_retriever.cli import main
from tests.cli.conftest import run_sat
from tests.saved_encoder import save_bag_of_words


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "data").mkdir()
    for name in "ab":
        (tmp_path / "data" / f"{name}.csv").write_text("Region,Sales\nNorth,1\n")
    (tmp_path / "data" / "empty.xlsx").touch()
    return tmp_path / "data"


def indexing(folder, *options):
    return "index", folder, "--index", folder.parent / "x.sat", *options


def test_the_cores_of_this_machine_index_as_a_cluster_and_stdout_is_json_alone(folder, tmp_path):
    pytest.importorskip("ray", reason="the extra [ray] is not installed")
    encoder = save_bag_of_words(tmp_path / "bag", ["region", "sales"])
    run = run_sat(*indexing(folder, "--ray", "--workers", 1, "--json", "--encoder", encoder))
    assert run.code == 0, run.err
    report = json.loads(run.out)
    assert (report["added"], report["sheets"]) == (3, 2)
    assert [skip["reason"] for skip in report["skipped"]] == ["empty_file"]
    assert "ray" not in run.err.casefold().replace("starting ray", "")


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("/data", "'/data' is no address of a Ray cluster; give host:port"),
        ("ray://head:10001", "'ray://head:10001' is no address of a Ray cluster"),
        ("127.0.0.1:99999", "no Ray cluster answers at 127.0.0.1:99999"),
    ],
)
def test_a_wrong_address_is_refused_before_an_index_is_made(address, message, sat, folder):
    pytest.importorskip("ray", reason="the extra [ray] is not installed")
    run = sat(*indexing(folder, "--ray-address", address))
    assert run.code in (1, 2)
    assert message in run.err
    assert not (folder.parent / "x.sat").exists()


def test_an_address_where_nobody_answers_is_named_with_the_reason(sat, folder):
    pytest.importorskip("ray", reason="the extra [ray] is not installed")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        run = sat(*indexing(folder, "--ray-address", address))
    assert run.code == 1
    assert f"no Ray cluster answers at {address} (Connection refused)" in run.err


def test_without_ray_the_error_names_the_command_that_installs_it(folder, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setattr(sys, "argv", ["sat", *map(str, indexing(folder, "--ray"))])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert "ray is not installed; run: pip install" in " ".join(capsys.readouterr().err.split())
