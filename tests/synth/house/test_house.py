"""Houses: the same things in any order of asking, and names that say what they should."""

from dataclasses import replace
from itertools import islice, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sat_retriever.errors import InputError
from sat_retriever.records.files import draft_of
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.synth.book.model import Dialect
from sat_retriever.synth.house import naming
from sat_retriever.synth.house.house import CASES, House, cased
from sat_retriever.synth.house.when import When
from sat_retriever.synth.plan.plan import house_names
from sat_retriever.synth.words.vocabulary import Vocabulary
from sat_retriever.text.period.periods import period_of

WORDS = Vocabulary.load()
NAMES = tuple(islice(house_names("companies", WORDS), 60))
NOUNS = (
    "employees employee_ids departments materials material_specs material_units material_codes "
    "suppliers customers warehouses projects project_ids products regions movies order_numbers"
).split()
TIMES = (
    [When(year) for year in (2019, 2024)]
    + [When(year, quarter) for year in (2019, 2024) for quarter in (1, 4)]
    + [When(year, 0, month) for year in (2019, 2024) for month in (1, 5, 9, 12)]
)


def of_convention(name, category="inventory"):
    """The first house that names a category's workbooks by a convention."""
    houses = (House(company, 0, WORDS) for company in NAMES)
    return next(house for house in houses if house.convention(category) == name)


@given(st.sampled_from(NOUNS), st.integers(0, 60), st.integers(0, 200), st.integers(0, 3))
@settings(max_examples=60)
def test_a_shorter_pool_is_the_beginning_of_a_longer_one_and_repeats_nothing(noun, few, more, seed):
    house = House("Apex Technologies", seed, WORDS)
    longer = house.pool(noun, few + more)
    assert len(longer) == few + more
    assert house.pool(noun, few) == longer[:few]
    if not noun.startswith("material_"):
        assert len(set(longer)) == len(longer)


def test_specifications_and_units_belong_to_the_materials_at_their_places():
    house = House("Apex Technologies", 5, WORDS)
    size = len(WORDS.lists["materials"])
    fields = (house.pool(noun, size) for noun in ("materials", "material_specs", "material_units"))
    assert {"|".join(entry) for entry in zip(*fields, strict=True)} == set(WORDS.lists["materials"])


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 50))
def test_every_pair_of_names_comes_once_before_numbers_do(given, family, seed):
    names = {
        "given_names": tuple(f"G{n}" for n in range(given)),
        "family_names": tuple(f"F{n}" for n in range(family)),
    }
    house = House("Apex Technologies", seed, replace(WORDS, lists=names))
    pairs = {f"{one} {other}" for one in names["given_names"] for other in names["family_names"]}
    size = given * family
    found = house.pool("employees", size + 1)
    assert set(found[:size]) == pairs
    assert found[size] == f"{found[0]} 2"


def test_a_noun_nobody_knows_is_refused():
    with pytest.raises(InputError, match="there is no list, pair or code 'unicorns'"):
        House("Apex Technologies", 0, WORDS).pool("unicorns", 3)


def test_houses_differ_by_name_seed_and_prefix_and_not_by_the_order_of_asking():
    house = House("Apex Technologies", 0, WORDS)
    before = house.pool("employees", 5)
    house.chance("anything").random()
    house.pool("materials", 50)
    assert House("Apex Technologies", 0, WORDS).pool("employees", 5) == before
    assert House("Apex Technologies", 1, WORDS).pool("employees", 5) != before
    assert House("Other Technologies", 0, WORDS).pool("employees", 5) != before
    assert House("Apex Technologies", 0, WORDS, "Copy").pool("employees", 5) != before


def test_random_numbers_are_the_same_in_every_process_and_on_every_machine():
    house = House("Corvane Technologies", 0, WORDS)
    assert house.chance("a", 1).random() == 0.0782383025320399


def test_all_columns_of_a_sheet_have_different_headers_in_every_letter_case():
    for (category, words), case in product(WORDS.categories.items(), set(CASES)):
        for kind, found in words.kinds.items():
            for variant in range(words.variants):
                headers = [
                    cased(texts[variant], case).casefold() for texts in found.columns.values()
                ]
                assert len(set(headers)) == len(headers), (category, kind, variant, case)


def test_headers_come_in_several_variants_and_letter_cases():
    headers = {House(name, 0, WORDS).header("hr", "roster", "employee_id") for name in NAMES}
    words = WORDS.kind("hr", "roster").headers("employee_id")
    written = {cased(word, case) for word, case in product(words, CASES)}
    assert headers <= written
    assert len(headers) >= 8


def test_one_house_uses_different_variants_for_different_categories():
    house = House(NAMES[0], 0, WORDS)
    assert len({house.variant(category) for category in WORDS.categories}) > 1


def test_every_convention_spelling_and_tab_is_read_as_the_period_it_was_made_for():
    wrong = []
    used = set()
    for place, company in enumerate(NAMES):
        house = House(company, 1, WORDS)
        for category in list(WORDS.categories)[place % 3 :: 3]:
            used.add(house.convention(category))
            wrong += misread(house, category)
    assert used == {str(convention["name"]) for convention in WORDS.naming}
    # "office 2019" is a product to the reader, a year to people.
    assert [names for names in wrong if "office" not in names[0]] == []


def misread(house, category):
    """Paths and tabs whose period the reader takes for another, and series it breaks."""
    kind, words = next(iter(WORDS.category(category).kinds.items()))
    families = {}
    for subject, when in product(("", words.names[0]), TIMES):
        year = When(when.year)
        named = [(house.path(category, subject, when), house.tab(category, kind))]
        if when != year:
            path = house.path(category, subject, year)
            named.append((path, house.tab(category, kind, when)))
        for place, (path, tab) in enumerate(named):
            file = path.rsplit("/", maxsplit=1)[-1]
            found = period_of(SheetRecord("", tab, workbook=file, path=path))
            wanted = when.period("")
            if found is None or replace(found, family="", label=wanted.label) != wanted:
                yield path, tab, when
            else:
                series = families.setdefault((place, subject, wanted.grain), found.family)
                if series != found.family:
                    yield path, tab, series, found.family


def test_conventions_are_really_different():
    when = When(2024, month=7)
    paths = {
        str(convention["name"]): of_convention(convention["name"]).path("inventory", "", when)
        for convention in WORDS.naming
    }
    shapes = {
        (path.count("/"), path.count("_") > 1, path.count(" ") > 1, path.islower())
        for path in paths.values()
    }
    assert len(shapes) >= 6
    assert "report (" in paths["generic_files"]
    assert of_convention("generic_tabs").tab("inventory", "entry").startswith("Sheet")


def test_a_series_keeps_its_convention_and_companies_differ():
    assert len({House(name, 0, WORDS).convention("sales") for name in NAMES}) == len(WORDS.naming)
    house = House(NAMES[0], 0, WORDS)
    assert len({house.convention(category) for category in WORDS.categories}) > 3


def test_no_two_workbooks_get_one_path_whatever_the_letter_case():
    whens = (None, When(2023), When(2024), When(2024, 1), When(2024, 2), When(2024, 0, 1))
    paths = [
        house.path(category, subject, when).casefold()
        for house in (House(name, 0, WORDS) for name in NAMES[:25])
        for category, words in WORDS.categories.items()
        for subject in ("", *(kind.names[0] for kind in words.kinds.values()))
        for when in whens
    ]
    assert len(set(paths)) == len(paths)


@given(st.text(max_size=300), st.text(max_size=80))
@settings(max_examples=150)
def test_files_and_tabs_are_valid_whatever_they_are_called(text, part):
    name = naming.file_name(text)
    assert name == name.strip()
    assert 0 < len(name) <= naming.MAX_FILE + 1
    assert len(name.encode()) <= naming.MAX_FILE_BYTES + 1
    assert not name.endswith(".")
    assert not set(name) & set('<>:"/\\|?*\n\t')
    house = House(NAMES[0], 0, WORDS)
    for tab in (naming.tab_name(text), house.tab("hr", "roster", When(2024, 0, 9), part)):
        assert 0 < len(tab) <= 31
        assert not set(tab) & set("[]:*?/\\")
        assert not tab.startswith("'")
        assert not tab.endswith("'")


def test_long_names_in_other_scripts_fit_in_a_file_system_and_stay_different(tmp_path):
    names = [naming.file_name("株" * 100 + end) for end in ("会社", "会")]
    assert len({*names}) == 2
    for name in names:
        with draft_of(tmp_path / f"Synthetic_Data__{name}_source.xlsx") as draft:
            draft.write_bytes(b"")
    assert len([*tmp_path.iterdir()]) == 2


@pytest.mark.parametrize("name", ["CON", "nul", "Com1", "aux.report", "LPT9"])
def test_names_windows_keeps_for_itself_are_changed(name):
    assert naming.file_name(name) != name


def test_long_kinds_leave_room_for_part_and_period_and_stay_different():
    style = naming.Style.chosen(WORDS.naming[0], {}, House("A", 0, WORDS).chance("x"))
    kinds = ("Consolidated Overview by Business Unit", "Consolidated Overview by Business Line")
    tabs = [
        naming.tab(style, kind, When(2024, 0, month), part, 1)
        for kind in kinds
        for month in range(1, 13)
        for part in ("", "North", "South")
    ]
    assert len({tab.casefold() for tab in tabs}) == len(tabs)
    assert all(len(tab) <= 31 for tab in tabs)
    assert all("2024" in tab for tab in tabs)


def test_tabs_that_differ_by_month_or_part_are_different_in_every_convention():
    for convention in WORDS.naming:
        house = of_convention(convention["name"])
        whens = [None, *(When(2024, 0, month) for month in range(1, 13))]
        tabs = [
            house.tab("inventory", kind, when, part).casefold()
            for kind in WORDS.category("inventory").kinds
            for when in whens
            for part in ("", "North", "Spare Parts Store")
        ]
        assert len(set(tabs)) == len(tabs)


def test_layouts_and_dialects_have_all_their_forms_and_fit_the_house():
    houses = [House(name, 0, WORDS) for name in NAMES]
    layouts = [house.layout("Stock 2024", "inventory", "entry") for house in houses]
    assert {bool(layout.titles) for layout in layouts} == {True, False}
    assert {layout.first_row for layout in layouts} == {0, 1}
    assert {layout.first_column for layout in layouts} == {0, 1}
    assert {bool(layout.notes) for layout in layouts} == {True, False}
    assert all(layout.titles[0] == "Stock 2024" for layout in layouts if layout.titles)
    assert layouts == [house.layout("Stock 2024", "inventory", "entry") for house in houses]
    dialects = [house.dialect() for house in houses]
    assert {dialect.lookup for dialect in dialects} == {"vlookup", "index_match", "xlookup"}
    assert {dialect.ranges for dialect in dialects} == {"area", "column", "name", "table"}
    assert len({dialect.colour for dialect in dialects}) > 4
    assert all(isinstance(dialect, Dialect) for dialect in dialects)
