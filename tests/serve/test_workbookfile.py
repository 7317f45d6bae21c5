"""Workbooks as files: given out as they are, opened on this machine, or neither."""

from __future__ import annotations

import http.client
import os
import shutil
import sys
import time
from pathlib import Path
from urllib.parse import urlencode

import pytest

from sat_retriever import SheetIndex, index_paths
from sat_retriever.errors import InputError
from sat_retriever.serve.oidc import Oidc
from sat_retriever.serve.plan import OpenFiles, Plan
from sat_retriever.serve.serving import listen, open_files_at
from sat_retriever.serve.trusted import TrustedHeader
from sat_retriever.serve.workbookfile import is_local
from tests.serve.conftest import Server, serving

Q1 = "2024/Sales 2024.xlsx#Q1"
STAFF = "staff.csv#staff"
FORM = {"Content_Type": "application/x-www-form-urlencoded"}

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the desktop is a false xdg-open")


@pytest.fixture(scope="module")
def opened(tmp_path_factory) -> Path:
    """A file to which a false desktop writes what it is to open."""
    folder = tmp_path_factory.mktemp("desktop")
    program = folder / "xdg-open"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> "{folder}/opened"\n')
    program.chmod(0o700)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
        patch.setenv("DISPLAY", ":0")
        yield folder / "opened"


@pytest.fixture(scope="module")
def books(reports, index_file, tmp_path_factory) -> Path:
    """An index of workbooks that a test may change."""
    folder = tmp_path_factory.mktemp("books")
    shutil.copytree(reports, folder / "reports")
    index_paths(
        [folder / "reports"], folder / "own.sat", encoder=reports.parent / "encoder"
    ).close()
    return folder


@pytest.fixture(scope="module")
def desktop(books, opened):
    with serving(books / "own.sat", "--rate", 0) as started:
        yield started


def downloaded(
    server: Server, sheet: str, method: str = "GET"
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request(method, f"/workbook?{urlencode({'id': sheet})}", headers=server.headers)
    answer = connection.getresponse()
    found = answer.status, dict(answer.headers), answer.read()
    connection.close()
    return found


def asked(server: Server, headers: dict[str, str] | None = None, **form: str) -> tuple[int, str]:
    answer = server.ask("/open", "POST", urlencode(form).encode(), **FORM, **(headers or {}))
    return answer.status, answer.text


def lines(opened: Path) -> list[str]:
    found = opened.read_text().splitlines() if opened.exists() else []
    opened.unlink(missing_ok=True)
    return found


def test_a_workbook_is_given_out_as_it_is_to_be_saved_and_never_shown(books, desktop):
    status, headers, data = downloaded(desktop, Q1)
    assert (status, data) == (200, (books / "reports" / "2024" / "Sales 2024.xlsx").read_bytes())
    assert headers["content-disposition"].startswith('attachment; filename="Sales 2024.xlsx"')
    assert headers["content-type"] == "application/octet-stream"
    assert headers["x-content-type-options"] == "nosniff"
    assert int(headers["content-length"]) == len(data)
    assert downloaded(desktop, Q1, "HEAD")[1]["content-length"] == headers["content-length"]


def test_a_hostile_name_is_a_plain_one_in_the_header(desktop):
    sheet = "evil/<img src=x onerror=hacked=1> rent.xlsx#<b>rent"
    said = downloaded(desktop, sheet)[1]["content-disposition"]
    assert said.startswith('attachment; filename="img src x onerror hacked 1 rent.xlsx";')


def test_a_workbook_and_its_folder_are_opened_on_this_machine(books, desktop, opened):
    folder = books / "reports" / "2024"
    assert asked(desktop, open=Q1) == (204, "")
    assert lines(opened) == [str(folder / "Sales 2024.xlsx")]
    assert asked(desktop, folder=Q1) == (204, "")
    assert lines(opened) == [str(folder)]


@pytest.mark.parametrize(
    "sheet",
    ["", "../secret.csv#secret", "reports/../../secret.csv#secret", "/etc/passwd", "staff.csv",
     "--help", "staff.csv#staff\0", "2024/Sales 2024.xlsx#../Q1"],
)  # fmt: skip
def test_what_is_no_sheet_of_the_index_is_neither_opened_nor_given_out(desktop, opened, sheet):
    for form in ({"open": sheet}, {"folder": sheet}, {"id": sheet}):
        assert asked(desktop, **form)[0] in (400, 404)
    status, _, data = downloaded(desktop, sheet)
    assert status in (400, 404)
    assert b"hush" not in data
    assert lines(opened) == []


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"X_Forwarded_For": "10.0.0.7"},
        {"Forwarded": "for=10.0.0.7"},
        {"Host": "reports.example"},
    ],
    ids=str,
)
def test_no_other_site_and_no_other_machine_opens_anything(desktop, opened, headers):
    assert asked(desktop, headers, open=Q1)[0] in (403, 421)
    assert lines(opened) == []


def test_opening_is_no_page_that_a_link_can_lead_to(desktop, opened):
    for method in ("GET", "HEAD", "PUT", "DELETE"):
        answer = desktop.ask(f"/open?{urlencode({'open': Q1})}", method)
        assert (answer.status, answer.headers["allow"]) == (405, "POST")
    assert asked(desktop, {"Content_Length": "200000"}, open="x" * 200_000)[0] == 413
    assert lines(opened) == []


@pytest.mark.parametrize(
    ("client", "host", "local"),
    [
        ("127.0.0.1", "localhost:80", True),
        ("::1", "[::1]:80", True),
        ("10.0.0.7", "127.0.0.1", False),
        ("unix", "127.0.0.1", False),
        ("127.0.0.1", "reports.example", False),
    ],
)
def test_only_a_client_of_this_machine_is_local(client, host, local):
    headers = [(b"host", host.encode())]
    assert is_local({"client": (client, 1), "headers": headers}) is local
    assert not is_local({"client": (client, 1), "headers": [*headers, (b"via", b"1.1 x")]})


def test_a_workbook_that_is_gone_or_leads_elsewhere_by_now_is_told_in_words(
    reports, index_file, tmp_path, opened
):
    folder = tmp_path / "reports"
    shutil.copytree(reports, folder)
    index_paths([folder], tmp_path / "own.sat", encoder=reports.parent / "encoder").close()
    secret = tmp_path / "secret.csv"
    secret.write_text("Password\nhush\n")
    (folder / "staff.csv").unlink()
    (folder / "staff.csv").symlink_to(secret)
    (folder / "2024" / "Sales 2024.xlsx").unlink()
    shutil.rmtree(folder / "pumps")
    (folder / "pumps").symlink_to("/etc")
    with serving(tmp_path / "own.sat") as own:
        for sheet, status in ((STAFF, 409), (Q1, 410), ("pumps/Readings.xlsx#Long", (409, 410))):
            expected = (status,) if isinstance(status, int) else status
            found = [downloaded(own, sheet)[::2], asked(own, open=sheet), asked(own, folder=sheet)]
            for code, text in found:
                assert code in expected
                assert str(tmp_path) not in str(text)
                assert "hush" not in str(text)
        assert b"is gone; index its folder again" in downloaded(own, Q1)[2]
        page = own.get("/sheet", id=Q1)
        assert (page.status, "is gone" in page.text) == (410, True)
    assert lines(opened) == []


def test_a_link_within_the_folder_is_followed_but_no_other_kind_of_file_is_opened(
    reports, index_file, tmp_path, opened
):
    folder = tmp_path / "reports"
    shutil.copytree(reports, folder)
    index_paths([folder], tmp_path / "own.sat", encoder=reports.parent / "encoder").close()
    (folder / "staff.csv").rename(folder / "staff.desktop")
    (folder / "staff.csv").symlink_to(folder / "staff.desktop")
    with serving(tmp_path / "own.sat") as own:
        status, said = asked(own, open=STAFF)
        assert status == 409
        assert "no name of a workbook" in said
        assert downloaded(own, STAFF)[0] == 200
    assert lines(opened) == []


@pytest.mark.parametrize("mode", ["off", "download"])
def test_a_server_may_give_out_workbooks_and_open_none_or_neither(books, opened, mode):
    with serving(books / "own.sat", "--open-files", mode) as own:
        assert downloaded(own, Q1)[0] == (200 if mode == "download" else 403)
        assert asked(own, open=Q1)[0] == 403
        for page in (own.get("/", q="revenue"), own.get("/sheet", id=Q1)):
            assert ("Download workbook" in page.text) == (mode == "download")
            assert "Open workbook" not in page.text
            assert "Copy path" in page.text
    assert lines(opened) == []


def test_the_ways_to_a_workbook_are_on_the_sheet_and_on_each_hit(desktop):
    for page in (desktop.get("/", q="revenue"), desktop.get("/sheet", id=Q1)):
        for said in ("Open workbook", "Show in folder", "Download workbook", "Copy path"):
            assert said in page.text
        assert f'name="open" value="{Q1}"' in page.text
        assert page.headers["referrer-policy"] == "same-origin"  # so the form names its origin


def test_a_program_that_fails_is_told(books, tmp_path, monkeypatch):
    program = tmp_path / "xdg-open"
    program.write_text("#!/bin/sh\nexit 4\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    with serving(books / "own.sat") as own:
        status, said = asked(own, open=Q1)
        assert (status, "could open it" in said) == (500, True)
        program.write_text("#!/bin/sh\nexec sleep 30\n")  # a program that stays is not waited for
        start = time.monotonic()
        assert asked(own, open=Q1)[0] == 204
        assert time.monotonic() - start < 20


def test_who_sees_a_part_of_an_index_gets_no_file_that_may_hold_more(books, tmp_path, opened):
    file = tmp_path / "ruled.sat"
    shutil.copy(books / "own.sat", file)
    with SheetIndex.open(file) as index:
        index.permit(lambda record: ["hr"] if record.path == "staff.csv" else ["sales"])
    with serving(file, "--as", "sales") as own:
        assert downloaded(own, STAFF)[0] == 404  # as if it were not there
        assert asked(own, open=STAFF)[0] == 403
        status, _, said = downloaded(own, Q1)
        assert (status, b"owner" in said) == (403, True)
        assert asked(own, open=Q1)[0] == 403
        assert "Download workbook" not in own.get("/sheet", id=Q1).text
    with serving(file, "--as-owner") as own:
        assert downloaded(own, STAFF)[0] == 200
        assert asked(own, open=STAFF)[0] == 204
    assert len(lines(opened)) == 1


def test_by_default_files_are_opened_only_if_no_other_machine_reaches_the_server():
    alone = Plan("x", None, page=True, names=())
    with listen("127.0.0.1", 0) as here:
        assert open_files_at(here, alone) == OpenFiles.DESKTOP
        signs_in = TrustedHeader("X-User", ["127.0.0.1"])  # a proxy, for people elsewhere
        provider = Oidc("https://login.example", "sheets")
        others = (
            {"names": ["reports.example"]},
            {"proxies": ["127.0.0.1"]},
            {"header": signs_in},
            {"oidc": provider},
        )
        for more in others:
            plan = Plan("x", None, page=True, **{"names": (), **more})
            assert open_files_at(here, plan) == OpenFiles.OFF
    with listen("0.0.0.0", 0) as anywhere:
        assert open_files_at(anywhere, alone) == OpenFiles.OFF
        plan = Plan("x", None, page=True, names=(), open_files=OpenFiles.DOWNLOAD)
        assert open_files_at(anywhere, plan) == OpenFiles.DOWNLOAD
        plan = Plan("x", None, page=True, names=(), open_files=OpenFiles.DESKTOP)
        with pytest.raises(InputError, match="others can reach this server"):
            open_files_at(anywhere, plan)
