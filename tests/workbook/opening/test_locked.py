import io
import struct

import pytest

from sat_retriever import Limits, read_workbook
from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.opening.encryption import encryption_refusal
from tests.places import needs
from tests.workbook.compound import compound, record, workbook_stream

ROWS = [["Item", "Amount"], ["nail", 3]]
FILE_PASS = {
    "xor": struct.pack("<HHH", 0, 0x514A, 0xCC1A),
    "rc4": struct.pack("<HHH", 1, 1, 1) + bytes(48),
    "rc4 by CryptoAPI": struct.pack("<HHH", 1, 2, 2) + bytes(60),
}


def locked(how, *, stream="Workbook", version=0x0600, before=b""):
    prolog = before + record(0x2F, how)
    return compound({stream: workbook_stream(ROWS, prolog=prolog, version=version)})


def reasons(path, **options):
    return [skip.reason for skip in read_workbook(path, **options).skipped]


@pytest.mark.parametrize("how", FILE_PASS.values(), ids=FILE_PASS)
def test_an_xls_that_any_method_encrypts_is_encrypted(tmp_path, how):
    for before in (b"", record(0x86, b"")):  # a write-protected one says so first
        path = tmp_path / "book.xls"
        path.write_bytes(locked(how, before=before))
        assert reasons(path) == [SkipReason.ENCRYPTED]


@pytest.mark.parametrize("password", [None, "abc"])
def test_an_xls_of_excel_95_is_encrypted_and_says_that_no_password_helps(tmp_path, password):
    path = tmp_path / "book.xls"
    path.write_bytes(locked(FILE_PASS["xor"][2:], stream="Book", version=0x0500))
    [skip] = read_workbook(path, password=password).skipped
    assert skip.reason is SkipReason.ENCRYPTED
    assert "Excel 5 and 95" in skip.message


def test_a_plain_workbook_needs_no_password():
    assert (
        encryption_refusal(io.BytesIO(compound({"Workbook": workbook_stream(ROWS)})), Limits())
        is None
    )
    assert encryption_refusal(io.BytesIO(b"PK\x03\x04"), Limits()) is None


def test_records_are_followed_across_sectors_and_end_with_the_stream():
    for size in (10, 500, 5_000, 8_000):
        prolog = record(0x5C, b"u" * size) + record(0x2F, FILE_PASS["xor"])
        content = compound({"Workbook": workbook_stream(ROWS * 40, prolog=prolog)})
        assert encryption_refusal(io.BytesIO(content), Limits()).reason is SkipReason.ENCRYPTED
    cut = compound({"Workbook": record(0x809, bytes(16)) + b"\x5c\x00\xff\xff"})
    assert encryption_refusal(io.BytesIO(cut), Limits()) is None


def test_a_password_opens_an_xls_that_xor_encrypts():
    pytest.importorskip("msoffcrypto", reason="the extra [encrypted] is missing")
    path = needs("data/odd_files/poi/xor-encryption-abc.xls")
    assert reasons(path) == [SkipReason.ENCRYPTED]
    assert reasons(path, password="abd") == [SkipReason.WRONG_PASSWORD]
    assert reasons(path, password="日本" * 20) == [SkipReason.WRONG_PASSWORD]
    assert read_workbook(path, password="abc").records
