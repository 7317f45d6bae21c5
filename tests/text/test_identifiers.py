"""Identifiers come apart, words of a trade stay whole: a table, and what always holds."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sat_retriever import Column, SheetRecord
from sat_retriever.text import identifiers
from sat_retriever.text.identifiers import MAX_CHARS, split_identifiers
from sat_retriever.text.lexical import query_words, sheet_words
from sat_retriever.text.segment import forms, stems, words
from tests.tables import table

SPELLINGS = [
    (spelling, tuple(read.split()), tuple(also.split()))
    for spelling, read, also in table("text/spellings.tsv", 3)
]
UPPER = st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ", min_size=3, max_size=6)


@pytest.mark.parametrize(("spelling", "read", "also"), SPELLINGS, ids=[row[0] for row in SPELLINGS])
def test_a_spelling_is_read_as_its_trade_reads_it(spelling, read, also):
    found = forms(spelling)
    assert tuple(whole for whole, *_ in found) == read
    assert tuple(part for _, *parts in found for part in parts) == also


@pytest.mark.parametrize(
    "same",
    [
        ("LDV", "LDVs", "ldvs", "ldv", "LDVS"),
        ("KPI", "KPIs", "kpis", "kpi"),
        ("SKU", "SKUs", "skus", "sku"),
        ("ID", "IDs", "ids", "id"),
        ("URL", "URLs", "urls"),
        ("kWh", "kwh", "KWH", "kWhs", "kwhs"),
        ("NOx", "nox", "NOX"),
        ("CO2", "co2", "CO₂", "Co2", "CO2e", "tCO2e"),
        ("PM2.5", "pm2.5", "PM 2.5"),
        ("pH", "PH", "ph"),
        ("PhD", "PhDs", "phd", "phds"),
        ("kg", "kgs", "KGS"),
        ("BX-7740/2", "bx-7740/2", "BX 7740", "bx_7740_2"),
        ("ISO9001", "ISO 9001", "iso-9001", "iso9001"),
        ("A320", "A320neo", "a320NEO"),
        ("v2.1", "V2.1", "v2"),
        ("Q1FY24", "q1 fy24", "Q1_FY24"),
        ("16GB", "16 GB", "16gb"),
        ("P&L", "p&l"),
        ("GmbH", "gmbh", "GMBH"),
    ],
    ids=lambda same: same[0],
)  # fmt: skip
def test_spellings_of_one_thing_match_each_other(same):
    first = set(stems(same[0]))
    for other in same[1:]:
        assert first & set(stems(other)), other


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("LDVs", "HDVs"), ("NOx", "SOx"), ("CO2", "CO"), ("H2O", "H2"), ("PO", "POS"),
        ("GPS", "GP"), ("hrs", "HR"), ("has", "ha"), ("this", "thi"), ("gas", "GA"),
        ("v2.1", "v3.1"), ("3.11", "311"), ("A320", "A330neo"),
    ],
)  # fmt: skip
def test_spellings_of_two_things_do_not_match(one, other):
    assert not set(stems(one)) & set(stems(other))


def test_sheets_and_questions_are_read_alike():
    record = SheetRecord("a#b", "LDVs", columns=(Column("NOx_per_kWh"), Column("BX-7740/2")))
    _, sheet, headers, _ = sheet_words(record)
    assert sheet == query_words("ldv")
    assert set(query_words("kWh NOX bx-7740/2")) <= set(headers)


@pytest.mark.parametrize("spelling", [row[0] for row in SPELLINGS if len(row[1]) == 1])
def test_a_whole_word_matches_itself_in_any_case(spelling):
    for other in (spelling.lower(), spelling.upper()):
        assert set(stems(spelling)) & set(stems(other)), other


@given(UPPER)
@example("KPI")
@example("SKU")
def test_an_acronym_matches_its_plural_in_any_case(acronym):
    own = set(stems(acronym))
    assert own & set(stems(f"{acronym}s"))
    if not acronym.endswith("S"):
        assert len(forms(f"{acronym}s")) == 1


@given(st.lists(st.sampled_from([row[0] for row in SPELLINGS]), max_size=4))
def test_spellings_side_by_side_are_read_as_if_alone(spellings):
    assert words(" ".join(spellings)) == [word for each in spellings for word in words(each)]


@pytest.mark.parametrize("name", ["LDVs", "NOx", "kWh", "PhD", "GmbH", "CO2", "PMEs", "H2SO4"])
@pytest.mark.parametrize("shape", ["{}ByState", "total{}", "total_{}", "{}-total", "{}.Total"])
def test_a_word_of_a_trade_stays_whole_inside_an_identifier(name, shape):
    assert name.lower() in words(shape.format(name))


@given(st.text("abkWhNO1290.-/_&s ", max_size=30) | st.text(max_size=60))
@example("totalkWhs")
@example("2.5.6kg")
def test_what_was_split_stays_as_it_is(text):
    once = split_identifiers(text)
    assert split_identifiers(once) == once


@given(st.text(max_size=80))
def test_no_letter_or_digit_is_lost_added_or_moved(text):
    kept = [char for char in split_identifiers(text) if not char.isspace()]
    given_ = [char for char in text if not char.isspace()]
    assert [c for c in kept if c.isalnum()] == [c for c in given_ if c.isalnum()]


class Counted:
    """A pattern that counts the characters it is given to look through."""

    def __init__(self, pattern):
        self.pattern, self.characters = pattern, 0

    def sub(self, put, text):
        self.characters += len(text)
        return self.pattern.sub(put, text)

    def finditer(self, text):
        self.characters += len(text)
        return self.pattern.finditer(text)


@given(
    st.lists(
        st.sampled_from(
            ["Q1", "FY20", "FY", "aB", "A1", "CO2", "Of", "By", "My", "x", "ID", "a.1"]
        ),
        min_size=1,
        max_size=6,
    ).map("".join)
)
@example("Q1FY20")
@example("aB")
@example("A1")
@example("CO2")
@example("OfABy")
@example("中A1")
@settings(deadline=None, max_examples=10)
def test_long_runs_are_read_in_steps_that_grow_with_their_length(piece):
    text = (piece * MAX_CHARS)[:MAX_CHARS]
    with pytest.MonkeyPatch.context() as patch:
        shapes = identifiers._shapes(text)
        counted = [Counted(shapes.short), Counted(shapes.hump)]
        patch.setattr(shapes, "short", counted[0])
        patch.setattr(shapes, "hump", counted[1])
        found = list(identifiers.read_words(text))
    assert "".join(word.text for word in found).replace(".", "") == text.replace(".", "")
    assert sum(each.characters for each in counted) <= 300 * len(text)
    assert query_words(text)


def test_a_run_of_times_comes_apart_up_to_a_length_and_is_one_word_beyond():
    assert split_identifiers("Q1FY20" * 40).split() == ["Q1", "FY20"] * 40
    assert split_identifiers("Q1FY20" * 300) == "Q1FY20" * 300
