"""A fair and stable sample of texts."""

from zlib import crc32

from hypothesis import given, settings
from hypothesis import strategies as st

from sat_retriever.workbook.tables.identifying import CELL_BYTES, fair_sample, hashes, least

COLUMN = [f"customer {number:06}" for number in range(30_000)]
ROOM = 400 * (len(COLUMN[0]) + CELL_BYTES)


def test_all_is_kept_where_there_is_room():
    assert fair_sample([["a", "b"], [], ["c"]], 1000) == [[0, 1], [], [0]]


def test_a_sample_comes_from_all_rows():
    [kept] = fair_sample([COLUMN], ROOM)
    assert len(kept) == 400
    tenths = [sum(tenth <= place / 3000 < tenth + 1 for place in kept) for tenth in range(10)]
    assert min(tenths) > 20  # of 40 on average


def test_a_long_column_leaves_room_for_every_other_one():
    short = [[f"town {number}" for number in range(20)], ["north", "south"]]
    kept = fair_sample([COLUMN, *short], ROOM)
    assert [len(each) for each in kept[1:]] == [20, 2]
    assert len(kept[0]) > 370


def test_a_sheet_of_ten_thousand_columns_keeps_the_first_texts_that_fit():
    kept = fair_sample([[f"value {column}", "more"] for column in range(10_000)], ROOM)
    assert 400 < sum(map(len, kept)) < 1000
    assert all(len(each) <= 1 for each in kept)


def test_the_same_texts_are_kept_when_rows_come_and_go():
    def kept(texts):
        return {texts[place] for place in fair_sample([texts], ROOM)[0]}

    before, after = kept(COLUMN[:20_000]), kept(COLUMN)
    assert after & set(COLUMN[:20_000]) <= before
    assert len(after & before) > 200  # two thirds of 400 are expected
    assert kept(COLUMN[::-1]) == after


def test_hashes_do_not_depend_on_the_process_and_spread_similar_texts():
    def mixed(text):
        value = crc32(text.encode("utf-8", "surrogatepass"))
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            value = ((value ^ value >> shift) * factor) % 2**64
        return value ^ value >> 31

    texts = ["", "a", "Zürich", "\ud800"]
    assert hashes(texts).tolist() == list(map(mixed, texts))
    high = sum(value >= 1 << 63 for value in hashes(COLUMN).tolist())
    assert 14_500 < high < 15_500


def test_the_least_hashes_are_chosen():
    chosen = least(COLUMN, 100)
    found = hashes(COLUMN)
    assert sum(chosen) == 100
    assert max(found[chosen]) == sorted(found)[99]


@settings(max_examples=100)
@given(
    st.lists(st.lists(st.text(max_size=9), unique=True, max_size=9), max_size=9),
    st.integers(0, 300),
)
def test_a_sample_fits_is_in_order_and_always_the_same(groups, room):
    kept = fair_sample(groups, room)
    assert kept == fair_sample(groups, room)
    texts = [texts[place] for texts, places in zip(groups, kept, strict=True) for place in places]
    size = sum(len(text.encode("utf-8", "surrogatepass")) + CELL_BYTES for text in texts)
    assert size <= room
    assert all(places == sorted(set(places)) for places in kept)
