"""Words: the packaged ones hold together, a user's are checked and said to be wrong clearly."""

import json
import shutil

import pytest

from sat_retriever.errors import InputError, PathNotFoundError
from sat_retriever.synth.categories import CATEGORIES, category
from sat_retriever.synth.plan.plan import OWNER_WORDS
from sat_retriever.synth.words import wordfiles
from sat_retriever.synth.words.vocabulary import PACKAGED, Vocabulary


@pytest.fixture(scope="module")
def words():
    return Vocabulary.load()


def own(tmp_path, name, change):
    """A user's folder with one packaged file, changed."""
    content = json.loads((PACKAGED / name).read_text(encoding="utf-8"))
    change(content)
    (tmp_path / name).write_text(json.dumps(content), encoding="utf-8")
    return tmp_path


def test_every_category_has_words_of_the_documented_extent(words):
    assert set(words.categories) == set(CATEGORIES)
    for found in words.categories.values():
        assert found.variants >= 4
        assert len(found.names) >= 4
        assert len(found.asked) >= 4
        for kind in found.kinds.values():
            assert len(kind.names) >= 4
            assert len(kind.asked) >= 1


def test_lists_are_long_enough_for_eighteen_companies_and_many_people(words):
    assert len(words.lists["companies"]) >= 18
    assert len(words.lists["given_names"]) * len(words.lists["family_names"]) > 5000
    assert set(OWNER_WORDS) <= set(words.lists)
    assert len(words.naming) >= 6


def test_a_users_list_replaces_one_list_and_leaves_the_others(tmp_path, words):
    (tmp_path / "lists.json").write_text('{"departments": ["Kitchen", "Bar"]}', encoding="utf-8")
    found = Vocabulary.load(tmp_path)
    assert found.lists["departments"] == ("Kitchen", "Bar")
    assert found.lists["companies"] == words.lists["companies"]
    assert found.categories == words.categories


def test_a_list_or_an_entry_of_a_convention_that_nobody_asks_for_is_refused(tmp_path):
    (tmp_path / "lists.json").write_text('{"departmnets": ["Kitchen"]}', encoding="utf-8")
    with pytest.raises(
        InputError, match=r"there is no list departmnets; the lists are .*departments"
    ):
        Vocabulary.load(tmp_path)
    (tmp_path / "lists.json").unlink()
    folder = own(tmp_path, "naming.json", lambda c: c["conventions"][0].update(month_tab=["{mm}"]))
    with pytest.raises(InputError, match=r"unknown entries month_tab; the entries are .*tab_month"):
        Vocabulary.load(folder)


def test_two_kinds_of_one_name_in_the_labels_are_refused(tmp_path, words):
    name = words.kind("sales", "annual").asked[0]
    folder = own(
        tmp_path, "category_stock.json", lambda c: c["kinds"]["summary"]["asked"].insert(0, name)
    )
    with pytest.raises(InputError, match="'sales/annual' and 'stock/summary' are both called"):
        Vocabulary.load(folder)


@pytest.mark.parametrize("entry", ["=West", "<Hall 1>", "> 90 days"])
def test_an_entry_that_formulas_take_for_a_comparison_is_refused(tmp_path, entry):
    (tmp_path / "lists.json").write_text(json.dumps({"regions": ["North", entry]}))
    with pytest.raises(InputError, match=r"lists\.json, list 'regions': '.+' begins like a comp"):
        Vocabulary.load(tmp_path)


def test_a_users_category_replaces_the_packaged_one(tmp_path):
    def change(content):
        content["names"] = ["Larder", "Cellar"]

    found = Vocabulary.load(own(tmp_path, "category_inventory.json", change))
    assert found.category("inventory").names == ("Larder", "Cellar")


def drop_column(content):
    kind = next(iter(content["kinds"].values()))
    kind["columns"].pop(next(iter(kind["columns"])))


def drop_header(content):
    kind = next(iter(content["kinds"].values()))
    next(iter(kind["columns"].values())).pop()


def double_header(content):
    kind = next(iter(content["kinds"].values()))
    first, second, *_ = kind["columns"].values()
    second[2] = first[2].upper()


def long_tab(content):
    next(iter(content["kinds"].values()))["names"][0] = "x" * 32


def bad_tab(content):
    next(iter(content["kinds"].values()))["names"][0] = "In/Out"


def same_names(content):
    first, second, *_ = content["kinds"].values()
    second["names"][1] = first["names"][0].lower()


def strange_unit(content):
    next(iter(content["kinds"].values()))["units"] = {"colour": "nm"}


def two_lines(content):
    content["label"] = "Inventory\nProducts"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda c: c.update(label=""), r"category_hr.json, 'label': a text is needed, not ''"),
        (two_lines, "'label': one line of at most 200 characters"),
        (lambda c: c.update(names="HR"), r"'names': a list of texts is needed, not 'HR'"),
        (lambda c: c.update(names=["HR", "hr"]), r"'names': 'hr' appears twice"),
        (lambda c: c.update(asked=[3]), "'asked', entry 1: a text is needed, not 3"),
        (lambda c: c.update(kinds={}), "'kinds': an object with entries is needed"),
        (drop_column, "needs columns "),
        (drop_header, "one header per variant"),
        (double_header, r"in variant 3; headers of one variant must differ"),
        (long_tab, "cannot name a tab: at most 31 characters"),
        (bad_tab, "'In/Out' cannot name a tab"),
        (same_names, r"kinds: '.*' and '.*' are both called"),
        (strange_unit, "units for unknown columns: colour"),
    ],
)
def test_a_wrong_category_is_refused_with_file_place_and_form(tmp_path, change, said):
    with pytest.raises(InputError, match=said) as error:
        Vocabulary.load(own(tmp_path, "category_hr.json", change))
    assert "category_hr.json" in str(error.value)


def first_convention(**entries):
    return lambda content: content["conventions"][0].update(entries)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda c: c.update(conventions=[]), "at least one convention"),
        (lambda c: c["conventions"].append(c["conventions"][0]), "two conventions are called"),
        (first_convention(path="{company} {period}"), "two workbooks could get one path"),
        (first_convention(path="{company} {what}"), "not what"),
        (first_convention(path="{company"), "expected '}'"),
        (first_convention(tab="{kind}"), "two tabs could get one name"),
        (first_convention(tab="Sheet{index}"), "two tabs could get one name"),
        (first_convention(case="Title"), "'case' must be one of asis, lower, upper"),
        (first_convention(space="/"), "'space' must be"),
        (first_convention(month=["{yyyy}"]), r"'month': '{yyyy}' needs {Mon} or"),
        (first_convention(quarter=["Q{q}"]), r"'quarter': 'Q{q}' needs {yyyy} or {yy}"),
        (first_convention(year="{yyyy}"), "a list of texts is needed"),
        (lambda c: c["conventions"][0].pop("year"), "needs 'year', a list of spellings"),
        (lambda c: c["abbreviations"].update(sale="inv"), "'inv' is used for two words"),
    ],
)
def test_a_wrong_naming_convention_is_refused(tmp_path, change, said):
    with pytest.raises(InputError, match=said) as error:
        Vocabulary.load(own(tmp_path, "naming.json", change))
    assert "naming.json" in str(error.value)


def test_lists_with_fields_need_all_fields(tmp_path):
    (tmp_path / "lists.json").write_text('{"materials": ["Sand|kg"]}', encoding="utf-8")
    with pytest.raises(InputError, match=r"'Sand\|kg' is not of the form 'name\|spec"):
        Vocabulary.load(tmp_path)


def test_companies_that_give_one_path_are_refused(tmp_path):
    (tmp_path / "lists.json").write_text('{"companies": ["Ab Co", "Ab-Co"]}', encoding="utf-8")
    with pytest.raises(InputError, match="'Ab Co' and 'Ab-Co' would have equal paths"):
        Vocabulary.load(tmp_path)


def test_names_of_two_categories_must_differ(tmp_path):
    def change(content):
        content["names"][1] = json.loads((PACKAGED / "category_hr.json").read_text())["names"][0]

    with pytest.raises(InputError, match="categories: 'hr' and 'sales' are both called"):
        Vocabulary.load(own(tmp_path, "category_sales.json", change))


def test_a_file_of_another_name_is_refused_and_the_known_ones_are_named(tmp_path):
    shutil.copy(PACKAGED / "category_hr.json", tmp_path / "category_hrm.json")
    with pytest.raises(InputError, match=r"contains category_hrm.json; .* category_hr.json"):
        Vocabulary.load(tmp_path)


def test_a_folder_that_is_missing_or_empty_is_refused(tmp_path):
    with pytest.raises(PathNotFoundError, match="is not a folder"):
        Vocabulary.load(tmp_path / "none")
    with pytest.raises(InputError, match=r"contains no \.json file"):
        Vocabulary.load(tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is not valid JSON"),
        ('{"a": ["b"], "a": ["c"]}', "'a' appears twice"),
        ("[" * 100_000, "is not valid JSON"),
    ],
)
def test_a_file_that_is_no_json_is_refused(tmp_path, text, said):
    (tmp_path / "lists.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        Vocabulary.load(tmp_path)


def test_a_file_too_large_is_not_read(tmp_path):
    (tmp_path / "lists.json").write_bytes(b" " * (wordfiles.MAX_BYTES + 1))
    with pytest.raises(InputError, match="a word file may have at most"):
        Vocabulary.load(tmp_path)


def test_words_that_are_not_there_are_asked_for_in_vain(words):
    with pytest.raises(InputError, match="no words for category 'zoo'"):
        words.category("zoo")
    with pytest.raises(InputError, match="no kind 'zoo' among"):
        words.kind("hr", "zoo")
    with pytest.raises(InputError, match="no column 'zoo' among"):
        words.kind("hr", "roster").headers("zoo")
    with pytest.raises(InputError, match="there is no category 'zoo'; choose from financial"):
        category("zoo")
