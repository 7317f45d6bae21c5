"""Encodings of delimited files: found in all of the file, told when unsure, set by the user."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever import InputError, read_workbook
from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.opening.encoding import encoding_name, find_encoding
from sat_retriever.workbook.typed import read_table_data
from sat_retriever.workbook.window import parse_range, read_range

TEXTS = {
    "cp1252": "Straße;Größe\nKönigsallee;3\nMühlbach;14\n",
    "cp1250": "Příjmení;Město\nDvořák;Plzeň\nŘíha;Třebíč\n",
    "cp1251": "Название;Город\nМолоко;Москва\n",
    "cp1253": "Όνομα;Πόλη\nΠαπαδόπουλος;Αθήνα\n",
    "cp1254": "İsim;Şehir\nAyşe Yılmaz;Eskişehir\nÇağrı Demir;Muğla\n",
    "cp932": "氏名,部署\n佐藤 花子,営業部\n田中 さくら,開発部\n",
    "gb18030": "姓名,部门\n王小明,销售部\n张伟,财务部\n",
    "big5": "姓名,部門\n王小明,銷售部\n陳怡君,財務部\n",
    "cp949": "이름,부서\n김민수,영업부\n이영희,개발부\n",
    "koi8-r": "Название;Город\nМолоко;Москва\nХлеб;Казань\n",
    "utf-8": "Straße;Łódź;東京\n",
    "utf-32-le": "Name;City\nAda;Zürich\n" * 4,
    "utf-32-be": "Name;City\nAda;Zürich\n" * 4,
}


@pytest.mark.parametrize("codec", TEXTS)
def test_a_text_of_a_few_lines_is_read_in_the_encoding_of_its_language(codec):
    content = TEXTS[codec].encode(codec)
    found = find_encoding(io.BytesIO(content))
    assert content.decode(found.name) == TEXTS[codec]
    assert found.sure


@pytest.mark.parametrize("codec", ["cp1252", "cp1250", "cp1251", "cp932", "utf-8"])
def test_letters_far_behind_the_first_bytes_tell_the_encoding(codec):
    text = "Anna,Berlin,0\n" * 20_000 + TEXTS[codec]
    content = text.encode(codec)
    assert content.decode(find_encoding(io.BytesIO(content)).name) == text


@given(st.binary(max_size=600))
def test_any_bytes_have_an_encoding_that_python_knows(content):
    assert "".encode(find_encoding(io.BytesIO(content)).name) is not None


def test_a_single_letter_is_told_as_unsure(tmp_path):
    file = tmp_path / "names.csv"
    file.write_bytes("name,n\nBjørn,2\n".encode("cp1252"))
    book = read_workbook(file)
    record = book.records[0]
    assert (record.encoding, record.unsure_encoding) == ("cp1252", True)
    assert record.columns[0].example == "Bjørn"
    assert [each.reason for each in book.skipped] == [SkipReason.UNSURE_ENCODING]
    assert "cp1252" in book.skipped[0].message


def test_bytes_that_cannot_be_decoded_are_counted_and_told(tmp_path):
    file = tmp_path / "cut.csv"
    file.write_bytes(("Straße;Größe;Łódź\n" * 5).encode() + b"K\xf6ln;1;2\n")
    book = read_workbook(file)
    assert book.records[0].encoding == "utf-8"
    assert [each.reason for each in book.skipped] == [SkipReason.DAMAGED]
    assert book.skipped[0].message.startswith("One character is not utf-8")


def test_a_replacement_that_the_file_itself_holds_is_no_damage(tmp_path):
    file = tmp_path / "was.csv"
    file.write_text("a,b\nK\ufffdln,1\n", encoding="utf-8")
    assert read_workbook(file).skipped == ()


def test_the_user_sets_the_encoding_and_later_readings_use_it(tmp_path):
    file = tmp_path / "names.csv"
    file.write_bytes("imię,n\nŁódź,2\nżółw,3\n".encode("iso8859-2"))
    book = read_workbook(file, encoding="latin2")
    record = book.records[0]
    assert (record.encoding, record.columns[0].example, book.skipped) == ("iso8859-2", "Łódź", ())
    window = read_range(file, "names", parse_range("A2:A3"), encoding=record.encoding)
    assert window.rows == (("Łódź",), ("żółw",))
    assert read_range(file, "names", parse_range("A2"), encoding="cp437").rows != (("Łódź",),)
    data = read_table_data(file, "names", encoding=record.encoding)
    assert data.columns[0] == ["Łódź", "żółw"]


@pytest.mark.parametrize("name", ["nonsense", "rot13", "hex", "", "utf-8\0"])
def test_a_name_that_is_no_encoding_of_text_is_refused(name):
    with pytest.raises(InputError, match="there is no text encoding"):
        encoding_name(name)
