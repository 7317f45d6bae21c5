import io
import os
import struct
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.safety.mutants import made_seeds
from sat_retriever import Limits
from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.formats.kind import sniff
from sat_retriever.workbook.opening import ole

SEEDS = made_seeds()


def sniffed(tmp_path, content, name="file.bin", **options):
    path = tmp_path / name
    path.write_bytes(content)
    return sniff(path, **options)


def archive(**entries):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as package:
        for name, data in entries.items():
            package.writestr(name.replace("__", "/").replace("_dot_", "."), data)
    return out.getvalue()


def compound_file(*names):
    """A minimal OLE2 container: header, one allocation sector, one directory sector."""
    header = bytearray(512)
    header[:8] = ole.MAGIC
    struct.pack_into("<H", header, 30, 9)
    struct.pack_into("<I", header, 48, 1)
    struct.pack_into("<109I", header, 76, 0, *[0xFFFFFFFF] * 108)
    table = struct.pack("<128I", 0xFFFFFFFD, 0xFFFFFFFE, *[0xFFFFFFFF] * 126)
    directory = b""
    for number, name in enumerate(("Root Entry", *names)):
        entry = bytearray(128)
        raw = name.encode("utf-16-le")
        entry[: len(raw)] = raw
        struct.pack_into("<H", entry, 64, len(raw) + 2)
        entry[66] = 5 if number == 0 else 2
        directory += bytes(entry)
    return bytes(header) + table + directory.ljust(512, b"\0")


@pytest.mark.parametrize("name", sorted(SEEDS))
def test_the_content_decides_whatever_the_extension(tmp_path, name):
    expected = name.rpartition(".")[2]
    expected = {"tsv": "csv"}.get(expected, expected)
    assert sniffed(tmp_path, SEEDS[name], "wrong.pdf").format == expected


def test_a_binary_workbook_is_told_by_its_content_types(tmp_path):
    types = '<Override ContentType="application/vnd.ms-excel.sheet.binary.macroEnabled.main"/>'
    content = archive(**{"[Content_Types]_dot_xml": types, "xl__workbook_dot_bin": b""})
    assert sniffed(tmp_path, content).format == "xlsb"


def test_a_template_is_told_from_a_workbook(tmp_path):
    types = '<Override ContentType="application/x.spreadsheetml.template.main+xml"/>'
    assert sniffed(tmp_path, archive(**{"[Content_Types]_dot_xml": types})).format == "xltx"


@pytest.mark.parametrize(
    ("streams", "format_", "reason"),
    [
        (["Workbook"], "xls", None),
        (["Book"], "xls", None),
        (["EncryptionInfo", "EncryptedPackage"], "xlsx", SkipReason.ENCRYPTED),
        (["WordDocument"], "", SkipReason.NOT_A_SPREADSHEET),
        (["Something"], "", SkipReason.NOT_A_SPREADSHEET),
    ],
)
def test_an_ole_container_is_told_by_its_streams(tmp_path, streams, format_, reason):
    kind = sniffed(tmp_path, compound_file(*streams))
    assert (kind.format, kind.reason) == (format_, reason)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", SkipReason.EMPTY_FILE),
        (b"%PDF-1.7 ...", SkipReason.NOT_A_SPREADSHEET),
        (b"\x89PNG\r\n\x1a\n" + bytes(50), SkipReason.NOT_A_SPREADSHEET),
        (bytes(range(256)) * 4, SkipReason.NOT_A_SPREADSHEET),
        (b"<html><table><tr><td>1</td></tr></table></html>", SkipReason.UNSUPPORTED),
        (b'<?xml version="1.0"?><Workbook/>', SkipReason.UNSUPPORTED),
        ("<html>".encode("utf-16"), SkipReason.UNSUPPORTED),
        (b"\x09\x08\x10\x00\x00\x05", SkipReason.UNSUPPORTED),
        (archive(word__document_dot_xml="x"), SkipReason.NOT_A_SPREADSHEET),
        (archive(readme="x"), SkipReason.NOT_A_SPREADSHEET),
        (SEEDS["saved.xlsx"][:-400], SkipReason.DAMAGED),
    ],
)
def test_what_is_no_workbook_gives_a_reason(tmp_path, content, reason):
    kind = sniffed(tmp_path, content, "book.xlsx")
    assert kind.reason is reason
    assert kind.message.endswith(".")


def test_text_in_a_folder_counts_only_under_its_extensions(tmp_path):
    text = b"a,b\n1,2\n"
    assert sniffed(tmp_path, text, "a.csv", named=False).format == "csv"
    assert sniffed(tmp_path, text, "a.TAB", named=False).format == "csv"
    assert sniffed(tmp_path, text, "a.py", named=True).format == "csv"
    assert sniffed(tmp_path, text, "a.py", named=False).reason is SkipReason.NOT_A_SPREADSHEET


def test_a_pointer_of_git_lfs_says_that_its_content_was_not_fetched(tmp_path):
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
    for name, named in (("a.xlsx", True), ("a.xlsx", False), ("a.csv", True), ("a.csv", False)):
        kind = sniffed(tmp_path, pointer, name, named=named)
        assert kind.reason is SkipReason.NOT_A_SPREADSHEET
        assert "git lfs pull" in kind.message


def test_broken_archives_in_a_folder_count_only_under_spreadsheet_extensions(tmp_path):
    cut = SEEDS["saved.xlsx"][:-400]
    assert sniffed(tmp_path, cut, "a.xlsx", named=False).reason is SkipReason.DAMAGED
    assert sniffed(tmp_path, cut, "a.zip", named=False).reason is SkipReason.NOT_A_SPREADSHEET


def test_owner_files_of_excel_are_no_workbooks(tmp_path):
    kind = sniffed(tmp_path, b"\x04User".ljust(165), "~$a.xlsx")
    assert kind.reason is SkipReason.NOT_A_SPREADSHEET


def test_an_encrypted_opendocument_is_told(tmp_path):
    content = archive(
        mimetype="application/vnd.oasis.opendocument.spreadsheet",
        **{"META-INF__manifest_dot_xml": "<manifest:encryption-data/>"},
    )
    assert sniffed(tmp_path, content).reason is SkipReason.ENCRYPTED


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs on this system")
def test_a_fifo_is_not_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    assert sniff(tmp_path / "pipe.csv").reason is SkipReason.UNREADABLE


def test_folders_devices_and_missing_files_are_unreadable(tmp_path):
    assert sniff(tmp_path).reason is SkipReason.UNREADABLE
    assert sniff(tmp_path / "missing.xlsx").reason is SkipReason.UNREADABLE
    if Path("/dev/zero").exists():
        (tmp_path / "link.csv").symlink_to("/dev/zero")
        assert sniff(tmp_path / "link.csv").reason is SkipReason.UNREADABLE


def test_files_over_the_size_limit_are_too_large(tmp_path):
    kind = sniffed(tmp_path, b"a,b\n" * 100, "a.csv", limits=Limits(file_bytes=100))
    assert kind.reason is SkipReason.TOO_LARGE


def test_a_table_of_contents_that_lists_millions_of_entries_is_not_loaded(tmp_path):
    content = archive(**{f"e{number}": "" for number in range(300)})
    assert sniffed(tmp_path, content, limits=Limits(entries=20)).reason is SkipReason.TOO_LARGE


@settings(max_examples=200)
@given(
    st.binary(max_size=3000),
    st.sampled_from([b"", b"PK\x03\x04", ole.MAGIC, b"\xff\xfe", b"\x09\x08", b"<"]),
)
def test_any_bytes_give_a_format_or_a_reason(tmp_path_factory, content, start):
    path = tmp_path_factory.getbasetemp() / "any.bin"
    path.write_bytes(start + content)
    for named in (True, False):
        kind = sniff(path, named=named)
        assert bool(kind.format) or kind.reason is not None
        assert (kind.reason is None) == (kind.message == "")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8", "cp1251"])
@pytest.mark.parametrize(
    "text", ["Название;Цена\nЧай;1\n", "Όνομα;Τιμή\nΤσάι;1\n", "名前;価格\n茶;1\n"]
)
def test_text_of_every_script_is_told_in_wide_and_in_narrow_encodings(tmp_path, text, encoding):
    content = (text * 20).encode(encoding, "ignore")
    assert sniffed(tmp_path, content, "a.csv", named=False).format == "csv"


def test_zero_bytes_do_not_make_a_text_binary_and_zeros_alone_are_empty(tmp_path):
    assert sniffed(tmp_path, b"a,b\n1,\x002\n", "a.csv", named=False).format == "csv"
    assert sniffed(tmp_path, b"a,b\n1,2\n" + bytes(70_000), "a.csv").format == "csv"
    assert sniffed(tmp_path, bytes(70_000), "a.csv").reason is SkipReason.EMPTY_FILE
