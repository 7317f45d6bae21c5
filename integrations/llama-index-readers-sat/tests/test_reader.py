"""Workbooks to documents."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import pickle
import threading

import pytest
from fsspec.implementations.memory import MemoryFileSystem
from llama_index.core import SimpleDirectoryReader
from llama_index.core.node_parser import TokenTextSplitter
from llama_index.core.readers.base import BasePydanticReader, BaseReader, ReaderConfig
from llama_index.core.schema import MetadataMode, NodeWithScore
from llama_index.postprocessor.sat import SheetGraphReranker
from llama_index.readers.sat import SheetReader

from sat_retriever import InputError, Limits, PathNotFoundError, Serialization
from sat_retriever.records.sheets import SkipReason
from tests.integrations.llamaindex import MONTHS

KINDS = (".xlsx", ".csv")


def sheets(documents):
    return [document.metadata["sheet_id"] for document in documents]


def test_each_sheet_is_a_document_that_knows_where_its_data_is(workbooks):
    found = SheetReader(root=workbooks).load_data(workbooks / "sales" / "2024.xlsx")
    assert [document.metadata["sheet"] for document in found] == ["Summary", "Q1", "Q2", "Plan"]
    assert found[1].metadata == {
        "sheet_id": "sales/2024.xlsx#Q1",
        "citation": "sales/2024.xlsx#Q1!A1:C3",
        "workbook": "2024.xlsx",
        "path": "sales/2024.xlsx",
        "sheet": "Q1",
        "range": "A1:C3",
        "header_row": 1,
        "columns": "Region | Month | Revenue",
        "visibility": "visible",
        "format": "xlsx",
    }
    assert found[1].text == (
        "name: 2024__Q1 ; shape: 3 x 3 ; columns: Region = North | Month = May | Revenue = 7"
    )


def test_sheet_ids_are_those_of_an_index_of_the_same_folder(workbooks, index):
    reader = SheetReader(root=workbooks)
    files = sorted(workbooks.rglob("*.xlsx")) + sorted(workbooks.rglob("*.csv"))
    documents = [document for file in files for document in reader.load_data(file)]
    assert sorted(sheets(documents)) == sorted(index.sheet_ids())
    records = index.records(sheets(documents))
    assert all(
        d.metadata["citation"] == records[d.metadata["sheet_id"]].citation for d in documents
    )


def test_a_file_outside_of_the_root_stands_for_itself(workbooks, tmp_path):
    for reader in (SheetReader(), SheetReader(root=tmp_path)):
        assert sheets(reader.load_data(str(workbooks / "staff.csv"))) == ["staff.csv#staff"]


def test_more_metadata_come_along_but_never_in_place_of_the_reader_s_own(workbooks):
    extra = {"team": "ops", "sheet": "wrong"}
    [document] = SheetReader().load_data(workbooks / "rates.xlsx", extra_info=extra)
    assert (document.metadata["team"], document.metadata["sheet"]) == ("ops", "Rates")
    assert extra == {"team": "ops", "sheet": "wrong"}


def test_a_model_reads_the_citation(workbooks):
    [document] = SheetReader().load_data(workbooks / "rates.xlsx")
    read = document.get_content(metadata_mode=MetadataMode.LLM)
    assert read == f"citation: rates.xlsx#Rates!A1:B2\n\n{document.text}"


def test_ids_are_unique_and_the_same_in_every_run(workbooks):
    first, second = (
        [d.id_ for d in SheetReader().load_data(workbooks / "sales" / "2024.xlsx")] for _ in "ab"
    )
    assert first == second
    assert len(set(first)) == 4
    hours = [SheetReader().load_data(workbooks / month / "Hours.xlsx")[0] for month in MONTHS]
    assert len({document.id_ for document in hours}) == 3


def test_what_cannot_be_read_is_logged_and_kept_and_never_raised(workbooks, tmp_path, caplog):
    (tmp_path / "blank.csv").write_bytes(b"")
    reader = SheetReader()
    with caplog.at_level(logging.WARNING, logger="llama_index.readers.sat"):
        assert reader.load_data(workbooks / "torn.xlsx") == []
        assert reader.load_data(tmp_path / "blank.csv") == []
        assert len(reader.load_data(workbooks / "staff.csv")) == 1
    assert [(skip.path, skip.reason) for skip in reader.skipped] == [
        ("torn.xlsx", SkipReason.DAMAGED),
        ("blank.csv", SkipReason.EMPTY_FILE),
    ]
    assert "skipped torn.xlsx: " in caplog.text and "(damaged)" in caplog.text


def test_a_missing_file_is_the_caller_s_mistake(tmp_path):
    with pytest.raises(PathNotFoundError):
        SheetReader().load_data(tmp_path / "none.xlsx")


@pytest.mark.parametrize("way", ["load_data", "aload_data", "iter_data"])
def test_a_directory_reader_takes_it_as_file_extractor(workbooks, index, way):
    reader = SheetReader(root=workbooks)
    folder = SimpleDirectoryReader(
        workbooks, recursive=True, file_extractor=dict.fromkeys(KINDS, reader)
    )
    loaded = getattr(folder, way)()
    if way == "aload_data":
        loaded = asyncio.run(loaded)
    documents = [d for part in loaded for d in part] if way == "iter_data" else loaded
    assert sorted(sheets(documents)) == sorted(index.sheet_ids())
    assert all(document.metadata["file_path"] for document in documents)
    assert [skip.path for skip in reader.skipped] == ["torn.xlsx"]
    assert len({document.id_ for document in documents}) == len(documents)


@pytest.fixture
def memory(workbooks):
    """The workbooks in a file system that has no local paths."""
    fs = MemoryFileSystem(skip_instance_cache=True)
    fs.store, fs.pseudo_dirs = {}, [""]
    for file in sorted(workbooks.rglob("*.*")):
        if file.is_file():
            fs.pipe(f"/data/{file.relative_to(workbooks).as_posix()}", file.read_bytes())
    return fs


def test_workbooks_of_another_file_system_read_the_same(memory, workbooks, index):
    reader = SheetReader(root="/data")
    remote = SimpleDirectoryReader(
        "/data", fs=memory, recursive=True, file_extractor=dict.fromkeys(KINDS, reader)
    ).load_data()
    assert sorted(sheets(remote)) == sorted(index.sheet_ids())
    local = SheetReader(root=workbooks).load_data(workbooks / "sales" / "2024.xlsx")
    direct = reader.load_data("/data/sales/2024.xlsx", fs=memory)
    assert [(d.text, d.metadata) for d in direct] == [(d.text, d.metadata) for d in local]


class Endless(io.RawIOBase):
    """A file that says it is small, and never ends."""

    handed = 0

    def readable(self):
        return True

    def read(self, size=-1):
        assert size > 0
        Endless.handed += size
        return (b"a,b\n" * (size // 4 + 1))[:size]


class Alone:
    """A file system that has files and no folders."""

    def isdir(self, path):
        return False


class EndlessFileSystem(Alone):
    def open(self, path, mode="rb"):
        return Endless()


def test_no_more_is_fetched_than_may_be_read():
    reader = SheetReader(limits=Limits(file_bytes=3 << 20))
    assert reader.load_data("/data/huge.csv", fs=EndlessFileSystem()) == []
    assert [skip.reason for skip in reader.skipped] == [SkipReason.TOO_LARGE]
    assert Endless.handed == (3 << 20) + 1


def test_a_name_never_leads_out_of_the_temporary_folder(memory, tmp_path):
    memory.pipe("/data/../../../etc/x.csv", b"a,b\n1,2\n")
    reader = SheetReader(root="/data")
    assert sheets(reader.load_data("/data/../../../etc/x.csv", fs=memory)) == ["x.csv#x"]


def test_a_relative_name_does_not_either(workbooks):
    class Anything(Alone):
        def open(self, path, mode="rb"):
            return io.BytesIO(b"a,b\n1,2\n")

    reader = SheetReader(root=".")
    assert sheets(reader.load_data("../../x.csv", fs=Anything())) == ["x.csv#x"]
    assert sheets(reader.load_data("a/../b/x.csv", fs=Anything())) == ["b/x.csv#x"]
    for name in ("..", "/", ""):
        with pytest.raises(InputError, match="names no file"):
            reader.load_data(name, fs=Anything())


def test_a_missing_remote_file_and_a_failing_file_system_are_told(memory):
    class Down(Alone):
        def open(self, path, mode="rb"):
            raise TimeoutError("no answer")

    with pytest.raises(PathNotFoundError, match=r"/data/none\.csv"):
        SheetReader().load_data("/data/none.csv", fs=memory)
    with pytest.raises(InputError, match="no answer"):
        SheetReader().load_data("/data/a.csv", fs=Down())


def test_a_folder_is_read_as_an_index_of_it_is(workbooks, index, memory):
    by_folder = SheetReader()
    documents = by_folder.load_data(workbooks)
    assert sorted(sheets(documents)) == sorted(index.sheet_ids())
    assert [skip.path for skip in by_folder.skipped] == ["torn.xlsx"]
    below = SheetReader(root=workbooks).load_data(workbooks / "sales")
    assert sheets(below)[:2] == ["sales/2024.xlsx#Summary", "sales/2024.xlsx#Q1"]
    assert sheets(SheetReader().load_data(workbooks / "sales"))[0] == "2024.xlsx#Summary"
    by_file = {d.id_: d for d in SheetReader(root=workbooks).load_data(workbooks / "staff.csv")}
    assert by_file.items() <= {d.id_: d for d in documents}.items()
    several = SheetReader().load_data([workbooks / "March", str(workbooks / "staff.csv")])
    assert sheets(several) == ["Hours.xlsx#Hours", "staff.csv#staff"]
    memory.pipe("/data/.hidden/x.csv", b"a,b\n1,2\n")
    memory.pipe("/data/notes.txt", b"no workbook")
    for folder in ("/data", "memory://data/"):
        remote = SheetReader().load_data(folder, fs=memory)
        assert sorted(sheets(remote)) == sorted(sheets(documents))
    with pytest.raises(PathNotFoundError, match="none"):
        SheetReader().load_data("/none", fs=memory)


def test_a_file_system_that_cannot_list_is_told():
    class Down:
        def isdir(self, path):
            raise TimeoutError("no answer")

    with pytest.raises(InputError, match=r"'/data' cannot be listed: no answer"):
        SheetReader().load_data("/data", fs=Down())


def test_documents_come_one_workbook_at_a_time(memory):
    opened = []

    class Noting:
        def isdir(self, path):
            return memory.isdir(path)

        def find(self, path):
            return memory.find(path)

        def open(self, path, mode="rb"):
            opened.append(path)
            return memory.open(path, mode)

    documents = SheetReader().lazy_load_data("/data/sales", fs=Noting())
    assert opened == []
    assert next(documents).metadata["sheet"] == "Summary"
    assert opened == ["/data/sales/2024.xlsx"]
    every = SheetReader().lazy_load_data("/data", fs=Noting())
    opened.clear()
    next(every)
    assert len(opened) == 1
    every.close()


def test_a_local_folder_is_read_lazily_and_left_at_any_time(workbooks, tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    (tmp_path / "b.csv").write_text("c,d\n1,2\n")
    reader = SheetReader()
    documents = reader.lazy_load_data(tmp_path / "later")
    (tmp_path / "later").mkdir()
    assert list(documents) == []
    first = reader.lazy_load_data(tmp_path)
    assert next(first).metadata["sheet_id"] == "a.csv#a"
    first.close()


@pytest.mark.parametrize("way", ["aload_data", "alazy_load_data"])
def test_async_reading_leaves_the_event_loop_free(memory, way):
    async def read():
        loop = asyncio.get_running_loop()
        asked, let_go = asyncio.Event(), threading.Event()

        class Held(Alone):
            def open(self, path, mode="rb"):
                loop.call_soon_threadsafe(asked.set)
                assert let_go.wait(30), "the event loop stood still while a file was fetched"
                return memory.open(path, mode)

        task = asyncio.create_task(getattr(SheetReader(), way)("/data/staff.csv", fs=Held()))
        await asked.wait()
        let_go.set()
        return list(await task)

    assert sheets(asyncio.run(read())) == ["staff.csv#staff"]


def test_a_reader_comes_back_from_its_settings(workbooks):
    limits = Limits(file_bytes=1 << 20)
    reader = SheetReader(root=workbooks, limits=limits, serialization=Serialization(max_headers=1))
    reader.load_data(workbooks / "torn.xlsx")
    written = reader.to_dict()
    assert (written["class_name"], written["root"]) == ("SheetReader", str(workbooks))
    assert "skipped" not in written and len(reader.skipped) == 1
    for again in (
        SheetReader.from_dict(json.loads(json.dumps(written))),
        SheetReader.from_json(reader.to_json()),
        SheetReader.model_validate_json(reader.model_dump_json()),
        pickle.loads(pickle.dumps(reader)),
    ):
        assert again.skipped == []
        assert again.to_dict() == written
        assert (again.limits, again.serialization) == (reader.limits, reader.serialization)
        file = workbooks / "sales" / "2024.xlsx"
        assert again.load_data(file) == reader.load_data(file)
    assert ReaderConfig(reader=reader, reader_args=[workbooks / "staff.csv"]).read()
    with pytest.raises(InputError, match="max_headers is -1"):
        SheetReader.from_dict({**written, "serialization": {"max_headers": -1}})
    with pytest.raises(ValueError, match="rot"):
        SheetReader(rot="x")


def test_parts_of_a_document_are_reranked_as_their_sheet(workbooks, index):
    documents = SheetReader(root=workbooks).load_data(workbooks / "sales" / "2024.xlsx")
    splitter = TokenTextSplitter(chunk_size=12, chunk_overlap=0, tokenizer=str.split)
    parts = splitter.get_nodes_from_documents(documents)
    assert len(parts) > len(documents)
    ranked = SheetGraphReranker(index, top_n=100).postprocess_nodes(
        [NodeWithScore(node=part) for part in parts], query_str="plan target"
    )
    assert ranked[0].metadata["sheet"] == "Plan"
    assert len(ranked) == len(parts)


def test_a_reader_can_be_sent_to_another_process(workbooks):
    sent = pickle.loads(pickle.dumps(SheetReader(root=workbooks)))
    [document] = sent.load_data(workbooks / "March" / "Hours.xlsx")
    assert document.metadata["sheet_id"] == "March/Hours.xlsx#Hours"


def test_a_link_that_leads_out_of_the_root_is_skipped_unless_links_are_followed(tmp_path):
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "passwd").write_text("Secret,x\n1,2\n")
    (tmp_path / "root").mkdir()
    link = tmp_path / "root" / "passwd.csv"
    link.symlink_to(tmp_path / "etc" / "passwd")
    reader = SheetReader(root=tmp_path / "root")
    assert reader.load_data(link) == []
    assert [skip.reason.value for skip in reader.skipped] == ["outside_link"]
    assert len(SheetReader(root=tmp_path / "root", follow_links=True).load_data(link)) == 1
    assert len(SheetReader().load_data(link)) == 1  # it was named


@pytest.mark.parametrize("base", [BaseReader, BasePydanticReader])
def test_the_class_has_the_bases_of_its_kind(base):
    names_of_base_classes = [each.__name__ for each in SheetReader.__mro__]
    assert base.__name__ in names_of_base_classes
    assert SheetReader.class_name() == "SheetReader"
