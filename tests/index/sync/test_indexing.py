import os
import stat

import openpyxl
import pytest

from sat_retriever import SheetIndex, index_paths, open_index
from sat_retriever.encoder.onnx.device import gpu_count
from sat_retriever.errors import (
    EncoderError,
    FingerprintMismatchError,
    InputError,
    MissingExtraError,
    PathNotFoundError,
)
from tests.fakes import HashedEncoder
from tests.saved_encoder import save_bag_of_words


@pytest.fixture
def books(tmp_path):
    folder = tmp_path / "books"
    folder.mkdir()
    book = openpyxl.Workbook()
    book.active.append(["Region", "Revenue"])
    book.active.append(["North", 1])
    book.save(folder / "Sales.xlsx")
    return folder


def test_an_index_is_made_once_and_then_brought_up_to_date(books, tmp_path):
    file, seen = tmp_path / "i.sat", []
    with index_paths([books], file, encoder=HashedEncoder(), progress=lambda *at: seen.append(at)):
        assert [at[:2] for at in seen][-1] == (1, 1)
    (books / "More.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with index_paths(str(books), str(file), encoder=HashedEncoder()) as index:
        assert index.sheet_ids() == ["More.csv#More", "Sales.xlsx#Sheet"]


def test_an_encoder_can_be_named_by_its_folder(books, tmp_path):
    folder = save_bag_of_words(tmp_path / "bag", ["region", "revenue"])
    with index_paths(books, tmp_path / "i.sat", encoder=folder) as index:
        assert index.candidates("revenue")[0].sheet_id == "Sales.xlsx#Sheet"
    with index_paths(books, tmp_path / "i.sat") as again:  # keeps its own
        assert again.fingerprint == index.fingerprint


def test_the_device_of_an_index_is_that_of_its_encoder(books, tmp_path):
    folder = save_bag_of_words(tmp_path / "bag", ["region", "revenue"])
    with index_paths(books, tmp_path / "i.sat", encoder=folder, device="cpu") as index:
        assert index.device == "cpu"
        with index.copied(tmp_path / "copy.sat") as copy:
            assert copy.device == "cpu"
    with (
        SheetIndex.open(tmp_path / "i.sat", device="gpu") as opened,
        pytest.raises(InputError, match="unknown device 'gpu'"),
    ):
        opened.candidates("revenue")  # loads the encoder
    if not gpu_count():
        with pytest.raises((EncoderError, MissingExtraError), match="CUDA"):
            index_paths(books, tmp_path / "j.sat", encoder=folder, device="cuda")


@pytest.mark.skipif(os.name != "posix", reason="rights of files are those of POSIX")
def test_a_copy_is_for_those_who_may_read_the_index(books, tmp_path):
    with index_paths(books, tmp_path / "i.sat", encoder=HashedEncoder()) as index:
        (tmp_path / "i.sat").chmod(0o600)
        index._store.copy_to(tmp_path / "copy.sat")
        assert stat.S_IMODE((tmp_path / "copy.sat").stat().st_mode) == 0o600
        (tmp_path / "copy.sat").chmod(0o640)
        index._store.copy_to(tmp_path / "copy.sat")  # which replaces the file
        assert stat.S_IMODE((tmp_path / "copy.sat").stat().st_mode) == 0o640


def test_another_encoder_and_a_path_that_is_not_there_are_refused(books, tmp_path):
    index_paths(books, tmp_path / "i.sat", encoder=HashedEncoder()).close()
    with pytest.raises(FingerprintMismatchError):
        index_paths(books, tmp_path / "i.sat", encoder=HashedEncoder(width=32))
    with pytest.raises(PathNotFoundError):
        index_paths(tmp_path / "gone", tmp_path / "j.sat", encoder=HashedEncoder())
    assert not (tmp_path / "j.sat").exists()


def test_an_open_index_is_taken_as_it_is(books, tmp_path):
    with index_paths(books, tmp_path / "i.sat", encoder=HashedEncoder()) as index:
        assert open_index(index) is index
    with open_index(tmp_path / "i.sat") as opened:
        assert isinstance(opened, SheetIndex)
        assert len(opened) == 1
