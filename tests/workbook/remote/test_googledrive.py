"""Google Drive: files that share a name, shortcuts, Google's own sheets, limits, key files."""

import pytest

pytest.importorskip("httpx")
pytest.importorskip("joserfc")

from sat_retriever.errors import PathNotFoundError, RemoteError
from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.remote import systems
from sat_retriever.workbook.remote.cache import local_copy
from tests.cloudserver import Answer
from tests.index.sync.test_sync import counts, write_xlsx

CSV = b"Region,Sales\nNorth,1\nSouth,2\n"
COSTS = b"Region,Costs\nNorth,1\n"
SHEET = "application/vnd.google-apps.spreadsheet"

pytestmark = pytest.mark.parametrize("cloud", ["Drive"], indirect=True)


def is_download(request):
    return request.query.get("alt") == "media"


def test_files_that_share_a_name_have_their_ids_in_it(cloud, index):
    one, two = (cloud.add("Sales.csv", content=each) for each in (CSV, COSTS))
    assert counts(index.sync(cloud.url)) == (2, 0, 0, 0)
    ids = [f"Sales [{each.id}].csv#Sales [{each.id}]" for each in (one, two)]
    assert index.sheet_ids() == ids
    assert index.records([ids[1]])[ids[1]].columns[1].name == "Costs"
    assert len(index.table(ids[1])) == 1
    cloud.delete(one)
    assert counts(index.sync(cloud.url)) == (1, 0, 0, 2)
    assert index.sheet_ids() == ["Sales.csv#Sales"]


def test_folders_that_share_a_name_are_one_folder_so_that_its_rules_stay(cloud, index):
    one, two = cloud.add("hr"), cloud.add("hr")
    cloud.add("hr", content=CSV)
    cloud.add("a.csv", one.id, content=CSV)
    cloud.add("b.csv", two.id, content=COSTS)
    for each in (one, two):
        cloud.add("same.csv", each.id, content=CSV)
    index.sync(cloud.url)
    paths = [each.path for each in index.workbooks()]
    assert paths[:2] == ["hr/a.csv", "hr/b.csv"]
    assert len(paths) == 4 and all(path.startswith("hr/same [") for path in paths[2:])


def test_a_slash_in_a_name_parts_no_path(cloud, index):
    folder = cloud.add("2024/25")
    cloud.add("Q1/Q2.csv", folder.id, content=CSV)
    index.sync(cloud.url)
    assert index.sheet_ids() == ["2024／25/Q1／Q2.csv#Q1／Q2"]
    assert len(index.table("2024／25/Q1／Q2.csv#Q1／Q2")) == 2


def test_sheets_of_google_are_exported_when_they_have_changed(cloud, index, tmp_path):
    book = write_xlsx(tmp_path / "b.xlsx", First=["Name", "Age"]).read_bytes()
    entry = cloud.add("Budget", content=book, mime=SHEET)
    cloud.add("Minutes", content=b"", mime="application/vnd.google-apps.document")
    report = index.sync(cloud.url)
    assert (counts(report), report.ignored) == ((1, 0, 0, 0), 1)
    assert index.sheet_ids() == ["Budget.xlsx#First"]
    assert cloud.downloads() == len(book)
    assert counts(index.sync(cloud.url)) == (0, 0, 1, 0)
    assert cloud.downloads() == 0
    entry.content = write_xlsx(tmp_path / "b.xlsx", First=["Name", "City"]).read_bytes()
    entry.day += 1
    assert counts(index.sync(cloud.url)) == (0, 1, 0, 0)
    assert index.table("Budget.xlsx#First").columns[1].name == "City"


def test_a_sheet_of_google_that_is_too_large_to_export_is_named(cloud, index):
    cloud.add("Budget", content=b"", mime=SHEET)
    error = {"code": 403, "errors": [{"reason": "exportSizeLimitExceeded"}], "message": "No."}
    cloud.spoil = lambda request: (
        Answer(403, {"error": error}) if request.path.endswith("/export") else None
    )
    [skipped] = index.sync(cloud.url).skipped
    assert (skipped.path, skipped.reason) == ("Budget.xlsx", SkipReason.UNREADABLE)
    assert "exportSizeLimitExceeded" in skipped.message


def test_a_shortcut_is_read_as_the_file_that_it_leads_to(cloud, index):
    target = cloud.add("x.csv", "root", content=CSV)
    cloud.add("Sales.csv", leads_to=target.id)
    gone = cloud.add("gone.csv", leads_to="id-unknown")
    cloud.add("Reports", leads_to=cloud.folder_id)
    report = index.sync(cloud.url)
    assert (counts(report), report.ignored) == ((2, 0, 0, 0), 1)
    assert [(each.path, each.message) for each in report.skipped] == [
        ("gone.csv", "The file is gone from its URL.")
    ]
    cloud.delete(gone)
    cloud.downloads()
    assert counts(index.sync(cloud.url)) == (0, 0, 1, 1)
    assert index.sheet_ids() == ["Sales.csv#Sales"]
    assert cloud.downloads() == 0
    target.content = COSTS
    assert counts(index.sync(cloud.url)) == (0, 1, 0, 0)
    assert index.records(["Sales.csv#Sales"])["Sales.csv#Sales"].columns[1].name == "Costs"


def test_a_listing_that_says_that_it_is_incomplete_removes_nothing(cloud, index):
    cloud.put("a.csv", CSV)
    index.sync(cloud.url)
    cloud.spoil = lambda request: (
        Answer(body={"incompleteSearch": True, "files": []})
        if request.path.endswith("/files")
        else None
    )
    with pytest.raises(RemoteError, match="could not list all files"):
        index.sync(cloud.url)
    assert len(index) == 1


def test_a_folder_that_is_shared_no_longer_or_in_the_bin_keeps_its_sheets(cloud, index):
    cloud.put("a.csv", CSV)
    index.sync(cloud.url)
    folder = cloud.entries[cloud.folder_id]
    folder.lies = {"trashed": True}
    with pytest.raises(PathNotFoundError, match="there is nothing at"):
        index.sync(cloud.url)
    cloud.delete(folder)
    with pytest.raises(PathNotFoundError, match="there is nothing at"):
        index.sync(cloud.url)
    assert len(index) == 1


def test_whoever_asks_too_often_waits_and_asks_again(cloud, index):
    cloud.put("a.csv", CSV)
    error = {"code": 403, "errors": [{"reason": "userRateLimitExceeded"}]}
    left = [Answer(403, {"error": error})] * 2
    cloud.spoil = lambda request: left.pop() if left and is_download(request) else None
    assert counts(index.sync(cloud.url)) == (1, 0, 0, 0)
    assert cloud.slept == [1.0, 4.0]


def test_a_later_process_finds_a_file_by_its_path_and_by_its_name_alone(cloud, index):
    one = cloud.put("in/a.csv", CSV)
    root, cached = cloud.url, systems.file_system(cloud.url)[0]
    assert local_copy(root, "in/a.csv", keep=True).read_bytes() == CSV
    one.name = "old.csv"
    cloud.put("in/a.csv", COSTS)
    for system in (cached, type(cached)(cloud.environment(index.path.parent)["SAT_DRIVE_URL"])):
        told = system.info(f"{cloud.folder_id}/in/a.csv")
        assert (told["size"], told["type"]) == (len(COSTS), "file")
    assert local_copy(root, "in/a.csv", keep=True).read_bytes() == COSTS
    with pytest.raises(PathNotFoundError):
        local_copy(root, "in/b.csv", keep=True)


def test_an_id_that_is_none_is_told(cloud, index):
    for key in ("it's", "a b", "x" * 300, "none"):
        with pytest.raises(PathNotFoundError, match="there is nothing at"):
            index.sync(f"gdrive://{key}")


def test_ids_of_an_answer_are_checked(cloud, index):
    for lies in ({"id": "a' or name contains 'b"}, {"id": 7}, {"id": "x" * 300}):
        cloud.add("a.csv", content=CSV, lies=lies)
        with pytest.raises(RemoteError, match="does not answer as this service does"):
            index.sync(cloud.url)
        cloud.entries.popitem()


def test_a_file_that_is_no_key_is_told_without_its_content(cloud, index, tmp_path):
    for content in (
        "secret-words",
        "[]",
        "{}",
        '{"client_email": 7, "private_key": "secret-words"}',
    ):
        (tmp_path / "key.json").write_text(content)
        with pytest.raises(RemoteError, match="names no key file of a service account") as error:
            index.sync(cloud.url)
        assert "secret-words" not in str(error.value)


def test_missing_credentials_are_named(cloud, index, monkeypatch):
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS")
    told = "no credentials were found; set GOOGLE_APPLICATION_CREDENTIALS, or SAT_DRIVE_TOKEN"
    with pytest.raises(RemoteError, match=told):
        index.sync(cloud.url)
