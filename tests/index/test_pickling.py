"""An index is sent to another process as its place and those who see it."""

import pickle

import pytest

from sat_retriever import OWNER, EncoderError, PermissionsError, SheetIndex, SheetRecord
from sat_retriever.index.store.place import IndexUrl
from tests.fakes import HashedEncoder
from tests.saved_encoder import save_bag_of_words


@pytest.fixture
def index(tmp_path):
    encoder = save_bag_of_words(tmp_path / "bag", ["sales", "wages"])
    with SheetIndex.create(tmp_path / "a.sat", encoder) as made:
        made.add_records([SheetRecord("sales", "Sales"), SheetRecord("wages", "Wages")])
        yield made


def test_a_copy_is_the_same_index_opened_anew(index):
    with SheetIndex.open(index.path, times=False, device="cpu") as plain:
        again = pickle.loads(pickle.dumps(plain))
    with again:
        assert (again.path, again.times, again.device) == (index.path, False, "cpu")
        assert again.principals is None
        index.add_records([SheetRecord("costs", "Costs")])
        assert len(again) == 3


def test_one_index_in_two_places_of_a_pickle_is_opened_once(index):
    first, second = pickle.loads(pickle.dumps((index, index)))
    assert first is second
    first.close()


def test_those_who_see_it_come_along(index):
    for principals in (["hr"], OWNER):  # before there are permissions
        view = pickle.loads(pickle.dumps(index.seen_by(principals)))
        assert view.principals == (OWNER if principals is OWNER else ("hr",))
        with pytest.raises(PermissionsError):
            view.seen_by(["all"])
    index.permit(lambda record: ["hr"] if record.sheet_id == "wages" else ["*"])
    for principals, sheets in (([], 1), (["hr"], 2), (["sales"], 1), (OWNER, 2)):
        assert len(pickle.loads(pickle.dumps(index.seen_by(principals)))) == sheets
    with pytest.raises(PermissionsError, match="say who asks"):
        len(pickle.loads(pickle.dumps(index)))


def test_an_encoder_that_no_name_loads_is_refused_with_what_to_do(tmp_path):
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as index:
        assert not index.is_reopenable
        with pytest.raises(EncoderError, match=r"'hashed'.*a\.sat.*encoder=OBJECT"):
            pickle.dumps(index)


def test_a_password_is_not_among_what_is_pickled():
    place = IndexUrl.parse("postgresql://me:pw@db/sales")
    assert "pw" not in str(place)  # `SheetIndex.__reduce__` pickles the text
