"""Microsoft Graph: libraries and drives, links and addresses that lead elsewhere, credentials."""

import pytest

pytest.importorskip("httpx")
pytest.importorskip("joserfc")

from sat_retriever.errors import PathNotFoundError, RemoteError
from sat_retriever.records.sheets import SkipReason
from tests.cloudserver import SECRET, Answer, Graph, served
from tests.index.sync.test_sync import counts

CSV = b"Region,Sales\nNorth,1\nSouth,2\n"

pytestmark = pytest.mark.parametrize("cloud", ["Graph"], indirect=True)


def test_a_library_is_found_by_its_address_or_its_title(cloud, index):
    cloud.put("in/a.csv", CSV)
    site = f"sharepoint://{cloud.host}/sites/Finance"
    assert counts(index.sync(f"{site}/Shared Documents/in")) == (1, 0, 0, 0)
    assert counts(index.sync(f"{site}/documents/in")) == (1, 0, 0, 0)
    with pytest.raises(
        PathNotFoundError, match=r"no library 'Docs'; .*: 'Shared Documents', 'Arch"
    ):
        index.sync(f"{site}/Docs/in")
    with pytest.raises(PathNotFoundError, match="no library ''; name one after the site"):
        index.sync(site)
    with pytest.raises(PathNotFoundError, match="there is nothing at"):
        index.sync(f"sharepoint://{cloud.host}/sites/Sales/Shared Documents")


def test_a_library_of_the_root_site_is_asked_of_the_host(cloud, index):
    with pytest.raises(PathNotFoundError):
        index.sync(f"sharepoint://{cloud.host}/Shared Documents/in")
    assert cloud.requests[-1].path == f"/v1.0/sites/{cloud.host}/drives"


@pytest.mark.parametrize("drive", ["ann@contoso.com", Graph.drive])
def test_a_onedrive_is_named_by_its_owner_or_its_id(cloud, index, drive):
    cloud.put("in/a.csv", CSV)
    assert counts(index.sync(f"onedrive://{drive}/in")) == (1, 0, 0, 0)
    assert counts(index.sync(f"onedrive://{drive}")) == (1, 0, 0, 0)
    assert [each.root for each in index.workbooks()] == [f"onedrive://{drive}"]
    with pytest.raises(PathNotFoundError, match="there is nothing at"):
        index.sync("onedrive://bob@contoso.com")


def test_only_a_new_content_is_downloaded_not_new_columns_of_the_library(cloud, index):
    entry = cloud.put("a.csv", CSV)
    index.sync(cloud.url)
    cloud.downloads()
    entry.day += 1  # another eTag and time, the same cTag
    assert counts(index.sync(cloud.url)) == (0, 0, 1, 0)
    assert cloud.downloads() == 0


def test_a_notebook_is_no_folder_and_is_counted(cloud, index):
    book = cloud.add("Notes", lies={"package": {"type": "oneNote"}})
    cloud.add("a.csv", book.id, content=CSV)
    assert index.sync(cloud.url).ignored == 1
    assert len(index) == 0


def test_a_next_page_elsewhere_is_not_asked_for(cloud, index):
    cloud.put("a.csv", CSV)
    index.sync(cloud.url)
    with served(Graph()) as other:
        for link in (
            f"{other.address}/v1.0/x", "https://evil.example/x", f"{cloud.address}0/x",
            cloud.address.replace("http", "https"), "http://[", "//evil.example/x", 7, {},
        ):  # fmt: skip
            body = {"value": [], "@odata.nextLink": link}
            cloud.spoil = lambda request, body=body: (
                Answer(body=body) if request.path.endswith("/children") else None
            )
            with pytest.raises((RemoteError, PathNotFoundError)):
                index.sync(cloud.url)
        assert other.requests == []
    assert index.sheet_ids() == ["a.csv#a"]


def test_a_download_gets_no_token_wherever_it_leads(cloud, index):
    cloud.put("a.csv", CSV)
    index.sync(cloud.url)
    [download] = [each for each in cloud.requests if each.path.startswith("/files/")]
    assert download.token == ""
    with served(Graph()) as other:
        other.spoil = lambda request: Answer(body=CSV + b"East,3\n")
        cloud.put("a.csv", CSV + b"East,3\n")
        there = {"Location": f"{other.address}/elsewhere?key=1"}
        cloud.spoil = lambda request: (
            Answer(302, headers=there) if request.path.startswith("/files/") else None
        )
        assert counts(index.sync(cloud.url)) == (0, 1, 0, 0)
        assert [(each.path, each.token) for each in other.requests] == [("/elsewhere", "")]
    assert len(index.table("a.csv#a")) == 3


def test_an_address_of_bytes_that_is_unsafe_is_not_asked_for(cloud, index):
    unsafe = [
        "http://files.example/x?tempauth=k", "ftp://files.example/x?tempauth=k",
        "file:///etc/passwd?tempauth=k", "/files/x?tempauth=k", "https://?tempauth=k",
        "http://[?tempauth=k",
    ]  # fmt: skip
    told = dict.fromkeys(range(len(unsafe)), "is not one of https")
    told |= {6: "does not answer as this service does", 7: "it may not be downloaded"}
    for number, address in enumerate([*unsafe, {"tempauth": "k"}, None]):
        lies = {"@microsoft.graph.downloadUrl": address}
        cloud.put(f"{number}.csv", CSV, lies=lies)
    skipped = index.sync(cloud.url).skipped
    assert [each.reason for each in skipped] == [SkipReason.UNREADABLE] * 8
    for each in skipped:
        assert told[int(each.path[0])] in each.message
        assert "tempauth" not in each.message


def test_redirects_that_do_not_end_or_lead_astray_are_ended(cloud, index):
    cloud.put("a.csv", CSV)
    for location in ("/files/again?tempauth=k", "", "http://10.0.0.1/x", "http://["):
        cloud.requests.clear()
        cloud.spoil = lambda request, to=location: (
            Answer(302, headers={"Location": to}) if request.path.startswith("/files/") else None
        )
        [skipped] = index.sync(cloud.url).skipped
        assert (skipped.path, skipped.reason) == ("a.csv", SkipReason.UNREADABLE)
        assert 1 <= sum(each.path.startswith("/files/") for each in cloud.requests) <= 4
        assert "tempauth" not in skipped.message


def test_missing_credentials_are_named(cloud, index, monkeypatch):
    monkeypatch.delenv("AZURE_CLIENT_SECRET")
    monkeypatch.setenv("AZURE_TENANT_ID", " ")
    told = "no credentials were found; set AZURE_TENANT_ID, AZURE_CLIENT_SECRET, or SAT_GRAPH_TOKEN"
    with pytest.raises(RemoteError, match=told):
        index.sync(cloud.url)


def test_a_refused_secret_is_told_without_it(cloud, index, monkeypatch):
    monkeypatch.setenv("AZURE_CLIENT_ID", "unknown")
    with pytest.raises(RemoteError, match=r"denies access \(status 401, invalid\)") as error:
        index.sync(cloud.url)
    assert SECRET not in str(error.value)
    monkeypatch.setenv("AZURE_AUTHORITY_HOST", "http://login.example")
    with pytest.raises(RemoteError, match="is not one of https without a password: 'login"):
        index.sync(cloud.url)


def test_an_identity_service_that_gives_no_token_is_told(cloud, index):
    for body in ({}, {"access_token": 7}, {"access_token": "a\nb"}, b"<html>"):
        cloud.spoil = lambda request, body=body: (
            Answer(body=body) if request.method == "POST" else None
        )
        told = r"no token has, or there is none|does not answer as this"
        with pytest.raises(RemoteError, match=told):
            index.sync(cloud.url)


def test_a_token_is_renewed_before_it_expires(cloud, index):
    cloud.put("a.csv", CSV)
    cloud.spoil = lambda request: (
        Answer(body={**cloud.login().body, "expires_in": 1}) if request.method == "POST" else None
    )
    assert counts(index.sync(cloud.url)) == (1, 0, 0, 0)
    assert cloud.logins > 1
    assert "" not in {each.token for each in cloud.requests if each.path.startswith("/v1.0/")}
