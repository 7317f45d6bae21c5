"""Image, compose file and units agree with the command line and with one another."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from configparser import RawConfigParser
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import deployment
import pytest
import typer
from deployment import SERVICES, said

from sat_retriever.cli import app
from sat_retriever.cli.serve import DEFAULT_PORT
from sat_retriever.index.store.place import IndexUrl
from sat_retriever.serve.plan import STOP_S
from tests.places import ROOT

UNITS = ROOT / "deploy" / "systemd"
SERVICE_UNITS = sorted(UNITS.glob("*.service"))
NAMES = {"SAT_VERSION": "0.1.0", "SAT_WORKBOOKS": "/srv/workbooks", "SAT_HOST": "sheets.example"}


def compose() -> dict[str, Any]:
    """The compose file with its variables filled in."""
    return deployment.compose(NAMES)


def unit(path: Path) -> RawConfigParser:
    found = RawConfigParser(strict=False)
    found.optionxform = str
    found.read(path)
    return found


def parsed(arguments: list[str]) -> dict[str, Any]:
    """The options of a `sat` command line, by the command's own parser; wrong ones fail."""
    group = typer.main.get_command(app)
    command = group.commands[arguments[0]]
    return command.make_context(arguments[0], arguments[1:]).params


def command_lines() -> dict[str, list[str]]:
    lines = {"image": json.loads(said("CMD")[0])}
    for name in SERVICES:
        lines[name] = compose()["services"][name]["command"]
    check = compose()["services"]["indexer"]["healthcheck"]["test"]
    assert check[:2] == ["CMD", *json.loads(said("ENTRYPOINT")[0])]
    lines["check of the indexer"] = check[2:]
    for path in SERVICE_UNITS:
        program, *rest = shlex.split(unit(path)["Service"]["ExecStart"])
        assert program == "/opt/sat/bin/sat", "where the guide installs it"
        lines[path.name] = rest
    return lines


LINES = command_lines()


@pytest.mark.parametrize("where", LINES)
def test_every_command_is_one_with_options_that_it_has(where, monkeypatch):
    monkeypatch.setenv("SAT_INDEX", compose()["x-sat"]["environment"]["SAT_INDEX"])
    assert parsed(LINES[where])


def test_a_wrong_option_would_be_seen():
    with pytest.raises(Exception, match="No such option"):
        parsed(["backup", "/backups", "--keeep", "14"])


def test_ports_and_probes_are_those_of_the_server():
    assert said("EXPOSE") == [str(DEFAULT_PORT)]
    [mapping] = compose()["services"]["page"]["ports"]
    assert mapping == f"127.0.0.1:{DEFAULT_PORT}:{DEFAULT_PORT}"  # never open to a network
    [check] = said("HEALTHCHECK")
    [address] = re.findall(r"http://127\.0\.0\.1:(\d+)(/[\w/]+)", check)
    assert address == (str(DEFAULT_PORT), "/health/ready")
    for line in (LINES["image"], LINES["page"]):
        options = parsed(line)
        assert options["host"] == "0.0.0.0" and options["token_file"]
        assert options["port"] == DEFAULT_PORT
    service = compose()["services"]["page"]
    assert (
        int(service["stop_grace_period"].removesuffix("s")) > parsed(LINES["page"])["stop_seconds"]
    )


def test_a_path_in_a_command_is_a_volume_or_a_secret_of_its_service():
    for name in SERVICES:
        service = compose()["services"][name]
        mounts = {each.split(":")[1] for each in service["volumes"]}
        mounts |= {each.split(":")[0] for each in service["tmpfs"]}
        mounts |= {f"/run/secrets/{each}" for each in service["secrets"]}
        named = re.findall(r"(?:^|=)(/[\w/]+)", "\n".join(service["command"]), re.MULTILINE)
        environment = [x for x in service["environment"].values() if x.startswith("/")]
        for path in (*named, *environment):
            assert path in mounts, f"{name}: {path}"
        cache_home = re.search(r"XDG_CACHE_HOME=(\S+)", said("ENV")[0])[1]
        for path in ("/tmp", cache_home if name != "backup" else "/tmp", *said("WORKDIR")):
            assert path in mounts, f"{name} has a root that cannot be written, and needs {path}"
    volumes = {
        each.split(":")[0]
        for service in compose()["services"].values()
        for each in service["volumes"]
        if not each.startswith("/")
    }
    assert volumes == set(compose()["volumes"])
    used = {x for service in compose()["services"].values() for x in service.get("secrets", [])}
    assert used == set(compose()["secrets"])
    workbooks = [
        x for n in SERVICES for x in compose()["services"][n]["volumes"] if "workbooks" in x
    ]
    assert workbooks == ["/srv/workbooks:/workbooks:ro"] * 2  # an index knows where its files are


def test_the_index_is_in_the_database_that_is_started():
    database = compose()["services"]["db"]
    url = IndexUrl.parse(compose()["x-sat"]["environment"]["SAT_INDEX"])
    user, name = (database["environment"][f"POSTGRES_{each}"] for each in ("USER", "DB"))
    assert (
        url.conninfo == f"postgresql://{user}@db:5432/{name}"
        and url.conninfo == url.whole.split("?")[0]
    )
    assert f"--username={user}" in database["healthcheck"]["test"]
    assert f"--dbname={name}" in database["healthcheck"]["test"]


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_has_few_rights_and_limits(name):
    service = compose()["services"][name]
    assert service["user"] == said("USER")[-1] == "10001:10001"
    assert service["read_only"] and service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert service["mem_limit"] and service["pids_limit"]
    assert "healthcheck" in service or name == "page"  # whose check is the image's
    assert all("PASSWORD" not in key for key in service["environment"])
    for other in service["depends_on"]:
        assert "test" in compose()["services"][other]["healthcheck"]


def test_the_image_is_made_of_what_is_sent_to_its_build():
    sent = [x[1:] for x in (ROOT / ".dockerignore").read_text().splitlines() if x.startswith("!")]
    copied = [x for each in said("COPY") if not each.startswith("--") for x in each.split()[:-1]]
    assert sorted(sent) == sorted(copied)
    assert all((ROOT / each).exists() for each in copied)
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    [extras] = [each.partition("=")[2].split(",") for each in said("ARG") if "EXTRAS" in each]
    assert {"serve", "postgres", "watch"} <= set(extras) <= set(known)
    heavy = {"torch", "transformers"}
    for extra in extras:
        assert not heavy & {re.split(r"[\[<>=; ]", text)[0] for text in known[extra]}
    [_, final] = said("FROM")
    assert "AS" not in final  # the last stage is the image


def test_units_agree_on_paths_and_give_the_server_time_to_stop():
    server, watcher, saver = (
        parsed(LINES[f"{name}.service"]) for name in ("sat", "sat-watch", "sat-backup")
    )
    assert server["file"] == watcher["file"] == saver["file"]
    for path in SERVICE_UNITS:
        section = unit(path)["Service"]
        assert section["User"] == "sheets"
        states = [f"/var/lib/{each}" for each in section["StateDirectory"].split()]
        assert str(server["file"].parent) in states
        for key in ("NoNewPrivileges", "PrivateTmp", "RestrictNamespaces", "LockPersonality"):
            assert section[key] == "yes"
        assert section["ProtectSystem"] == "strict" and section["UMask"] == "0077"
        if path.name == "sat-backup.service":
            assert str(saver["into"]) in states
    service = unit(UNITS / "sat.service")["Service"]
    assert server["workers"] >= 2  # or a reload would end it
    assert int(service["TimeoutStopSec"]) > max(server["stop_seconds"], STOP_S)
    name = service["LoadCredential"].partition(":")[0]
    assert server["token_file"] == Path(f"%d/{name}")
    assert (UNITS / "sat-backup.timer").is_file()


def program(name: str) -> str:
    found = shutil.which(name) or shutil.which(name, path=str(Path(sys.executable).parent))
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def run(*line: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(each) for each in line], capture_output=True, text=True, timeout=60, check=False
    )


def test_hadolint_finds_nothing_in_the_dockerfile(tmp_path):
    hadolint = program("hadolint")
    done = run(hadolint, ROOT / "Dockerfile")
    assert (done.returncode, done.stdout) == (0, "")
    (tmp_path / "Dockerfile").write_text("FROM python\nRUN cd /x\n")
    assert run(hadolint, tmp_path / "Dockerfile").returncode == 1


def test_the_compose_file_is_of_the_compose_specification(tmp_path):
    check = program("check-jsonschema"), "--builtin-schema", "vendor.compose-spec"
    done = run(*check, ROOT / "compose.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    (tmp_path / "compose.yaml").write_text("services: {a: {image: b, ports: 3}}\n")
    assert run(*check, tmp_path / "compose.yaml").returncode == 1


def test_systemd_takes_the_units_and_finds_little_to_be_afraid_of(tmp_path):
    analyze = program("systemd-analyze")
    sat = tmp_path / "sat"
    sat.write_text("#!/bin/sh\n")
    sat.chmod(0o755)
    placed = []
    for path in (*SERVICE_UNITS, UNITS / "sat-backup.timer"):
        text = path.read_text().replace("/opt/sat/bin/sat", str(sat)).replace("User=sheets\n", "")
        placed.append(tmp_path / path.name)
        placed[-1].write_text(text)
    done = run(analyze, "verify", *placed)
    told = [each for each in done.stderr.splitlines() if "sat" in each]
    assert (done.returncode, told) == (0, [])
    placed[0].write_text("[Service]\nExecStart=none\nRestart=sometimes\n")
    assert "sometimes" in run(analyze, "verify", placed[0]).stderr
    for path in SERVICE_UNITS:
        done = run(analyze, "security", "--offline=true", "--threshold=25", path)
        if "invalid option" in done.stderr or "unrecognized" in done.stderr:
            pytest.skip("this systemd-analyze cannot look at a unit that is not loaded")
        assert done.returncode == 0, done.stdout


def test_no_variable_of_the_compose_file_is_left_unexplained():
    text = (ROOT / "compose.yaml").read_text("utf-8")
    assert {*re.findall(r"\$\{(\w+)", text)} == set(NAMES)
    for name in NAMES:
        assert re.search(rf"^#   {name} ", text, re.MULTILINE)
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    for secret in compose()["secrets"].values():
        assert any(fnmatchcase(secret["file"].removeprefix("."), f"{x}*") for x in ignored if x)
