"""Indexes of SharePoint and Google Drive: every kind of change, of failure, of hostile answer."""

import logging

import pytest

from sat_retriever import Limits, SheetRetriever
from sat_retriever.errors import PathNotFoundError, RemoteError
from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.remote import items, rest
from tests.index.sync.test_sync import counts, write_xlsx

CSV = b"Region,Sales\nNorth,1\nSouth,2\n"


def cloudserver():
    """The server's module, which needs packages that not everybody has."""
    from tests import cloudserver

    return cloudserver


def answer(*args, **fields):
    return cloudserver().Answer(*args, **fields)


def reasons(report):
    return {skip.path: skip.reason for skip in report.skipped}


def is_listing(request):
    return request.path.endswith(("/children", "/files"))


def once(*answers, when):
    """Answer the first requests of a kind so, in this order; None lets one be."""
    left = list(answers)
    return lambda request: left.pop(0) if left and when(request) else None


def always(spoilt, when):
    return lambda request: spoilt if when(request) else None


def test_index_change_rename_remove_and_sync_again(cloud, index, tmp_path):
    cloud.put("2024/Q 1/a.csv", CSV)
    book = write_xlsx(tmp_path / "b.xlsx", First=["Name", "Age"]).read_bytes()
    kept = cloud.put("b #1 100%.xlsx", book)
    for name in ("notes.txt", "~$b.xlsx", ".hidden/c.csv", "2024/d.csv", "2024/e.csv"):
        cloud.put(name, CSV)
    report = index.sync(cloud.url)
    assert (counts(report), report.ignored) == ((4, 0, 0, 0), 1)
    ids = ["2024/Q 1/a.csv#a", "2024/d.csv#d", "2024/e.csv#e", "b #1 100%.xlsx#First"]
    assert index.sheet_ids() == ids
    assert cloud.downloads() == 3 * len(CSV) + len(book)

    assert counts(index.sync(f"{cloud.url}/")) == (0, 0, 4, 0)
    assert counts(index.sync(cloud.url, verify=True)) == (0, 0, 4, 0)
    assert cloud.downloads() == 0

    cloud.put("2024/Q 1/a.csv", CSV.replace(b"Sales", b"Costs"))  # of the same size
    assert counts(index.sync(cloud.url)) == (0, 1, 3, 0)
    assert cloud.downloads() == len(CSV)
    assert index.records([ids[0]])[ids[0]].columns[1].name == "Costs"

    kept.name = "c.xlsx"
    assert counts(index.sync(cloud.url)) == (1, 0, 3, 1)
    assert index.sheet_ids()[-1] == "c.xlsx#First"
    cloud.delete(kept)
    assert counts(index.sync(cloud.url)) == (0, 0, 3, 1)
    assert cloud.logins == 1


def test_a_folder_and_a_file_may_be_named_and_ids_stay_those_of_the_folder_above(cloud, index):
    cloud.put("in/sub/a.csv", CSV)
    cloud.put("in/table.txt", CSV)
    index.sync(f"{cloud.url}/in")
    assert counts(index.sync(f"{cloud.url}/in/sub")) == (0, 0, 1, 0)
    assert counts(index.sync(f"{cloud.url}/in/table.txt")) == (1, 0, 0, 0)
    assert index.sheet_ids() == ["sub/a.csv#a", "table.txt#table"]
    with pytest.raises(PathNotFoundError, match="there is nothing at"):
        index.sync(f"{cloud.url}/nothing")


def test_a_hit_has_its_address_and_rules_go_by_its_path(cloud, index, tmp_path):
    cloud.put("hr/a.csv", CSV + b"West,7\n")
    cloud.put("b.csv", CSV)
    rules = '[[rule]]\npaths = "hr/*"\ngroups = ["hr"]\n[[rule]]\npaths = "*"\ngroups = ["*"]\n'
    (tmp_path / "rules.toml").write_text(rules)
    index.permit(tmp_path / "rules.toml")
    index.sync(cloud.url)
    retriever = SheetRetriever(index)
    [hit] = retriever.retrieve("region sales", principals=["sales"])
    assert hit.citation == f"{cloud.url}/b.csv#b!A1:B3"
    assert hit.to_dict()["url"] == f"{cloud.url}/b.csv"
    assert len(retriever.retrieve("region sales", principals=["hr"])) == 2


def test_a_table_is_read_anew_and_says_if_it_changed(cloud, index):
    entry = cloud.put("in/a.csv", CSV)
    index.sync(cloud.url)
    table = index.table("in/a.csv#a")
    assert ([*table.columns[1].values], table.changed) == ([1, 2], False)
    cloud.downloads()
    index.table("in/a.csv#a")
    assert cloud.downloads() == 0
    cloud.put("in/a.csv", CSV.replace(b"2", b"9"))
    table = index.table("in/a.csv#a")
    assert ([*table.columns[1].values], table.changed) == ([1, 9], True)
    cloud.delete(entry)
    with pytest.raises(PathNotFoundError, match="there is no longer a file at"):
        index.table("in/a.csv#a")


def test_a_token_that_has_expired_is_asked_for_anew_once(cloud, index):
    cloud.put("a.csv", CSV)
    index.sync(cloud.url)
    cloud.expire()
    assert counts(index.sync(cloud.url)) == (0, 0, 1, 0)
    assert cloud.logins == 2
    cloud.spoil = always(answer(401), when=lambda request: request.method == "GET")
    with pytest.raises(RemoteError, match=r"denies access \(status 401\); check the credentials"):
        index.sync(cloud.url)
    assert (cloud.logins, cloud.slept) == (3, [])
    assert index.sheet_ids() == ["a.csv#a"]


def test_a_server_that_asks_to_slow_down_is_waited_for(cloud, index):
    cloud.put("a.csv", CSV)
    slow = answer(429, headers={"Retry-After": "7"})
    cloud.spoil = once(slow, answer(503), when=is_listing)
    assert counts(index.sync(cloud.url)) == (1, 0, 0, 0)
    assert cloud.slept == [7.0, rest.PAUSES_S[1]]
    cloud.put("a.csv", CSV + b"East,3\n")
    cloud.spoil = once(slow, when=cloud.is_download)
    assert counts(index.sync(cloud.url)) == (0, 1, 0, 0)
    assert cloud.slept[2:] == [7.0]


LONG = {"id": "x" * 1_000, "name": "a.csv", "mimeType": "text/csv"}
NO_LISTINGS = [
    ((429, {"error": {"code": "tooManyRequests"}}), "slow down (status 429, tooManyRequests)", 3),
    ((429, b"", {"Retry-After": "9999"}), "asks to slow down (status 429); try again later", 0),
    ((503, b"<html>down</html>"), "refuses (status 503); try again later", 3),
    ((403, {"error": {"code": "accessDenied"}}), "denies access (status 403, accessDenied)", 0),
    ((302, b"", {"Location": "http://10.0.0.1/"}), "passes the request on (status 302)", 0),
    ((302, b""), "passes the request on (status 302)", 0),
    ((400, {"error": {"code": "x" * 900, "message": "\x1b"}}), "refuses (status 400)", 0),
    ((200, b"<html>Please log in</html>"), "does not answer as this service does", 0),
    ((200, b"[" * 100_000), "does not answer as this service does", 0),
    ((200, b"[]"), "does not answer as this service does", 0),
    ((200, {}), "does not answer as this service does", 0),
    ((200, {"value": 7, "files": 7}), "does not answer as this service does", 0),
    ((200, {"value": "abc", "files": "abc"}), "does not answer as this service does", 0),
    ((200, {"value": [{}], "files": [{}]}), "does not answer as this service does", 0),
    ((200, {"value": [LONG], "files": [LONG]}), "does not answer as this service does", 0),
    ((200, b" " * 200_000), "sent more than 0 MiB as one answer", 0),
]


def test_a_listing_that_is_none_removes_nothing(cloud, index, monkeypatch):
    cloud.put("a.csv", CSV)
    index.sync(cloud.url)
    monkeypatch.setattr(rest, "ANSWER_BYTES", 150_000)
    for spoilt, told, pauses in NO_LISTINGS:
        cloud.spoil = always(answer(*spoilt), when=is_listing)
        with pytest.raises(RemoteError) as error:
            index.sync(cloud.url)
        assert str(error.value).startswith(f"'{cloud.url}' cannot be read: ")
        assert told in str(error.value)
        assert (len(cloud.slept), index.sheet_ids()) == (pauses, ["a.csv#a"])
        cloud.slept.clear()


def test_a_listing_that_breaks_off_is_none(cloud, index):
    for name in ("a.csv", "b.csv", "c.csv"):
        cloud.put(name, CSV)
    index.sync(cloud.url)
    cut = answer(body={"value": [], "files": []}, cut=5)
    cloud.spoil = once(None, cut, when=is_listing)
    with pytest.raises(RemoteError, match="broke off its answer"):
        index.sync(cloud.url)
    assert len(index) == 3


@pytest.mark.parametrize("same", [True, False])
def test_a_listing_without_end_is_ended(cloud, index, monkeypatch, same):
    cloud.put("a.csv", CSV)
    index.sync(cloud.url)
    monkeypatch.setattr(rest, "MOST_PAGES", 20)
    before = cloud.listings()

    def more(request):
        mark = "same" if same else str(len(cloud.requests))
        link = f"{cloud.address}{request.path}?$skiptoken={mark}"
        body = {"value": [], "files": [], "nextPageToken": mark, "@odata.nextLink": link}
        return answer(body=body) if is_listing(request) else None

    cloud.spoil = more
    with pytest.raises(RemoteError, match="does not end; try again later"):
        index.sync(cloud.url)
    assert cloud.listings() - before == (2 if same else 21)
    assert index.sheet_ids() == ["a.csv#a"]


def test_folders_without_end_are_ended(cloud, index, monkeypatch):
    monkeypatch.setattr(items, "MOST_FOLDERS", 30)
    cloud.put("a.csv", CSV)
    cloud.spoil = lambda request: is_listing(request) and cloud.add("f", "nowhere") and None
    cloud.children = lambda _: [cloud.add(f"{n}", "nowhere") for n in range(3)]
    with pytest.raises(RemoteError, match="more than 30 folders"):
        index.sync(cloud.url)
    assert cloud.listings() < 60


def test_a_folder_inside_itself_is_listed_once(cloud, index):
    inner = cloud.folder("in")
    cloud.put("in/a.csv", CSV)
    listed = cloud.children
    cloud.children = lambda key: listed(key) + ([inner] if key == inner.id else [])
    assert counts(index.sync(cloud.url)) == (1, 0, 0, 0)
    assert cloud.listings() < 6


def test_one_file_that_cannot_be_read_is_named_and_keeps_its_sheets(cloud, index):
    entries = {name: cloud.put(name, CSV) for name in ("a.csv", "b.csv", "c.csv")}
    index.sync(cloud.url)
    for status, told in ((403, "denies access"), (404, "The file is gone"), (500, "refuses")):
        for entry in entries.values():
            cloud.put(entry.name, entry.content + b"East,3\n")

        def is_a(request):
            return cloud.is_download(request) and entries["a.csv"].id in request.path

        cloud.spoil = always(answer(status), when=is_a)
        report = index.sync(cloud.url)
        assert (counts(report), reasons(report)) == ((0, 3, 0, 0), {"a.csv": SkipReason.UNREADABLE})
        assert told in report.skipped[0].message
        assert index.sheet_ids() == ["a.csv#a", "b.csv#b", "c.csv#c"]
    cloud.spoil = lambda _: None
    assert counts(index.sync(cloud.url)) == (0, 1, 2, 0)
    assert len(index.table("a.csv#a")) == 5


def test_a_download_that_breaks_in_the_middle_leaves_the_old_sheets(cloud, index):
    cloud.put("a.csv", CSV)
    index.sync(cloud.url)
    longer = b"Name,Age\n" + b"Ann,1\n" * 10_000
    cloud.put("a.csv", longer)
    cloud.spoil = always(answer(body=longer, cut=30_000), when=cloud.is_download)
    report = index.sync(cloud.url)
    assert (counts(report), reasons(report)) == ((0, 1, 0, 0), {"a.csv": SkipReason.UNREADABLE})
    assert "broke off its answer" in report.skipped[0].message
    assert index.records(["a.csv#a"])["a.csv#a"].columns[0].name == "Region"
    cloud.spoil = lambda _: None
    assert counts(index.sync(cloud.url)) == (0, 1, 0, 0)
    assert index.records(["a.csv#a"])["a.csv#a"].columns[0].name == "Name"


def test_sizes_and_times_that_lie_are_named_or_counted(cloud, index):
    named = {3: "29 bytes came instead of 3", 99: "29 bytes came instead of 99"}
    named[1 << 40] = "1,099,511,627,776 bytes; the limit is"
    usable = [-5, float("nan"), None, "x", [], 1 << 80, "9" * 5_000, True]
    for number, size in enumerate([*named, *usable]):
        cloud.put(f"{number}.csv", CSV, lies={"size": size})
    for number, day in enumerate(["9999-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "soon", 7, {}]):
        lies = {"lastModifiedDateTime": day, "modifiedTime": day}
        cloud.put(f"day {number}.csv", CSV, lies=lies)
    report = index.sync(cloud.url)
    assert [each.path for each in report.skipped] == ["0.csv", "1.csv", "2.csv"]
    assert all(
        told in skip.message for told, skip in zip(named.values(), report.skipped, strict=True)
    )
    assert len(index) == len(usable) + 5


def test_more_bytes_than_were_told_are_cut_off(cloud, index):
    cloud.put("a.csv", CSV, lies={"size": "3" if "gdrive" in cloud.url else 3})
    huge = answer(body=b"x" * 3_000_000, headers={"Content-Length": ""})
    cloud.spoil = always(huge, when=cloud.is_download)
    report = index.sync(cloud.url, limits=Limits(file_bytes=1_000))
    assert reasons(report) == {"a.csv": SkipReason.TOO_LARGE}


def test_names_that_are_no_paths_are_told_and_harm_nothing(cloud, index, tmp_path):
    names = ["..", "a\nb.csv", "\x1b[31m.csv", "\u202ex.csv", "y" * 2_000 + ".csv", "\ud800.csv"]
    for name in names:
        cloud.add(name, content=CSV)
    cloud.add("../../x.csv", content=CSV)
    up = cloud.add("..")
    cloud.add("d.csv", up.id, content=CSV)
    cloud.add("'; DROP TABLE sheets; --?x=1#x.csv", content=CSV)
    before = set(tmp_path.rglob("*"))
    report = index.sync(cloud.url)
    bad = [path for path, reason in reasons(report).items() if reason is SkipReason.BAD_NAME]
    assert sorted(bad) == sorted(["../d.csv", *names[1:4], ("y" * 2_000)[:200]])
    files = {path.name for path in set(tmp_path.rglob("*")) - before if path.is_file()}
    assert files <= {"a.sat-wal", "a.sat-shm", "a.sat.lock"}
    assert "'; DROP TABLE sheets; --?x=1#x.csv" in {each.path for each in index.workbooks()}
    assert all(".." not in each.path.split("/") for each in index.workbooks())


def test_no_secret_is_stored_logged_or_told(cloud, index, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    cloud.put("a.csv", CSV)
    broken = cloud.put("b.csv", CSV)
    cloud.spoil = lambda request: (
        answer(403, {"error": {"code": "no", "message": cloudserver().KEY}})
        if cloud.is_download(request) and broken.id in request.path
        else None
    )
    report = index.sync(cloud.url)
    index.table("a.csv#a")
    [hit] = SheetRetriever(index).retrieve("region sales")
    cloud.spoil = always(answer(401, {"error": "x"}), when=lambda request: request.method == "GET")
    with pytest.raises(RemoteError) as error:
        index.sync(cloud.url)
    files = [each for each in tmp_path.rglob("*") if each.is_file() and each.name != "key.json"]
    told = (report, error.value, error.value.__cause__, index.workbooks(), hit.to_dict())
    said = " ".join(map(str, [*told, caplog.text, *(each.read_bytes() for each in files)]))
    assert "HTTP Request" in caplog.text  # httpx tells of requests, but
    secrets = [cloudserver().SECRET, cloudserver().KEY, "access-token", "tempauth", "PRIVATE KEY"]
    assert [each for each in secrets if each in said] == []


def test_a_ready_token_is_taken_as_it_is(cloud, index, monkeypatch):
    cloud.put("a.csv", CSV)
    cloud.token = "ready-1"
    name = "SAT_DRIVE_TOKEN" if "gdrive" in cloud.url else "SAT_GRAPH_TOKEN"
    monkeypatch.setenv(name, "ready-1\n")
    assert counts(index.sync(cloud.url)) == (1, 0, 0, 0)
    assert cloud.logins == 0
    monkeypatch.setenv(name, "two\nlines")
    cloud.expire()
    with pytest.raises(RemoteError, match="a character that no token has") as error:
        index.sync(cloud.url)
    assert "lines" not in str(error.value)


def test_a_server_that_is_away_is_told(cloud, index, monkeypatch):
    name = "DRIVE" if "gdrive" in cloud.url else "GRAPH"
    ready, name = f"SAT_{name}_TOKEN", f"SAT_{name}_URL"
    monkeypatch.setenv(name, "http://127.0.0.1:9/v1")
    monkeypatch.setenv(ready, "ready")
    with pytest.raises(RemoteError, match=r"127\.0\.0\.1 cannot be reached, or does not answer"):
        index.sync(cloud.url)
    for wrong in ("http://graph.example/v1", "https://me:pw@graph.example", "ftp://x", "nothing"):
        monkeypatch.setenv(name, wrong)
        with pytest.raises(RemoteError, match="is not one of https without a password") as error:
            index.sync(cloud.url)
        assert "pw" not in str(error.value).replace("without a password", "")
