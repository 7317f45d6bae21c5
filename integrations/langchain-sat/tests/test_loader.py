"""Documents of workbooks on disk and in memory."""

import asyncio
import tempfile
from pathlib import Path

import pytest
from langchain_core.document_loaders import BlobLoader
from langchain_core.documents.base import Blob
from langchain_sat import SheetBlobParser, SheetLoader, SheetTokenRetriever

from sat_retriever import InputError, Limits, PathNotFoundError, Serialization
from sat_retriever.records.sheets import SkipReason

NAMES = [
    "01/Timesheet.xlsx#Form",
    "02/Timesheet.xlsx#Form",
    "2024/Sales.xlsx#January",
    "2024/Sales.xlsx#February",
    "2024/Sales.xlsx#March",
    "2024/Sales.xlsx#Summary",
    "Staff.xlsx#People",
]


@pytest.fixture
def mixed(tmp_path: Path, workbooks: Path) -> Path:
    """A folder with a readable workbook, a torn one, an empty one, a PDF and a text file."""
    whole = (workbooks / "Staff.xlsx").read_bytes()
    (tmp_path / "a.xlsx").write_bytes(whole)
    (tmp_path / "b.xlsx").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "c.csv").write_bytes(b"")
    (tmp_path / "d.xls").write_bytes(b"%PDF-1.7")
    (tmp_path / "notes.txt").write_text("nothing to see\n", encoding="utf-8")
    return tmp_path


def ids(documents):
    return [document.id for document in documents]


def test_a_folder_gives_one_document_a_sheet(workbooks):
    found = SheetLoader(workbooks).load()
    assert sorted(ids(found)) == sorted(NAMES)
    assert ids(SheetLoader(workbooks).load()) == ids(found)
    [january] = [each for each in found if each.metadata["sheet"] == "January"]
    assert january.page_content == "name: Sales__January ; shape: 3 x 2 ; columns: Region | Revenue"
    assert january.metadata == {
        "source": "2024/Sales.xlsx",
        "sheet_id": "2024/Sales.xlsx#January",
        "citation": "2024/Sales.xlsx#January!A1:B3",
        "workbook": "Sales.xlsx",
        "path": "2024/Sales.xlsx",
        "sheet": "January",
        "range": "A1:B3",
        "header_row": 1,
        "columns": ["Region", "Revenue"],
        "num_rows": 3,
        "num_cols": 2,
        "format": "xlsx",
        "visibility": "visible",
    }


def test_documents_have_the_ids_and_texts_of_an_index_of_the_folder(workbooks, index):
    loaded = {each.id: each.page_content for each in SheetLoader(workbooks).load()}
    found = SheetTokenRetriever(index, k=50, content="record").invoke("revenue")
    assert {each.id: each.page_content for each in found} == loaded


async def test_async_loading_gives_the_same(workbooks):
    loader = SheetLoader([workbooks / "Staff.xlsx", workbooks / "2024"])
    loaded = loader.load()
    assert await loader.aload() == loaded
    assert len(loaded) == 5


def test_nothing_is_read_before_the_first_document_is_asked_for(tmp_path, workbooks):
    documents = SheetLoader(tmp_path, workers=1).lazy_load()
    for name in ("b.xlsx", "a.xlsx"):
        (tmp_path / name).write_bytes((workbooks / "Staff.xlsx").read_bytes())
    assert next(documents).id == "a.xlsx#People"
    assert ids(documents) == ["b.xlsx#People"]


def test_many_readers_keep_the_order_of_the_paths(tmp_path, workbooks):
    for number in range(6):  # the first takes longest
        rows = "Name,Salary\n" + "Ada,41\n" * (40_000 if number == 0 else 1)
        (tmp_path / f"{number}.csv").write_text(rows, encoding="utf-8")
    found = SheetLoader(tmp_path, workers=3).load()
    assert ids(found) == [f"{number}.csv#{number}" for number in range(6)]


def test_what_is_skipped_is_counted_and_named(mixed):
    loader = SheetLoader(mixed)
    assert ids(loader.load()) == ["a.xlsx#People"]
    assert [(skip.path, skip.reason) for skip in loader.skipped] == [
        ("d.xls", SkipReason.NOT_A_SPREADSHEET),
        ("b.xlsx", SkipReason.DAMAGED),
        ("c.csv", SkipReason.EMPTY_FILE),
    ]
    assert loader.ignored == 1
    loader.load()
    assert len(loader.skipped) == 3  # of one load, not of all


def test_options_decide_the_text_and_the_bounds(workbooks):
    paper = SheetLoader(workbooks / "Staff.xlsx", serialization=Serialization(form="paper"))
    assert paper.load()[0].page_content.startswith("source: Staff__People")
    small = SheetLoader(workbooks / "Staff.xlsx", limits=Limits(file_bytes=100))
    assert small.load() == []
    assert [skip.reason for skip in small.skipped] == [SkipReason.TOO_LARGE]


def test_a_path_that_is_not_there_is_refused(tmp_path):
    assert SheetLoader(tmp_path).load() == []
    with pytest.raises(PathNotFoundError, match="nowhere"):
        SheetLoader(tmp_path / "nowhere").load()


def test_a_blob_in_memory_gives_its_sheets(workbooks):
    data = (workbooks / "2024" / "Sales.xlsx").read_bytes()
    blob = Blob.from_data(data, path="s3://bucket/2024/Sales.xlsx", metadata={"owner": "Ada"})
    found = SheetBlobParser().parse(blob)
    assert ids(found) == [
        f"s3://bucket/2024/Sales.xlsx#{name}"
        for name in ("January", "February", "March", "Summary")
    ]
    said = found[0].metadata
    assert said["citation"] == "s3://bucket/2024/Sales.xlsx#January!A1:B3"
    assert (said["source"], said["workbook"]) == ("s3://bucket/2024/Sales.xlsx", "Sales.xlsx")
    assert said["owner"] == "Ada"
    assert found[0].page_content.startswith("name: Sales__January")


def test_a_blob_on_disk_gives_the_same_as_in_memory(workbooks):
    path = workbooks / "Staff.xlsx"
    in_memory = Blob.from_data(path.read_bytes(), path=path.as_posix())
    assert SheetBlobParser().parse(Blob.from_path(path)) == SheetBlobParser().parse(in_memory)


@pytest.mark.parametrize(
    ("blob", "sheet_id"),
    [
        (Blob.from_data("Name,Salary\nAda,41\n"), "blob.csv#blob"),
        (Blob.from_data("Name\tSalary\nAda\t41\n", path="x/staff.tsv"), "x/staff.tsv#staff"),
        (Blob.from_data(b"Name,Salary\nAda,41\n", mime_type="text/csv"), "blob.csv#blob"),
        (Blob.from_data(b"Name,Salary\nAda,41\n", path="..\\up\\pay.csv"), "../up/pay.csv#pay"),
        (Blob.from_data(b"Name,Salary\nAda,41\n", path="pay.CSV"), "pay.CSV#pay"),
    ],
)
def test_text_blobs_are_tables_too(blob, sheet_id):
    [found] = SheetBlobParser().parse(blob)
    assert found.id == sheet_id
    assert found.metadata["columns"] == ["Name", "Salary"]


def test_a_blob_without_a_name_or_a_type_is_read_by_its_content(workbooks):
    [found] = SheetBlobParser().parse(Blob.from_data((workbooks / "Staff.xlsx").read_bytes()))
    assert found.id == "blob#People"
    assert found.metadata["format"] == "xlsx"


def test_a_blob_may_have_any_name(workbooks):
    name = "x." + "y" * 300
    data = (workbooks / "Staff.xlsx").read_bytes()
    [found] = SheetBlobParser().parse(Blob.from_data(data, path=name))
    assert found.id == f"{name}#People"


def test_a_blob_over_the_limit_is_never_written(workbooks, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))  # writing would fail
    parser = SheetBlobParser(limits=Limits(file_bytes=100))
    data = (workbooks / "Staff.xlsx").read_bytes()
    assert parser.parse(Blob.from_data(data, path="Staff.xlsx")) == []
    [skip] = parser.skipped
    assert (skip.path, skip.reason) == ("Staff.xlsx", SkipReason.TOO_LARGE)


def test_a_blob_that_cannot_be_read_is_named(workbooks, tmp_path):
    parser = SheetBlobParser()
    assert parser.parse(Blob.from_data(b"PK\x03\x04 torn", path="torn.xlsx")) == []
    assert [(skip.path, skip.reason) for skip in parser.skipped] == [
        ("torn.xlsx", SkipReason.DAMAGED)
    ]
    with pytest.raises(PathNotFoundError):
        parser.parse(Blob.from_path(tmp_path / "gone.xlsx"))
    with pytest.raises(InputError, match="neither data nor a path"):
        parser.parse(Blob(data=None))


def test_the_parser_composes_with_any_blob_loader(workbooks):
    class Files(BlobLoader):
        def yield_blobs(self):
            for path in sorted(workbooks.rglob("Timesheet.xlsx")):
                yield Blob.from_path(path)

    parser = SheetBlobParser()
    found = [document for blob in Files().yield_blobs() for document in parser.lazy_parse(blob)]
    assert len(set(ids(found))) == 2


def test_temporary_files_are_gone_after_parsing(workbooks, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    SheetBlobParser().parse(Blob.from_data((workbooks / "Staff.xlsx").read_bytes()))
    assert list(tmp_path.iterdir()) == []


def test_loading_in_a_loop_beside_others_gives_the_same(workbooks):
    async def twice():
        return await asyncio.gather(SheetLoader(workbooks).aload(), SheetLoader(workbooks).aload())

    one, two = asyncio.run(twice())
    assert one == two


def test_a_link_that_leads_outside_is_skipped_unless_links_are_followed(tmp_path):
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "passwd").write_text("Secret,x\n1,2\n")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "passwd.csv").symlink_to(tmp_path / "etc" / "passwd")
    loader = SheetLoader(tmp_path / "root")
    assert loader.load() == []
    assert [skip.reason.value for skip in loader.skipped] == ["outside_link"]
    assert ids(SheetLoader(tmp_path / "root", follow_links=True).load()) == ["passwd.csv#passwd"]
